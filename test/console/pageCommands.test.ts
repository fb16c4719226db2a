/** What the page sends is what the control port reads, and what cannot be undone is typed. */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commandForms } from '../../src/control/console/page/commandForms.ts'
import { formCommand, type PageCommand } from '../../src/control/console/page/formCommand.ts'
import {
  cancelCommand,
  closeCommand,
  drainCommand,
  killCommand,
  liftCommand,
  limitsCommand,
  moveCommand,
  moveOrderCommand,
  protectCommand,
  setFieldCommand,
  settleCommand,
  startTaskCommand,
  stopTaskCommand,
  switchCommand,
  tradingCommand,
} from '../../src/control/console/page/pageCommands.ts'
import type { Status } from '../../src/control/console/page/pageWire.ts'
import { shownPositions } from '../../src/control/console/page/shownFigures.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { parseCommand } from '../../src/control/parseCommand.ts'
import type { ReadRow } from '../../src/operator/commandRow.ts'
import { commandRows, fleetRows } from '../../src/operator/commands/index.ts'
import { ETH, market, order, positionRow, resting, status, usd } from './rows.ts'

const defaults = ({ fields }: PageCommand) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]))

/** What the control port makes of a command with these values over its own. */
function readAs(row: ReadRow, command: PageCommand, values: Record<string, string> = {}) {
  const all = { ...defaults(command), ...values }
  const bodies = [command.body(all), ...(command.preview === undefined ? [] : [command.preview(all)])]
  const read = bodies.map((body) =>
    parseCommand(row, JSON.parse(JSON.stringify({ ...body, by: 'ann' })), 'x'),
  )
  for (const each of read) expect(each).toMatchObject({ ok: true, by: 'ann' })
  return read.map((each) => (each.ok ? each.command : undefined))
}

const WETH = '0x82af49447d8a07e3bd95bd0d56f35241523fbab1'
const [position] = shownPositions(status({ positions: [positionRow()] }), [], [])
if (position === undefined) throw new Error('There is a position.')
const halt = (cause: Status['halts'][number]['cause'], releasedBy: 'operator' | 'itself' = 'operator') =>
  ({ scope: 'account', cause, state: 'halted', reason: 'r', by: 'perpd', sinceMs: 0, releasedBy }) as const

test('every command is one that the control port reads', () => {
  readAs(commandRows.setTrading, tradingCommand('reducing', status()), { reason: 'lunch' })
  readAs(commandRows.setTrading, tradingCommand('active', status()))
  readAs(commandRows.startKill, killCommand(true, status()))
  expect(readAs(commandRows.cancelOrder, cancelCommand(order('a'), 'abcd'))).toMatchObject([
    { type: 'cancel' },
    { isPreview: true },
  ])
  readAs(commandRows.pauseStrategy, switchCommand('eth-trend', 'pause'))
  readAs(commandRows.resumeStrategy, switchCommand('eth-trend', 'resume'), { reason: 'fixed' })
  const [plain, tried] = readAs(commandRows.setStrategyField, setFieldCommand('guard'), {
    field: 'size.usd',
    value: '400',
  })
  expect([plain, tried]).toMatchObject([{ isConfirmed: false }, { isConfirmed: false, isPreview: true }])
  readAs(commandRows.stopTask, stopTaskCommand({ taskId: 'twap:a', asked: 'open' } as never))
  readAs(
    commandRows.settleDiscrepancy,
    settleCommand({ discrepancy: { discrepancyId: 'f', statement: 's' } } as never, 'adopted'),
  )
  readAs(commandRows.reloadFiles, formCommand('reloadLooser'))
  readAs(commandRows.applyLimits, formCommand('limits'))
  const [tighten, preview] = readAs(commandRows.tightenLimit, limitsCommand('tighten', []), {
    limit: ' maxLeverage ',
    value: '2.5',
  })
  expect(tighten).toEqual({ type: 'tighten', limit: 'maxLeverage', value: '2.5' })
  expect(preview).toMatchObject({ isPreview: true })
})

