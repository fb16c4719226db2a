/** Decisions of every kind walking the whole road: a paper venue on real sockets, on a clock and a price path of the test's. */

import { createSubaccountWatch, type SubaccountWatch } from '../../src/account/subaccountWatch.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { signedOrderIn } from '../../src/domain/order/signedOrder.ts'
import type { WarningPolicy } from '../../src/domain/order/warning.ts'
import { marketOf, type Snapshot } from '../../src/domain/snapshot.ts'
import { readSnapshot } from '../../src/engine/snapshotReader.ts'
import { approvalOf, ownerDigestOf } from '../../src/execution/approval/verifyApproval.ts'
import type { ExecutionContext } from '../../src/execution/context/executionContext.ts'
import { createFees } from '../../src/execution/context/feeEstimates.ts'
import { createGasWatch } from '../../src/execution/context/gasWatch.ts'
import { createNativePrice } from '../../src/execution/context/nativePrice.ts'
import type { SigningPolicy } from '../../src/execution/context/policy.ts'
import { swapMarketsOf } from '../../src/execution/context/swapPath.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { chainGas } from '../../src/protocol/chains/gas.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import type { SubaccountApproval } from '../../src/protocol/signing/subaccountApproval.ts'
import { usd } from '../../src/protocol/units.ts'
import { type Admission, admit } from '../../src/risk/admit.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { resizeIncrease } from '../../src/risk/resize.ts'
import { executionSettings, testExecution } from './trader.ts'
import { settle, type VenueBench, venueBench } from './venue.ts'

export const signer = createLocalSigner(`0x${'11'.repeat(32)}`)
export const delegate = createLocalSigner(`0x${'22'.repeat(32)}`)
/** What fees are taken for before an order landed. */
export const usualFees = { executionFee: 2n * 10n ** 14n, relayFee: 1_000_000n, factor: 5 }
export const ethSymbol = 'ETH/USD [WETH-USDC]'
export const btcSymbol = 'BTC/USD [BTC-USDC]'

/** A price path of ETH: USD at seconds after the venue's start, straight between the points. */
export type PricePath = readonly (readonly [seconds: number, priceUsd: number])[]

/** The settings that make the venue's ETH follow a path. */
export function pathOf(path: PricePath): PriceReplay {
  const candles = path.map(([startSeconds, price], index): FileCandle => {
    const next = path[index + 1]?.[1] ?? price
    return {
      startSeconds,
      open: usd(price),
      close: usd(next),
      high: usd(Math.max(price, next)),
      low: usd(Math.min(price, next)),
    }
  })
  return { series: new Map([['ETH', candles]]), speed: 1 }
}

/** What the road stands on. */
export interface KindsBench extends VenueBench {
  readonly served: ServedVenue
  readonly journal: Journal
  readonly orderManager: OrderManager
  readonly events: Event[]
  readonly context: ExecutionContext
  /** With `approvedActions`; its first look is the test's. */
  readonly subaccount: SubaccountWatch | undefined
  snapshot(): Promise<Snapshot>
  /** Judges a decision on the world as it is now, with everything in flight. */
  judge(decision: Decision, limits?: Limits): Promise<Admission>
  /** Admits and accepts a decision, which must be admitted; the clock stands. */
  accept(decision: Decision, limits?: Limits): Promise<Intent>
  /** Market token of a symbol. */
  marketToken(symbol: string): Promise<`0x${string}`>
  story(intentId: string): IntentState
  close(): Promise<void>
}

/** How a bench is made. */
export interface KindsOptions {
  readonly settings?: Partial<VenueSettings>
  readonly path?: PricePath
  /** The order chain when absent. */
  readonly lane?: LaneName
  /** The venue's chain closes orders, a second behind; otherwise its hosts and rows do. */
  readonly isByChain?: boolean
  /** Endpoints of the venue's chain that are read: 1 when absent, or 2. */
  readonly endpoints?: number
  /** A delegated key signs for `signer`, who approved it for this many actions; by the running watch. */
  readonly approvedActions?: number
  /** How long that holds, seconds; a week when absent. */
  readonly approvedSeconds?: number
  /** What warnings do; absent: the defaults. */
  readonly warningPolicies?: readonly WarningPolicy[]
  /** Limits that a warned increase is sized by anew; absent: none. */
  readonly limits?: Limits
  /** Orders of the bench are an operator's, who may edit what others made. */
  readonly isOperator?: boolean
  /** What a host answers instead, from the address that was asked and what it answered; undefined: just that. */
  readonly lie?: (url: string, text: string) => string | undefined
  /** What a host answers without its venue hearing of the request, from the address and the body; undefined: it hears. */
  readonly instead?: (url: string, body: string | undefined) => string | undefined
  /** From which age a message counts as withheld, ms; absent: none does. */
  readonly withheldMs?: number
  /** Told every answer of the venue, with the path that was asked. */
  readonly onAnswer?: (url: string, text: string) => void
}

