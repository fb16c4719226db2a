/** Kinds of the user's own in threads: what goes wrong in one harms that instance alone, and is told with file and line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import type { HostedKind } from '../../src/strategy/files/hosted.ts'
import { type HostOptions, hostKind } from '../../src/strategy/files/hostKind.ts'
import { threadsLeftBehind } from '../../src/strategy/files/leftThreads.ts'
import { marketView, snapshot } from '../risk/world.ts'

const program = new URL('../../src/daemon/kindThread.ts', import.meta.url)
const limits: HostOptions = { program, decideTimeoutMs: 30_000, memoryMiB: 64 }

let folder = ''
let open: HostedKind[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-kinds-'))
})
afterEach(async () => {
  await Promise.all(open.map((kind) => kind.close()))
  open = []
  rmSync(folder, { recursive: true })
})

/** A kind whose `decide` has this body, loaded with its settings; its first line is line 8 of `mine.ts`. */
async function hosted(body: string, options: Partial<HostOptions> = {}, top = ''): Promise<HostedKind> {
  const path = join(folder, 'mine.ts')
  writeFileSync(
    path,
    `import { defineStrategy, usdField, z } from '#strategy'
${top}
export default defineStrategy({
  kind: 'mine', description: 'A test.', opensPositions: false,
  params: z.strictObject({ stepUsd: usdField() }),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
${body}
  },
})
`,
  )
  const kind = await hostKind(path, { ...limits, ...options })
  open.push(kind)
  expect(await kind.takeParams({ stepUsd: 12.5 })).toEqual([])
  await kind.takeInstance({ name: 'mine', symbols: ['ETH/USD [WETH-USDC]'] })
  return kind
}

const scene = { snapshot: snapshot({ view: marketView({}) }), openIntents: [], own: [], restingOrders: [] }
const symbol = marketView({}).market.symbol
/** A turn's answer or its fault, with the test's folder left out. */
const turn = async (kind: HostedKind): Promise<unknown> => {
  try {
    const { returned, crash } = await kind.decide(scene)
    return crash === undefined ? returned : `beside: ${crash.shortMessage.replaceAll(folder, 'F')}`
  } catch (error) {
    return (error as Error & { shortMessage: string }).shortMessage.replaceAll(folder, 'F')
  }
}

test('the thread sees the whole view, its functions included, and amounts stay exact', async () => {
  const kind = await hosted(`    const market = view.market(${JSON.stringify(symbol)})
    return [{ step: view.params.stepUsd, token: market?.market.marketToken, held: view.positions().length, name: view.instance.name }] as never`)
  expect(await turn(kind)).toEqual([
    { step: usd('12.5'), token: marketView({}).market.marketToken, held: 0, name: 'mine' },
  ])
  const { viewBytes } = await kind.decide(scene)
  expect(viewBytes).toBeGreaterThan(500)
  expect(viewBytes).toBeLessThan(20_000)
})

test("what decide takes of the processor is told, but for a thread's first turns, and what waits for the machine is none of it", async () => {
  const busy = await hosted(`    const before = process.threadCpuUsage()
    for (;;) {
      const { user, system } = process.threadCpuUsage(before)
      if (user + system > 60_000) return []
    }`)
  for (let first = 0; first < 3; first += 1) expect(await busy.decide(scene)).not.toHaveProperty('spentMs')
  const { spentMs } = await busy.decide(scene)
  expect(spentMs).toBeGreaterThanOrEqual(60)
  // It sleeps for longer than it may take.
  const idle = await hosted(`    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    return []`)
  for (let first = 0; first < 3; first += 1) await idle.decide(scene)
  expect((await idle.decide(scene)).spentMs).toBeLessThan(50)
})

test('what decide throws is told with the file and line of its source, and the thread goes on', async () => {
  const kind = await hosted(`    return [(undefined as never as { x: never }).x]`)
  for (let at = 0; at < 2; at++)
    expect(await turn(kind)).toBe("F/mine.ts:8: Cannot read properties of undefined (reading 'x')")
})

test('what is no error, or cannot be handed back, is told with the line where decide begins, and that it is that', async () => {
  const kind = await hosted("    throw 'a text'")
  expect(await turn(kind)).toBe('decide, which begins at F/mine.ts:7: a text')
})