test('the commands of a fleet name their node or account, offer the nodes that can hold it, and are sent by old figures of an account', () => {
  const move = moveCommand({ name: 'alpha', nodes: ['one', 'two'] } as never)
  expect(readAs(fleetRows.moveAccount, move, { node: 'two' })).toMatchObject([
    { type: 'fleet-move', account: 'alpha', node: 'two' },
    { isPreview: true },
  ])
  expect(move.fields[0]?.suggestions?.map(({ value }) => value)).toEqual(['one', 'two', 'any'])
  const drains = [false, true].map((isDraining) => drainCommand('two', isDraining))
  expect(drains.map((drain) => readAs(fleetRows.drainNode, drain)[0])).toMatchObject([
    { type: 'fleet-drain', node: 'two', end: false },
    { node: 'two', end: true },
  ])
  expect([move, ...drains].map(({ isStop }) => isStop)).toEqual([true, true, true])
})

test('the exits of a position are for all of it unless its part by hand is chosen, and what is left empty stays as it is', () => {
  const command = protectCommand(position, undefined)
  const [whole, preview] = readAs(commandRows.protectPosition, command, { stopLoss: '3%' })
  expect(whole).toMatchObject({ type: 'protect', direction: 'long', stopLoss: '3%', own: false })
  expect(whole).not.toHaveProperty('takeProfit')
  expect(preview).toMatchObject({ isPreview: true })
  const [part] = readAs(commandRows.protectPosition, command, { takeProfit: 'none', own: 'own' })
  expect(part).toMatchObject({ takeProfit: 'none', own: true })
  const said = { ...command.body({ stopLoss: '0,9' }), by: 'ann' }
  expect(parseCommand(commandRows.protectPosition, said)).toMatchObject({ ok: false })
})

test('the dialog that protects shows what holds now, and asks anew only for what is changed in it', () => {
  const byStrategy = { orderKey: '0x0b', ownerKind: 'instance', owner: 'eth-trend' } as const
  const facts = (restingOrders: Status['restingOrders']) => {
    const now = status({ positions: [positionRow()], restingOrders })
    return [protectCommand(position, now), now] as const
  }
  const [command, now] = facts([
    resting({ sizeUsd: usd(200) }),
    resting({ ...byStrategy, triggerPrice: usd(1_950) }),
    resting({ orderKey: '0x0c', direction: 'short', triggerPrice: usd(2_050) }),
  ])
  expect(command.now?.(now)).toEqual([
    ['mark', '$2,000.00'],
    ['entry', '$1,990.00, -0.50% from the mark'],
    ['stop', '$1,950.00, -2.50% from the mark, -$10.05 there before costs, eth-trend'],
    ['stop', '$1,900.00, -5.00% from the mark, -$9.05 there before costs, by hand'],
    ['liquidation', '$1,500.00, -25.00% from the mark, -$123.12 there before costs'],
    ['target', 'none'],
  ])
  // The mark moves while it is open.
  const later = status({ positions: [positionRow({ markPrice: usd(1_960) })] })
  expect(command.now?.(later)).toContainEqual(['mark', '$1,960.00'])
  expect(command.now?.(later)).toContainEqual(['stop', 'none'])
  // Only exits by hand are what it moves, and a part of the position is their part.
  expect(defaults(command)).toEqual({ stopLoss: '1900.00', takeProfit: '', own: 'own' })
  expect(defaults(facts([resting({ ...byStrategy })])[0])).toMatchObject({ stopLoss: '', own: 'whole' })
  const read = (values: Record<string, string>) => readAs(commandRows.protectPosition, command, values)[0]
  expect(read({})).toMatchObject({ stopLoss: '1900.00', own: true })
  expect(read({ takeProfit: '2100' })).toMatchObject({ takeProfit: '2100', own: true })
  expect(read({ takeProfit: '2100' })).not.toHaveProperty('stopLoss')
  expect(read({ own: 'whole' })).toMatchObject({ stopLoss: '1900.00', own: false })
})

