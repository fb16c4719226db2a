/**
 * The aims of a backtest's speed, on made-up minutes of one market with the shipped trend, which holds a position most of the time, and beside each a
 * yardstick loop in the same process, so that machines and loads can be compared. By hand: `node bench/backtest.ts [hours] [days]`: so many hours in
 * exact mode, so many days in fast, from which spans of years are scaled. Processor time, after a first run that warms the code up; the start of the
 * process is not in it, reading of candles and writing of a result are. It runs with the options of Node that perpd itself is started with, since
 * memory hangs on them: without them the young generation alone takes 70 MB more.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveExactRun } from '../src/backtest/exactRun.ts'
import { planRun, takeRunFolder } from '../src/backtest/planRun.ts'
import { usualModel } from '../src/backtest/runModel.ts'
import { writeRun } from '../src/backtest/runResult.ts'
import { loadConfig } from '../src/config/loadConfig.ts'
import { loadStrategies } from '../src/strategy/files/load.ts'

/** Options of Node in the first line of the program that users start. */
const options = readFileSync(join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts'), 'utf8')
  .split('\n', 1)
  .flatMap((line) => line.split(' ').filter((word) => word.startsWith('--')))
if (!options.every((option) => process.execArgv.includes(option))) {
  const env = { ...process.env, MALLOC_ARENA_MAX: '2' }
  const args = [...options, import.meta.filename, ...process.argv.slice(2)]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1)
}

const [hours = 12, days = 10] = process.argv.slice(2).map(Number)
const start = Date.UTC(2024, 0, 3) / 1000
const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
const say = (text: string) => process.stdout.write(`${text}\n`)

/** A line of the table; one without an aim is not shown. */
interface Row {
  readonly name: string
  readonly aim?: string
  readonly mode: 'exact' | 'fast'
  readonly turnSeconds: number
  /** Span of the run, hours; absent: the days of the command. */
  readonly hours?: number
  /** Years that the row is scaled to; absent: not scaled. */
  readonly years?: number
}

/** Processor time since `before`, s. */
function cpuSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** A fixed piece of work: parses and writes a JSON text of some 10 kB, and sums bigints of it. */
function yardstick(): number {
  const rows = Array.from({ length: 100 }, (_, at) => ({
    id: `row-${at}`,
    amount: String(10n ** 20n + BigInt(at)),
    isOpen: at % 2 === 0,
  }))
  const text = JSON.stringify(rows)
  const before = process.cpuUsage()
  let sum = 0n
  for (let round = 0; round < 2_000; round += 1)
    for (const { amount } of JSON.parse(text) as typeof rows) sum += BigInt(amount)
  return sum > 0n ? cpuSeconds(before) : 0
}

try {
  const lines = Array.from({ length: 1_440 + Math.max(hours, days * 24) * 60 }, (_, at) => {
    const price = (of: number) => 2000 + Math.round(8_000 * Math.sin(of / 170) + 900 * Math.sin(of / 7)) / 100
    const [open, close] = [price(at), price(at + 1)]
    return [
      start - 86_400 + at * 60,
      open,
      Math.max(open, close) + 0.2,
      Math.min(open, close) - 0.2,
      close,
    ].join(',')
  })
  const file = join(folder, 'eth-usd-1m.csv')
  writeFileSync(file, `timestamp,open,high,low,close\n${lines.join('\n')}\n`)
  const path = join(import.meta.dirname, '..', 'strategies', 'eth-trend.yaml')
  const { strategies } = await loadStrategies([path], { takesDisabled: true })
  const { config, values } = loadConfig({ argv: ['--profile=paper'], env: {}, cwd: folder })
  const rows: readonly Row[] = [
    { name: 'warm-up', mode: 'exact', turnSeconds: 60, hours: Math.min(hours, 4) },
    { name: 'exact, a turn a minute', aim: 'at least 400 turns/s', mode: 'exact', turnSeconds: 60, hours },
    { name: 'two years of 1m, hourly', aim: 'at most 1 s', mode: 'fast', turnSeconds: 3_600, years: 2 },
    { name: 'one year, a turn a minute', aim: 'at most 20 s', mode: 'fast', turnSeconds: 60, years: 1 },
    { name: 'one year, a turn in 15 minutes', aim: 'at most 3 s', mode: 'fast', turnSeconds: 900, years: 1 },
  ]
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname })
  const [cpu] = cpus()
  say(
    `commit ${String(commit).trim()}, Node ${process.version}, ${cpus().length} x ${cpu?.model ?? 'unknown'}`,
  )
  say('| what | aim | measured | turns/s | span, turns, fills | yardstick | memory | load |')
  say('|---|---|---|---|---|---|---|---|')
  for (const row of rows) {
    const { seconds, turns, fills, stick } = await measured(row)
    if (row.aim === undefined) continue
    const spanHours = row.hours ?? days * 24
    const isScaled = row.years !== undefined
    const whole = isScaled ? (seconds * (row.years ?? 0) * 365) / days : seconds
    const cells = [
      row.name,
      row.aim,
      `${whole.toFixed(1)} s${isScaled ? ' (scaled)' : ''}`,
      (turns / seconds).toFixed(0),
      `${spanHours} h, ${turns}, ${fills}`,
      `${(stick * 1000).toFixed(0)} ms`,
      `${Math.round(process.memoryUsage.rss() / 1e6)} MB`,
      loadavg()[0]?.toFixed(1) ?? '',
    ]
    say(`| ${cells.join(' | ')} |`)
  }

  async function measured({ name, mode, turnSeconds, hours: span = days * 24 }: Row) {
    const stick = yardstick()
    const before = process.cpuUsage()
    const { manifest, candles } = await planRun({
      chain: 'arbitrum',
      strategies,
      settings: values,
      mode,
      fromSeconds: start,
      toSeconds: start + span * 3_600,
      file,
      storeFolder: folder,
      period: '1m',
      balances: { USDC: '10000' },
      seed: 1,
      turnSeconds,
      model: usualModel,
    })
    const out = join(folder, name)
    takeRunFolder(out, manifest)
    const tally = await liveExactRun({ folder: out, manifest, config, strategies, ...candles })
    writeRun(out, manifest, tally, candles)
    return { seconds: cpuSeconds(before), turns: tally.turns, fills: tally.fills.length, stick }
  }
} finally {
  rmSync(folder, { recursive: true })
}