/** Makes a bench; to be closed. */
export async function kindsBench(options: KindsOptions = {}): Promise<KindsBench> {
  const node = createNodeFetch()
  let inFlight = 0
  let origin = ''
  const settled = async (): Promise<void> => {
    await settle()
    while (inFlight > 0) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      if (inFlight === 0) await settle()
    }
  }
  const counted: Fetch = async (url, init) => {
    inFlight += 1
    try {
      const made = options.instead?.(url, init.body)
      if (made !== undefined) return { status: 200, headers: { get: () => null }, text: async () => made }
      const answer = await node.fetch(url, init)
      if (options.onAnswer === undefined && options.lie === undefined) return answer
      const told = await answer.text()
      const text = options.lie?.(url, told) ?? told
      options.onAnswer?.(url, text)
      return { status: answer.status, headers: answer.headers, text: async () => text }
    } finally {
      inFlight -= 1
    }
  }
  const events: Event[] = []
  const bench = venueBench({
    onPrices: (prices) => void events.push({ type: 'host.prices', ...prices }),
    onMissing: (missing) => void events.push({ type: 'rows.missing', ...missing }),
    settings: {
      keeperJitterMs: 0,
      safeLagBlocks: 4,
      ...(options.path === undefined ? {} : { replay: pathOf(options.path) }),
      ...options.settings,
    },
    settled,
    between: (url, init) => counted(url.replace('http://venue.test', origin), init),
  })
  const { api, clock } = bench
  const served = await serveVenue(bench.venue, { hostname: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${served.port}`
  const markets = (await api.getMarkets()).value
  const policy: SigningPolicy = {
    minDeadlineSeconds: 20,
    maxDeadlineSeconds: 3700,
    maxExecutionFee: 10n ** 16n,
    maxRelayFee: 5_000_000n,
    priceToleranceBps: 100,
    swapMarkets: swapMarketsOf(markets),
  }
  const journal = createMemoryJournal()
  const emit = (event: Event): void => void events.push(event)
  const reader =
    options.isByChain === true
      ? connectChain({
          http: served.rpc.slice(0, options.endpoints ?? 1),
          ws: [],
          chainId: arbitrum.chainId,
          eventEmitter: arbitrum.contracts.eventEmitter,
          wrappedNative: arbitrum.contracts.wrappedNative,
          markets: arbitrum.facts.markets,
          multicall: arbitrum.contracts.multicall,
          finality: 'safe',
          timeoutMs: 5_000,
          maxLogSpan: 10_000,
          clock,
          emit,
          fetch: counted,
        })
      : undefined
  const { approvedActions } = options
  let approval: SubaccountApproval | undefined
  if (approvedActions !== undefined) {
    const message = approvalOf(arbitrum, {
      subaccount: delegate.address,
      expiresAtSeconds: Math.floor(clock.now() / 1000) + (options.approvedSeconds ?? 604_800),
      maxAllowedCount: BigInt(approvedActions),
      nonce: 0n,
    })
    const digest = ownerDigestOf(arbitrum, message)
    approval = { ...message, signature: signDigest(`0x${'11'.repeat(32)}`, digest) }
  }
  const subaccount =
    approval === undefined
      ? undefined
      : createSubaccountWatch({
          api,
          clock,
          emit,
          empty: emptySubaccountApproval(delegate.address, arbitrum.chainId),
          account: signer.address,
          subaccount: delegate.address,
          readApproval: () => approval,
          journal,
          settings: { warnActions: 5, warnSeconds: 3_600, reserveActions: 2 },
        })
  const context = testExecution({
    ...(reader === undefined ? {} : { chainReader: reader }),
    api,
    journal,
    ...(options.withheldMs === undefined
      ? {}
      : { settings: { ...executionSettings, withheldMs: options.withheldMs } }),
    signer: subaccount === undefined ? signer : delegate,
    ...(subaccount === undefined ? {} : { delegation: subaccount }),
    clock,
    emit,
    rules: {
      source: reader === undefined ? 'api' : 'chain',
      trustVenue: reader === undefined,
      deadlineMarginMs: 5_000,
    },
    signingPolicy: () => policy,
    fees: createFees({
      chain: arbitrum,
      clock,
      usual: usualFees,
      isSubaccount: subaccount !== undefined,
      ...(reader?.gasPrices === undefined
        ? {}
        : {
            gas: createGasWatch(chainGas.arbitrum, reader.gasPrices, clock),
            nativePrice: createNativePrice(api, arbitrum, clock),
          }),
    }),
    ...(options.warningPolicies === undefined
      ? {}
      : { warningPolicies: () => options.warningPolicies ?? [] }),
    admission: {
      veto: (intent) => subaccount?.veto(intent),
      async resize(intent, atMostUsd) {
        const world = await snapshot()
        const others = orderManager.open().filter(({ state }) => state.intent.intentId !== intent.intentId)
        const exposure = exposureOf(world, [...others.map(({ state }) => state), ...recentIncreases()])
        return resizeIncrease(intent, atMostUsd, { snapshot: world, exposure, limits: options.limits ?? {} })
      },
    },
  })
  const orderManager = createOrderManager(context)
  let made = 0
  /** Increases that closed too shortly ago to be surely in the lists; the book looks whether they are. */
  const recentIncreases = (): readonly IntentState[] =>
    orderManager
      .recentlyLanded()
      .filter(({ intent }) => intent.kind === 'increase')
      .map(({ intent, attempts, updatedAtMs }) => ({ intent, attempts, updatedAtMs }))
  const snapshot = () =>
    readSnapshot(
      { api, clock, account: signer.address, onFeed: () => undefined },
      { symbols: [ethSymbol, btcSymbol], balances: true },
    )
  const judge = async (decision: Decision, limits: Limits = {}): Promise<Admission> => {
    const world = await snapshot()
    made += 1
    return admit(decision, {
      snapshot: world,
      exposure: exposureOf(world, [...orderManager.open().map(({ state }) => state), ...recentIncreases()]),
      limits,
      usage: { acceptedLastHour: { strategy: 0, account: 0 } },
      trading: { state: 'active' },
      impact: {},
      venue: context.fees === undefined ? {} : { executionFeeOf: context.fees.executionFeeOf },
      maker: {
        strategy: 'test',
        ...(options.isOperator === undefined ? {} : { isOperator: options.isOperator }),
      },
      signedOrder: (orderKey) => signedOrderIn(journal, orderKey),
      intent: {
        intentId: made.toString(16).padStart(24, '0'),
        decisionKey: `test#${made}`,
        account: signer.address,
        chain: arbitrum.name,
        lane: options.lane ?? 'order-chain',
        expiresAtMs: clock.now() + 30_000,
      },
      slippageBps: 100,
      nowMs: clock.now(),
    })
  }
  return {
    ...bench,
    served,
    journal,
    orderManager,
    events,
    context,
    subaccount,
    snapshot,
    judge,
    async accept(decision, limits) {
      const admitted = await judge(decision, limits)
      if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
      await orderManager.accept(admitted.intent)
      return admitted.intent
    },
    async marketToken(symbol) {
      const found = markets.find((market) => market.symbol === symbol)
      if (found === undefined) throw new Error(symbol)
      return found.marketToken
    },
    story(intentId) {
      const state = journal.recentIntent(intentId)
      if (state === undefined) throw new Error(`no intent ${intentId}`)
      return state
    },
    async close() {
      reader?.close()
      node.close()
      await served.close()
    },
  }
}

/** The median oracle price of a market's index token, moved by bps. */
export function priceAt(snapshot: Snapshot, marketToken: string, movedBps = 0): bigint {
  const price = marketOf(snapshot, marketToken)?.oraclePrice?.value.medianPrice
  if (price === undefined) throw new Error(`no price of ${marketToken}`)
  return price + (price * BigInt(movedBps)) / 10_000n
}
