/**
 * Strategies that poll a paper venue in another process over loopback, once a second, through one Api. By hand:
 * `node bench/reads.ts [seconds] [markets] [candles]`.
 *
 * A poll is what a strategy's snapshot reads each second: markets, tokens with prices, the ticker of its own market, the
 * capacity of both its sides, positions, orders, oracle prices and the oracle's market states; with the word `candles` also
 * a hundred candles of 5 minutes of its index token, which no route gives for many tokens at once. Strategies are dealt
 * over the first `markets` markets (default: all that have positions). "together" polls at the same instant, as the daemon's
 * schedule does; "spread" polls at moments spread over the second, which is the worst for sharing.
 *
 * Prints requests a second that left (attempts, as `onAttempt` tells them), this process's CPU as a share of one core,
 * and how long a poll took from its first request to its last answer. No limit of requests a second is set: the point
 * is what would be asked.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { type Api, createApi } from '../src/api/client.ts'
import { createNodeFetch } from '../src/api/transport/nodeFetch.ts'
import { systemClock } from '../src/base/systemClock.ts'
import { hexKey, sameHex } from '../src/protocol/address.ts'
import { arbitrum } from '../src/protocol/chains/arbitrum.ts'
import type { Market } from '../src/protocol/market.ts'

const seconds = Number(process.argv[2] ?? 30)
const marketsMax = Number(process.argv[3] ?? Number.POSITIVE_INFINITY)
const withCandles = process.argv[4] === 'candles'
const account = privateKeyToAddress(`0x${'7a'.repeat(32)}`)
const say = (text: string) => process.stdout.write(`${text}\n`)

const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
const main = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
const stateFile = `--paper.stateFile=${join(folder, 'world.json')}`
const venue = spawn(process.execPath, [main, 'paper', '--print-hosts', stateFile], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const hosts = await printedHosts()

async function printedHosts(): Promise<{ readonly api: string[]; readonly oracle: string[] }> {
  let text = ''
  for await (const part of venue.stdout.setEncoding('utf8')) {
    text += part
    try {
      const { api, oracle } = (JSON.parse(text) as { arbitrum: { api: string[]; oracle: string[] } }).arbitrum
      return { api, oracle }
    } catch {
      // Not whole yet.
    }
  }
  throw new Error('the paper venue ended before it printed its addresses')
}

async function poll(api: Api, market: Market): Promise<void> {
  const { symbol } = market
  const tokens = api.getOracleTokens()
  await Promise.all([
    api.getMarkets(),
    api.getTokensInfo(),
    api.getMarketTickers({ symbols: [symbol] }),
    api.getTradingCapacity({ symbol, direction: 'long' }),
    api.getTradingCapacity({ symbol, direction: 'short' }),
    api.getPositions({ account }),
    api.getOrders({ account }),
    tokens.then(async ({ value }) => {
      const tokenSymbol = value.find(({ address }) => sameHex(address, market.indexToken))?.symbol
      if (withCandles && tokenSymbol !== undefined) {
        await api.getCandles({ tokenSymbol, period: '5m', limit: 100 })
      }
      const decimals = new Map(value.map((token) => [hexKey(token.address), token.decimals]))
      return api.getPrices((token) => decimals.get(hexKey(token)))
    }),
    api.getMarketsState(),
  ])
}

interface Figures {
  readonly requestsPerSecond: number
  readonly ofRoutes: string
  readonly cpuPercent: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

async function measure(strategies: number, isSpread: boolean): Promise<Figures> {
  const requests = new Map<string, number>()
  let isCounting = false
  const nodeFetch = createNodeFetch()
  const api = createApi({
    chain: arbitrum,
    hosts,
    fetch: nodeFetch.fetch,
    clock: systemClock,
    random: Math.random,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY, queuePerHost: 10_000 },
    onAttempt: ({ route }) => {
      if (isCounting) requests.set(route, (requests.get(route) ?? 0) + 1)
    },
  })
  const markets = (await api.getMarkets()).value
    .filter(({ isSpotOnly, isListed }) => isListed && !isSpotOnly)
    .slice(0, marketsMax)
  const times: number[] = []
  let failed = 0
  const polls: Promise<void>[] = []
  const startMs = performance.now()
  const endMs = startMs + (seconds + 1) * 1000

  async function strategy(index: number): Promise<void> {
    const market = markets[index % markets.length]
    if (market === undefined) throw new Error('the venue lists no market')
    const phaseMs = isSpread ? (index / strategies) * 1000 : 0
    for (let atMs = startMs + phaseMs; atMs < endMs; atMs += 1000) {
      await systemClock.sleep(Math.max(0, atMs - performance.now()))
      const isWarm = atMs - startMs >= 1000
      const beganMs = performance.now()
      polls.push(
        poll(api, market).then(
          () => {
            if (isWarm) times.push(performance.now() - beganMs)
          },
          () => {
            failed += 1
          },
        ),
      )
    }
  }

  const strategiesDone = Promise.all(Array.from({ length: strategies }, (_, index) => strategy(index)))
  // The first second fills what is shared for long.
  await systemClock.sleep(1000)
  isCounting = true
  const cpu = process.cpuUsage()
  const countedMs = performance.now()
  await strategiesDone
  await Promise.all(polls)
  const { user, system } = process.cpuUsage(cpu)
  const wallMs = performance.now() - countedMs
  nodeFetch.close()
  const perSecond = (count: number) => (count / wallMs) * 1000
  const sorted = times.toSorted((one, other) => one - other)
  return {
    requestsPerSecond: perSecond([...requests.values()].reduce((sum, each) => sum + each, 0)),
    ofRoutes: [...requests]
      .toSorted(([, one], [, other]) => other - one)
      .map(([route, count]) => `${route} ${perSecond(count).toFixed(1)}`)
      .join(', '),
    cpuPercent: ((user + system) / 1000 / wallMs) * 100,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failed,
  }
}

say(`${seconds} s each; strategies poll once a second`)
say('phases    strategies  requests/s  CPU %  p50 ms  p99 ms  failed  by route')
for (const isSpread of [false, true]) {
  for (const strategies of [1, 10, 100, 1000]) {
    const figures = await measure(strategies, isSpread)
    say(
      `${(isSpread ? 'spread' : 'together').padEnd(9)} ${String(strategies).padStart(10)}  ${figures.requestsPerSecond.toFixed(1).padStart(10)}  ${figures.cpuPercent.toFixed(1).padStart(5)}  ${figures.p50Ms.toFixed(1).padStart(6)}  ${figures.p99Ms.toFixed(1).padStart(6)}  ${String(figures.failed).padStart(6)}  ${figures.ofRoutes}`,
    )
  }
}
venue.kill('SIGTERM')
await once(venue, 'close')
rmSync(folder, { recursive: true, force: true })
