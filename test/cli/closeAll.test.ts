/** `perpd close --all` where the list of positions lags behind fills: it waits so long and no longer, and says what it left. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Call } from '../../src/cli/call/command.ts'
import { closeAll } from '../../src/cli/verbs/closeAllCommand.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { writeAddress } from '../../src/daemon/controlAddress.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { access, engine, status } from '../control/door.ts'

let cwd: string
let server: ControlServer | undefined
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-close-all-'))
})
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(cwd, { recursive: true })
})

/** Closes all at a daemon with these statuses, one after the other; the clock is at the test's pace. */
async function closedAll(...states: readonly Partial<EngineStatus>[]) {
  const load = () => loadConfig({ argv: [], env: {}, cwd })
  let looks = 0
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' }),
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    ...access,
    tokens: openTokens(load().config),
    engine: {
      ...engine,
      status: () => {
        const state = states[Math.min(looks, states.length - 1)]
        looks += 1
        return { ...status, ...state }
      },
    },
  })
  writeAddress(load().config, server.localUrl)
  const out: string[] = []
  const err: string[] = []
  let nowMs = 0
  const clock = {
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms
    },
  }
  const call: Call = {
    loaded: load(),
    reload: load,
    readSettings: async () => load(),
    flags: new Map<string, string | true>([
      ['yes', true],
      ['no-wait', true],
    ]),
    positionals: [],
    cwd,
    env: {},
    execArgv: [],
    settings: [],
    keys: { privateKey: undefined, credentialsDirectory: undefined, ask: undefined },
    width: 80,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  }
  const code = await closeAll(call, clock)
  return { code, out: out.join('\n'), err: err.join('\n'), waitedMs: nowMs, looks }
}

const unlisted = 'long LTC/USD is $60.00 by its fills, but $0.00 in the list'

test('close --all over a list that never shows a fill ends after its wait, and says what it did not close', async () => {
  const none = await closedAll({ positions: [], feedAgesMs: { positions: 100 }, unlistedFills: [unlisted] })
  expect(none.waitedMs).toBe(20_000)
  expect(none.code).toBe(5)
  const said = none.err.replaceAll(/\s+/g, ' ')
  expect(said).toContain('Waiting until the list of positions')
  expect(said).toContain('After 20 s the list of positions still lacks fills.')
  expect(said).toContain(unlisted)
  expect(none.err.match(/Waiting/g)).toHaveLength(1)
  expect(Math.max(...none.err.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
})

test('close --all closes what is listed though another fill never shows, and says which it left', async () => {
  const some = await closedAll({ feedAgesMs: { positions: 100 }, unlistedFills: [unlisted] })
  expect(some.waitedMs).toBe(20_000)
  expect([some.code, some.out]).toEqual([5, expect.stringContaining('1 of 1 position is on the way')])
  expect(some.err.replaceAll(/\s+/g, ' ')).toContain(`not closed, list lags: ${unlisted}`)
})

test('close --all goes on as soon as the list shows every fill', async () => {
  const settled = await closedAll(
    { feedAgesMs: { positions: 100 }, unlistedFills: [unlisted] },
    { feedAgesMs: { positions: 100 } },
  )
  expect([settled.code, settled.waitedMs, settled.looks]).toEqual([0, 500, 2])
  expect(settled.err).not.toContain('still lacks fills')
})
