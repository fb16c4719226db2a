/**
 * The road from an admitted decision to an accepted submit, over loopback and with every commit of journal and guard durable: J1,
 * J2, prepare, verify, sign, J3 beside the guard's line, submit and its answer. J4 notes the answer when the order is out already, so nobody waits for
 * it; its processor counts. By hand: `node bench/road.ts [orders] [order-chain | relay]
 * [rounds]`. With `--heard` every event is heard by log, metrics, health and the console's figures, as in a daemon. With
 * `--profile FOLDER` perpd alone at the bare server, and what each number in flight spent its processor on as a file for a profiler.
 *
 * Prints wall time per order, this process's CPU per order and orders a second, for 1, 8 and 32 orders in flight: against
 * the paper venue in another process, with the part of the wall time that it says it used itself (its Server-Timing
 * header), and against a bare server that answers at once, which is what the figures of other clients are measured with. In
 * the order chain the yardsticks of `yardsticks.ts` take their turn in each round at the bare server; figures are medians of rounds.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { generatePrivateKey } from 'viem/accounts'
import type { Api } from '../src/api/client.ts'
import { type PrepareRequest, prepareBody } from '../src/api/orders/prepareRequest.ts'
import { relayParams as decodeRelayParams } from '../src/api/orders/typedData.ts'
import type { HostLists } from '../src/api/transport/hosts.ts'
import { createNodeFetch } from '../src/api/transport/nodeFetch.ts'
import type { Fetch } from '../src/api/transport/route.ts'
import { systemClock } from '../src/base/systemClock.ts'
import { createVenueClient } from '../src/daemon/venueClient.ts'
import { type Emit, emitTo } from '../src/domain/event.ts'
import type { Intent } from '../src/domain/order/intent.ts'
import type { LaneName } from '../src/domain/order/laneTable.ts'
import type { ExecutionContext } from '../src/execution/context/executionContext.ts'
import { requestOf } from '../src/execution/lanes/prepare.ts'
import { createOrderManager } from '../src/execution/orderManager.ts'
import { openJournal } from '../src/journal/service/open.ts'
import { createLocalSigner } from '../src/keys/local.ts'
import { guardedSigner, openGuard } from '../src/keys/signingGuard.ts'
import { createHealth } from '../src/monitor/health.ts'
import { createHostBook } from '../src/monitor/hostFigures.ts'
import { createLastDecisions } from '../src/monitor/lastDecisions.ts'
import { createLog } from '../src/monitor/log/log.ts'
import { createLogRing } from '../src/monitor/log/logRing.ts'
import { createMetrics } from '../src/monitor/metrics/metrics.ts'
import { hexKey } from '../src/protocol/address.ts'
import { arbitrum } from '../src/protocol/chains/arbitrum.ts'
import { hashRelayParams } from '../src/protocol/signing/relayRouter.ts'
import { usd } from '../src/protocol/units.ts'
import { bareFields } from './bareFields.ts'
import {
  type Figures,
  figuresOf,
  floorClient,
  medianOf,
  quantile,
  usualClient,
  type Yardstick,
} from './yardsticks.ts'

const { values: flags, positionals: given } = parseArgs({
  options: { profile: { type: 'string' }, heard: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const orders = Number(given[0] ?? 300)
const lane: LaneName = given[1] === 'relay' ? 'relay' : 'order-chain'
const rounds = Number(given[2] ?? 5)
const inFlights = [1, 8, 32] as const
const warmUp = 200
const symbol = 'ETH/USD [WETH-USDC]'
const folder = mkdtempSync(join(tmpdir(), 'perpd-bench-'))
// The venue keeps its world in memory where it can, so that its writes do not queue before our commits on one disk.
const venueFolder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'perpd-bench-venue-'))
const say = (text: string) => process.stdout.write(`${text}\n`)
const children: ChildProcess[] = []

function start(file: string, ...args: readonly string[]): ChildProcess & { stdout: Readable } {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  child.stdout.setEncoding('utf8')
  return child
}

async function startPaper(): Promise<HostLists> {
  const venue = start(
    '../src/cli/main.ts',
    'paper',
    '--print-hosts',
    `--paper.stateFile=${join(venueFolder, 'world.json')}`,
    '--paper.orderDeadlineSeconds=3600',
  )
  const printed = await new Promise<string>((resolve) => {
    let text = ''
    venue.stdout.on('data', (part: string) => {
      text += part
      try {
        JSON.parse(text)
        resolve(text)
      } catch {
        // Not whole yet.
      }
    })
  })
  return (JSON.parse(printed) as { arbitrum: { api: string[]; oracle: string[] } }).arbitrum
}

/** Who hears of every event in a daemon whose log is JSON; what is written goes nowhere. */
function daemonListeners(): readonly Emit[] {
  const ring = createLogRing('bench')
  const stream = { write: () => true }
  return [
    createLog({ level: 'info', format: 'json', stream, runId: 'bench', keep: ring.keep }).listen,
    createMetrics({ version: '0', profile: 'bench', chain: 'arbitrum' }).listen,
    createHealth().listen,
    createLastDecisions(systemClock.now).listen,
    createHostBook(systemClock.now).listen,
  ]
}

