/**
 * The paper venue under orders: prepare, sign, submit, over loopback, at the process that `perpd paper` is, with a state file on disk.
 * By hand: `node bench/venueOrders.ts [orders] [in flight] [rounds] [reads | floor]`. With `reads`, long reads are asked beside the
 * orders, each for the first time; with `floor`, the rounds are of a server that does the least of it (venueFloor.ts). Prints wall times, orders a second, orders a second of the venue's own core (its main thread's processor
 * time), and the longest stretches of that thread. `PERPD_BENCH_PROFILE=FOLDER` takes a processor profile of the venue.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import type { Address, Hex } from '../src/protocol/address.ts'
import { arbitrum } from '../src/protocol/chains/arbitrum.ts'
import { addressOfKey, signDigest } from '../src/protocol/crypto/secp256k1.ts'
import { type Message, messageDigestOf } from '../src/protocol/signing/messages.ts'
import { domainSeparator } from '../src/protocol/signing/relayRouter.ts'
import type { Spent } from './venueWatch.ts'
import { quantile } from './yardsticks.ts'

const orders = Number(process.argv[2] ?? 1000)
const inFlight = Number(process.argv[3] ?? 32)
const rounds = Number(process.argv[4] ?? 5)
const reads = process.argv[5] === 'reads'
const isFloor = process.argv[5] === 'floor'
const profile = process.env.PERPD_BENCH_PROFILE
const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
const say = (line: string) => process.stdout.write(`${line}\n`)

interface Hosts {
  readonly api: readonly string[]
  readonly oracle: readonly string[]
}

interface Served {
  readonly child: ChildProcess
  readonly hosts: Hosts
}

const startVenue = (): Promise<Served> =>
  start(
    '../src/cli/main.ts',
    ['paper', '--print-hosts', `--paper.stateFile=${join(folder, 'world.json')}`],
    '',
  )

/** Starts a server under the watch, hands it `input`, and reads its hosts. */
async function start(file: string, args: readonly string[], input: string): Promise<Served> {
  const child = spawn(
    process.execPath,
    [
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
      `--import=${join(import.meta.dirname, 'venueWatch.ts')}`,
      join(import.meta.dirname, file),
      ...args,
    ],
    { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] },
  )
  child.stdin?.end(input)
  const hosts = await new Promise<Hosts>((resolve, reject) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      try {
        resolve((JSON.parse(text) as { arbitrum: Hosts }).arbitrum)
      } catch {
        // Not whole yet.
      }
    })
    child.once('exit', () => reject(new Error('the venue ended')))
  })
  return { child, hosts }
}

const privateKey: Hex = `0x${'5b'.repeat(32)}`
const from: Address = addressOfKey(privateKey)
const separator = domainSeparator(arbitrum.chainId, arbitrum.contracts.gelatoRelayRouter)
const dispatcher = new Agent({ keepAliveTimeout: 4_000 })
let { child, hosts } = await startVenue()
const api = () => hosts.api[0] ?? ''

async function post(path: string, body: unknown): Promise<unknown> {
  const answer = await request(api() + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher,
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`)
  return JSON.parse(text)
}

async function get(url: string): Promise<string> {
  const answer = await request(url, { dispatcher })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${text}`)
  return text
}

const wanted = {
  kind: 'increase',
  symbol: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  orderType: 'market',
  size: `1${'0'.repeat(31)}`,
  collateralToPay: { amount: '5000000', token: 'USDC' },
  collateralToken: 'USDC',
  mode: 'express',
  from,
}

/** One order; says what was answered and signed. */
async function order() {
  const prepared = (await post('/orders/txns/prepare', wanted)) as {
    requestId: string
    idempotencyKey: string
    payload: { typedData: { message: Message }; batchParams: unknown; relayParams: unknown }
  }
  const { requestId, idempotencyKey, payload } = prepared
  const { typedData, batchParams, relayParams } = payload
  const digest = messageDigestOf(separator, 'Batch', typedData.message)
  const signature = signDigest(privateKey, digest)
  const eip712Data = { batchParams, relayParams }
  const body = { mode: 'express', requestId, idempotencyKey, from, signature, eip712Data }
  const submitted = (await post('/orders/txns/submit', body)) as { taskId?: string; error?: object }
  const { taskId, error } = submitted
  if (taskId === undefined || error !== undefined) throw new Error(JSON.stringify(error))
  return { prepared: JSON.stringify(prepared), submitted: JSON.stringify(submitted), digest, signature }
}

