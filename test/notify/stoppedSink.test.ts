/** A sink that has stopped: the turn that tells does no work for it, what waits is bounded, and no wait of the clock is its teller's. */
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'

test('ten thousand notices to sinks that never answer cost no wait, no request in their turn, and a bounded queue', async () => {
  const asked: string[] = []
  const sleeps: number[] = []
  const dropped: Event[] = []
  const never = <T>(name: string): Promise<T> => {
    asked.push(name)
    return new Promise<T>(() => undefined)
  }
  const shape = sinkSettings(() => true)
  const mail = {
    type: 'email',
    name: 'mail',
    host: 'localhost',
    from: 'a@example.org',
    to: ['b@example.org'],
  }
  const hook = { type: 'webhook', name: 'hook', url: 'https://hooks.example', secretFile: '/x' }
  const secrets = new Map([['secretFile', new Secret('s'.repeat(32))]] as const)
  const notifier = createNotifier({
    incidents: createIncidents({ now: () => 0 }),
    sinks: [mail, hook].map((written) => ({ settings: shape.parse(written), secrets })),
    post: () => never('hook'),
    postMail: () => never('mail'),
    clock: {
      ...systemClock,
      monotonicMs: () => 0,
      sleep: async (ms) => void sleeps.push(ms),
    },
    emit: (event) => void dropped.push(event),
    redact: (text) => text,
    maxWaiting: 20,
    timeoutMs: 1_000,
    profile: 'paper',
  })
  for (let at = 0; at < 10_000; at++) {
    notifier.tell({ kind: 'trading-state', level: 'warn', cause: `c${at}`, text: 'x' })
  }
  // All of it within one turn of the loop, in which nothing else ran.
  expect([asked, sleeps]).toEqual([[], []])
  expect(dropped.length).toBe(2 * (10_000 - 20))
  await new Promise((resolve) => setImmediate(resolve))
  // One request for each sink, and no more until it is over.
  await expect.poll(() => [...asked].sort()).toEqual(['hook', 'mail'])
  expect(sleeps).toEqual([])
})
