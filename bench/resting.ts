/**
 * What orders that rest cost in requests, and how late a fill of one is known: a real daemon without chain endpoints and the paper
 * venue, both as processes of their own. By hand: `node bench/resting.ts [seconds] [orders ...]`, or
 * `node bench/resting.ts fills [seconds]`.
 *
 * The first prints for each number of resting limit orders the requests an hour that the daemon sends, by route, reckoned from
 * those of the time measured. The second lets the price fall through a row of limit orders and prints how long after each left the venue's own
 * list the daemon told of its fill.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'

const [mode = '120', ...rest] = process.argv.slice(2)
const main = join(import.meta.dirname, '../src/cli/main.ts')
const say = (text: string) => process.stdout.write(`${text}\n`)
const market = 'ETH/USD [WETH-USDC]'
/** Candles, five seconds each, in which the price stands still while the orders are made. */
const stillCandles = 36
const folder = mkdtempSync(join(tmpdir(), 'perpd-resting-'))
const children: ChildProcess[] = []

interface Started {
  readonly child: ChildProcess
  readonly said: () => string
}

function start(cwd: string, args: readonly string[]): Started {
  const child = spawn(process.execPath, ['--disable-sigusr1', main, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return { child, said: () => text }
}

async function until<T>(what: string, said: () => string, look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 6_000; tries += 1) {
    const found = look()
    if (found !== undefined) return found
    await wait(100)
  }
  throw new Error(`waited in vain for ${what}: ${said().slice(-2000)}`)
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

/** A kind that rests so many limit orders one after the other, the first `firstBps` below the price and each `stepBps` below the last. */
const kind = `import { collateralTokenOf, defineStrategy, z } from '#strategy'
export default defineStrategy({
  kind: 'rungs',
  description: 'Rests limit orders below the price.',
  params: z.strictObject({ count: z.int(), firstBps: z.int(), stepBps: z.int() }),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const { params } = view
    const { size, symbols } = view.instance
    const market = view.market(symbols[0])
    const price = market?.oraclePrice?.value.medianPrice
    const placed = view.restingOrders.length
    if (size === undefined || price === undefined || placed >= params.count) return []
    if (view.openIntents.length !== placed) return []
    return [{
      kind: 'increase',
      marketToken: market.market.marketToken,
      direction: 'long',
      sizeDeltaUsd: size.usd,
      leverageBps: size.leverageBps,
      collateralToken: collateralTokenOf(market, size.collateral),
      orderType: 'limit',
      triggerPrice: (price * BigInt(10_000 - params.firstBps - params.stepBps * placed)) / 10_000n,
      reason: 'the bench wants it to rest',
    }]
  },
})
`

interface Shape {
  readonly count: number
  readonly firstBps: number
  readonly stepBps: number
}

interface World {
  readonly daemon: Started
  readonly host: string
  readonly account: string
  readonly metrics: () => Promise<string>
}

/** One file a market, with its share of the orders. */
function writeStrategies(
  cwd: string,
  symbols: readonly string[],
  shape: Shape,
  cadenceSeconds: number,
): void {
  for (const [at, symbol] of symbols.entries()) {
    const count = Math.floor((shape.count + symbols.length - 1 - at) / symbols.length)
    writeFileSync(
      join(cwd, 'strategies', `rungs-${at}.yaml`),
      `kind: ./rungs.ts
market: "${symbol}"
cadenceSeconds: ${cadenceSeconds}
size: { usd: 20, leverage: 2, collateral: short }
limits: { maxPositionSizeUsd: 5000, maxLeverage: 10, maxOrdersPerHour: 1000, maxDataAgeSeconds: 15 }
params: { count: ${count}, firstBps: ${shape.firstBps}, stepBps: ${shape.stepBps} }
`,
    )
  }
}

/** Starts both and has all orders made; then the daemon starts again with strategies that look once in ten minutes. */
async function world(
  name: string,
  shape: Shape,
  marketCount: number,
  venueFlags: readonly string[],
): Promise<World> {
  const cwd = join(folder, name)
  mkdirSync(join(cwd, 'strategies'), { recursive: true })
  writeFileSync(join(cwd, 'strategies', 'rungs.ts'), kind)
  const venue = start(cwd, [
    'paper',
    '--print-hosts',
    `--paper.stateFile=${join(cwd, 'world.json')}`,
    ...venueFlags,
  ])
  const printed = await until('the paper venue', venue.said, () =>
    parsed<{ arbitrum: { api: string[]; oracle: string[] } }>(venue.said()),
  )
  const { api, oracle } = printed.arbitrum
  const [host = ''] = api
  const listed = (await (await fetch(`${host}/markets`)).json()) as { symbol: string }[]
  const others = listed
    .map(({ symbol }) => symbol)
    .filter((symbol) => symbol.includes('-USDC]') && !symbol.startsWith('SWAP-ONLY') && symbol !== market)
  const symbols = [market, ...others].slice(0, Math.min(marketCount, shape.count))
  const run = async () => {
    const daemon = start(cwd, [
      'run',
      ...api.map((each) => `--venue.apiHosts=${each}`),
      ...oracle.map((each) => `--venue.oracleHosts=${each}`),
      '--journal.path=journal.sqlite',
      '--paper.keyFile=key',
      '--control.port=0',
      '--control.tokenFile=token',
      '--risk.maxOrdersPerHour=1000',
      '--log.format=json',
    ])
    const url = await until('the daemon', daemon.said, () =>
      daemon.said().includes('"event":"daemon.ready"')
        ? /"status_url":"([^"]+)"/.exec(daemon.said())?.[1]
        : undefined,
    )
    return { daemon, metrics: async () => await (await fetch(new URL('/metrics', url))).text() }
  }
  writeStrategies(cwd, symbols, shape, 1)
  const first = await run()
  await until(`${shape.count} orders that rest`, first.daemon.said, () => {
    const rested = first.daemon.said().match(/"state_to":"resting"/g)
    return (rested?.length ?? 0) >= shape.count ? true : undefined
  })
  await end(first)
  writeStrategies(cwd, symbols, shape, 600)
  const key = /0x[0-9a-f]{64}/.exec(readFileSync(join(cwd, 'key'), 'utf8'))?.[0] ?? ''
  return { ...(await run()), host, account: privateKeyToAccount(key as `0x${string}`).address }
}

