/**
 * What observations prove (orders.md 2.4), in API-only mode: without a chain endpoint.
 *
 * - LANDED needs the pinned host's word (`created`, `executed`, `cancelled`) and the account's own orders or trades that
 *   show the order. A child's end needs the host's terminal word and the trade that shows it.
 * - DEAD is impossible here, with one exception: where the venue itself is trusted (`trustVenue`, the paper profile
 *   alone), its positive statement that the request was never relayed, failed or reverted, read after the venue's own
 *   clock passed the signed deadline, with orders, positions and trades of both peers showing nothing of it.
 * - A 404, silence, or an answer that merely fails to show something proves nothing, ever.
 */
import { type Hex, sameHex } from '../address.ts'
import type { Attempt, Child, Evidence, IntentState, Settlement } from '../intent.ts'
import type { Order, Position, Trade } from '../position.ts'
import { priceOfContractPrice } from '../units.ts'

/** What the pinned host said of the request. */
export type HostAnswer =
  | {
      readonly kind: 'status'
      readonly host: string
      readonly status: string
      readonly orderKeys: readonly Hex[]
      /** The relay's transaction. */
      readonly txHash?: Hex
      readonly createdTxnHash?: Hex
      readonly executionTxnHash?: Hex
      readonly cancellationReason?: string
      readonly error?: string
      /** The host's own clock, Unix ms. */
      readonly serverDateMs?: number
    }
  | {
      /** `not-found` is a 404, which may only be early; `silent` is everything that is no answer. */
      readonly kind: 'not-found' | 'silent'
      readonly host: string
      readonly reason: string
      readonly traceId?: string
    }

/** What the account's own lists show, over every peer that was asked. */
export interface AccountView {
  /** True when every configured peer answered orders, positions and trades. */
  readonly complete: boolean
  readonly orders: readonly Order[]
  readonly positions: readonly Position[]
  readonly trades: readonly Trade[]
}

/** One look at the world for one attempt. */
export interface Observation {
  readonly atMs: number
  readonly answer: HostAnswer
  /** Absent when the lists were not asked for in this look. */
  readonly account?: AccountView
  /** Order keys that other intents of the journal explain, lower case. */
  readonly explained: ReadonlySet<string>
}

/** Under which rules observations are judged. */
export interface EvidenceRules {
  /** Paper only: the venue's own positive statement may prove death. */
  readonly trustVenue: boolean
  /** How far the venue's clock must have passed the signed deadline, ms. */
  readonly deadlineMarginMs: number
}

/** On-chain order types of our market orders. */
const orderTypeOf = { increase: 2, decrease: 4, close: 4 } as const

const landedStatuses: ReadonlySet<string> = new Set(['created', 'executed', 'cancelled'])
const neverLandedStatuses: ReadonlySet<string> = new Set(['prepared', 'relay_failed', 'relay_reverted'])

/**
 * The key of the order that the attempt created, with the evidence, or undefined while it is not shown. A market order is
 * one create, so exactly one key counts, and only when a row of our own account shows an order of just these terms, no
 * older than the arming, that no other intent explains. A host can name any key; it cannot make our lists agree.
 */
export function landingOf(
  state: IntentState,
  observation: Observation,
): { readonly orderKeys: readonly Hex[]; readonly evidence: Evidence } | undefined {
  const { answer, account, atMs, explained } = observation
  const attempt = state.attempts.at(-1)
  if (answer.kind !== 'status' || !landedStatuses.has(answer.status)) return undefined
  if (account === undefined || attempt === undefined) return undefined
  const hashes = [answer.createdTxnHash, answer.executionTxnHash, answer.txHash, attempt.send?.txHash].filter(
    (hash) => hash !== undefined,
  )
  const ours = (row: OwnRow) => isOwn(state, attempt, row) && !explained.has(row.orderKey.toLowerCase())
  const orders = account.orders.filter(ours)
  const trades = account.trades.filter(ours)
  const named = new Set(answer.orderKeys.map((key) => key.toLowerCase()))
  const keys = new Map<string, Hex>()
  for (const { orderKey } of orders)
    if (named.has(orderKey.toLowerCase())) keys.set(orderKey.toLowerCase(), orderKey)
  for (const { orderKey, transactionHash } of trades) {
    const isNamed =
      named.size === 0
        ? hashes.some((hash) => sameHex(hash, transactionHash))
        : named.has(orderKey.toLowerCase())
    if (isNamed) keys.set(orderKey.toLowerCase(), orderKey)
  }
  const [orderKey] = keys.values()
  if (orderKey === undefined || keys.size !== 1 || named.size > 1) return undefined
  const isResting = orders.some((order) => sameHex(order.orderKey, orderKey))
  return {
    orderKeys: [orderKey],
    evidence: {
      level: 'api',
      atMs,
      statement: `${answer.host} says ${answer.status}, and the account's own ${isResting ? 'orders' : 'trades'} show the order`,
      host: answer.host,
      status: answer.status,
      orderKeys: [orderKey],
      transactionHashes: hashes,
      tradeIds: trades.filter((trade) => sameHex(trade.orderKey, orderKey)).map((trade) => trade.id),
      ...(answer.serverDateMs === undefined ? {} : { serverDateMs: answer.serverDateMs }),
    },
  }
}

