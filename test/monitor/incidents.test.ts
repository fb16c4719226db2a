/** The fold of incidents: which are open, since when and how bad, and what is none. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { everyEvent, executedState, intent } from './events.ts'

type Halt = Extract<Event, { type: 'trading.state' }>

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
