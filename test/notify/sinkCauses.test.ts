/** Which ends a sink takes: those of what it took the beginning of, over seeded stories, and over a full queue and a sink that fails. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { type Notice, noticeLevels } from '../../src/monitor/events/notice.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { noticeRules, ruleFor } from '../../src/notify/noticeFilter.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import { createSinkCauses } from '../../src/notify/sinkCauses.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'

const down: Notice = { kind: 'hosts-down', level: 'error', cause: 'hosts', text: 'down' }
const up: Notice = { kind: 'hosts-up', level: 'info', cause: 'hosts', isEnd: true, text: 'up' }
const halt: Notice = { kind: 'trading-state', level: 'warn', cause: 'halt', text: 'halted' }
const release: Notice = { ...halt, level: 'info', isEnd: true, text: 'active' }

test('an end goes where its beginning went, whatever the level of the sink, and once', () => {
  const causes = createSinkCauses({ level: 'error', events: {} })
  expect(causes.take(up)).toBeUndefined()
  expect(causes.take(down)).toMatchObject({ level: 'error', isSilent: false })
  expect(causes.take(up)).toEqual({ level: 'error', isSilent: false })
  expect(causes.take(up)).toBeUndefined()
  // The beginning was below the sink's level, and so is the end.
  expect([causes.take(halt), causes.take(release)]).toEqual([undefined, undefined])
})

test('an end whose event is off is not taken; without a rule of its own it has a sound where its beginning had one', () => {
  const off = createSinkCauses({ level: 'error', events: { 'hosts-up': 'off' } })
  off.take(down)
  expect(off.take(up)).toBeUndefined()
  const silent = createSinkCauses({ level: 'error', events: { 'hosts-down': 'silent' } })
  silent.take(down)
  expect(silent.take(up)).toEqual({ level: 'error', isSilent: true })
  const loud = createSinkCauses({ level: 'error', events: { 'hosts-down': 'silent', 'hosts-up': 'on' } })
  loud.take(down)
  expect(loud.take(up)).toEqual({ level: 'error', isSilent: false })
})

test('what was lost began nothing, unless something of the same cause was not lost', () => {
  const causes = createSinkCauses({ level: 'error', events: {} })
  const [first, second] = [causes.take(down)?.of, causes.take(down)?.of]
  if (first === undefined || second === undefined) throw new Error('it is taken')
  causes.lost(first)
  expect(causes.take(up)).toBeDefined()
  const again = causes.take(down)?.of
  // A message of before the end, whose loss is known only now, takes nothing from the new beginning.
  causes.lost(second)
  expect(causes.take(up)).toBeDefined()
  const last = causes.take(down)?.of
  if (again === undefined || last === undefined) throw new Error('it is taken')
  causes.lost(last)
  expect(causes.take(up)).toBeUndefined()
})

test('of more causes than are kept, the oldest of the least level is forgotten', () => {
  const causes = createSinkCauses({ level: 'warn', events: {} }, 2)
  causes.take(halt)
  causes.take(down)
  causes.take({ ...halt, cause: 'other' })
  const other = { ...release, cause: 'other' }
  expect([up, release, other].map((each) => causes.take(each) !== undefined)).toEqual([true, false, true])
})

test('whatever the story, an end is taken exactly where its beginning was, or where its own level is', () => {
  const step = fc.record({
    cause: fc.constantFrom('a', 'b', 'c'),
    level: fc.constantFrom(...noticeLevels),
    kind: fc.constantFrom('hosts-down' as const, 'trading-state' as const),
    isEnd: fc.boolean(),
  })
  const filter = fc.record({
    level: fc.constantFrom(...noticeLevels),
    events: fc.record({ 'hosts-down': fc.constantFrom(...noticeRules) }, { requiredKeys: [] }),
  })
  fc.assert(
    fc.property(filter, fc.array(step, { maxLength: 60 }), (by, story) => {
      const causes = createSinkCauses(by)
      const begun = new Map<string, number>()
      for (const { isEnd, ...each } of story) {
        const notice: Notice = { ...each, text: 'x', ...(isEnd ? { isEnd } : {}) }
        const taken = causes.take(notice)
        const isTaken = ruleFor(by, notice) !== 'off'
        const level = noticeLevels.indexOf(each.level)
        const before = begun.get(each.cause)
        if (!isEnd) {
          expect(taken !== undefined).toBe(isTaken)
          if (isTaken) begun.set(each.cause, Math.max(before ?? 0, level))
          continue
        }
        begun.delete(each.cause)
        const isOff = (by.events as Record<string, string>)[each.kind] === 'off'
        expect(taken !== undefined).toBe(!isOff && (isTaken || before !== undefined))
        if (taken !== undefined) expect(taken.level).toBe(noticeLevels[Math.max(before ?? 0, level)])
      }
    }),
    { seed: 16, numRuns: 300 },
  )
})

/** Tells notices to two sinks, of `error` and of `warn`; gives the texts that each was sent. One that is refused is waited for. */
async function toldTo(notices: readonly Notice[], maxWaiting = 10, isRefused = (_text: string) => false) {
  const sent: Record<string, string[]> = { error: [], warn: [] }
  const events: Event[] = []
  const shape = sinkSettings(() => true)
  const secrets = new Map([['secretFile', new Secret('s'.repeat(32))]] as const)
  const notifier = createNotifier({
    incidents: createIncidents({ now: () => 0 }),
    sinks: (['error', 'warn'] as const).map((level) => ({
      settings: shape.parse({
        ...{ type: 'webhook', name: level, url: `https://${level}.example`, secretFile: '/x', level },
      }),
      secrets,
    })),
    post: async (url, { body }) => {
      const { text } = JSON.parse(String(body))
      const status = isRefused(text) ? 404 : 200
      if (status === 200) sent[new URL(url).hostname.split('.')[0] ?? '']?.push(text.split('\n')[0])
      return { status, headers: new Headers(), text: async () => '' } as never
    },
    postMail: () => Promise.reject(new Error('nobody has a mailbox')),
    clock: systemClock,
    emit: (event) => void events.push(event),
    redact: (text) => text,
    maxWaiting,
    timeoutMs: 1_000,
    profile: 'paper',
  })
  for (const each of notices) {
    const before = events.length
    notifier.tell(each)
    if (isRefused(each.text))
      await expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(before)
  }
  await notifier.close(10_000)
  return { sent, events }
}

