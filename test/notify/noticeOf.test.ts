/** Which events become notices, and what their messages say. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { noticeKinds } from '../../src/monitor/events/notice.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { messageOf } from '../../src/notify/message.ts'
import { ruleFor } from '../../src/notify/noticeFilter.ts'
import { armedState, everyEvent, executedState, intent } from '../monitor/events.ts'
import { noticeOf } from '../support/noticeOf.ts'

const moved = (
  from: 'pending' | 'unknown' | 'resting',
  to: 'executed' | 'reverted' | 'unknown' | 'pending',
): Event => ({
  type: 'order.moved',
  intent,
  from,
  to,
  reason: 'The venue says so.',
  state: to === 'executed' ? executedState : armedState,
})

test('an order is told when it is executed, fails, becomes unknown, and when evidence closes it', () => {
  expect(noticeOf(moved('pending', 'executed'))).toMatchObject({ kind: 'order-executed', level: 'info' })
  expect(noticeOf(moved('pending', 'reverted'))).toMatchObject({ kind: 'order-reverted', level: 'warn' })
  const unknown = noticeOf(moved('pending', 'unknown'))
  expect(unknown).toMatchObject({ kind: 'order-unknown', level: 'warn' })
  expect(unknown?.text).toContain('never sends it again')
  const id = intent.intentId.slice(0, 8)
  expect(unknown?.action).toContain(`perpd explain ${id}, perpd status`)
  expect(unknown?.action).toContain(`perpd orders unwind ${id} --by NAME`)
  expect(noticeOf(moved('unknown', 'executed'))).toMatchObject({
    kind: 'order-proven',
    cause: unknown?.cause,
    isEnd: true,
  })
})

test('an order that merely goes on, and what became of a notice, is told to nobody', () => {
  expect(noticeOf(moved('resting', 'pending'))).toBeUndefined()
  expect(noticeOf({ type: 'notice.ended', sink: 'a', kind: 'test', result: 'failed' })).toBeUndefined()
  expect(noticeOf({ type: 'notice.dropped', sink: 'a', kind: 'test' })).toBeUndefined()
})

test('a clock that went back is told once for each step, with what to look at', () => {
  const back = (backMs: number) => noticeOf({ type: 'daemon.clockSetBack', backMs, against: 'itself' })
  expect(back(86_400_000)).toMatchObject({ kind: 'clock-set-back', level: 'warn' })
  expect(back(86_400_000)?.action).toContain('timedatectl')
  expect(back(3_600_000)?.cause).not.toBe(back(86_400_000)?.cause)
})

test('two orders of a strategy that fail for the same reason have one cause', () => {
  const other = {
    ...moved('pending', 'reverted'),
    intent: { ...intent, intentId: `0x${'9'.repeat(64)}` },
  } as Event
  expect(noticeOf(other)?.cause).toBe(noticeOf(moved('pending', 'reverted'))?.cause)
})

/** Takes events with their ms; gives the notice that comes of each beside that of a start. */
function hostsWatch() {
  const incidents = createIncidents({ now: () => 0 })
  return (event: Event, nowMs: number) => {
    const [first] = incidents.take(event, nowMs)
    return event.type === 'daemon.started' ? undefined : first?.notice
  }
}

test('all hosts in cooldown are told once, and the first that answers and is in none ends it', () => {
  const watch = hostsWatch()
  const started = { ...everyEvent[0], apiHosts: ['a', 'b'] } as Event
  const cooldown = (host: string, isLast = false): Event => ({
    type: 'host.cooldown',
    host,
    cooldownMs: 1_000,
    reason: 'b broke the connection during GET /orders.',
    ...(isLast ? { isLast } : {}),
  })
  const answer = (outcome: string, isResting = false): Event => ({
    type: 'host.attempt',
    route: 'tickers',
    method: 'GET',
    host: 'b',
    attempt: 1,
    durationMs: 5,
    outcome,
    ...(isResting ? { isResting } : {}),
  })
  const notices = [
    watch(started, 0),
    watch(cooldown('a'), 0),
    // The oracle's own last one is none of the application API.
    watch(cooldown('oracle', true), 0),
    watch(cooldown('b', true), 0),
    watch(cooldown('a', true), 1_000),
    watch(answer('timeout'), 100_000),
    // It answers, and increases wait for it still.
    watch(answer('ok', true), 100_000),
    watch(answer('ok'), 100_000),
    watch(answer('ok'), 100_000),
  ]
  const none = undefined
  expect(notices.map((notice) => notice?.kind)).toEqual([
    none,
    none,
    none,
    'hosts-down',
    none,
    none,
    none,
    'hosts-up',
    none,
  ])
  expect(notices.map((notice) => notice?.action !== undefined)).toEqual(
    notices.map((notice) => notice?.kind === 'hosts-down'),
  )
  expect(notices[3]?.action).toContain('perpd logs --level warn')
  expect(notices[3]?.text).toBe(
    'all API hosts are in cooldown (a, b). The last one was b: b broke the connection during GET /orders. New exposure is blocked until a host responds; perpd keeps retrying',
  )
})

test('hosts that come and go for an hour are told down once, and up once that has been over for a minute', () => {
  const watch = hostsWatch()
  watch({ ...everyEvent[0], apiHosts: ['a'] } as Event, 0)
  const told: (readonly [string, number])[] = []
  const take = (event: Event, seconds: number): void => {
    const notice = watch(event, seconds * 1_000)
    if (notice !== undefined) told.push([notice.kind, seconds])
  }
  const down: Event = {
    type: 'host.cooldown',
    host: 'a',
    cooldownMs: 5_000,
    reason: 'It is away.',
    isLast: true,
  }
  const well: Event = {
    type: 'host.attempt',
    ...{ route: 'tickers', method: 'GET', host: 'a', attempt: 1, durationMs: 5, outcome: 'ok' },
  }
  for (let seconds = 0; seconds < 3_600; seconds += 20) {
    take(down, seconds)
    take(well, seconds + 10)
  }
  for (let seconds = 3_600; seconds < 3_700; seconds += 1) take(well, seconds)
  take(down, 3_700)
  expect(told).toEqual([
    ['hosts-down', 0],
    ['hosts-up', 3_640],
    ['hosts-down', 3_700],
  ])
})

test('a message says what happened, whether a person must act, and where the page is', () => {
  const notice = { kind: 'books-differ', level: 'error', cause: 'c', text: 'It {link} differs' } as const
  const context = { profile: 'paper', consoleUrl: 'https://perpd.example' }
  expect(messageOf({ ...notice, action: 'Report it.' }, 10, context)).toEqual({
    title: 'perpd paper: books differ',
    text: 'It {link} differs (10 times by now)\nAction needed: Report it.\nhttps://perpd.example',
  })
  expect(messageOf(notice, 1, { profile: 'paper' }).text).toBe('It {link} differs\nNo action is needed.')
  expect(messageOf(notice, 1, context, '[{level}] {event}').text).toBe('[error] books-differ')
})

test('a rule of an event stands before the level of its sink', () => {
  const notice = { kind: 'order-executed', level: 'info', cause: 'c', text: 'x' } as const
  expect(ruleFor({ level: 'warn', events: {} }, notice)).toBe('off')
  expect(ruleFor({ level: 'warn', events: { 'order-executed': 'silent' } }, notice)).toBe('silent')
  expect(ruleFor({ level: 'info', events: { 'order-executed': 'off' } }, notice)).toBe('off')
  expect(Object.keys(noticeKinds)).toContain('order-executed')
})
