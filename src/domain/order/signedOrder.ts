/** A resting order as our own messages made it: what an edit of it stands on, and what a host's row of it is held against. */
import { type Address, type Hex, sameHex } from '../../protocol/address.ts'
import type { UpdateOrderParams } from '../../protocol/batch.ts'
import type { Order } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import { type IntentState, isUnresolved, lastAttempt, type SignedOrder } from './intent.ts'

/**
 * The order as it was signed, with the later changes of it that landed. Undefined when that is not known: it was made before
 * all of it was kept, or a change of it has a fate that no evidence shows.
 *
 * @param maker the intent whose landed attempt created it
 * @param changes edits and batches since then, in the order in which they ended
 */
export function signedOrderOf(
  orderKey: Hex,
  maker: IntentState,
  changes: readonly IntentState[],
): SignedOrder | undefined {
  let order = createdBy(orderKey, maker)
  for (const change of changes) {
    const attempt = lastAttempt(change)
    if (order === undefined || attempt?.armed === undefined || !names(change, orderKey)) continue
    // An operator's word for it is no proof of either.
    if (isUnresolved(attempt)) return undefined
    if (attempt.phase !== 'LANDED') continue
    const update = attempt.armed.updates?.find(({ key }) => sameHex(key, orderKey))
    order = update === undefined ? undefined : updated(order, update)
  }
  return order
}

/** What of a journal the story of a resting order is read from. */
interface ToldIn {
  openIntents(): readonly IntentState[]
  /** Edits and batches that were closed since then, Unix ms. */
  changesSince(sinceMs: number): readonly IntentState[]
}

/** A clock that was set back by less than this hides no change, ms. */
const clockGraceMs = 86_400_000

/** The same out of a journal: an order's maker is open while it rests. Undefined for an order that is none of its makers'. */
export function signedOrderIn(journal: ToldIn, orderKey: Hex): SignedOrder | undefined {
  const maker = journal
    .openIntents()
    .find(({ attempts }) =>
      attempts.some(({ children }) => children.some((child) => sameHex(child.orderKey, orderKey))),
    )
  if (maker === undefined) return undefined
  return signedOrderOf(orderKey, maker, journal.changesSince(maker.intent.acceptedAtMs - clockGraceMs))
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
    .filter((story) => names(story, orderKey))
    .toSorted((one, other) => (endedMs(one) < endedMs(other) ? -1 : 1))
  return signedOrderOf(orderKey, maker, changes)
}

function createdBy(orderKey: Hex, { attempts }: IntentState): SignedOrder | undefined {
  for (const { children, armed } of attempts) {
    const child = children.find((each) => sameHex(each.orderKey, orderKey))
    const signed = child === undefined ? undefined : armed?.creates?.[child.index]
    if (signed?.kept !== undefined) return signed
  }
  return undefined
}

/** Whether an intent edits or cancels an order, alone or in a batch. */
export function touches(state: IntentState, orderKey: Hex): boolean {
  const { cancelOrderKeys = [], batch } = state.intent.terms
  const cancelled = [...cancelOrderKeys, ...(batch?.cancelOrderKeys ?? [])]
  return names(state, orderKey) || cancelled.some((key) => sameHex(key, orderKey))
}

function names({ intent: { terms } }: IntentState, orderKey: Hex): boolean {
  const updates = terms.batch?.updateOrderParamsList ?? []
  const keys = [...(terms.edit === undefined ? [] : [terms.edit.orderKey]), ...updates.map(({ key }) => key)]
  return keys.some((key) => sameHex(key, orderKey))
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

/** What an order of ours that another client changed does at the venue now, as far as people ask for it. */
export interface ListedOrder {
  /** USD per whole index token; absent where the order waits for no price. */
  readonly triggerPrice?: Usd
  /** USD; the largest uint256 for all of the position. */
  readonly sizeDeltaUsd: Usd
}

/** One field of a host's row that is not what was signed. */
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
 * The fields of a host's row that are not what was signed. What the venue does not say is not compared; neither is what is left
 * of the collateral and of the execution fee, which the chain changes by itself.
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
