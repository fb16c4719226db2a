/**
 * Compares the account with the journal. Pure: lists in, discrepancies out.
 *
 * Our own orders are known by their keys, and USD sizes add up exactly. The size of every position therefore follows from our fills and earlier
 * discrepancies. The rest is not ours: the protocol's (liquidation, ADL), the owner's by hand, or a sign of a lost journal or a stolen key. It is
 * reported once, and increases on its market wait for an operator.
 *
 * Nothing is judged that an unresolved attempt of ours may have caused: its order would look like a stranger's. Rows that could not be read defer the
 * judgement of everything they may concern.
 */
import { defined } from '../../base/defined.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import { lacksMarket, lacksOrder, type MissingRow } from '../../protocol/missing.ts'
import { type Order, orderName, type Position, type Trade } from '../../protocol/position.ts'
import { formatSize, formatUsd, type TokenAmount, type Usd } from '../../protocol/units.ts'
import {
  type AccountState,
  type Discrepancy,
  type DiscrepancyKind,
  type PositionSide,
  sideKeyOf,
} from './accountRecord.ts'
import { changedOrders, changedOrdersGone, type OwnOrder } from './changedOrders.ts'
import type { Fill } from './fills.ts'
import { type HeldSides, journalSides, positionDiscrepancyId } from './held.ts'

/** Input of a comparison. */
export interface ReconcileView {
  readonly positions: readonly Position[]
  readonly orders: readonly Order[]
  /** Trades since `throughSeconds`, in any order. */
  readonly trades: readonly Trade[]
  /** Rows of the three lists that could not be read. Absent: they are whole. */
  readonly missing?: Readonly<Record<'positions' | 'orders' | 'trades', readonly MissingRow[]>>
  /** Lower-case keys of orders that the journal explains, of the lists and of open discrepancies. */
  readonly explained: ReadonlySet<string>
  /**
   * Own orders as they are in force by our own messages, by lower-case key. One that a message of ours may be changing, or just
   * changed, is left out: it is not judged. Absent: none is.
   */
  readonly own?: ReadonlyMap<string, OwnOrder>
  /** Our fills: the sums of closed intents, and those of open ones. */
  readonly fills: readonly Fill[]
  /** Lower-case market tokens where a fill of ours may not be in the lists or in the journal yet: sums wait there. */
  readonly busyMarkets: ReadonlySet<string>
  /**
   * By lower-case market token: when the oldest attempt of ours that may have landed unseen was armed, Unix seconds.
   * Orders and trades from before cannot be its own.
   */
  readonly unresolvedSince: ReadonlyMap<string, number>
  /**
   * Ids of reductions that only one host has reported so far, with whether that may still be lag. They explain nothing yet; while it may be lag, sums
   * wait on their sides. Absent: all are proven.
   */
  readonly unproven?: ReadonlyMap<string, 'waits' | 'late'>
  /**
   * Ids of open discrepancies of trades that nothing shows any more: `final` by the final blocks of every endpoint,
   * `lists` by every host's rows, which counts where the sizes add up without them. Absent: none.
   */
  readonly withdrawn?: ReadonlyMap<string, 'final' | 'lists'>
  /** Realized results of proven trades, USD, signed, by trade id. Absent: the rows' own results count. */
  readonly results?: ReadonlyMap<string, Usd>
  /** Funding that trades which the chain proved put aside for the account, USD, by their ids. Absent: none. */
  readonly received?: ReadonlyMap<string, Usd>
  /**
   * Ids of trades that the chain proved, with whether the protocol made them to deleverage. The rows themselves decide for all others. Absent: none.
   */
  readonly deleveraged?: ReadonlyMap<string, boolean>
  readonly account: AccountState
  /** Time of the journal's first look at the account, Unix seconds; absent: long ago. */
  readonly firstLookSeconds?: number
  /** Names of markets for sentences, by lower-case token. */
  readonly symbols: Readonly<Record<string, string>>
}

/** Result of a pass. */
export interface Reconciliation {
  /** New ones, in the order of the trades' times. */
  readonly raised: readonly Discrepancy[]
  /**
   * Ids of open discrepancies that are gone: the order rests no longer, the sizes add up again, the chain took the trade
   * back, or its order is ours.
   */
  readonly gone: readonly string[]
  /** Sides that could not be judged now. */
  readonly deferred: number
}

const increaseTypes: ReadonlySet<number> = new Set([2, 3, 8])
const decreaseTypes: ReadonlySet<number> = new Set([4, 5, 6, 7])
const LIQUIDATION = 7
/** The protocol's own acts on a position: their result counts toward the day. */
const protocols: ReadonlySet<DiscrepancyKind> = new Set(['liquidation', 'adl'])