test('an endless loop is told with the line that it is at, ended at its time, and the next turn is asked of a new thread', async () => {
  const kind = await hosted(
    `    if (view.snapshot.atMs === 1) {
      const seen: number[] = []
      while (seen.length === 0) view.positions()
    }
    return []`,
  )
  // What loads may take its time; what hangs may not.
  const impatient = await hostKind(join(folder, 'mine.ts'), {
    ...limits,
    decideTimeoutMs: 1_500,
    // The look at the line may wait for a machine that is short of time.
    hangLookMs: 30_000,
  })
  open.push(impatient)
  await impatient.takeParams({ stepUsd: 1 })
  const hang = { ...scene, snapshot: { ...scene.snapshot, atMs: 1 } }
  await expect(impatient.decide(hang)).rejects.toMatchObject({
    ended: 'timeout',
    shortMessage: expect.stringMatching(
      /mine\.ts:10: it did not answer within 1500 ms in its turn \(it was at this line then\), and its thread was ended$/,
    ),
  })
  expect(await impatient.decide(scene)).toMatchObject({ returned: [] })
  expect(await turn(kind)).toEqual([])
})

test('process.exit, and more memory than it may have, end the thread and nothing else', async () => {
  const leaves = await hosted('    process.exit(0)')
  expect(await turn(leaves)).toBe(
    'decide, which begins at F/mine.ts:7: it ended its thread (process.exit(0))',
  )
  const grows = await hosted(
    '    const all: unknown[] = []\n    for (;;) all.push({ a: [1, 2, 3, all.length] })',
    { memoryMiB: 16 },
  )
  expect(await turn(grows)).toBe('decide, which begins at F/mine.ts:7: it used more than 16 MiB of memory')
})

test('buffers count as memory: in a turn that goes on, and those that quick turns keep; those of a usual turn are nothing', async () => {
  const told = 'decide, which begins at F/mine.ts:7: it used more than 64 MiB of memory, buffers included'
  const grows = await hosted(
    '    const all: unknown[] = []\n    for (;;) if (all.length < 200) all.push(Buffer.alloc(1_048_576, 1))',
  )
  expect(await turn(grows)).toBe(told)
  const keeps = await hosted(
    `    const all = ((globalThis as { all?: unknown[] }).all ??= [])
    for (let at = 0; at < 40; at++) all.push(Buffer.alloc(1_048_576, 1))
    return []`,
  )
  const turns = []
  for (let at = 0; at < 4; at++) turns.push(await turn(keeps))
  expect(turns).toContain(told)
  expect(turns[0]).toEqual([])
  const usual = await hosted('    return Buffer.alloc(4_194_304, 1).length === 0 ? [] : []')
  for (let at = 0; at < 60; at++) expect(await turn(usual)).toEqual([])
})

test('a throw in a timer and a forgotten rejection are told, at the next turn where it had answered', async () => {
  const kind = await hosted(`    setTimeout(() => { throw new Error('in a timer') }, 300)
    return []`)
  await expect
    .poll(() => turn(kind), { timeout: 45_000 })
    .toMatch(/^(?:beside: )?F\/mine\.ts:8: nobody caught: in a timer$/)
  const rejects = await hosted(`    Promise.reject(new Error('forgotten'))
    return []`)
  await expect.poll(() => turn(rejects), { timeout: 45_000 }).toMatch(/mine\.ts:8: nobody caught: forgotten$/)
})

test('what cannot be handed back is a fault of the kind', async () => {
  const functions = await hosted('    return [{ later: () => 1 }] as never')
  expect(await turn(functions)).toContain('could not be cloned')
  const much = await hosted("    return [{ reason: 'x'.repeat(2_000_000) }] as never")
  expect(await turn(much)).toContain('bytes; at most 1048576 are taken')
})

test('it has no variable of the environment, and what it prints is heard', async () => {
  process.env.PERPD_TEST_SECRET = 'a secret'
  const kind = await hosted('    console.log("env", Object.keys(process.env).length)\n    return []')
  const said: string[] = []
  kind.onSaid((text) => said.push(text))
  expect(await turn(kind)).toEqual([])
  await expect.poll(() => said).toEqual(['env 0'])
  delete process.env.PERPD_TEST_SECRET
})

test('a kind that cannot be loaded says where, and one that leaves while it is loaded ends nothing else', async () => {
  await expect(hosted('    return []', {}, 'throw new Error("no luck today")')).rejects.toMatchObject({
    shortMessage: expect.stringMatching(/mine\.ts:2: no luck today$/),
  })
  await expect(hosted('    return []', {}, 'process.exit(3)')).rejects.toMatchObject({
    ended: 'exit',
    shortMessage: expect.stringContaining('process.exit(3)'),
  })
})

