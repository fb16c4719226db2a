/** What the page knows after what it was told. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Change,
  emptyPage,
  fold,
  mostLines,
  type PageState,
} from '../../src/control/console/page/store/pageState.ts'
import { line, order, status, usd } from './rows.ts'

const after = (...changes: readonly Change[]): PageState => changes.reduce(fold, emptyPage)
const ids = ({ orders }: PageState) => orders.map(({ intentId }) => intentId)
const seqs = ({ log }: PageState) => log.lines.map(({ seq }) => seq)

test('an order that says the same stays the same value, so that its row is not drawn again', () => {
  const before = after({ type: 'orders', orders: [order('b'), order('a')] })
  const same = fold(before, { type: 'orders', orders: [order('b'), order('a')] })
  expect(same.orders).toBe(before.orders)
  const moved = fold(before, { type: 'orders', orders: [order('b', { status: 'executed' }), order('a')] })
  expect(moved.orders[0]?.status).toBe('executed')
  expect(moved.orders[1]).toBe(before.orders[1])
})

test('the newest orders come over those that were loaded before, newest first, each once', () => {
  const at = (hour: number) => ({ acceptedAt: `1970-01-01T0${hour}:00:00.000Z` })
  const state = after(
    { type: 'all-orders', orders: [order('c', at(3)), order('b', at(2)), order('a', at(1))], asked: 1_000 },
    { type: 'orders', orders: [order('d', at(4)), order('c', { ...at(3), status: 'executed' })] },
  )
  expect(ids(state)).toEqual(['d', 'c', 'b', 'a'])
  expect(state.orders[1]?.status).toBe('executed')
  expect(state.isAllOrders).toBe(true)
})

test('lines of the log come once each and in their order, however the stream tells them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 12 }), { maxLength: 8 }),
      (told) => {
        const state = after(
          ...told.map((some): Change => ({ type: 'lines', lines: some.map((seq) => line(seq)) })),
        )
        expect(seqs(state)).toEqual([...new Set(told.flat())].toSorted((one, other) => one - other))
      },
    ),
    { seed: 7, numRuns: 300 },
  )
})

test('the log is bounded, and the oldest lines go', () => {
  const all = Array.from({ length: mostLines + 5 }, (_, index) => line(index + 1))
  const state = after({ type: 'lines', lines: all })
  expect([state.log.lines.length, seqs(state)[0]]).toEqual([mostLines, 6])
})

test('lines of another run of the daemon take the place of all: their numbers begin anew', () => {
  const state = after(
    { type: 'log', log: { runId: 'one', lines: [line(7), line(8)], newest: 8 } },
    { type: 'log', log: { runId: 'two', lines: [line(1)], newest: 1 } },
  )
  expect([state.log.runId, seqs(state)]).toEqual(['two', [1]])
})

test('the equity gets one figure for each reading, and those of before the page was opened in front', () => {
  const at = (atMs: number, dollars: number): Change => ({
    type: 'status',
    nowMs: 0,
    status: status({
      equity: {
        equityUsd: usd(dollars),
        peakUsd: usd(100),
        dayStartMs: 0,
        dayStartUsd: usd(100),
        isEquitySettling: false,
        equityAtMs: atMs,
      },
    }),
  })
  const state = after(at(5_000, 100), at(5_000, 100), at(6_000, 99), {
    type: 'equity',
    points: [
      { atMs: 1_000, equityUsd: usd(90) },
      { atMs: 5_000, equityUsd: usd(100) },
    ],
  })
  expect(state.equity.map(({ atMs }) => atMs)).toEqual([1_000, 5_000, 6_000])
})

test('a curve of days stays bounded, and keeps its first and its newest figure', () => {
  const points = Array.from({ length: 20_000 }, (_, index) => ({ atMs: index, equityUsd: usd(index) }))
  const { equity } = after({ type: 'equity', points })
  expect(equity.length).toBeLessThanOrEqual(6_000)
  expect([equity[0]?.atMs, equity.at(-1)?.atMs]).toEqual([0, 19_999])
})

test.each(['none', 'over'] as const)(
  'where a session is %s nothing of the account is left on the screen',
  (session) => {
    const state = after(
      { type: 'session', session: { role: 'read', expiresAtMs: 1, typedSizeBps: 2_500 } },
      { type: 'status', status: status(), nowMs: 0 },
      { type: 'orders', orders: [order('a')] },
      { type: 'session', session },
    )
    expect(state).toEqual({ ...emptyPage, session })
  },
)

test('a story that comes after another order was opened is left out', () => {
  const problem = 'There is no order a.'
  const late = after(
    { type: 'show', intentId: 'a' },
    { type: 'show', intentId: 'b' },
    { type: 'no-story', intentId: 'a', problem },
  )
  expect(late.shown).toEqual({ intentId: 'b' })
  expect(fold(late, { type: 'show' }).shown).toBeUndefined()
})

test('strategies that say the same stay the same values', () => {
  const strategy = {
    name: 'guard',
    kind: 'guard',
    opensPositions: false,
    symbols: [],
    cadenceMs: 1,
    ticks: 1,
  }
  const told = {
    ...strategy,
    decisions: 0,
    admitted: 0,
    denied: 0,
    failures: 0,
    tradingState: 'active',
  } as const
  const before = after({ type: 'status', nowMs: 0, status: status({ strategies: [told] }) })
  const next = fold(before, {
    type: 'status',
    nowMs: 0,
    status: status({ strategies: [{ ...told }], nowMs: 11_000_000 }),
  })
  expect(next.status?.strategies).toBe(before.status?.strategies)
})
