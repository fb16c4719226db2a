/** What a chat answers to each of its questions, word for word, from a status and from books. */
import { expect, test } from 'vitest'
import { noFigures } from '../../src/books/figures.ts'
import { chatAnswer, type DayFigures } from '../../src/daemon/notices/chatTexts.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedState, intent, position, symbols } from '../monitor/events.ts'

const quiet = {
  profile: 'paper',
  state: 'running',
  tradingState: 'active',
  halts: [],
  notReady: [],
  exposureUsd: 0n,
  ...{ positions: [], held: [], openIntents: [], restingOrders: [], openOrders: 0 },
  ...{ discrepancies: [], unresolved: 0, symbols },
} as unknown as EngineStatus
const status = (over: object): EngineStatus => ({ ...quiet, ...over })
const open = { state: armedState, label: 'pending' }

test('/status says whether perpd runs and trades, why not, what the account is worth, and how much of each there is', () => {
  expect(chatAnswer('status', quiet, [])).toBe(
    [
      'perpd paper is running; trading is active',
      'equity not read yet, notional $0.00',
      '0 positions, 0 open orders, 0 unresolved, 0 open discrepancies',
    ].join('\n'),
  )
  const held = status({
    tradingState: 'halted',
    halts: [{ scope: 'account', state: 'halted', cause: 'drawdown', reason: 'it fell by 12%' }],
    notReady: ['an order is unresolved', 'prices are old'],
    equity: { equityUsd: usd('1234.5') },
    exposureUsd: usd(500),
    ...{
      positions: [position],
      openIntents: [open, open],
      openOrders: 2,
      discrepancies: [{}],
      unresolved: 1,
    },
  })
  expect(chatAnswer('status', held, [])).toBe(
    [
      'perpd paper is running; trading is halted',
      'halted (account, drawdown): it fell by 12%',
      'not ready: an order is unresolved; prices are old',
      'equity $1,234.50, notional $500.00',
      '1 position, 2 open orders, 1 unresolved, 1 open discrepancy',
    ].join('\n'),
  )
})

test('/positions says of each what it would bring if closed now, or that the venue does not say what closing costs', () => {
  expect(chatAnswer('positions', quiet, [])).toBe('No position is held.')
  const { entryPrice: _, ...unknown } = position
  const rows = [
    { ...position, pnlAfterAllFeesUsd: usd('-0.25') },
    { ...unknown, marketToken: '0x01' },
  ]
  expect(chatAnswer('positions', status({ positions: rows }), [])).toBe(
    [
      'long ETH/USD [WETH-USDC] $500.00, entry $1,739.51, mark $1,744.00, PnL if closed -$0.25',
      'long 0x01 $500.00, entry not known, mark $1,744.00, PnL before closing costs $0.99',
    ].join('\n'),
  )
})

test('/positions names the nearest stop and target, what has no stop, and the owners', () => {
  const note = (over: object) => ({
    owners: [{ kind: 'instance', name: 'eth-trend' }],
    stops: { nearest: usd(1_600), count: 2 },
    targets: { nearest: usd(1_900), count: 1 },
    uncoveredUsd: 0n,
    ...over,
  })
  const none = { nearest: null, count: 0 }
  const bare = {
    stops: none,
    targets: none,
    uncoveredUsd: usd(500),
    owners: [{ kind: 'hand', name: '@operator' }],
  }
  const text = (over: object) =>
    chatAnswer('positions', status({ positions: [position], held: [note(over)] }), [])
  expect(text({})).toMatch(/, stop \$1,600\.00 \(2\), target \$1,900\.00, eth-trend$/)
  expect(text(bare)).toMatch(/, NO STOP, by hand$/)
  expect(text({ uncoveredUsd: usd(200), owners: [] })).toMatch(/, NO STOP for \$200\.00, stop .*, others$/)
})

test('/orders lists what rests with type, trigger, distance, size and owner, and what is in flight', () => {
  const stop = {
    ...{ orderKey: '0x0d', intentId: 'f00d0000000000000001', type: 'stop', market: 'ETH/USD [WETH-USDC]' },
    ...{ direction: 'long', triggerPrice: usd(1_700), sizeUsd: usd(500), isFrozen: false },
    ...{ ownerKind: 'task', owner: 'b1', distanceBps100: -25_229 },
  }
  const foreign = {
    ...stop,
    intentId: null,
    ownerKind: 'others',
    owner: '',
    isFrozen: true,
    type: 'stop entry',
  }
  expect(
    chatAnswer('orders', status({ restingOrders: [stop, foreign], openIntents: [open] }), []).split('\n'),
  ).toEqual([
    'f00d000000 stop long ETH/USD [WETH-USDC] at $1,700.00 (-2.52%), $500.00, task b1',
    'stop entry long ETH/USD [WETH-USDC] at $1,700.00 (-2.52%), $500.00, others, frozen',
    `${intent.intentId.slice(0, 10)} pending: ${intent.strategy} increase long ETH/USD [WETH-USDC] $500.00`,
  ])
})

test('/orders says of each its number, its state and what it is; of a long list the first twenty', () => {
  expect(chatAnswer('orders', quiet, [])).toBe('No order is open.')
  const row = `${intent.intentId.slice(0, 10)} pending: ${intent.strategy} increase long ETH/USD [WETH-USDC] $500.00`
  expect(chatAnswer('orders', status({ openIntents: [open] }), [])).toBe(row)
  const many = chatAnswer('orders', status({ openIntents: Array.from({ length: 23 }, () => open) }), [])
  expect(many.split('\n')).toEqual([...Array.from({ length: 20 }, () => row), 'and 3 more'])
})

test('/pnl says what each day brought, the newest first, and each strategy in it', () => {
  expect(chatAnswer('pnl', quiet, [])).toBe('No realized result today or yesterday (UTC).')
  const today = Date.UTC(2026, 10, 22)
  const day = (dayMs: number, strategy: string, dollars: number, wins: number): DayFigures => ({
    dayMs,
    strategy,
    figures: { ...noFigures, pricePnlUsd: usd(dollars), relayFeesUsd: usd(1), trades: 1, wins },
  })
  const days = [
    day(today - 86_400_000, 'trend', 5, 1),
    day(today, 'trend', 3, 1),
    day(today, 'grid', -7, 0),
    day(today, 'trend', 2, 1),
  ]
  expect(chatAnswer('pnl', quiet, days)).toBe(
    [
      '2026-11-22: -$5.00 after all costs, 2 of 3 trades won',
      '  trend: $3.00 after all costs, 2 of 2 trades won',
      '  grid: -$8.00 after all costs, 0 of 1 trade won',
      '2026-11-21: $4.00 after all costs, 1 of 1 trade won',
      '  trend: $4.00 after all costs, 1 of 1 trade won',
    ].join('\n'),
  )
})
