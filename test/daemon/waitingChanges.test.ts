/** What `perpd limits` says of a configuration that changed besides its limits. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type WholeConfiguration, waitingChanges } from '../../src/daemon/waitingChanges.ts'
import { hostKind } from '../../src/strategy/files/hostKind.ts'
import { closeStrategies, loadStrategies } from '../../src/strategy/files/load.ts'

const program = new URL('../../src/daemon/kindThread.ts', import.meta.url)

test('settings and strategies that changed are named without their values; limits and what is the same are not', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'perpd-waiting-'))
  const write = (name: string, ...lines: string[]) =>
    writeFileSync(
      join(cwd, 'strategies', `${name}.yaml`),
      [
        'kind: trend',
        'market: ETH/USD [WETH-USDC]',
        'size: { usd: 250, leverage: 3, collateral: short }',
        ...lines,
      ].join('\n'),
    )
  const read = async (...argv: string[]): Promise<WholeConfiguration> => {
    const { values } = loadConfig({ argv, env: {}, cwd })
    const { strategies, problems } = await loadStrategies([join(cwd, 'strategies')])
    expect(problems).toEqual([])
    return { values, strategies }
  }
  try {
    mkdirSync(join(cwd, 'strategies'))
    write('kept')
    write('slower')
    write('leaving')
    const running = await read('--rpc.http=http://127.0.0.1:1/first-key')
    expect(waitingChanges(running, await read('--rpc.http=http://127.0.0.1:1/first-key'))).toEqual([])
    write('kept', 'limits: { maxOrderSizeUsd: 10 }')
    write('slower', 'cadenceSeconds: 30')
    write('leaving', 'enabled: false')
    write('coming')
    const next = await read(
      '--rpc.http=http://127.0.0.1:1/other-key',
      '--log.level=debug',
      '--risk.maxOrderSizeUsd=70',
    )
    expect(waitingChanges(running, next)).toEqual([
      'rpc.http',
      'log.level',
      'strategy coming is new',
      'strategy leaving is disabled or gone',
      'strategy slower (cadenceMs)',
    ])
  } finally {
    rmSync(cwd, { recursive: true })
  }
})

test('an edited file of a kind of the user’s own waits for a restart, and is named', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'perpd-waiting-'))
  const source = (price: number) => `import { defineStrategy, z } from '#strategy'
export default defineStrategy({ kind: 'mine', description: '${price}', params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }), decide: () => [] })
`
  const read = async (): Promise<WholeConfiguration> => {
    const { values } = loadConfig({ argv: [], env: {}, cwd })
    const host = (path: string) => hostKind(path, { program, decideTimeoutMs: 10_000, memoryMiB: 64 })
    const { strategies, problems } = await loadStrategies([join(cwd, 'strategies')], { hostKind: host })
    expect(problems).toEqual([])
    await closeStrategies(strategies)
    return { values, strategies }
  }
  try {
    mkdirSync(join(cwd, 'strategies'))
    writeFileSync(
      join(cwd, 'strategies', 'mine.yaml'),
      'kind: ./mine.ts\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 100, leverage: 2 }\n',
    )
    writeFileSync(join(cwd, 'strategies', 'mine.ts'), source(1))
    const running = await read()
    expect(waitingChanges(running, await read())).toEqual([])
    writeFileSync(join(cwd, 'strategies', 'mine.ts'), source(2))
    expect(waitingChanges(running, await read())).toEqual([
      expect.stringMatching(/^strategy mine \(.*mine\.ts\)$/),
    ])
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
