/** What comes and goes is told a few times an hour, with its end each time, however many strategies and requests it takes along. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import type { Line } from '../../src/monitor/events/eventRow.ts'
import { createCalm } from '../../src/monitor/incidents/calm.ts'
import { createRepeatFilter } from '../../src/monitor/log/repeatFilter.ts'

const HOUR_MS = 3_600_000
/** First and tenth time of each beginning, of which there is one more than ends; and the hourly one. */
const mostErrors = 2 * (8 + 1) + 1
const strategies = ['eth-trend', 'btc-trend', 'eth-grid', 'guard'] as const
const routes = ['/positions', '/markets', '/orders', '/markets/config', '/balances/wallet'] as const

function filterAt() {
  const time = { now: 0 }
  const filter = createRepeatFilter(() => time.now)
  const tell = (event: Event): readonly Line[] => filter(event).filter(({ level }) => level !== 'debug')
  const failed = (strategy: string, route: string, isShared = true): readonly Line[] =>
    tell({
      type: 'tick.failed',
      strategy,
      reason: `10.0.0.1 did not answer within 10000 ms to GET ${route}.`,
      failures: 1,
      ...(isShared ? { cause: 'unanswered' } : {}),
    })
  const done = (strategy: string): readonly Line[] =>
    tell({ type: 'tick.done', strategy, durationMs: 5, decisions: 0 })
  return { time, tell, failed, done }
}

test('hosts that answer nothing are one cause for all strategies and requests, and its end is told when each works', () => {
  const { time, failed, done } = filterAt()
  const told: string[] = []
  for (let turn = 0; turn < 10; turn += 1) {
    for (const [at, strategy] of strategies.entries()) {
      told.push(...failed(strategy, routes[(turn + at) % routes.length] ?? '').map(({ text }) => text))
    }
    time.now += 5_000
  }
  expect(told).toEqual([
    'eth-trend failed (1 in a row): 10.0.0.1 did not answer within 10000 ms to GET /positions. Other strategies with the same failure are counted with it; it runs again at its next tick',
    expect.stringMatching(/^btc-trend failed .*\(10 times in 10 s\)$/),
  ])
  for (const strategy of strategies.slice(1)) expect(done(strategy)).toEqual([])
  expect(done('eth-trend').map(({ level, text }) => [level, text])).toEqual([
    ['info', '4 strategies work again after 40 failures'],
  ])
  expect(done('eth-trend')).toEqual([])
  expect(failed('guard', '/markets')).toHaveLength(1)
})

test('debug lines that nobody writes are not made, and all others are the same', () => {
  let nowMs = 0
  const [all, written] = [
    createRepeatFilter(() => nowMs),
    createRepeatFilter(
      () => nowMs,
      () => false,
    ),
  ]
  const event = (turn: number): Event => {
    if (turn % 3 === 0) return { type: 'tick.failed', strategy: 'a', reason: 'it broke', failures: 1 }
    if (turn % 30 === 1) return { type: 'tick.done', strategy: 'a', durationMs: 5, decisions: 0 }
    return { type: 'feed.read', feed: 'orders', ageMs: 5 }
  }
  const told = (lines: readonly Line[]) => lines.filter(({ level }) => level !== 'debug')
  let [made, left] = [0, 0]
  for (let turn = 0; turn < 90; turn += 1, nowMs += 1_000) {
    const [every, some] = [all(event(turn)), written(event(turn))]
    expect(told(some)).toEqual(told(every))
    made += some.length
    left += every.length - some.length
  }
  expect([made, left]).toEqual([5, 86])
})

test('a strategy that has had no turn for an hour does not keep the end from being told', () => {
  const { time, failed, done } = filterAt()
  failed('gone', '/positions')
  failed('guard', '/positions')
  expect(done('guard')).toEqual([])
  time.now += HOUR_MS
  expect(done('guard').map(({ text }) => text)).toEqual(['2 strategies work again after 2 failures'])
})

test('a failure of a strategy alone is its own cause beside reads that fail', () => {
  const { failed, done } = filterAt()
  expect(failed('guard', '/positions')).toHaveLength(1)
  expect(failed('guard', 'a mistake in its file', false)).toHaveLength(1)
  expect(done('guard').map(({ text }) => text)).toEqual([
    'guard works again after 1 failure',
    'guard works again after 1 failure',
  ])
})

test('a day in which hosts come and go is a few error lines an hour', () => {
  const { time, failed, done } = filterAt()
  const errors: number[] = []
  let recoveries = 0
  for (let second = 0; second < 24 * 3_600; second += 5) {
    time.now = second * 1_000
    // Down for forty seconds of each minute, in every way of asking.
    const isDown = second % 60 < 40
    for (const [at, strategy] of strategies.entries()) {
      const lines = isDown
        ? failed(strategy, routes[(second / 5 + at) % routes.length] ?? '')
        : done(strategy)
      for (const { level } of lines) {
        if (level === 'error') errors.push(time.now)
        else recoveries += 1
      }
    }
  }
  for (let hour = 0; hour < 24; hour += 1) {
    const inHour = errors.filter((atMs) => Math.floor(atMs / HOUR_MS) === hour)
    expect(inHour.length).toBeLessThanOrEqual(mostErrors)
  }
  expect(errors.length).toBeLessThan(24 * 3)
  expect(recoveries).toBeGreaterThan(0)
})

