/** A host's clock is known by our monotonic one: what the simulation found. */
import { expect, test } from 'vitest'
import { createHostClocks } from '../../src/api/transport/hostClocks.ts'
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
  hosts.sawClock('http://one/v1', startMs + 4_000, { leftAtMs: clock.now(), tookMs: 0 })
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

/** Two clocks of ours and hosts that tell the true time, heard when a test says so. */
function sleeper(hosts: readonly string[]) {
  let monotonicMs = 5_000
  let wallMs = 1_800_000_000_000
  let trueMs = wallMs
  const clocks = createHostClocks({ now: () => wallMs, monotonicMs: () => monotonicMs })
  const hear = (...names: readonly string[]): void => {
    for (const each of names) clocks.saw(each, trueMs - 500, { leftAtMs: wallMs, tookMs: 0 })
  }
  for (let heard = 0; heard < 20; heard += 1) hear(...hosts)
  /** Answers that were sent and dated now, and come in after this. */
  const hearLate = (meanwhile: () => void, ...names: readonly string[]): void => {
    const sent = { dateMs: trueMs - 500, leftAtMs: wallMs, monotonicMs }
    meanwhile()
    const tookMs = monotonicMs - sent.monotonicMs
    for (const each of names) clocks.saw(each, sent.dateMs, { leftAtMs: sent.leftAtMs, tookMs })
  }
  return {
    hear,
    hearLate,
    skew: (host: string) => clocks.skewMs(host),
    skews: () => hosts.map((host) => clocks.skewMs(host)),
    /** The machine sleeps, and its wall clock is set when it wakes. */
    sleep(ms: number) {
      wallMs += ms
      trueMs += ms
    },
    set(ms: number) {
      wallMs += ms
    },
    pass(ms: number) {
      wallMs += ms
      trueMs += ms
      monotonicMs += ms
    },
  }
}

test('a machine that slept knows the time by the first answers of two hosts, though nobody asks the others', () => {
  const machine = sleeper(['one', 'two', 'three', 'four'])
  expect(machine.skews()).toEqual([0, 0, 0, 0])
  machine.sleep(22 * 60_000)
  machine.hear('one')
  machine.pass(100)
  machine.hear('two')
  expect(machine.skews()).toEqual([0, 0, undefined, undefined])
  machine.hear('four')
  expect(machine.skews()).toEqual([0, 0, undefined, 0])
})

test('a clock that was set wrong is far from every host before and after they are heard again', () => {
  const machine = sleeper(['one', 'two', 'three'])
  machine.set(-3_600_000)
  expect(machine.skews()).toEqual([3_600_000, 3_600_000, 3_600_000])
  machine.hear('one', 'two')
  expect(machine.skews()).toEqual([3_600_000, 3_600_000, undefined])
})

test('one host alone has no say over the others after a jump, unless there is no other', () => {
  const machine = sleeper(['one', 'two', 'three'])
  machine.sleep(600_000)
  machine.hear('one')
  expect(machine.skews()[1]).toBe(-600_000)
  const alone = sleeper(['one'])
  alone.sleep(600_000)
  alone.hear('one')
  expect(alone.skews()).toEqual([0])
})

test('answers that a stopped process or a sleeping machine took in late say nothing where an exact one was heard', () => {
  const machine = sleeper(['one', 'two', 'three'])
  machine.hearLate(() => machine.pass(600_000), 'one', 'two', 'three')
  expect(machine.skews()).toEqual([0, 0, 0])
  machine.hearLate(() => machine.sleep(600_000), 'one', 'two')
  // By what they said earlier, before exact answers come.
  expect(machine.skews()).toEqual([-600_000, -600_000, -600_000])
  machine.hear('one', 'two')
  expect(machine.skews()).toEqual([0, 0, undefined])
})

test('a process that was stopped while its clock was set knows the hosts by what they said before', () => {
  const machine = sleeper(['one', 'two'])
  machine.hearLate(() => {
    machine.pass(570_000)
    machine.set(-9_000_000)
  }, 'one')
  machine.hear('two')
  expect(machine.skews()).toEqual([9_000_000, 9_000_000])
})

test('a host that always answers late is known as well as that lets it be, until it is heard exactly', () => {
  const machine = sleeper([])
  machine.hearLate(() => machine.pass(30_000), 'slow')
  expect(machine.skew('slow')).toBe(-15_000)
  machine.hear('slow')
  expect(machine.skew('slow')).toBe(0)
})
