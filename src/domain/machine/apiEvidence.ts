/**
 * Evidence from hosts and the account's own lists, in API-only mode: without a chain endpoint (docs/reference/evidence.md, "What closes an order").
 *
 * - LANDED needs the pinned host's statement and rows of our own account that show every order the message creates, or every
 *   change it makes. A host can name any key; it cannot make our lists agree.
 * - The end of a market order needs the host's terminal statement and the trade that shows it. For a resting order, or one
 *   through the generic relay, the trade alone suffices, because the host's status stays `created`.
 * - DEAD is impossible here, with one exception: where the venue itself is trusted (`trustVenue`, the paper profile
 *   alone), its positive statement that the request was never relayed, failed or reverted. It must be read after the venue's
 *   clock passed the signed deadline, with orders, positions and trades of both peers showing nothing of it.
 * - A host that reports a failed or reverted relay may be wrong: transactions that were sent before may land. The report
 *   then counts for nothing, but the keys that it named still count: our own rows of them show a landing. Rows that only
 *   a transaction names show none: a relay may bundle several of our messages, and one may land without the other.
 *   Rows that nothing names show none either: somebody who reads "failed" and repeats the trade by hand makes rows that fit
 *   as well, while the signed message may still land.
 * - A 404, silence, or an answer that merely fails to show something proves nothing, ever.
 */
import { defined } from '../../base/defined.ts'
import { type Hex, sameHex } from '../../protocol/address.ts'
import { lacksOrder } from '../../protocol/missing.ts'
import type { Trade } from '../../protocol/position.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import {
  type Attempt,
  type Child,
  type Evidence,
  type IntentState,
  isWaiting,
  type Settlement,
} from '../order/intent.ts'
import { describeLane } from '../order/laneTable.ts'
import { expectedOf, expectedOfSigned, fits, match } from './expected.ts'
import {
  type AccountView,
  type End,
  type EvidenceRules,
  gaveUpStatuses,
  type Landing,
  type Observation,
} from './observation.ts'

const landedStatuses: ReadonlySet<string> = new Set(['created', 'executed', 'cancelled'])
const neverLandedStatuses: ReadonlySet<string> = new Set(['prepared', ...gaveUpStatuses])

/**
 * Returns the orders that the attempt created, with the evidence, or undefined while they are not shown. The host must report that it landed. Rows of
 * our own account, no older than the arming and explained by no other intent, must fit the message's orders one to one. They match by the keys the
 * host named, or else by its transaction. The generic relay names no keys, and lists omit the creation of market orders. There, all rows since arming
 * that could be the attempt's count; one too many, or one that another intent may have created, shows nothing.
 */
