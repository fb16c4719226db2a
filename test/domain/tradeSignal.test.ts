/** The fold of signals from outside: whatever the clock does, a nonce comes once, and what waits is taken once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ACCOUNT_ID,
  type AccountRecord,
  type AccountState,
  applyAccountRecord,
  emptyAccountState,
} from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { nonceProblem, type SignalEntry, type TakenSignals } from '../../src/domain/memory/tradeSignal.ts'
import { decodeExact, encodeExact } from '../../src/domain/records.ts'

const windowMs = 60_000
const names = ['tv', 'two'] as const

const stamped = (fact: object, atMs: number) =>
  ({ v: RECORD_VERSION, intentId: ACCOUNT_ID, atMs, ...fact }) as AccountRecord

const received = (strategy: string, nonce: string, sentAtMs: number): SignalEntry => ({
  kind: 'signal.received',
  signal: { strategy, action: 'long', symbol: 'ETH/USD [WETH-USDC]', sentAtMs, expiresAtMs: sentAtMs + 1 },
  nonce,
  nonceUntilMs: sentAtMs + windowMs,
})

const remembered = (strategy: string, signals: TakenSignals) => ({
  kind: 'strategy.remembered',
  strategy,
  signals,
  strategyKind: 'signal',
  version: 1,
  memory: {},
  tickMs: 0,
  throughSeq: 0,
  denied: [],
})

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant('clock'), byMs: fc.integer({ min: -90_000, max: 90_000 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('new'),
      strategy: fc.constantFrom(...names),
      offMs: fc.integer({ min: -70_000, max: 70_000 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('again'), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('turn'), strategy: fc.constantFrom(...names) }) },
  { weight: 1, arbitrary: fc.constant({ is: 'restart' }) },
)

test('no message is taken twice, whatever the clock does, and each that is taken is given once and in order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let state: AccountState = emptyAccountState
      let nowMs = 1_800_000_000_000
      const messages: { readonly strategy: string; readonly nonce: string; readonly sentAtMs: number }[] = []
      const taken = new Set<string>()
      const given = new Map<string, number[]>(names.map((name) => [name, []]))
      /** As the inbox does. */
      const send = ({ strategy, nonce, sentAtMs }: (typeof messages)[number]): void => {
        if (Math.abs(nowMs - sentAtMs) > windowMs) return
        if (nonceProblem(state.signals, nonce, sentAtMs) !== undefined) return
        expect(taken.has(nonce)).toBe(false)
        taken.add(nonce)
        state = applyAccountRecord(state, stamped(received(strategy, nonce, sentAtMs), nowMs))
      }
      for (const each of steps) {
        if ('byMs' in each) nowMs += each.byMs
        else if ('offMs' in each) {
          const message = {
            strategy: each.strategy,
            nonce: `nonce-${messages.length}`,
            sentAtMs: nowMs + each.offMs,
          }
          messages.push(message)
          send(message)
        } else if ('which' in each) {
          const message = messages[each.which]
          if (message !== undefined) send(message)
        } else if ('strategy' in each) {
          const waiting = state.signals?.waiting.get(each.strategy) ?? []
          const through = waiting.at(-1)?.number
          if (through === undefined) continue
          given.get(each.strategy)?.push(...waiting.map(({ number }) => number))
          const turn = remembered(each.strategy, { through, expired: [] })
          state = applyAccountRecord(state, stamped(turn, nowMs))
        } else state = decodeExact(encodeExact(state)) as AccountState
      }
      const all = [...given].flatMap(([strategy, numbers]) => {
        expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
        return [...numbers, ...(state.signals?.waiting.get(strategy) ?? []).map(({ number }) => number)]
      })
      expect(all.sort((one, other) => one - other)).toEqual([...taken].map((_, index) => index + 1))
    }),
    { numRuns: 500, seed: 15 },
  )
})

const firstMs = 1_800_000_000_000
const after = (state: AccountState, nonce: string, atMs: number) =>
  applyAccountRecord(state, stamped(received('tv', nonce, atMs), atMs))

test('nonces are kept for two days after their message may come, 1,000 of them at most, and what is forgotten is taken no more', () => {
  let state: AccountState = emptyAccountState
  for (let hour = 0; hour < 100; hour += 1) state = after(state, `nonce-${hour}`, firstMs + hour * 3_600_000)
  expect(state.signals?.nonces.size).toBe(49)
  const lastMs = firstMs + 200 * 3_600_000
  for (let more = 0; more < 1_100; more += 1) state = after(state, `more-${more}`, lastMs + more)
  // What may come yet is kept, however many there are.
  expect(state.signals?.nonces.size).toBe(1_100)
  state = after(state, 'later', lastMs + 3_600_000)
  expect(state.signals?.nonces.size).toBe(1_001)
  expect(nonceProblem(state.signals, 'more-99', lastMs + 99)).toBe('stale')
  expect(nonceProblem(state.signals, 'more-100', lastMs + 100)).toBe('replayed')
})

test('after a clock was ahead for three hours, signals of now are taken, and none of before, of there, or of when that time comes twice', () => {
  const [aheadMs, minuteMs] = [5 * 3_600_000, 60_000]
  let state = after(emptyAccountState, 'before', firstMs)
  for (let minute = 1; minute <= 180; minute += 10)
    state = after(state, `ahead-${minute}`, firstMs + aheadMs + minute * minuteMs)
  const backMs = firstMs + 181 * minuteMs
  expect(nonceProblem(state.signals, 'now', backMs)).toBeUndefined()
  state = after(state, 'now', backMs)
  expect(nonceProblem(state.signals, 'before', firstMs)).toBe('replayed')
  expect(nonceProblem(state.signals, 'ahead-171', firstMs + aheadMs + 171 * minuteMs)).toBe('replayed')
  expect(nonceProblem(state.signals, 'then', firstMs + aheadMs + 171 * minuteMs)).toBeUndefined()
})