async function end(): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'close')
}

async function spent(): Promise<Spent> {
  const answer = once(child, 'message')
  child.send('spent')
  return (await answer)[0] as Spent
}

/** Long reads of the API, none of them asked before in a run. */
function longReads(round: number): readonly string[] {
  const symbol = encodeURIComponent('BTC/USD [WBTC.b-USDC]')
  const [oracle = ''] = hosts.oracle
  return [
    `${api()}/markets/info`,
    `${api()}/markets/tickers`,
    `${oracle}/markets/info`,
    `${oracle}/signed_prices/latest`,
    `${api()}/prices/ohlcv?symbol=${symbol}&timeframe=${['1m', '5m', '15m', '1h', '4h', '1d'][round % 6]}&limit=${1000 - round}`,
    `${oracle}/prices/candles?tokenSymbol=SOL&period=${['1m', '5m', '15m', '1h', '4h', '1d'][round % 6]}&limit=${5000 - round}`,
    `${api()}/rates?period=${['total', '1y', '180d', '90d', '30d'][round % 5]}`,
    `${api()}/performance/annualized?period=${['total', '1y', '180d', '90d', '30d'][round % 5]}`,
    `${api()}/performance/snapshots?period=${['total', '1y', '180d', '90d', '30d'][round % 5]}`,
    `${api()}/apy?period=${['total', '1y', '180d', '90d', '30d'][round % 5]}`,
    `${api()}/yield/gm-pools?period=${['total', '1y', '180d', '90d', '30d'][round % 5]}`,
    `${api()}/stats/summary`,
    `${api()}/stats/timeseries?metric=volume.total`,
    `${api()}/pairs`,
    `${api()}/jit/liquidity_info`,
    `${api()}/jit/liquidity_history?period=30d`,
    `${api()}/buyback/weekly-stats`,
    `${api()}/positions?address=${from}`,
    `${api()}/trades?limit=1000`,
    `${api()}/orders?address=${from}`,
  ]
}

try {
  say(`${orders} orders, ${inFlight} in flight, ${rounds} rounds, Node ${process.version}`)
  if (isFloor) {
    const input = `${JSON.stringify(await order())}\n`
    await end()
    ;({ child, hosts } = await start('venueFloor.ts', [], input))
  }
  for (let warm = 0; warm < 300; warm += 1) await order()
  say('round  load  p50 ms  p99 ms  max ms  orders/s  of one core  cpu ms  longest stretches, processor ms')
  for (let round = 0; round < rounds; round += 1) {
    await spent()
    const times: number[] = []
    let left = orders
    const startMs = performance.now()
    const asked = reads ? longReads(round) : []
    const reading = (async () => {
      const took: string[] = []
      for (const url of asked) {
        const beginMs = performance.now()
        try {
          await get(url)
        } catch (error) {
          say(String(error))
        }
        took.push(
          `${url.replace(/^.*?(v1|oracle.0)/, '').slice(0, 24)} ${(performance.now() - beginMs).toFixed(0)}`,
        )
      }
      return took
    })()
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (left > 0) {
          left -= 1
          const beginMs = performance.now()
          await order()
          times.push(performance.now() - beginMs)
        }
      }),
    )
    const wallMs = performance.now() - startMs
    const took = await reading
    const { cpuMs, threadMs, stretchesMs } = await spent()
    say(
      [
        String(round).padStart(5),
        (loadavg()[0] ?? 0).toFixed(1).padStart(5),
        quantile(times, 0.5).toFixed(1).padStart(7),
        quantile(times, 0.99).toFixed(1).padStart(7),
        Math.max(...times)
          .toFixed(1)
          .padStart(7),
        String(Math.round((orders / wallMs) * 1000)).padStart(9),
        String(Math.round((orders / threadMs) * 1000)).padStart(12),
        (cpuMs / orders).toFixed(2).padStart(7),
        ` ${stretchesMs
          .slice(0, 8)
          .map((ms) => ms.toFixed(0))
          .join(' ')}`,
      ].join(' '),
    )
    if (took.length > 0) say(`       ${took.join(', ')}`)
  }
} finally {
  await end()
  rmSync(folder, { recursive: true, force: true })
}