const paperHosts = await startPaper()
const connection = createNodeFetch()
let venueMs = 0
const timedFetch: Fetch = async (url, init) => {
  const answer = await connection.fetch(url, init)
  if (init.method === 'POST')
    venueMs += Number(/dur=([\d.]+)/.exec(answer.headers.get('server-timing') ?? '')?.[1] ?? 0)
  return answer
}
const hears = flags.heard ? daemonListeners() : []
const tell: Emit = emitTo(hears, (error) => {
  throw error
})
const apiOver = (hosts: HostLists, fetch: Fetch): Api =>
  createVenueClient({ chain: arbitrum, hosts, fetch, clock: systemClock, random: Math.random, emit: tell })
const paperApi = apiOver(paperHosts, timedFetch)
const privateKey = generatePrivateKey()
const signer = createLocalSigner(privateKey)

const market = (await paperApi.getMarkets()).value.find((each) => each.symbol === symbol)
const tokens = (await paperApi.getTokensInfo()).value
if (market === undefined) throw new Error(`${symbol} is not listed`)
const { marketToken, indexToken, shortToken } = market
const token = (address: string) => {
  const found = tokens.find((each) => hexKey(each.address) === hexKey(address))
  if (found === undefined) throw new Error(`no token ${address}`)
  return { symbol: found.symbol, address: found.address, decimals: found.decimals }
}

async function referencePrice(): Promise<bigint> {
  const decimals = new Map(
    (await paperApi.getOracleTokens()).value.map((each) => [hexKey(each.address), each.decimals]),
  )
  const prices = await paperApi.getPrices((address) => decimals.get(hexKey(address)))
  const price = prices.value.find((each) => hexKey(each.tokenAddress) === hexKey(indexToken))
  if (price === undefined) throw new Error('no price')
  return price.maxPrice
}

