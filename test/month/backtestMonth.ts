/**
 * A month of one kind as `perpd backtest` lives it: the file of the simulated months (monthKinds.ts), over minutes of the prices that the paper
 * venue makes from a seed, by the command that a user types. No host fails, nobody else trades and no operator begins anything.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseResult, type RunResult, runFileNames } from '../../src/backtest/runFiles.ts'
import { marketsOfFile, warmUpOf } from '../../src/backtest/runStrategies.ts'
import { indexCatalog, loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { assetOf, createPrices } from '../../src/paper/catalog/prices.ts'
import { formatUnits } from '../../src/protocol/units.ts'
import { closeStrategies } from '../../src/strategy/files/load.ts'
import { perpd } from '../cli/run.ts'
import { monthStrategies } from './monthKinds.ts'

/** When each month begins, Unix seconds: 2027-01-15 08:00 UTC. */
const startSeconds = 1_800_000_000
const DAY_SECONDS = 86_400
const MINUTE = 60

/** Terms of a month. */
export interface BacktestMonthOptions {
  readonly kind: string
  readonly seed: number
  readonly days: number
  /** Time between two turns, s. */
  readonly turnSeconds: number
}

/** Lives a month in a folder of its own below `folder` and returns its result. Throws what the command printed where it failed. */
export async function backtestMonth(folder: string, options: BacktestMonthOptions): Promise<RunResult> {
  const { kind, seed, days, turnSeconds } = options
  const own = join(folder, `${kind}-${seed}`)
  const files = join(own, 'strategies')
  mkdirSync(files, { recursive: true })
  const { loaded } = await monthStrategies(files, kind, { cadenceSeconds: turnSeconds })
  const markets = [...new Set(loaded.flatMap(marketsOfFile))]
  const fromSeconds = startSeconds - warmUpOf(loaded) - DAY_SECONDS
  await closeStrategies(loaded)
  const toSeconds = startSeconds + days * DAY_SECONDS
  const data = join(own, 'candles.csv')
  writeFileSync(data, seededMinutes(markets, seed, fromSeconds, toSeconds))
  const out = join(own, 'run')
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
  const { code, err } = await perpd(own, [
    ...['backtest', files, '--data', data, '--out', out, '--profile', 'paper', '--balance', '100000'],
    ...['--from', iso(startSeconds), '--to', iso(toSeconds)],
    ...['--turn-seconds', String(turnSeconds), '--seed', String(seed), '--json'],
  ])
  if (code !== 0) throw new Error(`${kind}: ${err}`)
  return parseResult(readFileSync(join(out, runFileNames.result), 'utf8'))
}

/** Minutes of the index assets of markets by the paper venue's seeded prices, as CSV with a column for the symbol. */
function seededMinutes(
  markets: readonly string[],
  seed: number,
  fromSeconds: number,
  toSeconds: number,
): string {
  const catalog = indexCatalog(loadCatalog('arbitrum'))
  const prices = createPrices({ seed, epochSeconds: startSeconds, catalog })
  const lines = ['timestamp,open,high,low,close,symbol']
  const assets = new Set<string>()
  for (const symbol of markets) {
    const market = catalog.catalog.markets.find((each) => each.symbol === symbol)
    const token = market && catalog.tokenByAddress.get(market.indexToken.toLowerCase())
    if (token === undefined || assets.has(assetOf(token))) continue
    assets.add(assetOf(token))
    const places = 30 - token.decimals
    for (let second = fromSeconds; second < toSeconds; second += MINUTE) {
      const range = prices.rangeOf(catalog.priceKeyOf(token), second, second + MINUTE)
      if (range === undefined) continue
      const { open, high, low, close } = range
      lines.push(
        [second, ...[open, high, low, close].map((each) => formatUnits(each, places)), assetOf(token)].join(),
      )
    }
  }
  return `${lines.join('\n')}\n`
}