test('an order that rests is moved by its key to the price that is typed, and no other number is read', () => {
  const now = status({ positions: [positionRow()], restingOrders: [resting()] })
  const command = moveOrderCommand(resting(), '$1,900.00', 'abcd')
  expect(command.path).toBe('/api/orders/0x0a/move')
  expect(command.now?.(now)).toEqual([
    ['mark', '$2,000.00'],
    ['stop', '$1,900.00, -5.00% from the mark, -$22.61 there before costs, by hand'],
  ])
  const [moved, preview] = readAs(commandRows.moveOrder, command, { price: '$1,850.5' })
  expect(moved).toMatchObject({ type: 'move', id: 'abcd', price: '1850.5' })
  expect(preview).toMatchObject({ isPreview: true })
  const [price] = command.fields
  expect([price?.value, price?.problem?.('1,850.50'), price?.problem?.('1850')]).toEqual([
    ...['1900.00', undefined, undefined],
  ])
  for (const wrong of ['0,9', '1e3', '']) expect(price?.problem?.(wrong)).toContain(`“${wrong}”`)
})

test('a looser limit is confirmed by the very word that is asked for, and by nothing else', () => {
  const command = setFieldCommand('guard', 'limits.maxLeverage')
  const confirmed = (confirm: string) =>
    readAs(commandRows.setStrategyField, command, { value: '9', confirm }).map(
      (each) => each !== undefined && 'isConfirmed' in each && each.isConfirmed,
    )
  expect(confirmed(' loosen ')).toEqual([true, true])
  for (const other of ['', 'yes', 'loosen it', 'LOOSEN']) expect(confirmed(other)).toEqual([false, false])
})

test('a close names the token that backs its position, so that the other one of the side stays', () => {
  const rows = [positionRow(), positionRow({ collateralToken: WETH, sizeInUsd: usd(400) })]
  const markets = [
    market('ETH/USD [WETH-USDC]', {
      marketToken: ETH,
      longToken: WETH,
      shortToken: positionRow().collateralToken,
    }),
  ]
  const closes = shownPositions(status({ positions: rows }), [], markets).map((each) =>
    closeCommand(each, 'abcd'),
  )
  expect(closes.map((close) => readAs(commandRows.closePosition, close))).toMatchObject([
    [{ collateral: 'short' }, { collateral: 'short' }],
    [{ collateral: 'long' }, { collateral: 'long' }],
  ])
  // Before the markets were read the daemon is left to refuse what may mean two.
  expect(closeCommand(position, 'abcd').body({ percent: '100' })).not.toHaveProperty('collateral')
})

test('a share is sent in whole basis points, and one that is none is refused', () => {
  const command = closeCommand(position, 'abcd')
  expect(readAs(commandRows.closePosition, command, { percent: '33.3' })).toMatchObject([
    { type: 'close', shareBps: 3_330, market: 'ETH/USD [WETH-USDC]', direction: 'long' },
    { isPreview: true },
  ])
  for (const percent of ['', '0', '101', '1e2', 'half', '-5', '1.234']) {
    expect(parseCommand(commandRows.closePosition, { ...command.body({ percent }), by: 'ann' }).ok).toBe(
      false,
    )
  }
})

test('a twap that opens has a leverage, one that takes off has none, and amounts go as they are typed', () => {
  const command = startTaskCommand('twap', ['ETH/USD [WETH-USDC]'], 'abcd')
  const size = '1234.000000000000000001'
  expect(readAs(commandRows.startTask, command, { size })).toMatchObject([
    { size, leverage: '2', reduce: false },
    { isPreview: true },
  ])
  const [reducing] = readAs(commandRows.startTask, command, { size, action: 'reduce', price: ' 1900 ' })
  expect(reducing).toMatchObject({ reduce: true, price: '1900' })
  expect(reducing).not.toHaveProperty('leverage')
})

test.each([
  [
    'bracket',
    { size: '500', stopLoss: '1700', takeProfit: ' 1900 ' },
    { size: '500', leverage: '2', stopLoss: '1700', takeProfit: '1900' },
  ],
  ['ladder', { size: '500', step: '0.5%' }, { rungs: 5, stepBps: 50, profitBps: 200, stopBps: 800 }],
  ['chase', { size: '500', price: '1900', action: 'reduce' }, { reduce: true, minutes: 15, price: '1900' }],
  ['accumulate', { target: '500', price: '1900' }, { target: '500', leverage: '2' }],
  ['rebalance', { total: '500', weights: 'ETH=50, BTC=-30%' }, { weights: { ETH: 5_000, BTC: -3_000 } }],
] as const)('a %s goes as the daemon takes it', (kind, values, expected) => {
  const command = startTaskCommand(kind, ['ETH/USD [WETH-USDC]'], 'abcd')
  expect(readAs(commandRows.startTask, command, values)).toMatchObject([
    { kind, ...expected },
    { isPreview: true },
  ])
})