test('whatever comes and goes: what is told as failing is told as over, a failure after that is told at once, and an hour has few of both', () => {
  const step = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 1_200_000 })),
    strategy: fc.constantFrom(...strategies),
    route: fc.constantFrom(...routes),
    isDown: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 400 }), (steps) => {
      const { time, failed, done } = filterAt()
      const toldMs: Record<'error' | 'info', number[]> = { error: [], info: [] }
      let isToldDown = false
      const take = (lines: readonly Line[], isDown: boolean): void => {
        if (isDown && !isToldDown) expect(lines).toHaveLength(1)
        for (const { level } of lines) {
          toldMs[level === 'error' ? 'error' : 'info'].push(time.now)
          isToldDown = level === 'error'
        }
      }
      for (const { afterMs, strategy, route, isDown } of steps) {
        time.now += afterMs
        take(isDown ? failed(strategy, route) : done(strategy), isDown)
      }
      time.now += 900_000
      for (const strategy of strategies) take(done(strategy), false)
      expect(isToldDown).toBe(false)
      const mostInHour = (all: readonly number[]): number =>
        Math.max(0, ...all.map((atMs) => all.filter((one) => one >= atMs && one < atMs + HOUR_MS).length))
      expect(mostInHour(toldMs.error)).toBeLessThanOrEqual(mostErrors)
      expect(mostInHour(toldMs.info)).toBeLessThanOrEqual(8)
    }),
    { seed: 16, numRuns: 200 },
  )
})

test('a host that rests again and again is one cause by the way its requests end, whatever was asked of it', () => {
  const { time, tell } = filterAt()
  const told: Line[] = []
  for (let rest = 0; rest < 30; rest += 1) {
    const route = routes[rest % routes.length]
    const reason = `10.0.0.1 did not answer within 10000 ms to GET ${route}.`
    told.push(
      ...tell({
        type: 'host.cooldown',
        host: 'http://10.0.0.1',
        cooldownMs: 5_000,
        reason,
        outcome: 'timeout',
      }),
    )
    time.now += 60_000
  }
  expect(told.map(({ fields }) => fields.repeated)).toEqual([undefined, 10])
  // What it is told to rest for is another matter each time.
  const distrusted = { type: 'host.cooldown', host: 'http://10.0.0.1', cooldownMs: 5_000 } as const
  expect(tell({ ...distrusted, reason: 'its payload does not match the order' })).toHaveLength(1)
})

test('an end is told sooner again after an hour without one, and the oldest of a thousand troubles is forgotten', () => {
  let now = 0
  const calm = createCalm(() => now)
  const needed: number[] = []
  for (let end = 0; end < 7; end += 1) {
    needed.push(calm.neededMs('a', 30_000))
    calm.ended('a')
  }
  expect(needed).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000])
  for (let other = 0; other < 1_000; other += 1) calm.ended(`other ${other}`)
  expect(calm.neededMs('a', 0)).toBe(0)
  calm.ended('a')
  calm.ended('a')
  expect(calm.neededMs('a', 0)).toBe(120_000)
  now = HOUR_MS
  expect(calm.neededMs('a', 0)).toBe(0)
})

test('of many strategies each end is of its own failures alone, comes in the order of good turns, and counts none that was forgotten', () => {
  const { failed, done } = filterAt()
  // A thousand causes are known at most: those of the first two strategies are forgotten for the last two.
  const names = Array.from({ length: 501 }, (_, index) => `s${index}`)
  for (const name of names) {
    for (const reason of ['one', 'two']) expect(failed(name, reason, false)).toHaveLength(1)
  }
  expect(failed('s1', 'two', false)).toEqual([])
  const ends = ['s500', 's0', 's10', 's1', 's100'].map((name) => done(name).map(({ text }) => text))
  expect(ends).toEqual([
    ['s500 works again after 2 failures'],
    [],
    ['s10 works again after 2 failures'],
    ['s1 works again after 3 failures'],
    ['s100 works again after 2 failures'],
  ])
  // What ended makes room: nothing is forgotten for a new one.
  expect(failed('s0', 'one', false)).toHaveLength(1)
  expect(failed('s2', 'one', false)).toEqual([])
})

test('an address of the dead man’s switch that is away for hours is told a few times, with its end; notices of sinks are told one by one', () => {
  const { time, tell } = filterAt()
  const beat = (kind: string, isSent = false, sink = 'heartbeat'): readonly Line[] =>
    tell({
      type: 'notice.ended',
      ...{ sink, kind, result: isSent ? 'sent' : 'failed' },
      ...(isSent ? {} : { reason: 'no response in 3000 ms' }),
    })
  const told: string[] = []
  for (let minute = 0; minute < 180; minute += 1) {
    told.push(...beat(minute % 2 === 0 ? 'well' : 'fail').map(({ text }) => text))
    time.now += 60_000
  }
  expect(told).toHaveLength(4)
  expect(told[0]).toBe('heartbeat was not notified of well: no response in 3000 ms. Trading continues')
  expect(beat('well', true).map(({ level, text }) => [level, text])).toEqual([
    ['info', 'the heartbeat works again after 180 failures'],
  ])
  expect(beat('well', true)).toEqual([])
  for (let times = 0; times < 12; times += 1) expect(beat('day-summary', false, 'heartbeat')).toHaveLength(1)
})
