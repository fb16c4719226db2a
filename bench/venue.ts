/**
 * `node bench/venue.ts [connections] [seconds per route]`: the paper venue on a socket. Requests a second and p99 for each read with
 * that many connections (default 50), then memory while 1,000 traders trade for simulated hours. Reported, never asserted.
 */
import { fork } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import { chains } from '../src/chains/index.ts'
import { serveVenue } from '../src/paper/serve.ts'
import { createVenue } from '../src/paper/venue.ts'

const connections = Number(process.argv[2] ?? 50)
const secondsByRoute = Number(process.argv[3] ?? 2)
const address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const clockAt = (startMs: number, speed: number) => {
  const begun = performance.now()
  return {
    now: () => Math.floor(startMs + (performance.now() - begun) * speed),
    monotonicMs: () => performance.now() - begun,
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  }
}

/** The venue in a process of its own, so that its core is not shared with the clients. */
async function serve(): Promise<void> {
  const venue = createVenue({
    clock: clockAt(Date.now(), 1),
    chain: chains.arbitrum,
    settings: { traders: 36 },
  })
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  // Says what its core spent, on request: under load from others, requests by second of its own time still tell.
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 })
  })
  process.send?.({ api: served.api[0], oracle: served.oracle[0] })
}

async function load(url: string, cpuMs: () => Promise<number>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port, pathname, search } = new URL(url)
  const options = { agent, hostname, port, path: pathname + search }
  const latencies: number[] = []
  const cpuBefore = await cpuMs()
  const until = performance.now() + secondsByRoute * 1000
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
  const spentMs = (await cpuMs()) - cpuBefore
  agent.destroy()
  latencies.sort((a, b) => a - b)
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0
  const perSecond = Math.round(latencies.length / secondsByRoute)
  say(
    `${url
      .replace(/^http:\/\/[^/]+/, '')
      .slice(0, 60)
      .padEnd(
        60,
      )} ${String(perSecond).padStart(7)} /s  ${String(Math.round((latencies.length * 1000) / spentMs)).padStart(7)} /s of one core  p99 ${p99.toFixed(1).padStart(6)} ms  ${Math.round(bytes / latencies.length / 102.4) / 10} KB${failed > 0 ? `  ${failed} failed` : ''}`,
  )
}

async function trade(traders: number, hours: number): Promise<void> {
  let now = 1_795_219_200_000
  const clock = { now: () => now, monotonicMs: () => now, sleep: async () => undefined }
  const venue = createVenue({ clock, chain: chains.arbitrum, settings: { traders } })
  for (let hour = 0; hour <= hours; hour += 1) {
    globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    const { world } = venue
    say(
      `hour ${hour}: heap ${(heapUsed / 2 ** 20).toFixed(1)} MiB, rss ${(rss / 2 ** 20).toFixed(0)} MiB, ${world.positions.size} positions, ${world.trades.length} trades kept, ${world.counters.order} orders made`,
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
  for (const path of [
    '/ping',
    '/prices/tickers',
    '/tokens',
    '/markets',
    '/markets/info',
    '/markets/state',
    '/tokens/info',
  ]) {
    await load(hosts.oracle + path, cpuMs)
  }
  for (const path of [
    '/markets',
    '/markets/config',
    '/markets/values',
    '/markets/info',
    '/markets/tickers',
    `/markets/trading-capacity?${new URLSearchParams({ symbol: 'ETH/USD [WETH-USDC]', direction: 'long' })}`,
    '/tokens',
    '/tokens/info',
    `/positions?address=${address}`,
    `/orders?address=${address}`,
    `/balances/wallet?address=${address}`,
    '/trades',
    '/rates',
    '/apy',
    '/yield/gm-pools',
    '/stats/summary',
    '/pairs',
  ]) {
    await load(hosts.api + path, cpuMs)
  }
  child.kill()
}
