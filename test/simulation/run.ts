/**
 * `npm run simulate -- --seeds N --from S|fresh [--tier core|shell|files|engine|shared|shared-engine|both|all] [--crowded] [--trace | --hashes]`: runs
 * seeds and prints what they did; `fresh` begins where nobody has (`fresh.ts`), `both`, which is the default, are the core and the
 * shell, and `--crowded` worlds of the engine have several strategies on one side whose files come and go. With `--trace` everything that happened in each seed, with `--hashes` the hash of each trace alone. Ends with 1 when an
 * invariant was broken.
 *
 * `--transcript OUT [--full FILE]` runs the seeds one after the other and writes a line for each with the hash of its transcript
 * (`transcript.ts`), to the second file the transcripts themselves: what differs between two versions of the source behaves
 * differently. One version gives the same transcript at each run, however busy the machine is. Of two versions that mean the
 * same, one that awaits more may make the requests of one instant in another order, and so of other hosts: look at the times.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { freshFrom } from './fresh.ts'
import { addWorld, emptyReport, type Report, runSeeds, type TierName } from './seeds.ts'
import { runSeed } from './tiers.ts'
import { transcribe } from './transcribe.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function table(title: string, counts: Readonly<Record<string, number>>): void {
  const rows = Object.entries(counts).sort(([, one], [, other]) => other - one)
  print(`  ${title.padEnd(12)} ${rows.map(([name, count]) => `${name} ${count}`).join(', ')}`)
}

function show(tier: TierName, report: Report, seconds: number): void {
  const hours = report.simulatedMs / 3_600_000
  print(
    `${tier}: ${report.seeds} seeds in ${seconds.toFixed(1)} s, ${(report.seeds / seconds).toFixed(0)} seeds/s`,
  )
  print(
    `  simulated    ${hours.toFixed(0)} h, ${report.events} events, ${report.crashes} crashes, ${report.intents} intents`,
  )
  table('modes', report.modes)
  table('outcomes', report.outcomes)
  table('faults', report.faults)
  print(`  violations   ${report.failures.length}`)
  for (const { invariant, text, seed, mode, command } of report.failures) {
    print(`    seed ${seed} (${mode}): ${invariant} ${text.split('\n')[0]}\n      ${command}`)
  }
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    tier: { type: 'string', default: 'both' },
    trace: { type: 'boolean', default: false },
    hashes: { type: 'boolean', default: false },
    crowded: { type: 'boolean', default: false },
    transcript: { type: 'string' },
    full: { type: 'string' },
  },
})
const seeds = Number(values.seeds)
const from = values.from === 'fresh' ? freshFrom() : Number(values.from)
const tierNames: readonly TierName[] = ['core', 'shell', 'files', 'engine', 'shared', 'shared-engine']
const quickTiers: readonly TierName[] = ['core', 'shell']
const chosen = tierNames.filter(
  (name) =>
    values.tier === 'all' || values.tier === name || (values.tier === 'both' && quickTiers.includes(name)),
)
let failures = 0
if (values.transcript !== undefined) await writeTranscripts(values.transcript, values.full)
else await runAll()
process.exitCode = failures === 0 ? 0 : 1

async function writeTranscripts(path: string, fullPath: string | undefined): Promise<void> {
  const out = openSync(path, 'w')
  const full = fullPath === undefined ? undefined : openSync(fullPath, 'w')
  for (const tier of chosen) {
    for (let seed = from; seed < from + seeds; seed += 1) {
      const onLine =
        full === undefined ? undefined : (line: string) => void writeSync(full, `${tier} ${seed} ${line}\n`)
      const { line, violation } = await transcribe(tier, seed, onLine)
      writeSync(out, `${line}\n`)
      if (violation === undefined) continue
      failures += 1
      print(`${tier} ${seed}: ${violation.invariant} ${violation.text.split('\n')[0]}`)
    }
  }
  closeSync(out)
  if (full !== undefined) closeSync(full)
}

async function runAll(): Promise<void> {
  for (const tier of chosen) {
    const startedMs = performance.now()
    let report: Report
    if (values.trace) {
      report = emptyReport()
      for (let seed = from; seed < from + seeds; seed += 1) {
        const world = await runSeed(tier, seed, { keepsTrace: true, isCrowded: values.crowded })
        for (const line of world.trace) print(line)
        print(`seed ${seed}: trace hash ${world.traceHash}`)
        addWorld(report, tier, world, values.crowded)
      }
    } else report = await runSeeds(tier, from, seeds, values.crowded)
    if (values.hashes) {
      for (const [seed, hash] of Object.entries(report.hashes)) print(`${tier} ${seed} ${hash}`)
      continue
    }
    show(tier, report, (performance.now() - startedMs) / 1000)
    failures += report.failures.length
  }
}