/** Tells whether a trade reduced a position. A reduction that only one host reports must be proven before it explains anything. */
export function isReduction({ eventName, orderType }: Trade): boolean {
  return eventName === 'OrderExecuted' && decreaseTypes.has(orderType)
}

/** Compares once. */
export function reconcile(view: ReconcileView): Reconciliation {
  const { account, busyMarkets, explained, missing } = view
  const raised: Discrepancy[] = []
  // Past a trade that could not be read the account is not reconciled.
  let deferred = missing?.trades.length ?? 0
  const isNew = newDiscrepancies(account)
  // A position that is not shown, and a trade that is not, both look like a wrong sum.
  const isBusy = (marketToken: string) =>
    busyMarkets.has(marketToken.toLowerCase()) ||
    lacksMarket(missing?.positions, marketToken) ||
    lacksMarket(missing?.trades, marketToken)
  const mayBeOurs = (marketToken: string, atSeconds: number) =>
    atSeconds >= (view.unresolvedSince.get(marketToken.toLowerCase()) ?? Number.POSITIVE_INFINITY)

  const found = new Map<string, Usd>()
  for (const position of view.positions) found.set(sideKeyOf(position), position.sizeInUsd)

  const waiting = new Set<string>()
  const adoptedAtMs = adoptions(account)
  const createdIn = creations(view.trades)
  for (const trade of [...view.trades].sort((a, b) => a.timestampSeconds - b.timestampSeconds)) {
    if (trade.eventName !== 'OrderExecuted' || explained.has(trade.orderKey.toLowerCase())) continue
    const discrepancyId = `trade:${trade.id}`
    if (!isNew(discrepancyId)) continue
    const { marketToken: on } = trade
    if (on !== undefined && (mayBeOurs(on, trade.timestampSeconds) || lacksMarket(missing?.positions, on))) {
      deferred += 1
      continue
    }
    if (on !== undefined && isReduction(trade)) {
      const proof = view.unproven?.get(trade.id)
      const key = `${on}:${trade.direction}:${trade.initialCollateralToken}`.toLowerCase()
      if (proof !== undefined) deferred += 1
      if (proof === 'waits') waiting.add(key)
      // A size that an operator adopted already contains trades executed before.
      const isAdopted = trade.timestampSeconds * 1_000 <= (adoptedAtMs.get(key) ?? Number.NEGATIVE_INFINITY)
      if (proof !== undefined || isAdopted) continue
    }
    const creation = createdIn.get(trade.orderKey.toLowerCase())
    // A row that is missing says nothing: a list may begin after an order was made, and leave creations out.
    const isProtocols =
      view.deleveraged?.get(trade.id) ?? (creation !== undefined && sameHex(creation, trade.transactionHash))
    const discrepancy = tradeDiscrepancy(discrepancyId, trade, view, found, isProtocols)
    if (discrepancy !== undefined) raised.push(discrepancy)
  }

  const resting = new Set<string>()
  for (const order of view.orders) {
    const discrepancyId = `order:${order.orderKey.toLowerCase()}`
    resting.add(discrepancyId)
    if (explained.has(order.orderKey.toLowerCase()) || !isNew(discrepancyId)) continue
    if (mayBeOurs(order.marketToken, order.updatedAtSeconds)) {
      deferred += 1
      continue
    }
    raised.push(orderDiscrepancy(discrepancyId, order, view))
  }

  const changed = changedOrders(view.orders, view.own, view.symbols)
  raised.push(...changed.filter(({ discrepancyId }) => isNew(discrepancyId)))

  const increasedAt = new Map(view.positions.map((each) => [sideKeyOf(each), each.increasedAtSeconds]))
  const expected = expectedSizes(view, raised, ownTrades(view))
  const sides = new Map<string, PositionSide>()
  for (const position of view.positions) sides.set(sideKeyOf(position), position)
  for (const [key, side] of expected) if (!sides.has(key)) sides.set(key, side)
  const wrong = new Set<string>()
  for (const [key, side] of sides) {
    const expectedUsd = expected.get(key)?.sizeUsd ?? 0n
    const foundUsd = found.get(key) ?? 0n
    if (expectedUsd === foundUsd) continue
    if (isBusy(side.marketToken) || waiting.has(key)) {
      deferred += 1
      continue
    }
    const discrepancyId = positionDiscrepancyId(side, expectedUsd, foundUsd)
    wrong.add(discrepancyId)
    const known = account.discrepancies.get(discrepancyId)
    if (known !== undefined) continue
    raised.push({
      discrepancyId,
      kind: 'unexplained-position',
      marketToken: side.marketToken,
      direction: side.direction,
      collateralToken: side.collateralToken,
      statement: `${symbolOf(view, side.marketToken)} ${side.direction} is ${formatUsd(foundUsd)}; the journal expects ${formatUsd(expectedUsd)}`,
      sizeDeltaUsd: foundUsd - expectedUsd,
      expectedUsd,
      foundUsd,
      // If the journal expects nothing, the older position explains the whole.
      ...(expectedUsd === 0n && { ...tokensIn(view, key), ...initial(view, increasedAt.get(key)) }),
    })
  }

  const gone = [
    ...goneDiscrepancies(view, raised, found, { resting, wrong, isBusy }),
    ...changedOrdersGone(account, changed, view),
  ]
  return { raised, gone, deferred }
}

