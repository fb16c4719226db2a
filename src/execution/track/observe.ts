/**
 * One look at the world for one attempt: the pinned host's statement, and the account's own lists at every peer. It only reads, and never posts an
 * order. The pure machine decides what the look proves.
 */

import type { CallOptions } from '../../api/transport/route.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import {
  type AccountView,
  gaveUpStatuses,
  type HostAnswer,
  type Observation,
} from '../../domain/machine/observation.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { describeLane } from '../../domain/order/laneTable.ts'
import { sameHex } from '../../protocol/address.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { Order } from '../../protocol/position.ts'
import type { Reading } from '../../protocol/reading.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import type { Lanes } from '../lanes/lane.ts'
import { laneOf } from '../lanes/shippedLanes.ts'
import { restingKeys } from './restingOrders.ts'
import type { SharedTrades } from './sharedTrades.ts'
import { type TradesRead, tradesSinceSeconds, walkPages } from './tradePages.ts'

/** Statuses whose orders the account's lists can show. */
const landed: ReadonlySet<string> = new Set(['created', 'executed', 'cancelled'])

/** Readings that looks of one account share. */
export interface SharedReads {
  /** Trades that show how resting orders ended. */
  readonly trades: SharedTrades
  /** Told of each list of orders that a look read. */
  readonly sawOrders: (list: Reading<readonly Order[]>) => void
}

/** Looks once. Never throws for anything the network did. */
export async function observe(
  context: ExecutionContext,
  lanes: Lanes,
  state: IntentState,
  shared: SharedReads,
): Promise<Observation> {
  const answer = await queryStatus(context, lanes, state)
  const wanted = answer.kind === 'status' ? listsFor(context, state, answer) : 'none'
  const account =
    wanted === 'none'
      ? undefined
      : wanted === 'any host' && restingKeys(state).length > 0
        ? await readResting(context, state, shared)
        : await readAccount(context, state, wanted === 'every peer')
  const rows = account === undefined ? [] : [...account.orders, ...account.trades]
  const explained = rows
    .map(({ orderKey }) => orderKey)
    .filter((orderKey) => context.journal.explains(orderKey, state.intent.intentId))
  return {
    atMs: context.clock.now(),
    answer,
    explained: new Set(explained.map((orderKey) => orderKey.toLowerCase())),
    ...defined({ account }),
  }
}

/**
 * Selects the lists that can prove something now. Any one host can show a landing. Death is proven only where the venue is trusted, after the
 * deadline, by the silence of every peer; before that nobody is queried in vain.
 */
