/**
 * What many strategies cost: a real daemon on the paper venue, both as processes of their own, with 1, 10, 100 and 500
 * instances of the kind `trend` over 20 markets at one turn a second each. By hand:
 * `node bench/strategies.ts [seconds] [instances ...]`.
 *
 * Prints for each number of instances the daemon's CPU as a share of one core, the 99th percentile of its turns (between the
 * bounds of the histogram's buckets, as Prometheus reckons it), turns and orders a second, its resident memory at the end, and
 * the HTTP requests a second that it sends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const [secondsText = '30', ...countTexts] = process.argv.slice(2)
const measuredMs = Number(secondsText) * 1000
const counts = countTexts.length === 0 ? [1, 10, 100, 500] : countTexts.map(Number)
const marketCount = 20
const warmUpMs = 20_000
const main = join(import.meta.dirname, '../src/cli/main.ts')
const say = (text: string) => process.stdout.write(`${text}\n`)

function start(
  cwd: string,
  args: readonly string[],
): { readonly child: ChildProcess; readonly said: () => string } {
  const child = spawn(
    process.execPath,
    ['--disable-sigusr1', '--max-semi-space-size=8', '--heap-growing-percent=25', main, ...args],
    {
      cwd,
      env: { ...process.env, MALLOC_ARENA_MAX: '2' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return { child, said: () => text }
}

async function until<T>(what: string, said: () => string, look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = look()
    if (found !== undefined) return found
    await wait(100)
  }
  throw new Error(`waited in vain for ${what}: ${said().slice(-2000)}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A file of the kind `trend`, small enough that what all hold together is within the account. */
function fileOf(symbol: string): string {
  return `kind: trend
market: "${symbol}"
cadenceSeconds: 1
size: { usd: 20, leverage: 2, collateral: short }
limits: { maxPositionSizeUsd: 20, maxLeverage: 5, maxOrdersPerHour: 30, maxDataAgeSeconds: 15 }
slippageBps: 100
params: { period: 1m, fastCandles: 12, slowCandles: 48, atrCandles: 14, entryStrength: 0.05, exitStrength: 0.4, maxExtension: 12, stopAtr: 12, pyramid: 1 }
`
}

/** Values of a series by its labels, as they stand in the text. */
function series(text: string, name: string): ReadonlyMap<string, number> {
  const rows = text.split('\n').flatMap((line) => {
    const [, labels, value] = new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)`).exec(line) ?? []
    return value === undefined ? [] : [[labels ?? '', Number(value)] as const]
  })
  return new Map(rows)
}

function total(text: string, name: string, part = ''): number {
  let sum = 0
  for (const [labels, value] of series(text, name)) if (labels.includes(part)) sum += value
  return sum
}

/** The 99th percentile of what came between two readings of the histogram of turns, seconds. */
function percentile99(before: string, after: string): number {
  const name = 'perpd_loop_duration_seconds_bucket'
  const at = (text: string) => {
    const sums = new Map<number, number>()
    for (const [labels, value] of series(text, name)) {
      const bound = Number((/le="([^"]+)"/.exec(labels)?.[1] ?? '').replace('+Inf', 'Infinity'))
      sums.set(bound, (sums.get(bound) ?? 0) + value)
    }
    return sums
  }
  const [first, last] = [at(before), at(after)]
  const steps = [...last].sort(([one], [other]) => one - other)
  const counted = steps.map(([bound, value]) => [bound, value - (first.get(bound) ?? 0)] as const)
  const all = counted.at(-1)?.[1] ?? 0
  let lower = 0
  let below = 0
  for (const [bound, value] of counted) {
    if (value >= all * 0.99)
      return value === below || bound === Infinity
        ? lower
        : lower + ((bound - lower) * (all * 0.99 - below)) / (value - below)
    lower = bound
    below = value
  }
  return lower
}

const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
const children: ChildProcess[] = []
try {
  const venueFolder = join(folder, 'venue')
  mkdirSync(venueFolder)
  const venue = start(venueFolder, ['paper', '--print-config', '--state', join(venueFolder, 'world.json')])
  children.push(venue.child)
  const config = await until(
    'the paper venue',
    venue.said,
    () => parsed(venue.said()) as { api: { hosts: unknown } } | undefined,
  )
  const printed = JSON.stringify(config)
  const host = /http:\/\/127\.0\.0\.1:\d+[^"]*\/v1/.exec(printed)?.[0]
  if (host === undefined) throw new Error(`no host of the venue in ${printed}`)
  const listed = (await (await fetch(`${host}/markets`)).json()) as { symbol: string; isListed?: boolean }[]
  const symbols = listed
    .map(({ symbol }) => symbol)
    .filter((symbol) => symbol.includes('-USDC]') && !symbol.startsWith('SWAP-ONLY'))
    .slice(0, marketCount)
  say(
    `${symbols.length} markets, one turn a second, ${measuredMs / 1000} s each; load ${loadavg()[0]?.toFixed(1)}`,
  )
  for (const count of counts) {
    const cwd = join(folder, `daemon-${count}`)
    mkdirSync(join(cwd, 'strategies'), { recursive: true })
    writeFileSync(join(cwd, 'perpd.json'), printed)
    for (let number = 0; number < count; number += 1) {
      const symbol = symbols[number % symbols.length] ?? ''
      writeFileSync(join(cwd, 'strategies', `trend-${number}.yaml`), fileOf(symbol))
    }
    const flags = ['--control.port=0', '--log.format=json', '--log.level=info', '--config', 'perpd.json']
    const daemon = start(cwd, ['run', ...flags])
    children.push(daemon.child)
    const url = await until('the daemon', daemon.said, () => {
      const lines = daemon.said().split('\n')
      if (!lines.some((line) => line.includes('"event":"daemon.ready"'))) return undefined
      return /"status_url":"([^"]+)"/.exec(daemon.said())?.[1]
    })
    const read = async () => await (await fetch(new URL('/metrics', url))).text()
    await wait(warmUpMs)
    const before = await read()
    const beganMs = performance.now()
    await wait(measuredMs)
    const after = await read()
    const seconds = (performance.now() - beganMs) / 1000
    const rate = (name: string, part?: string) =>
      (total(after, name, part) - total(before, name, part)) / seconds
    const cpu = rate('process_cpu_user_seconds_total') + rate('process_cpu_system_seconds_total')
    const p99Ms = percentile99(before, after) * 1000
    const rssMb = total(after, 'process_resident_memory_bytes') / 1e6
    say(
      `${String(count).padStart(4)} instances: ${(cpu * 100).toFixed(1).padStart(5)} % of a core, p99 ${p99Ms.toFixed(1).padStart(6)} ms, ${rate('perpd_ticks_total', 'done').toFixed(1).padStart(5)} turns/s, ${rate('perpd_ticks_total', 'skipped').toFixed(1)} skipped/s, ${rate('perpd_orders_total').toFixed(2)} orders/s, ${rssMb.toFixed(0)} MB, ${rate('perpd_http_attempts_total').toFixed(1)} requests/s`,
    )
    daemon.child.kill('SIGTERM')
    await new Promise((resolve) => {
      daemon.child.once('exit', resolve)
    })
  }
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
