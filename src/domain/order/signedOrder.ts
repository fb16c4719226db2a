/** A resting order as our own messages made it: the basis of an edit, and of the comparison with a host's row. */
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import type { UpdateOrderParams } from '../../protocol/batch.ts'
import type { Order } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import { type IntentState, isUnresolved, lastAttempt, type SignedOrder } from './intent.ts'

/** Change that a later message of ours made to a resting order: its new values, or unknown where no evidence shows the message's fate. */
export type OrderChange = UpdateOrderParams | 'unknown'

/**
 * Lists the changes that an edit or a batch made to resting orders, by the key of each. Empty for a message that never landed. Unknown also where an
 * operator closed it by statement, which proves neither outcome.
 */
export function changesBy(change: IntentState): readonly (readonly [orderKey: string, OrderChange])[] {
  if (!changesOrders(change)) return []
  const attempt = lastAttempt(change)
  if (attempt?.armed === undefined) return []
  const isUnknown = isUnresolved(attempt)
  if (!isUnknown && attempt.phase !== 'LANDED') return []
  const { updates = [] } = attempt.armed
  return [...new Set(namedIn(change).map(hexKey))].map((orderKey) => {
    const update = updates.find(({ key }) => sameHex(key, orderKey))
    return [orderKey, isUnknown || update === undefined ? 'unknown' : update]
  })
}

/**
 * Returns the order as it was signed, with later changes by our messages. Undefined when that is unknown: it was made before all of it was persisted,
 * or no evidence shows the fate of a change.
 *
 * @param maker the intent whose landed attempt created it
 * @param change joint effect of the changes that ended; absent when there is none
 */
export function signedOrderOf(
  orderKey: Hex,
  maker: IntentState,
  change: OrderChange | undefined,
): SignedOrder | undefined {
  const order = createdBy(orderKey, maker)
  if (order === undefined || change === undefined) return order
  return change === 'unknown' ? undefined : updated(order, change)
}

/** The part of a journal from which the story of a resting order is read. */
export interface ToldIn {
  openIntents(): readonly IntentState[]
  /** Returns the joint change that ended edits and batches made to the order. */
  changeOf(orderKey: string): OrderChange | undefined
}

/** The same out of a journal: an order's maker is open while it rests. Undefined for an order that is none of its makers'. */
export function signedOrderIn(journal: ToldIn, orderKey: Hex): SignedOrder | undefined {
  const maker = journal
    .openIntents()
    .find(({ attempts }) =>
      attempts.some(({ children }) => children.some((child) => sameHex(child.orderKey, orderKey))),
    )
  return maker === undefined ? undefined : signedOrderOf(orderKey, maker, journal.changeOf(orderKey))
}

/**
 * The same out of a list of stories, for orders that have ended too.
 *
 * @param stories in any order; those that are open or unknown count as the newest
 */
export function signedOrderAmong(
  stories: readonly IntentState[],
  maker: IntentState,
  orderKey: Hex,
): SignedOrder | undefined {
  const endedMs = ({ closedAtMs = Number.POSITIVE_INFINITY }: IntentState) => closedAtMs
  const changes = stories
    .toSorted((one, other) => (endedMs(one) < endedMs(other) ? -1 : 1))
    .flatMap(changesBy)
    .flatMap(([key, change]) => (sameHex(key, orderKey) ? [change] : []))
  // An unknown change stays unknown: no later change shows the state before it.
  const change = changes.includes('unknown') ? 'unknown' : changes.at(-1)
  return signedOrderOf(orderKey, maker, change)
}

/** State that our own messages gave an order of ours before a later one changed it. */
export interface EarlierRevision {
  readonly signed: SignedOrder
  /** Time when the message that changed it was armed, Unix ms: the order was not changed by it before then. */
  readonly replacedAtMs: number
}

/**
 * The order as it was before each edit of ours that landed, oldest first. None where a change of it is not known.
 *
 * @param stories in any order
 * @param maker the intent whose landed attempt created it
 */
export function earlierRevisions(
  stories: readonly IntentState[],
  maker: IntentState,
  orderKey: Hex,
): readonly EarlierRevision[] {
  const created = createdBy(orderKey, maker)
  if (created === undefined) return []
  const changes = stories
    .flatMap((story) =>
      changesBy(story).flatMap(([key, change]) =>
        sameHex(key, orderKey) ? [{ change, armedAtMs: lastAttempt(story)?.armedAtMs ?? 0 }] : [],
      ),
    )
    .toSorted((one, other) => one.armedAtMs - other.armedAtMs)
  const revisions: EarlierRevision[] = []
  let signed = created
  for (const { change, armedAtMs } of changes) {
    if (change === 'unknown') return []
    revisions.push({ signed, replacedAtMs: armedAtMs })
    signed = updated(signed, change)
  }
  return revisions
}

