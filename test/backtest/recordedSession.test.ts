/** `perpd backtest --check recorded`: decisions that a daemon recorded with their views come out again, and a changed file is named. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CheckedKind } from '../../src/backtest/check/checkKinds.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { openRecording } from '../../src/daemon/ownFiles/openRecording.ts'
import type { Log } from '../../src/monitor/log/log.ts'
import { closeStrategies, loadStrategies } from '../../src/strategy/files/load.ts'
import { perpd } from '../cli/run.ts'
import { testTrader } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-session-'))
afterAll(() => rmSync(folder, { recursive: true }))
const examples = resolve(import.meta.dirname, '../../strategies/examples')
const path = (name: string) => join(folder, 'strategies', name)

/** A plain kind, one with a memory, and one of the user's own, which print nothing else than they do live. */
function writeFiles(): readonly string[] {
  mkdirSync(join(folder, 'strategies'))
  for (const name of ['eth-target-exposure.yaml', 'eth-ladder.yaml'])
    writeFileSync(
      path(name),
      readFileSync(join(examples, name), 'utf8').replace('enabled: false', 'enabled: true'),
    )
  const strategy = resolve(import.meta.dirname, '../../src/strategy/strategy.ts')
  writeFileSync(
    path('own.ts'),
    `import { defineStrategy, usd, z } from ${JSON.stringify(strategy)}
export default defineStrategy({
  kind: 'own', description: 'Buys once.', params: z.strictObject({ sizeUsd: z.number() }),
  memory: { version: 1, schema: z.strictObject({ turns: z.number() }), first: { turns: 0 } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory) {
    const row = view.market(view.instance.symbols[0] ?? '')
    if (row === undefined || memory.turns > 0) return { decisions: [], memory: { turns: memory.turns + 1 } }
    const { marketToken, shortToken } = row.market
    const decision = { kind: 'increase', marketToken, direction: 'long', collateralToken: shortToken, leverageBps: 20000, sizeDeltaUsd: usd(view.params.sizeUsd), reason: 'first turn' }
    return { decisions: [decision], memory: { turns: 1 } }
  },
})
`,
  )
  writeFileSync(
    path('own.yaml'),
    `kind: ./own.ts
market: "BTC/USD [BTC-USDC]"
cadenceSeconds: 10
size: { usd: 100, leverage: 2, collateral: short }
limits: { maxPositionSizeUsd: 1000, maxOrdersPerHour: 20 }
params: { sizeUsd: 100 }
`,
  )
  return [path('eth-target-exposure.yaml'), path('eth-ladder.yaml'), path('own.yaml')]
}

async function checked(...files: readonly string[]) {
  const { code, out, err } = await perpd(folder, ['backtest', ...files, '--check', 'recorded', '--json'])
  if (out === '') return { code, err, byName: new Map<string, CheckedKind>() }
  const found = JSON.parse(out) as { readonly checked: readonly CheckedKind[] }
  return { code, err, byName: new Map(found.checked.map((each) => [each.strategy, each])) }
}

test('each decision of a session comes out again on its recorded view; a file that was changed since decides otherwise, by the setting that is named', {
  timeout: 120_000,
}, async () => {
  const files = writeFiles()
  const { config } = loadConfig({ argv: [], env: {}, cwd: folder })
  const log = { note: () => undefined } as unknown as Log
  const recording = openRecording(
    config,
    { api: ['http://127.0.0.1:9/v1'], oracle: ['http://127.0.0.1:9'] },
    log,
  )
  const { strategies, problems } = await loadStrategies(files)
  expect(problems).toEqual([])
  const bench = venueBench({ settled: () => settle(20) })
  let turns = 0
  const { trader } = testTrader({
    ...bench,
    strategies,
    listeners: {
      recordTurn(turn) {
        turns += 1
        recording.recordTurn(turn)
      },
    },
  })
  await trader.start()
  for (let step = 0; step < 60; step += 1) await bench.clock.advance(1_000)
  trader.abort()
  await closeStrategies(strategies)
  await recording.close()

  const { code, byName } = await checked(...files)
  expect(code).toBe(0)
  expect([...byName.keys()].sort()).toEqual(['eth-ladder', 'eth-target-exposure', 'own'])
  for (const { turns: replayed, decided, finding, passed } of byName.values()) {
    expect(replayed).toBeGreaterThan(0)
    expect(decided).toBe(replayed)
    expect(finding).toBeUndefined()
    expect(passed).toHaveLength(1)
  }
  const recorded = [...byName.values()].reduce((sum, each) => sum + each.turns, 0)
  expect(recorded).toBeLessThan(turns)
  const [name = ''] = readdirSync(join(folder, 'var', 'history', 'recorded'))
  const bytes = statSync(join(folder, 'var', 'history', 'recorded', name)).size
  expect(bytes / recorded).toBeLessThan(20_000)

  const target = path('eth-target-exposure.yaml')
  writeFileSync(target, readFileSync(target, 'utf8').replace('usd: 300', 'usd: 250'))
  const changed = await checked(target)
  expect(changed.code).toBe(1)
  const { finding } = changed.byName.get('eth-target-exposure') ?? {}
  expect(finding?.views.map((each) => each.path)).toContain('instance.size.usd')
  expect(finding?.answers.map((each) => each.path)).toContain('0.sizeDeltaUsd')
})

test('an instance of which nothing is recorded is refused by its name', async () => {
  writeFileSync(path('other.yaml'), readFileSync(path('own.yaml'), 'utf8'))
  const { code, err } = await checked(path('other.yaml'))
  expect(code).toBe(4)
  expect(err).toContain('other')
})