test('a sink at error is told that hosts are down and up again, one at warn that a halt was released too', async () => {
  const { sent } = await toldTo([down, halt, up, release])
  expect(sent).toEqual({ error: ['down', 'up'], warn: ['down', 'halted', 'up', 'active'] })
})

test('in a full queue an end matters as much as its beginning', async () => {
  const other = (n: number): Notice => ({ ...halt, cause: `other ${n}`, text: `other ${n}` })
  const { sent } = await toldTo([down, other(1), up, other(2), other(3)], 3)
  expect(sent.warn).toEqual(['down', 'up', 'other 3'])
})

test('the end of what a full queue dropped, or of what a service refused, goes by its own level', async () => {
  const errors = [1, 2].map((n): Notice => ({ ...down, cause: `error ${n}`, text: `error ${n}` }))
  const dropped = await toldTo([halt, ...errors, release], 2)
  expect(dropped.sent.warn).toEqual(['error 1', 'error 2'])
  expect(dropped.events.filter(({ type }) => type === 'notice.dropped')).toHaveLength(1)
  const refused = await toldTo([halt, release], 10, (text) => text.startsWith('halted'))
  expect(refused.sent.warn).toEqual([])
  expect(refused.events).toMatchObject([{ type: 'notice.ended', sink: 'warn', result: 'refused' }])
})