let made = 0
function intentOf(price: bigint): Intent {
  made += 1
  const nowMs = systemClock.now()
  const direction = 'long'
  return {
    intentId: `bench-${made}`,
    decisionKey: `bench#${made}`,
    strategy: 'bench',
    account: signer.address,
    chain: 'arbitrum',
    lane,
    kind: 'increase',
    decision: {
      kind: 'increase',
      marketToken,
      direction,
      sizeDeltaUsd: usd(10),
      leverageBps: 20_000,
      collateralToken: shortToken,
      reason: 'a benchmark',
    },
    terms: {
      orderType: 'market',
      symbol,
      marketToken,
      indexToken: token(indexToken),
      direction,
      collateralToken: token(shortToken),
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

/** One body that the paper venue prepared, told again under as many nonces as there will be orders: their fields alone differ. */
async function startBare(
  price: bigint,
): Promise<{ readonly hosts: HostLists; readonly yardsticks: readonly Yardstick[] }> {
  const request = requestOf({ chain: arbitrum }, intentOf(price)).request as PrepareRequest
  const prepareText = JSON.stringify(prepareBody(request))
  const answer = await connection.fetch(`${paperHosts.api?.[0]}/orders/txns/prepare`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: prepareText,
  })
  const body = JSON.parse(await answer.text()) as {
    requestId: string
    idempotencyKey: string
    payload: {
      relayParams: { userNonce: string }
      typedData: { message: { relayParams: string } }
    }
  }
  const { payload } = body
  const nonce = BigInt(payload.relayParams.userNonce)
  const clients = 3
  const count = clients * (warmUp + inFlights.length * orders * rounds)
  const fields = Array.from({ length: count }, (_unused, index) => {
    payload.relayParams.userNonce = String(nonce + BigInt(index))
    const relayParams = hashRelayParams(decodeRelayParams(payload.relayParams))
    return [`request-${index}`, `key-${index}`, payload.relayParams.userNonce, relayParams]
  })
  const [requestId = '', idempotencyKey = '', userNonce = '', relayParams = ''] = bareFields
  const template = JSON.stringify({
    ...{ ...body, requestId, idempotencyKey },
    payload: {
      ...{ ...payload, relayParams: { ...payload.relayParams, userNonce } },
      typedData: {
        ...payload.typedData,
        message: { ...payload.typedData.message, relayParams },
      },
    },
  })
  const taskId = `0x${'7a'.repeat(32)}`
  const server = start('bareVenue.ts')
  server.stdin?.write(
    `${JSON.stringify({
      template,
      fields,
      submit: JSON.stringify({ requestId, status: 'relay_accepted', taskId }),
      relaySubmit: JSON.stringify({ taskId, status: 'pending' }),
    })}\n`,
  )
  const [address] = (await once(server.stdout, 'data')) as [string]
  const url = address.trim()
  const submitText = JSON.stringify({
    ...body,
    payload: undefined,
    eip712: payload,
    signature: `0x${'11'.repeat(65)}`,
  })
  return {
    hosts: { api: [url], oracle: paperHosts.oracle ?? [] },
    yardsticks:
      lane === 'relay' || flags.profile !== undefined
        ? []
        : [usualClient(url, privateKey, prepareText), floorClient(url, prepareText, submitText)],
  }
}

/** What `work` spends its processor on, as a file in the folder of `--profile`; without the flag the work alone. */
async function profiled(name: string, work: () => Promise<void>): Promise<void> {
  if (flags.profile === undefined) return await work()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  mkdirSync(flags.profile, { recursive: true })
  writeFileSync(join(flags.profile, `${name}.cpuprofile`), JSON.stringify(profile))
}

/** Every order of the measurement against one venue, at 1, 8 and 32 in flight, the yardsticks by turns with ours. */
async function measureAt(
  api: Api,
  name: string,
  price: () => Promise<bigint>,
  yardsticks: readonly Yardstick[] = [],
): Promise<void> {
  const steps = new Map<string, number[]>()
  const answered = new Map<string, () => void>()
  const journal = await openJournal(join(folder, `${name}.sqlite`), {
    clockNow: systemClock.now,
    holder: signer.address,
    inThread: true,
  })
  const guard = openGuard({
    table: await journal.openGuardTable(),
    horizonSeconds: 4_300,
    marginSeconds: 600,
    exposure: { capUsd: usd(1_000_000_000), windowSeconds: 3_600 },
    now: systemClock.now,
  })
  const context: ExecutionContext = {
    api,
    journal,
    signer: guardedSigner(signer, guard),
    chain: arbitrum,
    clock: systemClock,
    emit: (event) => {
      tell(event)
      if (event.type === 'order.timing') {
        const times = steps.get(event.step) ?? []
        times.push(event.durationMs)
        steps.set(event.step, times)
        if (event.step === 'total') answered.get(event.intentId)?.()
      }
      if (event.type === 'order.payload_rejected') throw new Error(JSON.stringify(event.differences))
    },
    rules: { source: 'api', trustVenue: true, deadlineMarginMs: 10_000 },
    // Nothing is followed while the road is measured.
    settings: {
      statusPollMs: 3_600_000,
      statusPollMaxMs: 3_600_000,
      restingPollMs: 3_600_000,
      prepareRetryMs: 500,
      payloadMismatchCooldownMs: 1000,
      relayDeadlineSeconds: 120,
      relayFeePerOrder: 1_000_000n,
      withheldMs: 3_600_000,
    },
    signingPolicy: () => ({
      minDeadlineSeconds: 20,
      maxDeadlineSeconds: 3700,
      maxExecutionFee: 10n ** 16n,
      maxRelayFee: 5_000_000n,
      priceToleranceBps: 200,
      swapMarkets: new Map(),
    }),
    fatal: (error) => {
      throw error
    },
  }
  const orderManager = createOrderManager(context)

  async function measure(inFlight: number, count: number): Promise<Figures> {
    const priceNow = await price()
    const ids: string[] = []
    const make = async () => {
      const intent = intentOf(priceNow)
      ids.push(intent.intentId)
      const { promise, resolve } = Promise.withResolvers<void>()
      answered.set(intent.intentId, resolve)
      tell({ type: 'decision.admitted', intent })
      await orderManager.accept(intent)
      await promise
    }
    const settle = () => Promise.all(ids.map((id) => orderManager.settled(id)))
    const figures = await figuresOf(inFlight, count, make, settle)
    answered.clear()
    for (const id of ids) {
      const state = journal.recentIntent(id)
      const send = state?.attempts.at(-1)?.send
      if (send?.result !== 'accepted') throw new Error(JSON.stringify(send ?? state?.closing?.reason))
    }
    // No daemon has thousands of orders open: they would be measured with the next ones.
    await Promise.all(ids.map((id) => orderManager.resolve(id, 'dead', 'the benchmark')))
    return figures
  }

  const clients = [{ name: 'perpd', order: undefined }, ...yardsticks]
  const ms = (value: number) => value.toFixed(2).padStart(7)
  try {
    await measure(1, warmUp)
    for (const { order } of yardsticks) await figuresOf(1, warmUp, order)
    say(`${name}, ${lane} lane; load ${loadavg()[0]?.toFixed(1)}`)
    say('in flight  client  p50 ms  p99 ms  cpu ms venue ms  orders/s   p50 of the steps, ms')
    for (const inFlight of inFlights) {
      steps.clear()
      venueMs = 0
      const taken = new Map<string, Figures[]>(clients.map((client) => [client.name, []]))
      await profiled(`road-${inFlight}`, async () => {
        for (let round = 0; round < rounds; round += 1)
          for (const { name: client, order } of clients) {
            const figures = await (order === undefined
              ? measure(inFlight, orders)
              : figuresOf(inFlight, orders, order))
            taken.get(client)?.push(figures)
          }
      })
      const parts = ['accept', 'prepare', 'verify', 'sign', 'arm', 'submit'].map(
        (step) => `${step} ${quantile(steps.get(step) ?? [], 0.5).toFixed(2)}`,
      )
      for (const [client, each] of taken) {
        const { p50Ms, p99Ms, cpuMs, perSecond } = medianOf(each)
        const isOurs = client === 'perpd'
        say(
          [
            String(inFlight).padStart(9),
            client.padStart(7),
            ms(p50Ms),
            ms(p99Ms),
            ms(cpuMs),
            isOurs ? ms(venueMs / orders / rounds) : ''.padStart(7),
            String(Math.round(perSecond)).padStart(9),
            isOurs ? `  ${parts.join(', ')}` : '',
          ].join(' '),
        )
      }
    }
  } finally {
    await orderManager.stop()
    guard.close()
    await journal.close()
  }
}

try {
  say(
    `node ${process.version}, ${cpus()[0]?.model ?? 'unknown cpu'}, ${cpus().length} cores, journal in ${tmpdir()}`,
  )
  const price = await referencePrice()
  const bare = await startBare(price)
  await measureAt(apiOver(bare.hosts, connection.fetch), 'bare server', async () => price, bare.yardsticks)
  if (flags.profile === undefined) await measureAt(paperApi, 'paper venue', referencePrice)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
} finally {
  for (const child of children) {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  rmSync(folder, { recursive: true, force: true })
  rmSync(venueFolder, { recursive: true, force: true })
  // What is left are timers of the road, an hour long.
  process.exit()
}