function createdBy(orderKey: Hex, { attempts }: IntentState): SignedOrder | undefined {
  for (const { children, armed } of attempts) {
    const child = children.find((each) => sameHex(each.orderKey, orderKey))
    const signed = child === undefined ? undefined : armed?.creates[child.index]
    if (signed?.kept !== undefined) return signed
  }
  return undefined
}

/** Tells whether an intent edits or cancels an order, alone or in a batch. */
export function touches(state: IntentState, orderKey: Hex): boolean {
  const { cancelOrderKeys = [], batch } = state.intent.terms
  const cancelled = [...cancelOrderKeys, ...(batch?.cancelOrderKeys ?? [])]
  return (
    namedIn(state).some((key) => sameHex(key, orderKey)) || cancelled.some((key) => sameHex(key, orderKey))
  )
}

function changesOrders({ intent: { kind } }: IntentState): boolean {
  return kind === 'edit' || kind === 'batch'
}

/** Keys of the resting orders that an edit or a batch is to change. */
export function namedIn(state: IntentState): readonly string[] {
  const { terms } = state.intent
  if (!changesOrders(state)) return []
  const updates = terms.batch?.updateOrderParamsList ?? []
  return [...(terms.edit === undefined ? [] : [terms.edit.orderKey]), ...updates.map(({ key }) => key)]
}

function updated(order: SignedOrder, update: UpdateOrderParams): SignedOrder {
  const { kept } = order
  if (kept === undefined) return order
  const { sizeDeltaUsd, triggerPrice, acceptablePrice, minOutputAmount, autoCancel } = update
  return {
    ...order,
    sizeDeltaUsd,
    kept: {
      ...kept,
      triggerContractPrice: triggerPrice,
      acceptableContractPrice: acceptablePrice,
      minOutputAmount,
      autoCancel,
    },
  }
}

/** Present trigger and size at the venue of an order of ours that another client changed. */
export interface ListedOrder {
  /** USD per whole index token; absent where the order waits for no price. */
  readonly triggerPrice?: Usd
  /** USD; the largest uint256 for all of the position. */
  readonly sizeDeltaUsd: Usd
}

/** One field of a host's row that differs from the signed one. */
export interface RowDifference {
  readonly field: string
  readonly signed: string
  readonly listed: string
}

/** The first of `rowDifferences`; undefined when all fields are alike. */
export function rowDifference(row: Order, signed: SignedOrder): RowDifference | undefined {
  return rowDifferences(row, signed)[0]
}

/**
 * Returns the fields of a host's row that differ from the signed ones. Fields that the venue omits are not compared. Neither is the rest of the
 * collateral and of the execution fee, which the chain changes by itself.
 */
export function rowDifferences(row: Order, signed: SignedOrder): readonly RowDifference[] {
  const { kept } = signed
  if (kept === undefined) return []
  const compared: readonly (readonly [
    string,
    bigint | number | string | boolean | undefined,
    bigint | number | string | boolean | undefined,
  ])[] = [
    ['orderType', signed.orderType, row.orderType],
    ['marketAddress', lower(kept.marketToken), lower(row.marketToken)],
    ['isLong', kept.direction, row.direction],
    ['initialCollateralTokenAddress', lower(kept.collateralToken), lower(row.initialCollateralToken)],
    ['sizeDeltaUsd', signed.sizeDeltaUsd, row.sizeDeltaUsd],
    ['triggerPrice', kept.triggerContractPrice, row.triggerContractPrice],
    ['acceptablePrice', kept.acceptableContractPrice, row.acceptableContractPrice],
    ['minOutputAmount', kept.minOutputAmount, row.minOutputAmount],
    ['autoCancel', kept.autoCancel, row.autoCancel],
  ]
  return compared
    .filter(([, ours, theirs]) => ours !== undefined && theirs !== undefined && ours !== theirs)
    .map(([field, ours, theirs]) => ({ field, signed: String(ours), listed: String(theirs) }))
}

function lower(address: Address): string {
  return address.toLowerCase()
}
