/**
 * The road from an admitted decision to an accepted submit, against the paper venue in another process over loopback:
 * J1, J2, prepare, verify, sign, J3, submit, with every journal commit durable. By hand: `node bench/road.ts [orders]`.
 *
 * Prints wall time per order, this process's CPU per order, and the part of the wall time that the venue itself says it
 * used (its Server-Timing header), for 1, 8 and 32 orders in flight.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { createApi } from '../src/api/client.ts'
import { createNodeFetch } from '../src/api/nodeFetch.ts'
import type { Fetch } from '../src/api/route.ts'
import { systemClock } from '../src/api/systemClock.ts'
import { arbitrum } from '../src/chains/arbitrum.ts'
import { hexKey } from '../src/domain/address.ts'
import type { Intent } from '../src/domain/intent.ts'
import { usd } from '../src/domain/units.ts'
import type { ExecutionContext } from '../src/execution/context.ts'
import { createShell } from '../src/execution/shell.ts'
import { openJournal } from '../src/journal/open.ts'
import { createLocalSigner } from '../src/keys/local.ts'

const orders = Number(process.argv[2] ?? 300)
const symbol = 'ETH/USD [WETH-USDC]'
const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
// The venue keeps its world in memory where it can, so that its writes do not queue before our commits on one disk.
const venueFolder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'perpd-bench-venue-'))
const say = (text: string) => process.stdout.write(`${text}\n`)

const venue = spawn(
  process.execPath,
  [
    join(import.meta.dirname, '..', 'src', 'cli', 'main.ts'),
    'paper',
    '--print-hosts',
    `--paper.stateFile=${join(venueFolder, 'world.json')}`,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
const printed = await new Promise<string>((resolve) => {
  let text = ''
  venue.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
    try {
      JSON.parse(text)
      resolve(text)
    } catch {
      // Not whole yet.
    }
  })
})
const hosts = (JSON.parse(printed) as { arbitrum: { api: string[]; oracle: string[] } }).arbitrum

let venueMs = 0
const connection = createNodeFetch()
const fetch: Fetch = async (url, init) => {
  const answer = await connection.fetch(url, init)
  if (init.method === 'POST')
    venueMs += Number(/dur=([\d.]+)/.exec(answer.headers.get('server-timing') ?? '')?.[1] ?? 0)
  return answer
}

const api = createApi({ chain: arbitrum, hosts, fetch, clock: systemClock, random: Math.random })
const signer = createLocalSigner(generatePrivateKey())
const journal = openJournal(join(folder, 'journal.sqlite'), {
  clockNow: systemClock.now,
  holder: signer.address,
})

const market = (await api.getMarkets()).value.find((each) => each.symbol === symbol)
const tokens = (await api.getTokensInfo()).value
if (market === undefined) throw new Error(`${symbol} is not listed`)
const token = (address: string) => {
  const found = tokens.find((each) => hexKey(each.address) === hexKey(address))
  if (found === undefined) throw new Error(`no token ${address}`)
  return { symbol: found.symbol, address: found.address, decimals: found.decimals }
}

async function referencePrice(): Promise<bigint> {
  const decimals = new Map(
    (await api.getOracleTokens()).value.map((each) => [hexKey(each.address), each.decimals]),
  )
  const prices = await api.getPrices((address) => decimals.get(hexKey(address)))
  const price = prices.value.find((each) => hexKey(each.tokenAddress) === hexKey(market?.indexToken ?? ''))
  if (price === undefined) throw new Error('no price')
  return price.maxPrice
}

const steps = new Map<string, number[]>()
const context: ExecutionContext = {
  api,
  journal,
  signer,
  chain: arbitrum,
  clock: systemClock,
  emit: (event) => {
    if (event.type === 'order.timing') {
      const times = steps.get(event.step) ?? []
      times.push(event.durationMs)
      steps.set(event.step, times)
    }
    if (event.type === 'order.poisoned') throw new Error(JSON.stringify(event.differences))
  },
  rules: { source: 'api', trustVenue: true, deadlineMarginMs: 10_000 },
  // Nothing is followed while the road is measured.
  settings: {
    statusPollMs: 3_600_000,
    statusPollMaxMs: 3_600_000,
    prepareRetryMs: 500,
    poisonRestMs: 1000,
    relayDeadlineSeconds: 120,
  },
  signingPolicy: () => ({
    minDeadlineSeconds: 20,
    maxDeadlineSeconds: 3700,
    maxExecutionFee: 10n ** 16n,
    maxRelayFee: 5_000_000n,
    priceToleranceBps: 200,
    feeSwapMarkets: new Set([market.marketToken.toLowerCase()]),
  }),
  fatal: (error) => {
    throw error
  },
}
const shell = createShell(context)

let made = 0
function intentOf(price: bigint): Intent {
  made += 1
  const nowMs = systemClock.now()
  const direction = 'long'
  if (market === undefined) throw new Error('no market')
  return {
    intentId: `bench-${made}`,
    decisionKey: `bench#${made}`,
    strategy: 'bench',
    account: signer.address,
    chain: 'arbitrum',
    lane: 'order-chain',
    kind: 'increase',
    decision: {
      kind: 'increase',
      marketToken: market.marketToken,
      direction,
      sizeDeltaUsd: usd(10),
      leverageBps: 20_000,
      collateralToken: market.shortToken,
      reason: 'a benchmark',
    },
    terms: {
      orderType: 'market',
      symbol,
      marketToken: market.marketToken,
      indexToken: token(market.indexToken),
      direction,
      collateralToken: token(market.shortToken),
      sizeDeltaUsd: usd(10),
      collateralDelta: 5_000_000n,
      keepLeverage: false,
      slippageBps: 100,
      referencePrice: price,
    },
    sizing: { wantedUsd: usd(10), sizeDeltaUsd: usd(10), cuts: [], dataAgeMs: 0 },
    reservationUsd: usd(10),
    acceptedAtMs: nowMs,
    expiresAtMs: nowMs + 60_000,
  }
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function measure(inFlight: number, count: number): Promise<string> {
  const price = await referencePrice()
  steps.clear()
  venueMs = 0
  const times: number[] = []
  let left = count
  const cpu = process.cpuUsage()
  const start = performance.now()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1
        const intent = intentOf(price)
        const startMs = performance.now()
        await shell.accept(intent)
        await shell.settled(intent.intentId)
        times.push(performance.now() - startMs)
      }
    }),
  )
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  const accepted = journal
    .records(`bench-${made}`)
    .some(({ record }) => record.kind === 'send.result' && record.send.result === 'accepted')
  if (!accepted) throw new Error(JSON.stringify(journal.records(`bench-${made}`).at(-1)?.record.kind))
  const ms = (value: number) => value.toFixed(2).padStart(7)
  const parts = ['prepare', 'verify', 'sign', 'submit'].map(
    (step) => `${step} ${quantile(steps.get(step) ?? [], 0.5).toFixed(2)}`,
  )
  return [
    String(inFlight).padStart(9),
    String(count).padStart(7),
    ms(quantile(times, 0.5)),
    ms(quantile(times, 0.99)),
    ms((user + system) / 1000 / count),
    ms(venueMs / count),
    String(Math.round((count / wallMs) * 1000)).padStart(9),
    `  ${parts.join(', ')}`,
  ].join(' ')
}

try {
  say(
    `node ${process.version}, ${cpus()[0]?.model ?? 'unknown cpu'}, ${cpus().length} cores, journal in ${tmpdir()}`,
  )
  await measure(1, 200)
  say('in flight  orders  p50 ms  p99 ms  cpu ms venue ms  orders/s   p50 of the steps, ms')
  for (const inFlight of [1, 8, 32]) say(await measure(inFlight, orders))
} finally {
  shell.stop()
  journal.close()
  venue.kill('SIGTERM')
  await once(venue, 'close')
  rmSync(folder, { recursive: true, force: true })
  rmSync(venueFolder, { recursive: true, force: true })
  process.exit()
}
