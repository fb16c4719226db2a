/** The fold of incidents: which are open, since when and how bad, and what is none. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TradingHalt } from '../../src/domain/accountRecords/tradingState.ts'
import type { Event } from '../../src/domain/event.ts'
import { createHealth } from '../../src/monitor/health.ts'
import { createCauseFilter } from '../../src/monitor/incidents/again.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { createRepeatFilter } from '../../src/monitor/log/repeatFilter.ts'
import type { MonitoredStatus } from '../../src/monitor/monitoredStatus.ts'
import { everyEvent, executedState, intent } from './events.ts'

type Halt = Extract<Event, { type: 'trading.state' }>

/** A daemon that is well. */
const running: MonitoredStatus = {
  ...{ state: 'running', notReady: [], tradingState: 'active', halts: [], strategies: [], openIntents: [] },
  ...{ oldestUnresolvedSeconds: 0, exposureUsd: 0n, discrepancies: [], contradictions: [], unwinds: [] },
  ...{ tasksRunning: {}, feedAgesMs: {}, feedsOverdueMs: {} },
}

const halt = (over: Partial<Halt> = {}): Halt => ({
  type: 'trading.state',
  ...{ scope: 'account', state: 'reducing', cause: 'drawdown', releasedBy: 'operator', reason: 'it fell' },
  ...over,
})
const passing = { cause: 'stale-data', isPassing: true, releasedBy: 'itself' } as const

const ended = { by: 'Ada', outcome: 'done', statement: 'all of it is filled' }

function foldAt() {
  const time = { now: 1_000 }
  const incidents = createIncidents({ now: () => time.now })
  return { time, incidents, take: (event: Event, nowMs = 0) => incidents.take(event, nowMs) }
}

test('an incident is open from its first sign to its end, with subject, level, reason and action', () => {
  const { time, incidents, take } = foldAt()
  take(halt())
  time.now = 2_000
  take(halt({ state: 'halted', reason: 'it fell further' }))
  take({ type: 'subaccount.unread', reason: 'it is no JSON' })
  expect(incidents.open()).toEqual([
    {
      ...{ kind: 'trading-state', subject: 'trading:account:drawdown', sinceMs: 1_000, level: 'warn' },
      reason: 'trading on the account is halted: it fell further',
      action: 'Check the cause: perpd trading. It lasts until you release it: perpd trading active',
    },
    {
      ...{ kind: 'key-approval', subject: 'approval-unread', sinceMs: 2_000, level: 'error' },
      ...{ reason: 'the approval is ignored: it is no JSON', action: 'Correct the file of the approval.' },
    },
  ])
  take(halt({ state: 'active', isReleased: true }))
  take({ type: 'subaccount.fileRight' })
  expect(incidents.open()).toEqual([])
})

test('an incident that comes and goes is open until it has stayed away, and its return is news only when it is worse', () => {
  const { incidents, take } = foldAt()
  const lifted = halt({ ...passing, state: 'active', isReleased: true })
  expect(take(halt(passing))).toHaveLength(1)
  take(lifted, 10_000)
  expect(take(halt(passing), 20_000)).toEqual([])
  take(lifted, 30_000)
  expect(take(halt({ ...passing, state: 'halted' }), 40_000)).toHaveLength(1)
  take(lifted, 50_000)
  expect([take({ type: 'daemon.ready' }, 109_999), incidents.open().length]).toEqual([[], 1])
  expect(take({ type: 'daemon.ready' }, 110_000)).toMatchObject([{ notice: { isEnd: true } }])
  expect(incidents.open()).toEqual([])
})

test('a notice that has no end is no incident, and neither is the end of one that was not seen', () => {
  const { incidents, take } = foldAt()
  const executed: Event = {
    ...{
      type: 'order.moved',
      intent,
      from: 'pending',
      to: 'executed',
      reason: 'It is.',
      state: executedState,
    },
  }
  for (const event of [everyEvent[0], executed, halt({ state: 'active', isReleased: true })]) {
    if (event !== undefined) expect(take(event)).toHaveLength(1)
  }
  expect(incidents.open()).toEqual([])
})

test('incidents of before a restart are open, and none of them is news', () => {
  const { incidents, take } = foldAt()
  expect(incidents.recall([halt(), halt(passing)], 0)).toHaveLength(2)
  expect(incidents.open().map(({ subject }) => subject)).toEqual([
    'trading:account:drawdown',
    'trading:account:stale-data',
  ])
  expect(take(halt({ state: 'active', isReleased: true }))).toHaveLength(1)
  expect(incidents.open()).toHaveLength(1)
})