/** Tells whether the discrepancy is about a trade, whatever its kind. */
export function isOfTrade({ discrepancyId }: Discrepancy): boolean {
  return discrepancyId.startsWith('trade:')
}

/** Returns sizes by side with this pass's discrepancies, and without some others. A fill without a size shows as a wrong sum. */
function expectedSizes(
  { fills, account }: ReconcileView,
  raised: readonly Discrepancy[],
  dropped: ReadonlyMap<string, unknown> = new Map(),
): HeldSides {
  const discrepancies = new Map([...account.discrepancies].filter(([id]) => !dropped.has(id)))
  for (const discrepancy of raised)
    discrepancies.set(discrepancy.discrepancyId, { discrepancy, raisedAtMs: 0 })
  return journalSides(fills, { discrepancies })
}

/** Tells once for each discrepancy whether to report it: it is neither known nor met before in this pass. */
function newDiscrepancies(account: AccountState): (discrepancyId: string) => boolean {
  const met = new Set<string>()
  // A list may have a row twice: on two pages, or because its host says so.
  return (discrepancyId) => {
    const known = account.discrepancies.get(discrepancyId)
    // A trade that was taken back may be made again, and an order that was put right be changed again.
    const isBack =
      known?.end === 'gone' && (isOfTrade(known.discrepancy) || known.discrepancy.kind === 'changed-order')
    if ((known !== undefined && !isBack) || met.has(discrepancyId)) return false
    met.add(discrepancyId)
    return true
  }
}

/** Returns the times when an operator adopted the size of a side, by its key, ms. */
function adoptions(account: AccountState): ReadonlyMap<string, number> {
  return new Map(
    [...account.discrepancies.values()].flatMap(({ discrepancy, end, raisedAtMs }) =>
      discrepancy.kind === 'unexplained-position' && end === 'adopted'
        ? [[sideKeyOf(discrepancy), raisedAtMs] as const]
        : [],
    ),
  )
}

/** Transactions in which orders were made, by their lower-case keys. */
function creations(trades: readonly Trade[]) {
  return new Map(
    trades.flatMap(({ eventName, orderKey, transactionHash }) =>
      eventName === 'OrderCreated' ? [[orderKey.toLowerCase(), transactionHash] as const] : [],
    ),
  )
}

/** An order that rests and is not ours. */
function orderDiscrepancy(discrepancyId: string, order: Order, view: ReconcileView): Discrepancy {
  return {
    discrepancyId,
    kind: 'unexplained-order',
    marketToken: order.marketToken,
    direction: order.direction,
    collateralToken: order.initialCollateralToken,
    statement: `a ${orderName(order.orderType)} order over ${formatSize(order.sizeDeltaUsd)} rests on ${symbolOf(view, order.marketToken)} ${order.direction} that perpd did not make`,
    sizeDeltaUsd: 0n,
    orderKey: order.orderKey,
    atSeconds: order.updatedAtSeconds,
    ...initial(view, order.updatedAtSeconds),
  }
}

/**
 * Open discrepancies of trades whose order is one of ours after all: a reorganisation gave it another key, and perpd learned that after it had
 * met the trade. Its fill counts what the trade did.
 */
function ownTrades({ account, explained }: ReconcileView): ReadonlyMap<string, unknown> {
  return new Map(
    [...account.discrepancies].filter(
      ([, { discrepancy, end }]) =>
        end === undefined &&
        isOfTrade(discrepancy) &&
        explained.has(discrepancy.orderKey?.toLowerCase() ?? ''),
    ),
  )
}

