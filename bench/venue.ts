/**
 * `node bench/venue.ts [connections] [seconds per route]`: the paper venue on a socket. Requests a second and p99 for each read with
 * that many connections (default 50). `node --expose-gc bench/venue.ts trade [traders] [hours]`: memory while they trade for
 * simulated hours. Reported, never asserted.
 */
import { fork } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import { serveVenue } from '../src/paper/server/serve.ts'
import { createVenue } from '../src/paper/server/venue.ts'
import { chains } from '../src/protocol/chains/index.ts'

const connections = Number(process.argv[2] ?? 50)
const secondsByRoute = Number(process.argv[3] ?? 2)
/** Requests to a route before it is measured, so that the first routes are not those of a cold process. */
const WARM_UP_MS = 300
/** How long the world has traded before it is asked. */
const HISTORY_MS = 3_600_000

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The venue in a process of its own, so that its core is not shared with the clients. */
async function serve(): Promise<void> {
  let behindMs = HISTORY_MS
  const clock = {
    now: () => Date.now() - behindMs,
    monotonicMs: () => performance.now(),
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  }
  const venue = createVenue({ clock, chain: chains.arbitrum, settings: { traders: 36 } })
  behindMs = 0
  venue.advance()
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  // Says what its core spent, on request: under load from others, requests by second of its own time still tell.
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 })
  })
  process.send?.({ api: served.api[0], oracle: served.oracle[0] })
}

async function load(url: string, cpuMs: () => Promise<number>): Promise<void> {
  await requests(url, WARM_UP_MS)
  const cpuBefore = await cpuMs()
  const { latencies, bytes, failed } = await requests(url, secondsByRoute * 1000)
  const spentMs = (await cpuMs()) - cpuBefore
  latencies.sort((a, b) => a - b)
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0
  const columns = [
    url
      .replace(/^http:\/\/[^/]+/, '')
      .slice(0, 60)
      .padEnd(60),
    `${Math.round(latencies.length / secondsByRoute)} /s`.padStart(10),
    `${Math.round((latencies.length * 1000) / spentMs)} /s of one core`.padStart(22),
    `p99 ${p99.toFixed(1)} ms`.padStart(14),
    `${(bytes / latencies.length / 1024).toFixed(1)} KB`.padStart(10),
  ]
  say(columns.join(' ') + (failed > 0 ? `  ${failed} failed` : ''))
}

/** Asks for an address on all connections, again and again, for a time. */
async function requests(
  url: string,
  forMs: number,
): Promise<{ readonly latencies: number[]; readonly bytes: number; readonly failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port, pathname, search } = new URL(url)
  const options = { agent, hostname, port, path: pathname + search }
  const latencies: number[] = []
  const until = performance.now() + forMs
  let bytes = 0
  let failed = 0
  const once = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      httpRequest(options, (response) => {
        if (response.statusCode !== 200) failed += 1
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.on('end', () => {
          latencies.push(performance.now() - begun)
          resolve()
        })
      })
        .on('error', reject)
        .end()
    })
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) await once()
    }),
  )
  agent.destroy()
  return { latencies, bytes, failed }
}

async function trade(traders: number, hours: number): Promise<void> {
  let now = 1_795_219_200_000
  const clock = { now: () => now, monotonicMs: () => now, sleep: async () => undefined }
  const venue = createVenue({ clock, chain: chains.arbitrum, settings: { traders } })
  for (let hour = 0; hour <= hours; hour += 1) {
    globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    const { venueState } = venue
    say(
      `hour ${hour}: heap ${(heapUsed / 2 ** 20).toFixed(1)} MiB, rss ${(rss / 2 ** 20).toFixed(0)} MiB, ${venueState.positions.size} positions, ${venueState.trades.length} trades kept, ${venueState.counters.order} orders made`,
    )
    if (hour === hours) break
    const begun = performance.now()
    for (let second = 0; second < 3600; second += 1) {
      now += 1000
      venue.advance()
    }
    say(`        an hour of ${traders} traders took ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  }
}

/** An account with an open position, so that there is something to show. */
async function someTrader(api: string): Promise<{ readonly address: string; readonly market: string }> {
  const { trades } = (await (await fetch(`${api}/trades?limit=1000`)).json()) as {
    readonly trades: readonly { readonly account: string; readonly marketAddress: string }[]
  }
  for (const { account, marketAddress } of trades) {
    const positions = (await (await fetch(`${api}/positions?address=${account}`)).json()) as unknown[]
    if (positions.length > 0) return { address: account, market: marketAddress }
  }
  throw new Error('nobody has a position')
}

if (process.argv[2] === 'serve') {
  await serve()
} else if (process.argv[2] === 'trade') {
  await trade(Number(process.argv[3] ?? 1000), Number(process.argv[4] ?? 3))
} else {
  const child = fork(new URL(import.meta.url), ['serve'])
  const hosts = await new Promise<{ api: string; oracle: string }>((resolve) => {
    child.once('message', (message) => resolve(message as { api: string; oracle: string }))
  })
  const cpuMs = (): Promise<number> =>
    new Promise((resolve) => {
      child.once('message', (message) => resolve((message as { cpuMs: number }).cpuMs))
      child.send('cpu')
    })
  say(`${connections} connections, ${secondsByRoute} s a route, Node ${process.version}`)
  const { address, market } = await someTrader(hosts.api)
  const symbol = encodeURIComponent('ETH/USD [WETH-USDC]')
  for (const path of [
    '/ping',
    '/prices/tickers',
    '/prices/candles?tokenSymbol=ETH&period=1m&limit=100',
    '/signed_prices/latest',
    '/tokens',
    '/tokens/info',
    '/markets',
    '/markets/info',
    '/markets/state',
  ]) {
    await load(hosts.oracle + path, cpuMs)
  }
  for (const path of [
    '/markets',
    '/markets/config',
    '/markets/values',
    '/markets/info',
    '/markets/tickers',
    `/markets/tickers?symbols=${symbol}`,
    `/markets/trading-capacity?symbol=${symbol}&direction=long`,
    '/risk-oracle/markets',
    '/tokens',
    '/tokens/info',
    `/positions?address=${address}`,
    `/orders?address=${address}`,
    `/balances/wallet?address=${address}`,
    `/allowances?address=${address}&spender=router`,
    '/trades?limit=20',
    `/trades?address=${address}&limit=20`,
    `/rates?period=7d&averageBy=1d&address=${market}`,
    '/rates',
    '/apy',
    '/performance/annualized',
    '/performance/snapshots',
    '/yield/gm-pools',
    `/yield/gm-user-earnings?account=${address}`,
    '/stats/summary',
    '/stats/timeseries?metric=volume.total',
    '/stats/sources',
    '/pairs',
    '/pairs/solana',
    `/prices/ohlcv?symbol=${symbol}&timeframe=1m&limit=100`,
    `/staking/power?address=${address}`,
    '/buyback/weekly-stats',
    '/jit/liquidity_info',
    '/jit/liquidity_history?period=1h',
    '/incentives/usdg/boost-apr',
    `/whitelists?address=${address}`,
  ]) {
    await load(hosts.api + path, cpuMs)
  }
  child.kill()
}