test('a decision is placed where its field is written, else where decide begins', async () => {
  const kind = await hosted(`    const size = { sizeDeltaUsd: 5 }
    return [{ kind: 'close', ...size }] as never`)
  expect(kind.placeOf('sizeDeltaUsd').replaceAll(folder, 'F')).toBe('F/mine.ts:8')
  expect(kind.placeOf('reason').replaceAll(folder, 'F')).toBe('decide, which begins at F/mine.ts:7')
  expect(kind.placeOf().replaceAll(folder, 'F')).toBe('decide, which begins at F/mine.ts:7')
})

test('a built-in function that nothing can end leaves one thread behind, however often it is asked, until it is over', {
  timeout: 240_000,
}, async () => {
  const kind = await hosted(
    `    if (view.snapshot.atMs === 1) many.sort()
    return []`,
    { decideTimeoutMs: 300, endGraceMs: 20, hangLookMs: 20 },
    'const many = new Float64Array(1e7); let x = 1; for (let i = 0; i < many.length; i++) many[i] = x = (x * 48_271) % 2_147_483_647',
  )
  await expect(kind.decide({ ...scene, snapshot: { ...scene.snapshot, atMs: 1 } })).rejects.toMatchObject({
    ended: 'timeout',
  })
  for (let at = 0; at < 5; at++) {
    expect(await turn(kind)).toMatch(/mine\.ts: its thread hangs in a built-in function/)
    expect(threadsLeftBehind()).toBe(1)
  }
  // The sort is done one day; then a new thread answers.
  await expect.poll(() => threadsLeftBehind(), { timeout: 60_000 }).toBe(0)
  await expect.poll(() => turn(kind), { timeout: 60_000 }).toEqual([])
})

test('a kind with a memory is given it in its thread and gives the next; one that does not fit is told apart', async () => {
  const path = join(folder, 'counts.ts')
  writeFileSync(
    path,
    `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  kind: 'counts', description: 'A test.', opensPositions: false,
  params: z.strictObject({}),
  memory: {
    version: 2, first: { turns: 0n, told: 0 },
    schema: z.strictObject({ turns: z.bigint(), told: z.number() }),
    upcast: (version, memory) => {
      if (version !== 1) throw new Error('never written')
      return { turns: BigInt((memory as { n: number }).n), told: 0 }
    },
  },
  needs: () => ({ symbols: [] }),
  decide: (view, memory) => ({
    decisions: [],
    memory: memory.turns === 9n ? { turns: 'nine' } as never : { turns: memory.turns + 1n, told: memory.told + view.events.length },
  }),
})
`,
  )
  const kind = await hostKind(path, limits)
  open.push(kind)
  await kind.takeParams({})
  await kind.takeInstance({ name: 'counts', symbols: [] })
  expect(kind.remembers).toBe(true)
  const turnWith = async (
    memory?: { version: number; memory: unknown; strategyKind?: string },
    events = 0,
  ) => {
    const event = { kind: 'denied', atMs: 0, decisionKey: 'k', code: 'C', reason: 'r' } as const
    const kept = memory === undefined ? {} : { memory: { strategyKind: 'counts', ...memory } }
    const { returned } = await kind.decide({
      ...scene,
      events: Array.from({ length: events }, () => event),
      eventsMissed: 0,
      ...kept,
    })
    return returned
  }
  expect(await turnWith()).toEqual({ decisions: [], memory: { turns: 1n, told: 0 }, version: 2 })
  expect(await turnWith({ version: 2, memory: { turns: 4n, told: 1 } }, 2)).toMatchObject({
    memory: { turns: 5n, told: 3 },
  })
  expect(await turnWith({ version: 1, memory: { n: 7 } })).toMatchObject({ memory: { turns: 8n } })
  const unfit = { code: 'STRATEGY_MEMORY_UNFIT' }
  await expect(turnWith({ version: 3, memory: {} })).rejects.toMatchObject({
    ...unfit,
    shortMessage: "its memory has version 3, newer than the kind's 2",
  })
  await expect(turnWith({ version: 2, memory: { turns: 1 } })).rejects.toMatchObject({
    ...unfit,
    shortMessage: expect.stringContaining('does not fit the schema of version 2: turns'),
  })
  await expect(turnWith({ version: 0, memory: {} })).rejects.toMatchObject({
    ...unfit,
    shortMessage: expect.stringMatching(
      /counts\.ts:9: upcast of its memory from version 0 failed: never written$/,
    ),
  })
  await expect(turnWith({ version: 2, memory: { turns: 9n, told: 0 } })).rejects.toMatchObject({
    code: 'STRATEGY_KIND_FAILED',
    shortMessage: expect.stringContaining('the memory that decide returned does not fit its schema: turns'),
  })
  // The thread goes on.
  expect(await turnWith()).toMatchObject({ memory: { turns: 1n } })
})