/** Requests by route. */
function attemptsOf(text: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const [, route = '', value] of text.matchAll(
    /^perpd_http_attempts_total\{[^}]*route="([^"]*)"[^}]*\} (\S+)/gm,
  )) {
    sums.set(route, (sums.get(route) ?? 0) + Number(value))
  }
  return sums
}

async function end({ daemon }: Pick<World, 'daemon'>): Promise<void> {
  daemon.child.kill('SIGTERM')
  await new Promise((resolve) => {
    daemon.child.once('exit', resolve)
  })
}

async function requests(seconds: number, counts: readonly number[]): Promise<void> {
  for (const count of counts) {
    const made = await world(`requests-${count}`, { count, firstBps: 1_500, stepBps: 5 }, 10, [])
    // The first looks are quick ones.
    await wait(60_000)
    const before = attemptsOf(await made.metrics())
    const beganMs = performance.now()
    await wait(seconds * 1_000)
    const after = attemptsOf(await made.metrics())
    const hours = (performance.now() - beganMs) / 3_600_000
    const rows = [...after].map(([route, sum]) => [
      route,
      Math.round((sum - (before.get(route) ?? 0)) / hours),
    ])
    const shown = rows
      .filter(([, each]) => Number(each) > 0)
      .sort(([, one], [, other]) => Number(other) - Number(one))
    const all = shown.reduce((sum, [, each]) => sum + Number(each), 0)
    say(
      `${String(count).padStart(4)} orders: ${all} requests/h; ${shown.map((row) => row.join(' ')).join(', ')}`,
    )
    await end(made)
  }
}

async function fills(seconds: number): Promise<void> {
  const candles = Array.from({ length: 800 }, (_, at) => {
    const open = 3_000 * 0.9997 ** Math.max(0, at - stillCandles)
    const close = at < stillCandles ? open : open * 0.9997
    return `${1_700_000_040 + 60 * at},${open},${open},${close},${close}`
  })
  const path = join(folder, 'eth-usd-1m.csv')
  writeFileSync(path, ['timestamp,open,high,low,close', ...candles].join('\n'))
  const flags = [`--paper.replayFile=${path}`, '--paper.speed=12']
  const made = await world('fills', { count: 40, firstBps: 10, stepBps: 7 }, 1, flags)
  // One after the other: the first that leaves the list is the first that is told.
  const goneMs: number[] = []
  const toldMs: number[] = []
  let before = new Set<string>()
  const untilMs = performance.now() + seconds * 1_000
  while (performance.now() < untilMs) {
    const rows = (await (await fetch(`${made.host}/orders?address=${made.account}`)).json()) as {
      key: string
    }[]
    const nowMs = performance.now()
    const now = new Set(rows.map(({ key }) => key))
    for (const key of before) if (!now.has(key)) goneMs.push(nowMs)
    before = now
    const told = made.daemon.said().match(/"state_to":"executed"/g)?.length ?? 0
    while (toldMs.length < told) toldMs.push(nowMs)
    await wait(50)
  }
  const late = toldMs.map((atMs, index) => atMs - (goneMs[index] ?? atMs)).sort((one, other) => one - other)
  const at = (share: number) => ((late[Math.floor((late.length - 1) * share)] ?? 0) / 1_000).toFixed(2)
  say(
    `${late.length} of ${goneMs.length} fills: known after ${at(0.5)} s (median), ${at(0.9)} s (9 of 10), ${at(1)} s (the latest)`,
  )
  const sums = attemptsOf(await made.metrics())
  say(`requests: ${[...sums].map((row) => row.join(' ')).join(', ')}`)
  await end(made)
}

try {
  if (mode === 'fills') await fills(Number(rest[0] ?? '300'))
  else await requests(Number(mode), rest.length === 0 ? [1, 10, 100] : rest.map(Number))
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
