/** A host's clock is known by our monotonic one: what the simulation found. */
import { expect, test } from 'vitest'
import { createHosts } from '../../src/api/transport/hosts.ts'
import { defaultApiLimits } from '../../src/api/transport/requestLimits.ts'
import { createTransport } from '../../src/api/transport/transport.ts'

test('after a jump of our wall clock the host’s time is still known', () => {
  let monotonicMs = 1_000
  let jumpMs = 0
  const startMs = 1_800_000_000_000
  const clock = {
    now: () => startMs + monotonicMs + jumpMs,
    monotonicMs: () => monotonicMs,
    sleep: () => Promise.resolve(),
  }
  const hosts = createHosts({
    hosts: { api: ['http://one/v1'], oracle: [] },
    clock,
    limits: defaultApiLimits,
    onCooldown: () => {},
  })
  const hostMs = () => clock.now() + (hosts.clockSkewMs('http://one/v1') ?? Number.NaN)
  hosts.sawClock('http://one/v1', startMs + 4_000, 0)
  expect(hostMs()).toBe(startMs + 4_500)
  jumpMs = 2 * 3_600_000
  monotonicMs += 10_000
  expect(hostMs()).toBe(startMs + 14_500)
})

test('nor does a jump while an answer is on its way falsify it', async () => {
  const startMs = 1_800_000_000_000
  let monotonicMs = 1_000
  let jumpMs = 0
  const clock = {
    now: () => startMs + monotonicMs + jumpMs,
    monotonicMs: () => monotonicMs,
    sleep: () => new Promise<void>(() => {}),
  }
  const transport = createTransport({
    hosts: { api: ['http://one/v1'], oracle: [] },
    clock,
    random: () => 0.5,
    fetch: async () => {
      monotonicMs += 200
      jumpMs = 2 * 3_600_000
      const date = new Date(startMs + 1_000).toUTCString()
      return {
        status: 200,
        headers: { get: (name) => (name === 'date' ? date : null) },
        text: async () => '{}',
      }
    },
  })
  const route = {
    path: '/x',
    method: 'GET',
    service: 'api',
    kind: 'read',
    decode: (body: unknown) => body,
  } as const
  await transport.call(route, undefined)
  expect(clock.now() + (transport.clockSkewMs('http://one/v1') ?? 0)).toBe(startMs + 1_600)
})
