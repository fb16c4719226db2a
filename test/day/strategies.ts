/** The strategies of the simulated day: the files that are shipped, all of them turned on, and the trader by the clock. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'

const shipped = join(import.meta.dirname, '..', '..', 'strategies')

/** What is changed in a shipped file: it is turned on, and trades a market of its own on steps that a day's prices cross. */
const changes: Readonly<Record<string, readonly (readonly [from: RegExp, to: string])[]>> = {
  // The shipped one turns seldom, since each turn costs fees: too seldom for a day's worth of orders.
  'eth-trend.yaml': [
    [/period: 5m/, 'period: 1m'],
    [/exitStrength: 1 /, 'exitStrength: 0.4 '],
  ],
  'btc-trend.yaml': [[/enabled: false/, 'enabled: true']],
  'eth-grid.yaml': [
    [/enabled: false/, 'enabled: true'],
    [/market: ".*"/, 'market: "SOL/USD [SOL-USDC]"'],
    [/stepUsd: \d+/, 'stepUsd: 0.5'],
    [/takeProfitBps: \d+/, 'takeProfitBps: 40'],
    [/stopBps: \d+/, 'stopBps: 200'],
  ],
  'guard.yaml': [],
}

/** Markets of the trader by the clock. */
const busySymbols = ['LINK/USD [LINK-USDC]', 'ARB/USD [ARB-USDC]'] as const

/** Markets of a day: a venue with a hundred more takes half of its processor time. */
export const dayMarkets: readonly string[] = [
  ...['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]', 'SOL/USD [SOL-USDC]'],
  ...busySymbols,
]

/**
 * Writes the files into `folder` and loads them; `cadenceSeconds` stands in for their own cadences. An idle day has the guard
 * alone, which has nothing to guard. Throws what is wrong with one.
 */
export async function dayStrategies(
  folder: string,
  {
    cadenceSeconds,
    isIdle = false,
  }: { readonly cadenceSeconds?: number | undefined; readonly isIdle?: boolean },
): Promise<readonly LoadedStrategy[]> {
  const chosen = Object.entries(changes).filter(([name]) => !isIdle || name === 'guard.yaml')
  const paths = chosen.map(([name, edits]) => {
    const path = join(folder, name)
    const text = readFileSync(join(shipped, name), 'utf8')
    const changed = edits.reduce((now, [from, to]) => {
      if (!from.test(now)) throw new Error(`${name} has nothing like ${from}`)
      return now.replace(from, to)
    }, text)
    const paced =
      cadenceSeconds === undefined
        ? changed
        : changed.replace(/cadenceSeconds: \d+/, `cadenceSeconds: ${cadenceSeconds}`)
    writeFileSync(path, paced)
    return path
  })
  const busy = join(folder, 'busy.yaml')
  const file = {
    kind: join(import.meta.dirname, 'busy.ts'),
    markets: busySymbols,
    cadenceSeconds: cadenceSeconds ?? 5,
    size: { usd: 300, leverage: 3, collateral: 'short' },
    params: {},
  }
  // JSON is YAML.
  writeFileSync(busy, JSON.stringify(file))
  const { strategies, problems } = await loadStrategies(isIdle ? paths : [...paths, busy])
  const [problem] = problems
  if (problem !== undefined) throw problem
  return strategies
}
