/** One running strategy: what counts as its turns. */
import { expect, test } from 'vitest'
import { UnreachableError } from '../../src/api/transport/apiErrors.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { Event } from '../../src/domain/event.ts'
import { createInstance } from '../../src/engine/instance.ts'
import type { TickReport } from '../../src/engine/tick.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { manualClock } from '../support/venue.ts'

const loaded = {
  name: 'mine',
  cadenceMs: 1_000,
  symbols: [],
  strategy: { kind: 'mine' },
  hosted: { onSaid: () => undefined, path: 'strategies/mine.ts' },
} as unknown as LoadedStrategy

test('turns at which a kind pauses are not counted, and those at which it is asked again are', async () => {
  const clock = manualClock(1_700_000_000_000)
  const ending = new AbortController()
  const asked: boolean[] = []
  let failed: unknown = new Error('it is broken')
  const instance = createInstance(
    loaded,
    {
      clock,
      emit: () => undefined,
      trading: { haltOn: () => undefined, accountJournal: { state: () => ({}) } } as never,
    },
    ending.signal,
    async (_tickMs, isAsked) => {
      asked.push(isAsked)
      return {
        decisions: 0,
        admitted: 0,
        denied: 0,
        invalid: 0,
        ...(isAsked ? { failed } : {}),
      } as TickReport
    },
    { pauseAfterFailures: 2 },
  )
  const running = instance.run()
  await clock.advance(30_000)
  expect(asked.length).toBeGreaterThan(20)
  // Since the first of them, and where to mend it.
  expect(instance.status()).toMatchObject({
    ticks: 2,
    failures: 2,
    failingSinceMs: 1_700_000_000_000,
    lastError: 'it is broken',
    kindFile: 'strategies/mine.ts',
  })
  expect(instance.status().pausedForMs).toBeGreaterThan(0)
  // What it skips goes on, and is no turn at which it was asked.
  expect(instance.status()).toMatchObject({ lastAskedAtMs: 1_700_000_001_000 })
  expect(instance.status().lastTickAtMs).toBeGreaterThan(1_700_000_020_000)
  failed = undefined
  await clock.advance(60_000)
  expect(instance.status().ticks).toBe(asked.filter(Boolean).length)
  expect(instance.status().ticks).toBeGreaterThan(10)
  expect(instance.status()).not.toHaveProperty('failingSinceMs')
  ending.abort()
  await running
})

test('turns that take too much of the processor are told, and three in a row pause; a quick one between begins the count anew', async () => {
  const clock = manualClock(1_700_000_000_000)
  const ending = new AbortController()
  const spent = [81, 81, 50, 51, 81, 81, 81]
  const told: Event[] = []
  let asked = 0
  const instance = createInstance(
    loaded,
    {
      clock,
      emit: (event) => void told.push(event),
      trading: { haltOn: () => undefined, accountJournal: { state: () => ({}) } } as never,
    },
    ending.signal,
    async (_tickMs, isAsked) => {
      const spentMs = isAsked ? spent[asked++] : undefined
      const counts = { decisions: 1, admitted: 1, denied: 0, invalid: 0 }
      return { ...counts, ...(spentMs === undefined ? {} : { spentMs }) } as TickReport
    },
  )
  const running = instance.run()
  await clock.advance(20_000)
  expect(asked).toBe(6)
  expect(told.filter(({ type }) => type === 'strategy.slow')).toHaveLength(5)
  expect(told.find(({ type }) => type === 'strategy.paused')).toMatchObject({
    failures: 3,
    forMs: 60_000,
    reason: 'decide used 81 ms of processor time; the limit is 50 (strategies.slowDecideMs)',
  })
  // What it decided was taken all the same.
  expect(instance.status()).toMatchObject({ ticks: 6, failures: 0 })
  expect(instance.status().admitted).toBeGreaterThanOrEqual(6)
  ending.abort()
  await running
})

test('a turn whose reads no host answers says so as a cause that all strategies share; another failure is its own', async () => {
  const clock = manualClock(1_700_000_000_000)
  const ending = new AbortController()
  const place = { method: 'GET', kind: 'read', host: 'http://10.0.0.1', attempts: 3 } as const
  const unanswered = (route: string) =>
    new UnreachableError({ ...place, route, silence: 'timeout', sent: 'maybe', timeoutMs: 10_000 })
  const wrapped = new BaseError('The markets cannot be read.', {
    code: 'MARKETS_UNREAD',
    cause: unanswered('/markets'),
  })
  const failures: unknown[] = [
    unanswered('/positions'),
    wrapped,
    new Error('a mistake'),
    new BaseError('No.', { code: 'NO' }),
  ]
  const events: Event[] = []
  const loaded = {
    ...{ name: 'mine', cadenceMs: 1_000, symbols: [], strategy: { kind: 'trend' } },
  } as unknown as LoadedStrategy
  const instance = createInstance(
    loaded,
    {
      clock,
      emit: (event) => void events.push(event),
      trading: { haltOn: () => undefined, accountJournal: { state: () => ({}) } } as never,
    },
    ending.signal,
    async () => {
      const failed = failures.shift()
      const none = { decisions: 0, admitted: 0, denied: 0, invalid: 0 }
      return { ...none, ...(failed === undefined ? {} : { failed }) } as TickReport
    },
    { pauseAfterFailures: 2 },
  )
  const running = instance.run()
  await clock.advance(10_000)
  const failed = events.flatMap((event) => (event.type === 'tick.failed' ? [event] : []))
  expect(failed.map(({ reason, cause }) => [reason, cause])).toEqual([
    ['10.0.0.1 did not answer within 10000 ms to GET /positions.', 'unanswered'],
    ['The markets cannot be read.', 'unanswered'],
    ['a mistake', undefined],
    ['No.', undefined],
  ])
  ending.abort()
  await running
})

test('what a kind waits for is the line of its newest turn: a failure, a pause and a new version end it', async () => {
  const clock = manualClock(1_700_000_000_000)
  const ending = new AbortController()
  let report: Partial<TickReport> = { status: { text: 'RSI 52, waits for below 45', facts: { rsi: 52 } } }
  const instance = createInstance(
    loaded,
    {
      clock,
      emit: () => undefined,
      trading: { haltOn: () => undefined, accountJournal: { state: () => ({}) } } as never,
    },
    ending.signal,
    async () => ({ decisions: 0, admitted: 0, denied: 0, invalid: 0, ...report }) as TickReport,
  )
  const running = instance.run()
  await clock.advance(1_500)
  expect(instance.status().status).toEqual({
    text: 'RSI 52, waits for below 45',
    facts: { rsi: 52 },
    atMs: 1_700_000_001_000,
  })
  await instance.replace(loaded, () => Promise.resolve())
  expect(instance.status()).not.toHaveProperty('status')
  await clock.advance(1_500)
  expect(instance.status()).toHaveProperty('status')
  report = { failed: new Error('it is broken') }
  await clock.advance(1_500)
  expect(instance.status()).not.toHaveProperty('status')
  ending.abort()
  await running
})