test('what cannot be undone is typed, and what can is not', () => {
  const typed = [
    killCommand(false, status()),
    killCommand(true, status()),
    closeCommand(position, 'abcd'),
    settleCommand({ discrepancy: { discrepancyId: 'f', statement: 's' } } as never, 'ignored'),
    formCommand('limitsLooser'),
    tradingCommand('active', status({ halts: [halt('daily-loss')] })),
    tradingCommand('active', status({ kill: { close: false, by: 'ann', sinceMs: 0 } })),
  ]
  expect(typed.map((command) => command.typed)).toEqual([
    'kill',
    'close everything',
    'close',
    'ignore',
    'loosen',
    'active',
    'active',
  ])
  const others = [
    tradingCommand('halted', status()),
    tradingCommand('active', status({ halts: [halt('operator')] })),
    switchCommand('guard', 'pause'),
    formCommand('limits'),
  ]
  expect(others.map((command) => command.typed)).toEqual([undefined, undefined, undefined, undefined])
})

test('who lets trading go on is told what is lifted, what is not, and that a loss is accepted where one is', () => {
  const told = (...halts: Status['halts']) => tradingCommand('active', status({ halts })).effects.join(' ')
  const accepts = texts.commands.acceptsLoss
  expect(told(halt('daily-loss'))).toContain(accepts)
  expect(told(halt('drawdown'))).toContain(accepts)
  for (const cause of ['kill', 'operator', 'rejects', 'payload-mismatch'] as const)
    expect([cause, told(halt(cause))]).toEqual([cause, expect.not.stringContaining(accepts)])
  expect(told(halt('kill'))).toContain(texts.commands.liftsKill)
  const drift = tradingCommand('active', status({ halts: [halt('unexplained', 'itself')] }))
  expect(drift.effects.join(' ')).toContain(texts.commands.notLifted(texts.causes.unexplained))
  expect(drift.typed).toBeUndefined()
})

test('a kill tells what rests of perpd’s, exits too, and of others’, what is on its way still, and leaves exits unless that is chosen', () => {
  const leg = (was: string) => ({ role: 'main', status: was })
  const resting = order('a', { legs: [leg('executed'), leg('resting'), leg('resting')] as never })
  const sent = order('b', { legs: [] })
  const told = (over: Partial<Status>) => killCommand(false, status(over)).effects.join(' ')
  expect(told({ openIntents: [resting, sent] as never, othersOrders: 3 })).toContain(
    texts.commands.killCancels(2, 3, 1),
  )
  // Before the first look nothing is claimed of them.
  expect(told({})).toContain(texts.commands.killCancels(0, undefined, 0))
  const body = (exits: string) => killCommand(false, status()).body({ exits })
  expect([body('stay'), body('cancelled'), killCommand(true, status()).body({})]).toEqual([
    { close: false },
    { close: false, exits: true },
    { close: true },
  ])
})

test('one strategy is let go on by its own scope, with what it was held for typed where a breaker put it on', () => {
  const scope = 'strategy:own'
  const own = (cause: Status['halts'][number]['cause']) => ({ ...halt(cause), scope }) as const
  const lift = (...halts: Status['halts']) => liftCommand(scope, halts)
  expect(readAs(commandRows.setTrading, lift(own('operator')), { reason: 'calm again' })).toMatchObject([
    { scope, state: 'active', reason: 'calm again' },
  ])
  expect(lift(own('operator')).typed).toBeUndefined()
  expect(lift(own('rejects')).typed).toBe('active')
  expect(lift(own('operator')).effects.join(' ')).toContain(texts.commands.lift)
  // Whoever reads it is not promised that it trades while something else holds everything back.
  for (const other of [halt('kill'), { ...own('unexplained'), releasedBy: 'itself' } as const])
    expect(lift(own('operator'), other).effects.join(' ')).toContain(texts.commands.liftHeld)
  // What holds another strategy is nothing to this one.
  const another = { ...own('operator'), scope: 'strategy:other' } as const
  expect(lift(own('operator'), another).effects).toEqual(lift(own('operator')).effects)
})