export function apiLanding(state: IntentState, observation: Observation): Landing | undefined {
  const { answer, account, atMs, explained } = observation
  const attempt = state.attempts.at(-1)
  if (answer.kind !== 'status') return undefined
  const saysLanded = landedStatuses.has(answer.status)
  if (!saysLanded && !gaveUpStatuses.has(answer.status)) return undefined
  if (account === undefined || attempt === undefined) return undefined
  const expected = expectedOfSigned(state.intent, attempt.armed ?? { creates: [] })
  const hashes = [answer.createdTxnHash, answer.executionTxnHash, answer.txHash, attempt.send?.txHash].filter(
    (hash) => hash !== undefined,
  )
  const isShown = (hash: Hex) => hashes.some((each) => sameHex(each, hash))
  const ours = (row: OwnRow) => isOwn(state, attempt, row) && !explained.has(row.orderKey.toLowerCase())
  const named = new Set(answer.orderKeys.map((key) => key.toLowerCase()))
  const rows = new Map<string, OwnRow>()
  // In the order of the host's list, which is the order of the message.
  for (const key of named) {
    const row = [...account.orders, ...account.trades].find(
      (each) => each.orderKey.toLowerCase() === key && ours(each),
    )
    if (row !== undefined) rows.set(key, row)
  }
  if (named.size === 0) {
    // Trades come newest first; orders are counted as they were created.
    for (const trade of account.trades.toReversed()) {
      if (isShown(trade.transactionHash) && ours(trade)) rows.set(trade.orderKey.toLowerCase(), trade)
    }
  }
  if (named.size > expected.orders.length) return undefined
  if (!saysLanded) {
    // Its transaction may carry other messages of ours, which landed while this one did not: orders count by their keys alone.
    const isNamed = expected.orders.length === 0 || named.size > 0
    if (!isNamed || expected.changes.some(({ event }) => event === 'OrderUpdated')) return undefined
  }
  const matched = match(expected.orders, [...rows.values()])
  const isChanged = expected.changes.every(({ orderKey, event }) =>
    account.trades.some(
      (trade) =>
        sameHex(trade.orderKey, orderKey) &&
        trade.eventName === event &&
        sameHex(trade.account, state.intent.account) &&
        // An order is cancelled once; it may have been updated before.
        (event === 'OrderCancelled' || isShown(trade.transactionHash)),
    ),
  )
  if (matched === undefined || !isChanged || expected.orders.length + expected.changes.length === 0)
    return undefined
  const orderKeys = matched.map(({ orderKey }) => orderKey)
  const isResting = orderKeys.every((key) => account.orders.some(({ orderKey }) => sameHex(orderKey, key)))
  return {
    orderKeys,
    roles: expected.orders.map(({ role }) => role),
    evidence: {
      level: 'api',
      atMs,
      statement: `${answer.host} says ${answer.status}, and the account's own ${isResting && orderKeys.length > 0 ? 'orders' : 'trades'} show ${expected.orders.length === 0 ? 'the change' : 'the order'}`,
      host: answer.host,
      status: answer.status,
      orderKeys,
      transactionHashes: hashes,
      tradeIds: account.trades
        .filter((trade) => orderKeys.some((key) => sameHex(trade.orderKey, key)))
        .map((trade) => trade.id),
      ...defined({ serverDateMs: answer.serverDateMs }),
    },
  }
}

/** Returns the end of a created order, or undefined while nothing shows it. */
export function apiEnd(state: IntentState, child: Child, observation: Observation): End | undefined {
  const { answer, account, atMs } = observation
  if (account === undefined) return undefined
  // The order exists: a word that it never landed is void, and the trade alone counts.
  const isVoid = answer.kind === 'status' && gaveUpStatuses.has(answer.status)
  const isAsked = describeLane(state.intent.lane).followsOrders && !isWaiting(state.intent, child) && !isVoid
  if (isAsked && (answer.kind !== 'status' || !endedStatuses.has(answer.status))) return undefined
  if (account.orders.some((order) => sameHex(order.orderKey, child.orderKey))) return undefined
  // A row that cannot be read may be its own: that it is not seen to rest shows nothing.
  if (lacksOrder(account.missing?.orders, child.orderKey)) return undefined
  const trade = account.trades.find(
    (each) =>
      sameHex(each.orderKey, child.orderKey) &&
      (each.eventName === 'OrderExecuted' || each.eventName === 'OrderCancelled') &&
      sameHex(each.account, state.intent.account),
  )
  if (trade === undefined) return undefined
  const isExecuted = trade.eventName === 'OrderExecuted'
  // The two words are about one order: where they differ, something is not what it seems, and it stays open.
  if (isAsked && answer.kind === 'status' && answer.status !== (isExecuted ? 'executed' : 'cancelled'))
    return undefined
  const evidence: Evidence = {
    level: 'api',
    atMs,
    statement: isAsked
      ? `${answer.host} says ${isExecuted ? 'executed' : 'cancelled'}, and the account's trades hold ${trade.eventName} of the order`
      : `the account's trades hold ${trade.eventName} of the order, and the order no longer rests`,
    host: answer.host,
    ...defined({ status: answer.kind === 'status' ? answer.status : undefined }),
    orderKeys: [child.orderKey],
    transactionHashes: [trade.transactionHash],
    tradeIds: [trade.id],
    ...defined({ serverDateMs: answer.kind !== 'status' ? undefined : answer.serverDateMs }),
  }
  if (isExecuted) return { kind: 'executed', settlement: settlementOf(state, trade), evidence }
  const said = answer.kind === 'status' && isAsked ? answer.cancellationReason : undefined
  return { kind: 'cancelled', cancelReason: said ?? trade.reason ?? '', evidence }
}

