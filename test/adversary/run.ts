/**
 * `npm run adversary -- --seeds N --from S|fresh [--trace]`: runs seeds of lying hosts and endpoints, and prints what they cost by
 * the venue's books. With `--trace` everything that happened in each seed. Ends with 1 when a bound or a rule was broken.
 *
 * `npm run adversary -- --ways-out --seeds N --from S [--party TEXT]`: how long `kill --close` takes with each bad party, a row each.
 *
 * `npm run adversary -- --honest --hours N --from S`: hours in which nobody lies, feeds stand 1 % apart, lists lag and hosts restart.
 */
import { parseArgs } from 'node:util'
import { freshFrom } from '../simulation/fresh.ts'
import { honestDay } from './honestDay.ts'
import { runBlock } from './search.ts'
import { addSeed, emptyReport, jobsOf, type Report, runSeeds } from './seeds.ts'

import { WAY_OUT_MS, type WayOutRow, waysOut } from './waysOut.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function show({ seeds, kinds, denials, failures }: Report, seconds: number): void {
  print(`${seeds} seeds in ${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(1)} seeds/s`)
  for (const [kind, sum] of Object.entries(kinds)) {
    print(
      `  ${kind.padEnd(10)} ${sum.seeds} seeds, ${sum.executed} executions, at most ${(sum.worst / 10).toFixed(1)} % of the bound (seed ${sum.worstSeed})`,
    )
  }
  const rows = Object.entries(denials).sort(([, one], [, other]) => other - one)
  print(`  denials      ${rows.map(([code, count]) => `${code} ${count}`).join(', ')}`)
  print(`  violations   ${failures.length}`)
  for (const { seed, kind, rule, text, command } of failures) {
    print(`    seed ${seed} (${kind}): ${rule} ${text}\n      ${command}`)
  }
}

function showWaysOut(rows: readonly WayOutRow[]): void {
  const seconds = (ms: number): string => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never')
  for (const { party, told, middleMs, slowMs, late, worstBps, accused, violations } of rows) {
    print(
      `${party.padEnd(72)} ${told} told, middle ${seconds(middleMs)}, 99 in 100 ${seconds(slowMs)}, later than ${seconds(WAY_OUT_MS)}: ${late.length}, signed at most ${worstBps} bps off`,
    )
    if (late.length > 0) print(`  late: seeds ${late.join(', ')}`)
    if (accused.length > 0) print(`  accused: ${accused.join(', ')}`)
    for (const violation of violations) print(`  ${violation}`)
  }
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    'ways-out': { type: 'boolean', default: false },
    party: { type: 'string', default: '' },
    honest: { type: 'boolean', default: false },
    hours: { type: 'string', default: '24' },
  },
})
const seeds = Number(values.seeds)
const from = values.from === 'fresh' ? freshFrom() : Number(values.from)
const startedMs = performance.now()
async function runWaysOut(): Promise<boolean> {
  const rows = await waysOut(from, seeds, values.party)
  showWaysOut(rows)
  return rows.every(
    ({ told, late, accused, violations }) =>
      late.length * 100 <= told && accused.length + violations.length === 0,
  )
}

async function runHonest(): Promise<boolean> {
  const { hours, closedExecuted, armed, submits, refused, accusations, violation } = await honestDay(
    from,
    Number(values.hours),
  )
  print(
    `${hours} h in ${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${armed} messages signed, ${submits} sent, ${closedExecuted} orders executed`,
  )
  const refusals = Object.entries(refused).map(([code, count]) => `${code} ${count}`)
  print(`  refusals     ${refusals.join(', ')}`)
  print(`  accusations  ${accusations.join(', ')}`)
  if (violation !== undefined) print(`  violation    ${violation}`)
  return armed === submits && refusals.length + accusations.length === 0 && violation === undefined
}

async function runLies(): Promise<boolean> {
  let report = emptyReport()
  if (values.trace) {
    for (const job of jobsOf(from, seeds)) {
      await runBlock(
        job.from,
        job.until,
        (found) => {
          print(JSON.stringify(found.story))
          for (const line of found.result.trace) print(line)
          addSeed(report, found)
        },
        { keepsTrace: true },
      )
    }
  } else report = await runSeeds(from, seeds)
  show(report, (performance.now() - startedMs) / 1000)
  return report.failures.length === 0
}

const chosen = values['ways-out'] ? runWaysOut : values.honest ? runHonest : runLies
process.exitCode = (await chosen()) ? 0 : 1
