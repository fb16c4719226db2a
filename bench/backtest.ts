/**
 * Turns of a backtest that one core takes a second, on made-up minutes of one market with a strategy that holds a position
 * most of the time, and beside it a yardstick loop in the same process, so that machines and loads can be compared. By hand:
 * `node bench/backtest.ts [hours] [days]`: so many hours in exact mode, so many days in fast. Processor time, without the start of the process.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveExactRun } from '../src/backtest/exactRun.ts'
import { planRun, takeRunFolder } from '../src/backtest/planRun.ts'
import { usualModel } from '../src/backtest/runModel.ts'
import { loadConfig } from '../src/config/loadConfig.ts'
import { loadStrategies } from '../src/strategy/files/load.ts'

const [hours = 12, days = 10] = process.argv.slice(2).map(Number)
const start = Date.UTC(2024, 0, 3) / 1000
const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
const say = (text: string) => process.stdout.write(`${text}\n`)

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
  const rows = [
    { mode: 'exact', turnSeconds: 60, span: hours },
    { mode: 'exact', turnSeconds: 300, span: hours },
    { mode: 'fast', turnSeconds: 60, span: days * 24 },
    { mode: 'fast', turnSeconds: 300, span: days * 24 },
    { mode: 'fast', turnSeconds: 3_600, span: days * 24 },
  ] as const
  for (const { mode, turnSeconds, span } of rows) {
    if (!(span > 0)) continue
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
    const out = join(folder, `run-${mode}-${turnSeconds}`)
    takeRunFolder(out, manifest)
    const stick = yardstick()
    const before = process.cpuUsage()
    const { turns, fills } = await liveExactRun({
      folder: out,
      manifest,
      config,
      strategies,
      ...candles,
    })
    const seconds = cpuSeconds(before)
    say(
      `${mode}, a turn each ${turnSeconds} s: ${span} hours, ${turns} turns, ${fills.length} fills, ${seconds.toFixed(1)} s of processor, ${(turns / seconds).toFixed(0)} turns/s, a year in ${((seconds * 8_760) / span).toFixed(0)} s; yardstick ${(stick * 1000).toFixed(0)} ms; ${Math.round(process.memoryUsage.rss() / 1e6)} MB; load ${loadavg()[0]?.toFixed(1)}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
