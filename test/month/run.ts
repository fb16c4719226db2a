/**
 * `npm run strategies:table -- [--kind K] [--days 30] [--seeds 5] [--seed 1] [--cadence 420] [--candles FOLDER] [--from FOLDER] [--calm]
 * [--backtest] [--check] [--json]`:
 * lives simulated months (month.ts) of each built-in kind, one for each seed, and prints what the books of the journal say that each
 * came to. `--candles` takes the prices from CSV or JSON files of candles in a folder, whose names begin with the asset (`btc-….csv`),
 * and lives the days that a file has, at most `--days`. Of several seeds a second table has a row for each kind. `--from` lives nothing: it
 * shows the months of the files that `--json` wrote to a folder, so that months can be lived one at a time. `--backtest` prints the
 * months of `perpd backtest` (backtestMonth.ts), with a header and without the others. `--check` ends with 1 when anything was wrong.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { loadReplay } from '../../src/paper/catalog/replayFile.ts'
import { backtestMonth } from './backtestMonth.ts'
import { liveMonth, type MonthOptions } from './month.ts'
import { kindNames } from './monthKinds.ts'
import {
  backtestHead,
  backtestRow,
  backtestTerms,
  monthHead,
  monthJson,
  monthRow,
  monthsOfJson,
  sumHead,
  sumRow,
} from './monthTable.ts'
import type { MonthReport } from './monthTally.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)
/** Beside the table: problems, and what a month took. */
const say = (text: string): void => void process.stderr.write(`${text}\n`)
const { values } = parseArgs({
  options: {
    kind: { type: 'string', multiple: true },
    days: { type: 'string', default: '30' },
    seeds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    cadence: { type: 'string', default: '420' },
    candles: { type: 'string' },
    from: { type: 'string' },
    calm: { type: 'boolean', default: false },
    backtest: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const kinds = values.kind ?? kindNames
const unknown = kinds.filter((kind) => !kindNames.includes(kind))
if (unknown.length > 0)
  throw new RangeError(`no kind is called ${unknown.join(', ')}; known are ${kindNames.join(', ')}`)
const numberOf = (name: 'days' | 'seeds' | 'seed' | 'cadence'): number => {
  const value = Number(values[name])
  if (!(value > 0)) throw new RangeError(`--${name} is ${values[name]}; expected a number above 0`)
  return value
}
const [days, seeds, first, cadenceSeconds] = [
  numberOf('days'),
  numberOf('seeds'),
  numberOf('seed'),
  numberOf('cadence'),
]

/** What prices to take: the seeded ones, or those of each file with the days it has. */
async function sources(): Promise<readonly Pick<MonthOptions, 'replay' | 'days'>[]> {
  const { candles } = values
  if (candles === undefined) return [{ days }]
  const files = readdirSync(candles).filter((name) => /\.(csv|json)$/.test(name))
  if (files.length === 0) throw new RangeError(`${candles} holds no .csv or .json file of candles`)
  const all = files.sort().map(async (name) => {
    const prices = await loadReplay(join(candles, name), 1, loadCatalog('arbitrum').tokens)
    return [...prices.series].map(([asset, rows]) => {
      const seconds = (rows.at(-1)?.startSeconds ?? 0) - (rows[0]?.startSeconds ?? 0)
      const pool = asset === 'ETH' ? 'WETH' : asset
      return {
        days: Math.min(days, seconds / 86_400),
        replay: { prices, market: `${asset}/USD [${pool}-USDC]` },
      }
    })
  })
  return (await Promise.all(all)).flat()
}

/** Lives the months of a kind. */
async function liveMonths(kind: string): Promise<MonthReport[]> {
  const lived: MonthReport[] = []
  for (const source of await sources()) {
    for (let seed = first; seed < first + seeds; seed += 1) {
      const startedCpu = process.cpuUsage()
      const report = await liveMonth({
        kind,
        seed,
        cadenceSeconds,
        faults: !values.calm,
        ...source,
      })
      lived.push(report)
      const { user, system } = process.cpuUsage(startedCpu)
      if (values.json) continue
      print(monthRow(report))
      for (const problem of report.problems) say(`${kind} seed ${seed}, ${problem}`)
      say(`${kind} seed ${seed}: ${((user + system) / 1e6).toFixed(0)} s of CPU`)
    }
  }
  return lived
}

/** The months of a kind that were written to a folder, by seed. */
function writtenMonths(folder: string, kind: string): MonthReport[] {
  const months = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => monthsOfJson(readFileSync(join(folder, name), 'utf8')))
    .filter((month) => month.kind === kind)
    .sort((one, other) => one.seed - other.seed)
  for (const month of months) print(monthRow(month))
  return months
}

if (values.backtest) {
  print(backtestHead)
  const folder = mkdtempSync(join(tmpdir(), 'perpd-month-'))
  for (const kind of kinds) print(backtestRow(kind, await backtestMonth(folder, { kind, ...backtestTerms })))
  rmSync(folder, { recursive: true })
  process.exit()
}

const { from } = values
const byKind: MonthReport[][] = []
if (!values.json) print(monthHead)
for (const kind of kinds) byKind.push(from === undefined ? await liveMonths(kind) : writtenMonths(from, kind))
const reports = byKind.flat()
if (values.json) print(monthJson(reports))
else if (reports.length > kinds.length)
  print(['', sumHead, ...byKind.flatMap((months) => sumRow(months) ?? [])].join('\n'))
if (values.check && reports.some(({ problems }) => problems.length > 0)) process.exitCode = 1