function listsFor(
  { rules }: ExecutionContext,
  state: IntentState,
  answer: Extract<HostAnswer, { kind: 'status' }>,
): 'none' | 'any host' | 'every peer' {
  if (landed.has(answer.status)) return 'any host'
  const attempt = lastAttempt(state)
  const isNamed = answer.orderKeys.length > 0
  // A cancel is judged by its order, which we know by its key.
  const mayShow = isNamed || attempt?.phase === 'LANDED' || state.intent.kind === 'cancel'
  const deadlineMs = (attempt?.armed?.deadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000
  const isOver = (answer.serverDateMs ?? 0) > deadlineMs + rules.deadlineMarginMs
  if (rules.trustVenue && isOver) return 'every peer'
  // Such a word is wrong when a transaction was sent before: the order's name may still lead to rows of ours.
  return gaveUpStatuses.has(answer.status) && mayShow ? 'any host' : 'none'
}

/** Asks the receivers of the newest, armed attempt for its status. Never throws for network faults. */
export function queryStatus(
  context: ExecutionContext,
  lanes: Lanes,
  state: IntentState,
): Promise<HostAnswer> {
  const attempt = lastAttempt(state)
  if (attempt?.armed === undefined) throw new TypeError('observe: the attempt is not armed')
  const { armed } = attempt
  return laneOf(lanes, attempt.lane).ask(context, { ...attempt, armed })
}

async function readAccount(
  context: ExecutionContext,
  state: IntentState,
  everyPeer: boolean,
): Promise<AccountView | undefined> {
  // Any host's lists, through the shared reads; or every peer's own, each queried by name and anew. An answer requested before the host's statement
  // would not show later changes.
  const hosts: readonly (string | undefined)[] = everyPeer ? context.api.hosts.api : [undefined]
  const views = await Promise.all(
    hosts.map((host) => readPeer(context, state, host === undefined ? {} : { host, isFresh: true })),
  )
  const answered = views.filter((view) => view !== undefined)
  if (answered.length === 0) return undefined
  return {
    complete: everyPeer && answered.length === hosts.length && answered.every((view) => view.complete),
    orders: answered.flatMap((view) => view.orders),
    positions: answered.flatMap((view) => view.positions),
    trades: answered.flatMap((view) => view.trades),
    ...missingOf(
      answered.flatMap((view) => view.missing?.orders ?? []),
      answered.flatMap((view) => view.missing?.trades ?? []),
    ),
  }
}

function missingOf(
  orders: readonly MissingRow[],
  trades: readonly MissingRow[],
): Pick<AccountView, 'missing'> {
  return defined({ missing: orders.length + trades.length === 0 ? undefined : { orders, trades } })
}

/**
 * Reads the possible evidence of how a resting order ended: the list of orders, and trades when it left that list. Other looks share the lists of one
 * moment. Undefined when one of them was not answered.
 */
async function readResting(
  context: ExecutionContext,
  state: IntentState,
  { trades, sawOrders }: SharedReads,
): Promise<AccountView | undefined> {
  try {
    const orders = await context.api.getOrders({ account: state.intent.account })
    const missing = orders.missing ?? []
    sawOrders({ value: orders.value, atMs: orders.readAtMs, missing })
    const left = restingKeys(state).filter((key) => orders.value.every((row) => !sameHex(row.orderKey, key)))
    const ends = left.length === 0 ? undefined : await trades(state, left)
    return {
      complete: false,
      orders: orders.value,
      positions: [],
      trades: ends?.trades ?? [],
      ...missingOf(missing, ends?.missing ?? []),
    }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return undefined
  }
}

/** One host's lists, or undefined when one of them was not answered. */
async function readPeer(
  context: ExecutionContext,
  state: IntentState,
  options: CallOptions,
): Promise<AccountView | undefined> {
  const { account } = state.intent
  try {
    const [orders, positions, trades] = await Promise.all([
      context.api.getOrders({ account }, options),
      context.api.getPositions({ account }, options),
      readTrades(context, state, options),
    ])
    const isWhole = [orders, positions].every(({ missing }) => missing === undefined)
    return {
      orders: orders.value,
      positions: positions.value,
      trades: trades.trades,
      complete: trades.complete && trades.missing.length === 0 && isWhole,
      ...missingOf(orders.missing ?? [], trades.missing),
    }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return undefined
  }
}

/** The account's trades since shortly before arming, of the intent's market where its rows name one. Rejects as reading does. */
export function readTrades(
  context: ExecutionContext,
  state: IntentState,
  options: CallOptions,
): Promise<TradesRead> {
  const { account, terms, kind, lane } = state.intent
  const sinceSeconds = tradesSinceSeconds(state)
  // If only the transaction is named, only the richer search shows the orders that it created at the market.
  const isNamedByHash = !describeLane(lane).followsOrders
  // The rows of a swap name no market, and a cancel or a batch may name a swap.
  const market = defined({
    marketToken: kind === 'swap' || kind === 'cancel' || kind === 'batch' ? undefined : terms.marketToken,
  })
  return walkPages((paged) =>
    isNamedByHash
      ? context.api.searchTrades(
          { ...paged, account, fromSeconds: sinceSeconds, showDebugValues: true },
          options,
        )
      : context.api.getTrades({ ...paged, account, ...market, sinceSeconds }, options),
  )
}
