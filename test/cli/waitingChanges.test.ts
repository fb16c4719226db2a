/** What `perpd limits` says of a configuration that changed besides its limits. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config.ts'
import { type WholeConfiguration, waitingChanges } from '../../src/cli/waitingChanges.ts'
import { loadStrategies } from '../../src/strategy/load.ts'

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