/** How a child ended, or undefined while that is not shown. */
export function endOf(
  state: IntentState,
  child: Child,
  observation: Observation,
):
  | { readonly kind: 'executed'; readonly settlement: Settlement; readonly evidence: Evidence }
  | { readonly kind: 'cancelled'; readonly cancelReason: string; readonly evidence: Evidence }
  | undefined {
  const { answer, account, atMs } = observation
  if (answer.kind !== 'status' || account === undefined) return undefined
  if (answer.status !== 'executed' && answer.status !== 'cancelled') return undefined
  if (account.orders.some((order) => sameHex(order.orderKey, child.orderKey))) return undefined
  const event = answer.status === 'executed' ? 'OrderExecuted' : 'OrderCancelled'
  const trade = account.trades.find(
    (each) =>
      sameHex(each.orderKey, child.orderKey) &&
      each.eventName === event &&
      sameHex(each.account, state.intent.account),
  )
  if (trade === undefined) return undefined
  const evidence: Evidence = {
    level: 'api',
    atMs,
    statement: `${answer.host} says ${answer.status}, and the account's trades hold ${event} of the order`,
    host: answer.host,
    status: answer.status,
    orderKeys: [child.orderKey],
    transactionHashes: [trade.transactionHash],
    tradeIds: [trade.id],
    ...(answer.serverDateMs === undefined ? {} : { serverDateMs: answer.serverDateMs }),
  }
  if (answer.status === 'executed')
    return { kind: 'executed', settlement: settlementOf(state, trade), evidence }
  return { kind: 'cancelled', cancelReason: answer.cancellationReason ?? trade.reason ?? '', evidence }
}

/** The facts of a fill, from the trade that shows it. */
export function settlementOf(state: IntentState, trade: Trade): Settlement {
  const { terms } = state.intent
  const price = trade.executionContractPrice
  const collateralPrice = trade.collateralTokenContractPriceMin
  const fees = [trade.positionFeeAmount, trade.borrowingFeeAmount, trade.fundingFeeAmount]
  const known = collateralPrice !== undefined && fees.some((fee) => fee !== undefined)
  // A contract price times an amount in base units is USD with 30 decimals, exactly.
  const feesUsd = fees.reduce<bigint>((sum, fee) => sum + (fee ?? 0n) * (collateralPrice ?? 0n), 0n)
  return {
    ...(price === undefined
      ? {}
      : { executionPrice: priceOfContractPrice(price, terms.indexToken.decimals) }),
    ...(trade.sizeDeltaUsd === undefined ? {} : { sizeDeltaUsd: trade.sizeDeltaUsd }),
    ...(known ? { feesUsd } : {}),
    ...(trade.priceImpactUsd === undefined ? {} : { priceImpactUsd: trade.priceImpactUsd }),
    ...(trade.pnlUsd === undefined ? {} : { pnlUsd: trade.pnlUsd }),
    transactionHash: trade.transactionHash,
    timestampSeconds: trade.timestampSeconds,
  }
}

/** Proof that the attempt can never land, or undefined. Only where the venue is trusted; see the header. */
export function deathOf(
  state: IntentState,
  attempt: Attempt,
  observation: Observation,
  rules: EvidenceRules,
): { readonly evidence: Evidence; readonly observedStatus: string } | undefined {
  const { answer, account, atMs } = observation
  const { armed } = attempt
  if (!rules.trustVenue || armed === undefined) return undefined
  if (answer.kind !== 'status' || !neverLandedStatuses.has(answer.status)) return undefined
  if (answer.serverDateMs === undefined || account === undefined || !account.complete) return undefined
  if (answer.serverDateMs <= armed.deadlineSeconds * 1000 + rules.deadlineMarginMs) return undefined
  if (somethingOfIt(state, attempt, account, observation.explained)) return undefined
  return {
    observedStatus: answer.status,
    evidence: {
      level: 'venue',
      atMs,
      statement: `${answer.host} says ${answer.status} at a time past the signed deadline, and no peer shows an order or trade of it`,
      host: answer.host,
      status: answer.status,
      serverDateMs: answer.serverDateMs,
    },
  }
}

/** A row of the account's lists: an order or a trade. */
interface OwnRow {
  readonly account: string
  readonly orderKey: Hex
  readonly orderType: number
  readonly marketToken?: string
  readonly direction?: string
  readonly sizeDeltaUsd?: bigint
  readonly timestampSeconds?: number
  readonly updatedAtSeconds?: number
}

/** The venue's clock may stand before ours by this much, seconds. */
const clockGraceSeconds = 3_600

/**
 * Whether a row can be the attempt's own order: our account, its market, side, type and size, and not from before it was
 * armed. The protocol may enlarge a decrease to a full close, so the size of a reduction is not held against it.
 */
function isOwn(state: IntentState, attempt: Attempt, row: OwnRow): boolean {
  const { terms, kind, account } = state.intent
  const atSeconds = row.timestampSeconds ?? row.updatedAtSeconds ?? 0
  return (
    sameHex(row.account, account) &&
    row.orderType === orderTypeOf[kind] &&
    row.direction === terms.direction &&
    row.marketToken !== undefined &&
    sameHex(row.marketToken, terms.marketToken) &&
    (kind !== 'increase' || row.sizeDeltaUsd === undefined || row.sizeDeltaUsd === terms.sizeDeltaUsd) &&
    atSeconds >= (attempt.armedAtMs ?? 0) / 1000 - clockGraceSeconds
  )
}

/** Any order or trade since arming that could be this attempt's and that no other intent explains. */
function somethingOfIt(
  state: IntentState,
  attempt: Attempt,
  account: AccountView,
  explained: ReadonlySet<string>,
): boolean {
  return [...account.orders, ...account.trades].some(
    (row) => isOwn(state, attempt, row) && !explained.has(row.orderKey.toLowerCase()),
  )
}