test('thousands of notices without an end push no open incident out', () => {
  const { incidents, take } = foldAt()
  take(halt())
  for (let n = 0; n < 1_500; n += 1) take({ type: 'task.ended', ...ended, taskId: `twap:${n}` })
  expect(incidents.open().map(({ subject }) => subject)).toEqual(['trading:account:drawdown'])
})

test('no secret is in an open incident', () => {
  const incidents = createIncidents({ now: () => 0, redact: (text) => text.replaceAll('hush', '***') })
  incidents.take({ type: 'claim.prepared', file: 'hush.json', worthUsd: 0n, calls: 1, pairs: 1 }, 0)
  expect(JSON.stringify(incidents.open())).not.toContain('hush')
  expect(incidents.open()).toMatchObject([{ subject: 'claim:***.json', kind: 'claim' }])
})

test('halts on all of trading stop new orders from their first sign to their release, and no other incident does', () => {
  const { incidents, take } = foldAt()
  take(halt({ scope: 'strategy:eth-trend' }))
  take({ type: 'subaccount.unread', reason: 'it is no JSON' })
  expect(incidents.blocking()).toEqual([])
  take(halt())
  take(halt({ ...passing, scope: 'global' }))
  expect(incidents.blocking()).toEqual(['trading-state', 'trading-state'])
  // The end of a passing halt is notified later; orders are made meanwhile.
  take(halt({ ...passing, scope: 'global', state: 'active', isReleased: true }), 1_000)
  expect(incidents.blocking()).toEqual(['trading-state'])
  take(halt({ ...passing, scope: 'global' }), 2_000)
  expect(incidents.blocking()).toHaveLength(2)
  take(halt({ state: 'active', isReleased: true }), 3_000)
  expect([incidents.blocking(), incidents.open().length]).toEqual([['trading-state'], 3])
})

test('readiness by the fold and by the halts of the status agree over any story of halts', () => {
  const scopes = ['global', 'account', 'strategy:eth-trend'] as const
  const causes = ['drawdown', 'stale-data', 'kill'] as const
  const step = fc.record({
    scope: fc.constantFrom(...scopes),
    cause: fc.constantFrom(...causes),
    state: fc.constantFrom('reducing' as const, 'halted' as const),
    isReleased: fc.boolean(),
    afterMs: fc.integer({ min: 0, max: 90_000 }),
  })
  const health = createHealth(() => 0)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (story) => {
      const { incidents, take } = foldAt()
      const halts = new Map<string, TradingHalt>()
      let nowMs = 0
      for (const { scope, cause, state, isReleased, afterMs } of story) {
        nowMs += afterMs
        const key = `${scope} ${cause}`
        // The daemon releases what is on, and no other.
        if (isReleased && !halts.has(key)) continue
        const own = cause === 'stale-data' ? passing : { cause, releasedBy: 'operator' as const }
        if (isReleased) halts.delete(key)
        else halts.set(key, { scope, state, sinceMs: 0, reason: 'r', by: 'perpd', ...own })
        take(halt({ scope, ...own, ...(isReleased ? { state: 'active', isReleased } : { state }) }), nowMs)
        const bare = { ...running, halts: [...halts.values()] }
        const blocking = incidents.blocking()
        expect(blocking.length > 0).toBe(!health.ready(bare).ok)
        // Neither of the two alone makes it ready.
        expect(health.ready({ ...running, halts: [], blocking }).ok).toBe(health.ready(bare).ok)
      }
    }),
    { seed: 37, numRuns: 200 },
  )
})

test('lines and notices count by one rule: each tenth time to their limit, and once an hour', () => {
  const reason = 'the account cannot be read'
  const filter = createRepeatFilter(() => nowMs)
  const causes = createCauseFilter()
  let nowMs = 0
  const said: number[] = []
  const noticed: number[] = []
  for (let n = 1; n <= 2_000; n += 1) {
    nowMs += 5_000
    const [line] = filter({ type: 'tick.failed', strategy: 'a', failures: n, reason } as Event)
    if (line !== undefined && line.level !== 'debug') said.push(n)
    if (causes.take({ cause: 'a', level: 'warn' }, nowMs) !== undefined) noticed.push(n)
  }
  expect(said).toEqual([1, 10, 730, 1450])
  expect(noticed).toEqual([1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 820, 1540])
})
