/** What people are told of halts, kills, pauses and the account over whole stories: which is a beginning, which its end, and what comes again. */
import { expect, test } from 'vitest'
import type { Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import type { ReleasedBy, TradingScope } from '../../src/domain/accountRecords/tradingState.ts'
import type { Event } from '../../src/domain/event.ts'
import { createCauseFilter } from '../../src/monitor/incidents/again.ts'
import type { NoticeFilter } from '../../src/notify/noticeFilter.ts'
import { createSinkCauses } from '../../src/notify/sinkCauses.ts'
import { usd } from '../../src/protocol/units.ts'
import { createKillSteps } from '../../src/running/killSteps.ts'
import { account, ethMarket, usdc } from '../support/intents.ts'
import { noticeOf } from '../support/noticeOf.ts'

/** What a sink of this filter is told of events that happen within a minute: the text of each, or undefined. */
function toldOf(events: readonly Event[], filter: NoticeFilter = { level: 'warn', events: {} }) {
  const [repeats, taken] = [createCauseFilter(), createSinkCauses(filter)]
  return events.map((event, atMs) => {
    const notice = noticeOf(event)
    if (notice === undefined || repeats.take(notice, atMs) === undefined) return undefined
    return taken.take(notice) === undefined ? undefined : notice.text
  })
}

const state = (
  to: 'active' | 'reducing' | 'halted',
  cause: 'operator' | 'drawdown' | 'rejects',
  isReleased = false,
  scope: TradingScope = 'account',
): Event => ({
  type: 'trading.state',
  ...{ scope, state: to, cause, reason: `${cause} says ${to}` },
  ...(isReleased ? { isReleased } : {}),
})

test('a halt, its release and the next halt for the same reason are each told, a sink above info included', () => {
  const halted = state('halted', 'operator', false, 'global')
  const active = state('active', 'operator', true, 'global')
  const story = [halted, active, halted, active]
  expect(toldOf(story)).toEqual([
    'trading is halted: operator says halted',
    'trading is active: operator says active',
    'trading is halted: operator says halted',
    'trading is active: operator says active',
  ])
  expect(toldOf(story, { level: 'error', events: {} })).toEqual([undefined, undefined, undefined, undefined])
})

test('a hold that becomes a halt is told, and each hold of a scope has an end of its own', () => {
  const story = [
    state('reducing', 'drawdown'),
    state('halted', 'drawdown'),
    state('halted', 'rejects'),
    state('halted', 'drawdown', true),
    state('active', 'rejects', true),
    state('reducing', 'drawdown'),
  ]
  expect(toldOf(story)).toEqual([
    'trading on the account is reducing: drawdown says reducing',
    'trading on the account is halted: drawdown says halted',
    'trading on the account is halted: rejects says halted',
    'trading on the account is halted: drawdown says halted',
    'trading on the account is active: rejects says active',
    'trading on the account is reducing: drawdown says reducing',
  ])
  expect(story.map((event) => noticeOf(event)?.isEnd === true)).toEqual([
    ...[false, false, false, true, true, false],
  ])
})

test('strategies have causes of their own', () => {
  const [one, other] = (['strategy:one', 'strategy:other'] as const).map((scope) =>
    noticeOf(state('reducing', 'rejects', false, scope)),
  )
  expect(one?.cause).not.toBe(other?.cause)
  expect(one?.text).toBe('trading of one is reducing: rejects says reducing')
})

test('a halt says whether somebody must act: where an operator or the next day lifts it, and not where its cause does', () => {
  const actionOf = (releasedBy?: ReleasedBy, scope?: TradingScope, isReleased = false) => {
    const event = state('halted', 'drawdown', isReleased, scope)
    return noticeOf({ ...event, ...(releasedBy === undefined ? {} : { releasedBy }) } as Event)?.action
  }
  expect(actionOf('operator')).toBe(
    'Check the cause: perpd trading. It lasts until you release it: perpd trading active',
  )
  expect(actionOf('operator', 'strategy:one')).toContain('perpd trading active --scope one')
  expect(actionOf('next-day')).toBe(
    'Check the cause: perpd trading. perpd releases it on the next day (UTC); to release it now: perpd trading active',
  )
  expect(actionOf('itself')).toBeUndefined()
  expect(actionOf(undefined, 'global', true)).toBeUndefined()
  // One hold was lifted, and another one stays.
  expect(actionOf('operator', 'global', true)).toContain('It lasts until you release it')
})

test('a kill tells each step, that it is stuck and that it is done, and the next kill tells all of it anew', () => {
  const events: Event[] = []
  let nowMs = 0
  const steps = createKillSteps({
    emit: (event) => void events.push(event),
    clock: { monotonicMs: () => nowMs },
  })
  const look = (orders: number, positions: number): void =>
    steps.look({
      ...{ close: true, left: { orders, positions, inFlight: 0 }, toCancel: orders, stays: [] },
      problem: 'no host answers',
    })
  for (const _ of [1, 2]) {
    steps.restart()
    look(1, 1)
    nowMs += 60_000
    look(1, 1)
    look(0, 1)
    nowMs += 60_000
    look(0, 1)
    steps.done(true)
  }
  const kill = [
    'kill: closing 1 position at the market',
    'the kill makes no progress: no host answers. perpd keeps retrying',
    'kill: cancelling every order that adds risk, then closing all positions; their exits stay until then',
    'the kill makes no progress: no host answers. perpd keeps retrying',
    'the kill is done: no order rests and no position is open',
  ]
  expect(toldOf(events)).toEqual([...kill, ...kill])
  // Who takes errors alone hears that it is stuck, and that it is over.
  const none = undefined
  const loud = [none, kill[1], none, kill[3], kill[4]]
  expect(toldOf(events, { level: 'error', events: {} })).toEqual([...loud, ...loud])
})

test('a kill that gave up its place to one that closes positions tells of the cancelled orders again', () => {
  const step = (close: boolean): Event => ({ type: 'kill.step', step: 'cancelled', close, stays: [] })
  const abandoned: Event = { type: 'kill.step', step: 'abandoned' }
  expect(toldOf([step(false), step(true), abandoned, step(true)])).not.toContain(undefined)
  expect(noticeOf(abandoned)).toMatchObject({ kind: 'kill-step', isEnd: true })
})

test('a kill asks for somebody where it is stuck, and where it leaves a position without a stop-loss, not where one protects all of it', () => {
  const actionOf = (event: Event) => noticeOf(event)?.action
  const stuck = noticeOf({ type: 'kill.step', step: 'stuck', reason: 'no host answers' })
  expect(stuck).toMatchObject({ level: 'error', action: expect.stringContaining('perpd status') })
  for (const step of ['cancelled', 'done'] as const) {
    const left = { symbol: 'ETH/USD', direction: 'long', sizeUsd: usd(500) } as const
    const stop = { name: 'stop-loss', triggerPrice: usd(1_900), sizeUsd: usd(500) } as const
    const bare: Event = {
      ...{ type: 'kill.step', step, close: false },
      stays: [{ ...left, exits: [], uncoveredUsd: usd(500) }],
    }
    expect(noticeOf(bare)?.text).toContain('still open: long ETH/USD $500.00 (no stop-loss)')
    expect(actionOf(bare)).toBe(
      'No stop-loss protects all of long ETH/USD (perpd positions). Close all: perpd kill --close. Close one: perpd close MARKET SIDE. Or set a stop: perpd protect MARKET SIDE --stop-loss PRICE',
    )
    const safe: Event = { ...bare, stays: [{ ...left, exits: [stop], uncoveredUsd: 0n }] }
    expect(noticeOf(safe)?.text).toContain('still open: long ETH/USD $500.00 (stop-loss at $1,900.00)')
    expect(actionOf(safe)).toBeUndefined()
    expect(actionOf({ ...bare, stays: [] })).toBeUndefined()
  }
  const unproven = noticeOf({
    type: 'kill.step',
    step: 'unproven',
    close: true,
    stays: [],
    reason: 'it is not seen',
  })
  expect(unproven).toMatchObject({
    level: 'error',
    isEnd: true,
    action: expect.stringContaining('perpd doctor'),
  })
  expect(actionOf({ type: 'kill.step', step: 'closing', positions: 2 })).toBeUndefined()
  expect(actionOf({ type: 'kill.step', step: 'abandoned' })).toBeUndefined()
})

test('a strategy that was paused, let go on and paused again is told of each time', () => {
  const strategy = 'eth-trend'
  const paused: Event = { type: 'strategy.paused', strategy, failures: 3, forMs: 60_000, reason: 'It threw.' }
  const to = (word: 'paused' | 'running'): Event => ({
    type: 'strategy.switched',
    ...{ strategy, to: word, reason: 'So it be.', by: 'ann' },
  })
  const told = toldOf([paused, paused, to('paused'), to('running'), paused, to('running')])
  expect(told.map((text) => text !== undefined)).toEqual([true, false, true, true, true, true])
})

const discrepancy: Discrepancy = {
  discrepancyId: 'trade:1',
  kind: 'unexplained-position',
  statement: 'There is a position that the journal does not know.',
  ...{ account, marketToken: ethMarket, collateralToken: usdc, direction: 'long', sizeDeltaUsd: usd(5) },
} as Discrepancy

test('a change of the account asks for somebody while it keeps increases waiting, and its end goes where it went', () => {
  const raised: Event = { type: 'account.discrepancy', discrepancy, isPausing: true }
  const settled: Event = { type: 'account.discrepancySettled', discrepancy, as: 'adopted' }
  expect(noticeOf(raised)).toMatchObject({
    kind: 'account-change',
    level: 'error',
    action: 'Settle it: perpd discrepancies adopt trade:1 --by NAME, or ignore in place of adopt',
  })
  expect(noticeOf({ ...raised, isPausing: false })?.action).toBeUndefined()
  const liquidated: Event = {
    ...raised,
    discrepancy: { ...discrepancy, kind: 'liquidation' },
    isPausing: false,
  }
  expect(noticeOf(liquidated)?.action).toContain('perpd positions')
  expect(noticeOf(settled)).toMatchObject({ kind: 'account-settled', level: 'info', isEnd: true })
  expect(toldOf([settled, raised, settled], { level: 'error', events: {} })).toEqual([
    undefined,
    expect.stringContaining('the journal does not know'),
    expect.stringContaining('adopted'),
  ])
})

test('changes that are not written down yet are told with what to do, until all are', () => {
  const deferred = (held: number, isJournalShort: boolean): Event => ({
    type: 'account.discrepanciesDeferred',
    ...{ held, isJournalShort },
  })
  expect(noticeOf(deferred(2, true))).toMatchObject({
    kind: 'journal',
    action: 'Give the journal more space: journal.maxMiB, or the disk.',
  })
  expect(noticeOf(deferred(2, false))).toMatchObject({
    kind: 'account-change',
    action: 'Check perpd discrepancies.',
  })
  const told = toldOf([deferred(2, true), deferred(3, true), deferred(0, false)])
  expect(told.map((text) => text !== undefined)).toEqual([true, false, true])
})

test('money that left asks whether it was you, money that came does not; each is a cause of its own', () => {
  const moved = (dollars: number): Event => ({
    type: 'account.transferred',
    amountUsd: usd(dollars),
    afterUsd: usd(900),
  })
  expect(noticeOf(moved(-40))).toMatchObject({
    kind: 'account-transfer',
    level: 'warn',
    action: expect.stringContaining('perpd kill --close'),
  })
  expect(noticeOf(moved(40))).toMatchObject({ level: 'info' })
  expect(noticeOf(moved(40))?.action).toBeUndefined()
  expect(toldOf([moved(-40), moved(-41)])).not.toContain(undefined)
})

test('books that differ and a position without a strategy ask for somebody; what is held and jumps of the equity are told to nobody', () => {
  const side = { marketToken: ethMarket, direction: 'long' } as const
  expect(
    noticeOf({ type: 'account.booksDiffer', ...side, booksUsd: usd(4), expectedUsd: usd(5) }),
  ).toMatchObject({ kind: 'books-differ', level: 'error', action: expect.stringContaining('journal export') })
  expect(
    noticeOf({
      type: 'account.unmanaged',
      ...{ symbol: 'ETH/USD', direction: 'long', sizeUsd: usd(500), madeBy: ['eth-trend'], seenBy: [] },
    }),
  ).toMatchObject({
    kind: 'position-unmanaged',
    level: 'warn',
    action: expect.stringContaining('perpd close'),
  })
  expect(noticeOf({ type: 'account.positions', positions: [], symbols: {} })).toBeUndefined()
  expect(
    noticeOf({ type: 'account.equityJumped', readingUsd: usd(5), equityUsd: usd(9) } as Event),
  ).toBeUndefined()
})

test('a key whose approval is gone half an hour after it ran low is told at once, to who takes errors alone too', () => {
  const report = (isActive: boolean) => ({
    ...{ address: account, isActive, isApprovalWaiting: false },
    ...{ remainingActions: isActive ? 90 : 0, neededActions: 2, expiresAtSeconds: 1_800_000_000 },
  })
  const low = (isActive: boolean): Event => ({
    type: 'subaccount.low',
    ...{ report: report(isActive), secondsLeft: 50_000 },
  })
  const revoked = expect.stringContaining('If you did not revoke it')
  expect(toldOf([low(true), low(false)])).toEqual([expect.stringContaining('ends soon'), revoked])
  expect(toldOf([low(true), low(false)], { level: 'error', events: {} })).toEqual([undefined, revoked])
})
