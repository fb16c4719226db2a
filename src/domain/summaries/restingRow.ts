/**
 * Orders that rest at the venue, as people see them: those of open intents by the journal, and those of other clients by the venue's list. One row an
 * order. Pure.
 */

import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { type Order, orderName } from '../../protocol/position.ts'
import { MAX_UINT256, minOf, priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import { type PositionSide, sideOfIntent } from '../accountRecords/accountRecord.ts'
import { OPERATOR } from '../accountRecords/operatorName.ts'
import { type Child, hasEnded, type IntentState, isWaiting, lastAttempt } from '../order/intent.ts'
import { isExit, type LegLookups, legsOf, type OrderLeg } from '../order/orderLegs.ts'
import { orderTypeName } from '../order/orderTerms.ts'

/** Sort of whoever placed an order: a strategy's instance, a task, an operator by hand, or another client of the account. */
export type OwnerKind = 'instance' | 'task' | 'hand' | 'others'

/** One resting order. Prices are USD per whole index token, sizes USD, both with 30 decimals. */
export interface RestingRow extends PositionSide {
  readonly orderKey: Hex
  /** The intent that made it; null for an order of another client. */
  readonly intentId: string | null
  /** `stop`, `target`, `limit` or `stop entry`; `part` of a twap at the venue; of any other order the venue's name of its type. */
  readonly type: string
  /** The market's symbol, or its token where no list names it. */
  readonly market: string
  readonly direction: Direction
  /** Price in force that it waits for; null: it waits for none. */
  readonly triggerPrice: Usd | null
  /** Size in force: of an exit no more than its position. The largest uint256 stands for all of a position whose size is not known. */
  readonly sizeUsd: Usd
  /** True while the venue has it frozen: it does not fire. */
  readonly isFrozen: boolean
  readonly ownerKind: OwnerKind
  /** The instance's name, the task's id, `@operator`, or empty for another client. */
  readonly owner: string
  /** Time since when it exists, Unix ms: accepted by perpd, or last changed by its client. */
  readonly sinceMs: number
  /** Mark price that the distance is from; null: none is known. */
  readonly markPrice: Usd | null
  /** Distance of the trigger from the mark, hundredths of a basis point of the mark, signed: negative below it. Null without either. */
  readonly distanceBps100: number | null
}

/** Facts that rows are made of. */
export interface RestingFacts {
  /** Open intents, with the look-ups that show their orders in force. */
  readonly open: readonly ({ readonly state: IntentState } & LegLookups)[]
  /** Orders of the venue's list that the journal does not explain. */
  readonly others: readonly Order[]
  /** Size of the position on a side, USD; undefined: not known, or none. */
  readonly heldUsd: (side: PositionSide) => Usd | undefined
  /** Mark of a market, of the side that a position on it closes by; undefined: not known. */
  readonly markOf: (side: PositionSide) => Usd | undefined
  /** Symbol of a market; undefined: no list names it. */
  readonly symbolOf: (marketToken: Address) => string | undefined
  /** Decimals of a market's index token; undefined: not known. */
  readonly indexDecimals: (marketToken: Address) => number | undefined
  /** Id of the task that a decision belongs to; undefined: it belongs to none. */
  readonly taskOf: (decisionKey: string) => string | undefined
}

/** Words for the on-chain order types that wait for a price. */
const typeWords: Readonly<Record<number, string>> = { 3: 'limit', 5: 'target', 6: 'stop', 8: 'stop entry' }

/** Words for the same where only the intent's own terms say the type. */
const termWords: Readonly<Record<string, string>> = {
  limit: 'limit',
  'take-profit': 'target',
  'stop-loss': 'stop',
}

/** All resting orders: by market and side, the highest trigger first. */
export function restingRows(facts: RestingFacts): readonly RestingRow[] {
  return [
    ...facts.open.flatMap((each) => ownRows(each, facts)),
    ...facts.others.map((order) => othersRow(order, facts)),
  ].toSorted(
    (one, other) =>
      one.market.localeCompare(other.market) ||
      one.direction.localeCompare(other.direction) ||
      compare(other.triggerPrice ?? 0n, one.triggerPrice ?? 0n) ||
      one.orderKey.localeCompare(other.orderKey),
  )
}

/** Tells whether an open intent still has an order that may fill and does not rest: its message is in flight, or a keeper has the order. */
export function isInFlight({ closing, intent, attempts }: IntentState): boolean {
  if (closing !== undefined || fillsNothing.has(intent.kind)) return false
  const attempt = attempts.at(-1)
  if (attempt?.phase !== 'LANDED') return true
  return attempt.children.some((child) => !hasEnded(child) && !isWaiting(intent, child))
}

/** Kinds of intents that make no order which fills. */
const fillsNothing: ReadonlySet<string> = new Set(['edit', 'cancel'])

/** Orders that can still fill: those that rest, and those of intents in flight. An entry that filled is none. */
export function openOrderCount(rows: readonly RestingRow[], open: readonly IntentState[]): number {
  return rows.length + open.filter(isInFlight).length
}

function ownRows(each: RestingFacts['open'][number], facts: RestingFacts): readonly RestingRow[] {
  const { intent, closing } = each.state
  const attempt = lastAttempt(each.state)
  if (closing !== undefined || attempt?.phase !== 'LANDED') return []
  return legsOf(each.state, each).flatMap((leg): RestingRow[] => {
    const child = attempt.children.find(({ orderKey }) => orderKey === leg.orderKey)
    if (child === undefined || hasEnded(child) || !isWaiting(intent, child)) return []
    const created = attempt.armed?.creates[child.index]
    const { marketToken, direction, collateralToken } = created?.kept ?? sideOfIntent(intent)
    const side = { marketToken, direction, collateralToken }
    const taskId = facts.taskOf(intent.decisionKey)
    const isClosing = isExit(child) || intent.kind === 'decrease' || intent.kind === 'close'
    return [
      {
        ...side,
        orderKey: leg.orderKey,
        intentId: intent.intentId,
        type: typeOf(each.state, child, created?.orderType),
        market: intent.terms.symbol,
        triggerPrice: leg.triggerPrice ?? null,
        sizeUsd: inForce(leg, isClosing ? facts.heldUsd(side) : undefined, intent.terms.sizeDeltaUsd),
        isFrozen: leg.phase === 'FROZEN',
        ...(taskId === undefined
          ? { ownerKind: intent.strategy === OPERATOR ? 'hand' : 'instance', owner: intent.strategy }
          : { ownerKind: 'task', owner: taskId }),
        sinceMs: intent.acceptedAtMs,
        ...distance(leg.triggerPrice, facts.markOf(side)),
      },
    ]
  })
}

function typeOf({ intent }: IntentState, { role }: Child, orderType: number | undefined): string {
  if (role === 'part') return role
  if (orderType !== undefined) return typeWords[orderType] ?? orderName(orderType)
  if (role === 'stop-loss' || role === 'take-profit') return termWords[role] ?? role
  return termWords[intent.terms.orderType] ?? orderTypeName(intent.terms.orderType)
}

function inForce({ sizeDeltaUsd }: OrderLeg, heldUsd: Usd | undefined, termsUsd: Usd): Usd {
  const signedUsd = sizeDeltaUsd ?? termsUsd
  return heldUsd === undefined || heldUsd <= 0n ? signedUsd : minOf(signedUsd, heldUsd)
}

function othersRow(order: Order, facts: RestingFacts): RestingRow {
  const { marketToken, direction, orderType, orderKey, sizeDeltaUsd, isFrozen, triggerContractPrice } = order
  const side = { marketToken, direction, collateralToken: order.initialCollateralToken }
  const decimals = facts.indexDecimals(marketToken)
  const waits = triggerContractPrice > 0n && triggerContractPrice < MAX_UINT256 && decimals !== undefined
  const triggerPrice = waits ? priceOfContractPrice(triggerContractPrice, decimals) : undefined
  const heldUsd = closingTypes.has(orderType) ? facts.heldUsd(side) : undefined
  return {
    ...side,
    orderKey,
    intentId: null,
    type: typeWords[orderType] ?? orderName(orderType),
    market: facts.symbolOf(marketToken) ?? marketToken,
    triggerPrice: triggerPrice ?? null,
    sizeUsd: heldUsd === undefined || heldUsd <= 0n ? sizeDeltaUsd : minOf(sizeDeltaUsd, heldUsd),
    isFrozen,
    ownerKind: 'others',
    owner: '',
    sinceMs: order.updatedAtSeconds * 1_000,
    ...distance(triggerPrice, facts.markOf(side)),
  }
}

/** Contract order types that take from a position. */
const closingTypes: ReadonlySet<number> = new Set([4, 5, 6])

/** Hundredths of a basis point of a whole. */
const WHOLE_BPS100 = 1_000_000n

function distance(
  triggerPrice: Usd | undefined,
  markPrice: Usd | undefined,
): { readonly markPrice: Usd | null; readonly distanceBps100: number | null } {
  const isKnown = triggerPrice !== undefined && markPrice !== undefined && markPrice > 0n
  return {
    markPrice: markPrice ?? null,
    distanceBps100: isKnown ? Number(((triggerPrice - markPrice) * WHOLE_BPS100) / markPrice) : null,
  }
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0
}