test('who settles a discrepancy is told what is counted by it, and that increases on its market go on', () => {
  const told = (kind: string, as: 'adopted' | 'ignored') =>
    settleCommand({ discrepancy: { discrepancyId: 'f', statement: 's', kind } } as never, as).effects.join(
      ' ',
    )
  expect(told('unexplained-position', 'adopted')).toContain(texts.commands.settle.adopted)
  expect(told('unexplained-position', 'ignored')).toContain(texts.commands.settle.ignored)
  // A trade that was executed counts whatever is said of it.
  for (const as of ['adopted', 'ignored'] as const) {
    expect(told('manual-increase', as)).toContain(texts.commands.settle.trade)
    expect(told('unexplained-order', as)).toContain(texts.commands.settle.order)
    for (const kind of ['manual-increase', 'unexplained-order', 'changed-order', 'unexplained-position'])
      expect([kind, told(kind, as)]).toEqual([kind, expect.stringContaining('Increases on its market')])
  }
})

test('a name in a path stays one part of it', () => {
  expect(switchCommand('a/../b', 'pause').path).toBe('/api/strategies/a%2F..%2Fb/pause')
})

test('a cancel is typed when its preview says that it takes the last stop-loss of a position', () => {
  const { typed, typedFor } = cancelCommand(order('a'), 'abcd')
  expect(typed).toBeUndefined()
  expect(typedFor?.({ ok: true, statement: 's', isLastStop: true })).toBe('no stop')
  expect(typedFor?.({ ok: true, statement: 's' })).toBeUndefined()
})

test('what a field does not take is said at once, in its own unit, and nothing is sent', () => {
  const [percent] = closeCommand(position, 'abcd').fields
  expect(percent?.problem?.('33.3')).toBeUndefined()
  for (const value of ['150', '0', 'half', '']) expect(percent?.problem?.(value)).toBe(texts.commands.noShare)
  expect(tradingCommand('halted', status()).fields[0]?.most).toBe(200)
})

test('a refused body is told in words of whoever typed it', () => {
  const told = (row: ReadRow, body: object) => {
    const parsed = parseCommand(row, { by: 'ann', ...body })
    return parsed.ok ? '' : parsed.problem
  }
  const close = { id: 'abcd', market: 'ETH', direction: 'long' }
  expect([
    told(commandRows.closePosition, { ...close, shareBps: 15_000 }),
    told(commandRows.closePosition, { ...close, shareBps: 'half' }),
    told(commandRows.closePosition, { ...close, direction: 'up' }),
    told(commandRows.setTrading, { state: 'halted', reason: 'x'.repeat(201) }),
    told(commandRows.startKill, { by: ' ' }),
    told(commandRows.startKill, { clse: true }),
    told(commandRows.openPosition, {}),
    told(commandRows.openPosition, { ...close, leverage: '2' }),
  ]).toEqual([
    'the share is more than 100 percent',
    'the share is "half", which is no percentage with at most two digits after the point',
    'direction is none of long, short',
    'the reason has more than 200 characters',
    'the name of who commands is empty',
    'the body has fields that no such command has: clse',
    'id is missing; the market is missing; direction is none of long, short; leverage is missing',
    'the body: exactly one of size, tokens, equityBps and risk',
  ])
})

test('every form has a place for its button, or the page opens it by its name', () => {
  const page = resolve(import.meta.dirname, '..', '..', 'src', 'control', 'console', 'page')
  const code = globSync('**/*.ts', { cwd: page })
    .filter((file) => file !== 'commandForms.ts')
    .map((file) => readFileSync(join(page, file), 'utf8'))
    .join('\n')
  const unreachable = Object.entries(commandForms).filter(
    ([name, { place }]) => place === undefined && !code.includes(`'${name}'`),
  )
  expect(unreachable.map(([name]) => name)).toEqual([])
})
