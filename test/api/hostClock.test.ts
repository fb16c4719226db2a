/** A host's clock is known by our monotonic one: what the simulation found. */
import { expect, test } from 'vitest'
import { createHosts } from '../../src/api/hosts.ts'
import { defaultApiLimits } from '../../src/api/limits.ts'

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
    onRest: () => {},
  })
  const hostMs = () => clock.now() + (hosts.clockSkewMs('http://one/v1') ?? Number.NaN)
  hosts.sawClock('http://one/v1', startMs + 4_000, clock.now(), clock.now())
  expect(hostMs()).toBe(startMs + 4_500)
  jumpMs = 2 * 3_600_000
  monotonicMs += 10_000
  expect(hostMs()).toBe(startMs + 14_500)
})