const endedStatuses: ReadonlySet<string> = new Set(['executed', 'cancelled'])

const decreaseTypes: ReadonlySet<number> = new Set([4, 5, 6, 7])

/** The facts of a fill, from the trade that shows it. */
function settlementOf(state: IntentState, trade: Trade): Settlement {
  const { terms } = state.intent
  const price = trade.executionContractPrice
  const collateralPrice = trade.collateralTokenContractPriceMin
  const fees = [trade.positionFeeAmount, trade.borrowingFeeAmount, trade.fundingFeeAmount]
  const known = collateralPrice !== undefined && fees.some((fee) => fee !== undefined)
  // A swap of what is paid in, of the profit or of the output is a fee of the fill: no figure of the position has it.
  const swapCostUsd = known ? (trade.swapFeeUsd ?? 0n) - (trade.swapImpactUsd ?? 0n) : 0n
  // A contract price times an amount in base units is USD with 30 decimals, exactly.
  const feesUsd = fees.reduce<bigint>((sum, fee) => sum + (fee ?? 0n) * (collateralPrice ?? 0n), swapCostUsd)
  const partOf = (fee = 0n): bigint | undefined => (known && fee > 0n ? fee * collateralPrice : undefined)
  const [borrowingFeeUsd, fundingFeeUsd] = [partOf(trade.borrowingFeeAmount), partOf(trade.fundingFeeAmount)]
  const reduces = trade.pnlUsd !== undefined && decreaseTypes.has(trade.orderType)
  return {
    ...defined({
      executionPrice:
        price === undefined ? undefined : priceOfContractPrice(price, terms.indexToken.decimals),
      sizeDeltaUsd: trade.sizeDeltaUsd,
      sizeDeltaInTokens: trade.sizeDeltaInTokens,
      feesUsd: known ? feesUsd : undefined,
      borrowingFeeUsd,
      fundingFeeUsd,
      priceImpactUsd: trade.priceImpactUsd,
      basePnlUsd: reduces ? trade.basePnlUsd : undefined,
      pnlUsd: trade.pnlUsd === undefined ? undefined : trade.pnlUsd - swapCostUsd,
    }),
    transactionHash: trade.transactionHash,
    timestampSeconds: trade.timestampSeconds,
  }
}

/** Proof that the attempt can never land, or undefined. Only where the venue is trusted; see the header. */
export function apiDeath(
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
      statement: `${answer.host} says ${answer.status} after the signed deadline, and no peer shows an order or trade of it`,
      host: answer.host,
      status: answer.status,
      serverDateMs: answer.serverDateMs,
    },
  }
}

/** A row of the account's lists: an order or a trade. */
export interface OwnRow {
  readonly account: string
  readonly orderKey: Hex
  readonly orderType: number
  readonly marketToken?: string
  readonly direction?: string
  readonly sizeDeltaUsd?: bigint
  readonly timestampSeconds?: number
  readonly updatedAtSeconds?: number
}

/**
 * Longest time before its deadline that an attempt may have been armed, seconds: an hour that a host may sign ahead, and an hour between its clock
 * and the chain's. Our clock plays no part.
 */
export const longestLifeSeconds = 7_200

function atSecondsOf(row: OwnRow): number {
  return row.timestampSeconds ?? row.updatedAtSeconds ?? 0
}

/**
 * Tells whether a row can be one of the attempt's own orders: our account, fitting something that its message creates, and not from before it was
 * armed. The protocol may enlarge a decrease to a full close, so a different size does not exclude it.
 */
function isOwn(state: IntentState, attempt: Attempt, row: OwnRow): boolean {
  return (
    sameHex(row.account, state.intent.account) &&
    expectedOf(state.intent).orders.some((expected) => fits(expected, row)) &&
    atSecondsOf(row) >= (attempt.armed?.deadlineSeconds ?? 0) - longestLifeSeconds
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
