/**
 * `npm run bench`: the short form of each bench, one after the other, as one Markdown table with machine, load and commit, for
 * docs/reference/performance.md. It takes about six minutes; what a line says in full is said by the bench itself.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

/** Bench, its arguments, and lines of what it prints that are kept; the longest that it may take, s. */
const benches: readonly (readonly [
  file: string,
  args: readonly string[],
  kept: RegExp,
  mostSeconds: number,
])[] = [
  ['start', ['3'], /./, 90],
  ['road', ['150', 'order-chain', '3'], /^ +\d+ +\w+ |load/, 90],
  ['decode', ['200'], /./, 30],
  ['journal', [], /./, 60],
  ['strategies', ['15', '500'], /instances/, 90],
  ['backtest', ['6'], /./, 60],
  // It needs a Chromium of this machine.
  ['consoleChart', [], /./, 90],
]

const say = (text: string) => process.stdout.write(`${text}\n`)
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const [{ model = 'unknown processor' } = {}] = cpus()
const gb = Math.round(totalmem() / 1e9)
say(
  `Commit ${commit}, Node ${process.version}, ${cpus().length} cores of ${model.trim()}, ${gb} GB, ${new Date().toISOString().slice(0, 10)}.`,
)
say('\n| bench | load before | measured |\n|---|---|---|')
for (const [file, args, kept, mostSeconds] of benches) {
  const load = loadavg()[0]?.toFixed(1)
  const { stdout, status, signal } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, `${file}.ts`), ...args],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: mostSeconds * 1_000,
    },
  )
  const lines = stdout.split('\n').filter((line) => line !== '' && kept.test(line))
  if (status !== 0) {
    process.exitCode = 1
    lines.push(`**did not end well** (${signal ?? status})`)
  }
  const cell = lines.map((line) => line.trim().replace(/ {2,}/g, ' ').replaceAll('|', '\\|')).join('<br>')
  say(`| \`${[file, ...args].join(' ')}\` | ${load} | ${cell} |`)
}