/** Open discrepancies that are over: a trade taken back or known as ours, an order that rests no longer, a sum that is right again. */
function goneDiscrepancies(
  view: ReconcileView,
  raised: readonly Discrepancy[],
  found: ReadonlyMap<string, Usd>,
  now: {
    readonly resting: ReadonlySet<string>
    readonly wrong: ReadonlySet<string>
    isBusy(marketToken: string): boolean
  },
): string[] {
  const { account, missing } = view
  const { resting, wrong, isBusy } = now
  const gone: string[] = []
  const ours = ownTrades(view)
  const without = expectedSizes(view, raised, new Map([...(view.withdrawn ?? []), ...ours]))
  for (const [id, { discrepancy, end }] of account.discrepancies) {
    if (end !== undefined) continue
    const key = sideKeyOf(discrepancy)
    const word = view.withdrawn?.get(id)
    const addsUp = (without.get(key)?.sizeUsd ?? 0n) === (found.get(key) ?? 0n)
    const isUndone = word === 'final' || (word === 'lists' && addsUp && !isBusy(discrepancy.marketToken))
    if (isUndone || ours.has(id)) gone.push(id)
    const mayRest = lacksOrder(missing?.orders, discrepancy.orderKey ?? '')
    if (discrepancy.kind === 'unexplained-order' && !resting.has(id) && !mayRest) gone.push(id)
    const isExplained = !wrong.has(id) && !isBusy(discrepancy.marketToken)
    if (discrepancy.kind === 'unexplained-position' && isExplained) gone.push(id)
  }
  return gone
}

function tradeDiscrepancy(
  discrepancyId: string,
  trade: Trade,
  view: ReconcileView,
  found: ReadonlyMap<string, Usd>,
  isProtocols: boolean,
): Discrepancy | undefined {
  const { marketToken, direction, orderType } = trade
  if (marketToken === undefined || direction === undefined) return undefined
  const side = { marketToken, direction, collateralToken: trade.initialCollateralToken }
  const isIncrease = increaseTypes.has(orderType)
  // Swaps move no position.
  if (!isIncrease && !decreaseTypes.has(orderType)) return undefined
  const isClosed = (found.get(sideKeyOf(side)) ?? 0n) === 0n
  const kind = kindOfTrade(orderType, isIncrease, isClosed, isProtocols)
  const size = trade.sizeDeltaUsd ?? 0n
  const pnlUsd = protocols.has(kind) ? (view.results?.get(trade.id) ?? trade.pnlUsd) : undefined
  const receivedUsd = protocols.has(kind) ? view.received?.get(trade.id) : undefined
  return {
    discrepancyId,
    kind,
    ...side,
    statement: `${words[kind]}: ${formatUsd(size)} ${isIncrease ? 'were added to' : 'were taken off'} ${symbolOf(view, marketToken)} ${direction} by an order that perpd did not make`,
    sizeDeltaUsd: isIncrease ? size : -size,
    ...defined({ sizeDeltaInTokens: trade.sizeDeltaInTokens, pnlUsd, fundingReceivedUsd: receivedUsd }),
    orderKey: trade.orderKey,
    transactionHash: trade.transactionHash,
    atSeconds: trade.timestampSeconds,
  }
}

/**
 * The chain's events say ADL by themselves; rows carry no mark of it. There an ADL order is one that was shown to be made in the
 * very transaction that executed it; an order of a person is made first and executed by a keeper later.
 */
function kindOfTrade(
  orderType: number,
  isIncrease: boolean,
  isClosed: boolean,
  isProtocols: boolean,
): DiscrepancyKind {
  if (orderType === LIQUIDATION) return 'liquidation'
  if (isIncrease) return 'manual-increase'
  if (isProtocols && orderType === 4) return 'adl'
  return isClosed ? 'external-close' : 'manual-decrease'
}

const words: Readonly<Record<DiscrepancyKind, string>> = {
  liquidation: 'liquidated',
  adl: 'reduced by the protocol (ADL)',
  'external-close': 'closed by hand',
  'manual-decrease': 'reduced by hand',
  'manual-increase': 'increased by hand',
  'unexplained-order': 'an order',
  'changed-order': 'a changed order',
  'unexplained-position': 'a position',
}

/** Marks positions older than the journal's first look; `atSeconds` is the time of creation or latest change. */
function initial(
  { firstLookSeconds }: ReconcileView,
  atSeconds: number | undefined,
): { readonly isInitial: true; readonly atSeconds: number } | Record<string, never> {
  return firstLookSeconds === undefined || atSeconds === undefined || atSeconds >= firstLookSeconds
    ? {}
    : { isInitial: true, atSeconds }
}

/** The tokens of a position that the journal explains nothing of. */
function tokensIn({ positions }: ReconcileView, key: string): { readonly sizeDeltaInTokens?: TokenAmount } {
  const position = positions.find((each) => sideKeyOf(each) === key)
  return defined({ sizeDeltaInTokens: position?.sizeInTokens })
}

function symbolOf({ symbols }: ReconcileView, marketToken: Address): string {
  return symbols[marketToken.toLowerCase()] ?? marketToken
}
