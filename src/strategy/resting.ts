/** Waiting orders of a strategy at the venue: the account's resting orders that its open intents explain. Pure. */
import { defined } from '../base/defined.ts'
import type { OwnPosition } from '../books/ownPositions.ts'
import { sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import {
  type Child,
  type ChildRole,
  hasEnded,
  type Intent,
  type IntentState,
  isUnresolved,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { OrderKind } from '../domain/order/orderTerms.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { type Address, type Hex, hexKey } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { priceOfContractPrice, type Usd } from '../protocol/units.ts'

/** An open intent of the instance itself. */
export interface OpenIntent {
  readonly intentId: string
  readonly kind: IntentState['intent']['kind']
  readonly marketToken: Address
  readonly direction: Direction
  readonly orderType: OrderKind
  /** As admitted, USD. */
  readonly sizeDeltaUsd: Usd
  /** Trigger of orders that wait for a price, USD per whole index token. */
  readonly triggerPrice?: Usd
  /** Unix ms. */
  readonly acceptedAtMs: number
  /** Signed, and whether it landed is not proven: it may land until its deadline, and cannot be called back. */
  readonly isUnresolved: boolean
  /** True if it is to be unwound: its position is closed if it lands. */
  readonly isUnwanted: boolean
  /**
   * True once its entry is filled and shows in this instance's own part, or it opens nothing: only exits that rest and are listed at the venue
   * remain. Such an intent blocks nothing; an edit or cancel of its exits is a separate intent.
   */
  readonly onlyExitsRest: boolean
}

/** A resting order of the instance's own, as the venue shows it. */
export interface RestingOrder {
  readonly orderKey: Hex
  /** The intent that created it. */
  readonly intentId: string
  readonly orderType: Exclude<OrderKind, 'market'>
  readonly marketToken: Address
  readonly direction: Direction
  /** Token that an increase pays, or that backs the position a decrease is of. */
  readonly collateralToken: Address
  readonly sizeDeltaUsd: Usd
  /** USD per whole index token; absent on the parts of a twap, which wait for their time. */
  readonly triggerPrice?: Usd
  /** True after it failed at its trigger and was held back; an edit to the same values lets it be tried again. */
  readonly isFrozen: boolean
  /** True while an edit or cancel of it is in flight: another would be denied. */
  readonly isChanging: boolean
}

/** On-chain types of orders that rest (contract `Order`, `OrderType`). */
const restingTypes: Readonly<Record<number, RestingOrder['orderType']>> = {
  3: 'limit',
  5: 'take-profit',
  6: 'stop-loss',
  8: 'stop-market',
}

/** Facts with which open intents are viewed. */
interface SeenBy {
  readonly orders: Snapshot['orders']
  /** The instance's own parts. */
  readonly own: readonly OwnPosition[]
  /** Tells whether an intent is to be unwound if it lands; none is when absent. */
  readonly isUnwanted?: (intentId: string) => boolean
}

/** The open intents as a strategy sees them; without `seen` none has been found at rest. */
export function openIntentsOf(states: readonly IntentState[], seen?: SeenBy): readonly OpenIntent[] {
  if (states.length === 0) return []
  const listed = new Set(seen?.orders.value.map(({ orderKey }) => hexKey(orderKey)))
  // An exit without the instance's whole part does not count: it may have been filled just now, or has lost its purpose.
  const covered = new Set(seen?.own.flatMap((part) => (part.isWhole ? [sideKeyOf(part)] : [])))
  return states.map((state) => {
    const { intentId, kind, terms, acceptedAtMs } = state.intent
    const attempt = lastAttempt(state)
    const isUnwanted = seen?.isUnwanted?.(intentId) === true
    const isCovered = covered.has(sideKeyOf(sideOfIntent(state.intent)))
    return {
      intentId,
      kind,
      marketToken: terms.marketToken,
      direction: terms.direction,
      orderType: terms.orderType,
      sizeDeltaUsd: terms.sizeDeltaUsd,
      ...defined({ triggerPrice: terms.triggerPrice }),
      acceptedAtMs,
      isUnresolved: attempt !== undefined && isUnresolved(attempt),
      isUnwanted,
      onlyExitsRest: isCovered && !isUnwanted && onlyExitsRest(state, listed),
    }
  })
}

/** Tells whether only listed exits remain of an intent. */
function onlyExitsRest(state: IntentState, listed: ReadonlySet<string>): boolean {
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED') return false
  const live = attempt.children.filter((child) => !hasEnded(child))
  return (
    live.length > 0 &&
    live.every((child) => isExit(state.intent, child) && listed.has(hexKey(child.orderKey)))
  )
}

/** On-chain types of orders that wait to reduce (contract `Order`, `OrderType`). */
const exitTypes: ReadonlySet<bigint> = new Set([5n, 6n])

function isExit({ kind, terms }: Intent, { role, index }: Child): boolean {
  if (role === 'take-profit' || role === 'stop-loss') return true
  const own = terms.batch?.createOrderParamsList[index]
  if (own !== undefined) return exitTypes.has(own.orderType)
  const waits = terms.orderType === 'take-profit' || terms.orderType === 'stop-loss'
  return kind === 'decrease' && waits && role !== 'part'
}

/**
 * The resting orders of a snapshot that `states`, the open intents of one strategy, explain. An order too new for the
 * venue's list, or of a market that was not read, is not in it; its intent is among the open ones all the same.
 */
export function restingOrdersOf(snapshot: Snapshot, states: readonly IntentState[]): readonly RestingOrder[] {
  if (states.length === 0) return []
  const explained = new Map<string, { readonly intentId: string; readonly role: ChildRole | undefined }>()
  const changing = new Set<string>()
  for (const { intent, attempts } of states) {
    for (const child of attempts.flatMap(({ children }) => children)) {
      if (hasEnded(child)) continue
      explained.set(hexKey(child.orderKey), { intentId: intent.intentId, role: child.role })
    }
    const { edit, cancelOrderKeys, batch } = intent.terms
    if (edit !== undefined) changing.add(hexKey(edit.orderKey))
    for (const key of [...(cancelOrderKeys ?? []), ...(batch?.cancelOrderKeys ?? [])])
      changing.add(hexKey(key))
    for (const { key } of batch?.updateOrderParamsList ?? []) changing.add(hexKey(key))
  }
  return snapshot.orders.value.flatMap((row): RestingOrder[] => {
    const own = explained.get(hexKey(row.orderKey))
    const orderType = own?.role === 'part' ? 'twap' : restingTypes[row.orderType]
    const market = marketOf(snapshot, row.marketToken)
    if (own === undefined || orderType === undefined || market === undefined) return []
    const triggerPrice = priceOfContractPrice(row.triggerContractPrice, market.indexToken.decimals)
    return [
      {
        orderKey: row.orderKey,
        intentId: own.intentId,
        orderType,
        marketToken: row.marketToken,
        direction: row.direction,
        collateralToken: row.initialCollateralToken,
        sizeDeltaUsd: row.sizeDeltaUsd,
        ...defined({ triggerPrice: orderType === 'twap' ? undefined : triggerPrice }),
        isFrozen: row.isFrozen,
        isChanging: changing.has(hexKey(row.orderKey)),
      },
    ]
  })
}
