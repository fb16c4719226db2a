/** Converts records into moves of books: the executed orders of an intent, and trades of others. Pure. */
import { defined } from '../base/defined.ts'
import {
  type DiscrepancyState,
  expectedDeltaOf,
  type PositionSide,
  sideKeyOf,
  sideOfIntent,
} from '../domain/accountRecords/accountRecord.ts'
import { type ChildFill, childFillsOf, type Fill } from '../domain/accountRecords/fills.ts'
import { executionFeePaid } from '../domain/accountRecords/spend.ts'
import {
  type Attempt,
  type Child,
  hasEnded,
  type IntentState,
  isProvisional,
  lastAttempt,
  type Settlement,
} from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import { chainNamed } from '../protocol/chains/index.ts'
import { amountOfUsd, minOf, sharesOf, type TokenAmount, type Usd } from '../protocol/units.ts'
import { dollarsOf } from './figures.ts'
import { doesTheSame, isSamePlace, type Move, type MovePlace } from './sideMove.ts'
import { UNATTRIBUTED } from './sideParts.ts'

/** A side with its key. */
export interface KeyedSide {
  readonly side: PositionSide
  /** `sideKeyOf` the side. */
  readonly key: string
}

/** A move, and the side that it is on. */
export interface PlacedMove extends KeyedSide {
  readonly move: Move
}

/** Decimals of the fee token on unknown chains; the fee token of every known chain has as many. */
const FEE_DECIMALS = 6

/**
 * Returns the moves of an intent's executed orders so far, and, once it is over, the cost of its message that filled nothing. `isOfExits`: its edit
 * or cancel concerns orders that close a position; used for edits and cancels alone.
 */
export function movesOfIntent(state: IntentState, isOfExits = false): readonly PlacedMove[] {
  const { intent } = state
  const children = lastAttempt(state)?.children ?? []
  const isFill = intent.kind !== 'edit' && intent.kind !== 'cancel'
  const executed = isFill ? children.filter(({ phase }) => phase === 'EXECUTED') : []
  if (executed.length === 0 && state.closing === undefined) return []
  const own = children.filter((child) => !isExit(child))
  const paidUsd = messageFeeUsd(state)
  const shares = sharesOf(
    paidUsd,
    own.map(() => 1n),
  )
  const shareOf = (child: Child): Usd => shares[own.indexOf(child)] ?? 0n
  const fills = new Map(childFillsOf(state).map((fill) => [fill.child, fill]))
  const moves = executed.map((child) => {
    const fill = fills.get(child)
    const isOwn = !isExit(child)
    const move: Move = {
      id: hexKey(child.orderKey),
      intentId: intent.intentId,
      strategy: intent.strategy,
      atMs: filledAtMs(state, child),
      ...placeOf(child),
      sizeDeltaUsd: fill?.fill.sizeDeltaUsd ?? 0n,
      ...tokensOf(state, fill),
      collateral: isOwn ? collateralOf(state, child, fill) : 0n,
      ...moneyOf(child.settlement, fill),
      sendingUsd: shareOf(child) - returnedUsd(child),
      ...defined({ isStop: isStop(state, child) ? true : undefined, isUnsized: isUnsized(fill) }),
      isFinal: !isProvisional(child.evidence) || state.closing !== undefined,
    }
    const side = fill === undefined ? sideOfIntent(state.intent) : sideOfFill(fill.fill)
    return { side, key: sideKeyOf(side), move }
  })
  const unfilled = children.filter((child) => !executed.includes(child))
  const spentUsd =
    paidUsd -
    executed.reduce((sum, child) => sum + shareOf(child), 0n) -
    unfilled.reduce((sum, child) => sum + returnedUsd(child), 0n)
  if (state.closing === undefined || spentUsd === 0n) return moves
  // Cancelled exits return their fees to the order that ended them.
  const isOfEnd = isFill ? isReducing(state) || spentUsd < 0n : isOfExits
  return [...moves, spentOf(state, spentUsd, isOfEnd)]
}

/** Returns the cost of a message that filled nothing, or the remaining cost of one that filled in part. */
function spentOf(state: IntentState, sendingUsd: Usd, isOfExits: boolean): PlacedMove {
  const { intentId, strategy } = state.intent
  const side = sideOfIntent(state.intent)
  const move: Move = {
    id: `spent:${intentId}`,
    intentId,
    strategy,
    atMs: sentAtMs(state),
    sizeDeltaUsd: 0n,
    collateral: 0n,
    ...noMoney,
    sendingUsd,
    spent: isOfExits ? 'exits' : 'other',
    isFinal: true,
  }
  return { side, key: sideKeyOf(side), move }
}

/** Tells whether the intent's order reduces a position. */
function isReducing({ intent: { kind } }: IntentState): boolean {
  return kind === 'decrease' || kind === 'close'
}

/** Returns the change that a discrepancy made to its side; undefined while it does not count. */
export function moveOfDiscrepancy(state: DiscrepancyState): PlacedMove | undefined {
  const { discrepancy, raisedAtMs } = state
  const sizeDeltaUsd = expectedDeltaOf(state)
  if (sizeDeltaUsd === 0n) return undefined
  const { marketToken, direction, collateralToken, pnlUsd, atSeconds, sizeDeltaInTokens } = discrepancy
  const { fundingReceivedUsd } = discrepancy
  const move: Move = {
    id: discrepancy.discrepancyId,
    strategy: UNATTRIBUTED,
    atMs: atSeconds === undefined ? raisedAtMs : atSeconds * 1_000,
    ...defined({ place: atSeconds === undefined ? undefined : { atSeconds } }),
    sizeDeltaUsd,
    ...defined({ tokens: sizeDeltaInTokens, pnlUsd: sizeDeltaUsd > 0n ? undefined : pnlUsd }),
    collateral: 0n,
    ...noMoney,
    ...defined({ fundingReceivedUsd }),
    sendingUsd: 0n,
    ...defined({ isStop: discrepancy.kind === 'liquidation' ? true : undefined }),
    isFinal: false,
  }
  const side = { marketToken, direction, collateralToken }
  return { side, key: sideKeyOf(side), move }
}

/** Returns the moves that take back a settled move: the size goes back to the unattributed book, and its results are subtracted there. */
export function reversed(move: Move): readonly Move[] {
  const { pnlUsd, basePnlUsd: _, place: _place, fundingReceivedUsd = 0n, ...rest } = move
  // It has a separate name and place: the same fill may be reported again.
  const nobodys = { ...rest, id: `back:${move.id}`, strategy: UNATTRIBUTED, isFinal: true }
  const money = {
    impactUsd: 0n,
    positionFeeUsd: -move.positionFeeUsd,
    borrowingUsd: -move.borrowingUsd,
    fundingUsd: -move.fundingUsd,
    swapUsd: -move.swapUsd,
    sendingUsd: 0n,
  }
  const noMoney = { positionFeeUsd: 0n, borrowingUsd: 0n, fundingUsd: 0n, swapUsd: 0n }
  return [
    { ...nobodys, ...money, ...noMoney, sizeDeltaUsd: -move.sizeDeltaUsd, collateral: 0n },
    {
      ...nobodys,
      ...money,
      sizeDeltaUsd: 0n,
      collateral: -move.collateral,
      ...defined({ fundingReceivedUsd: fundingReceivedUsd === 0n ? undefined : -fundingReceivedUsd }),
      ...defined({ pnlUsd: pnlUsd === undefined ? undefined : -pnlUsd }),
    },
  ]
}

/** Returns the cost of sending the intent's landed message: its signed fee, less the returns of the relay and keepers. */
export function sendingOf(state: IntentState): {
  readonly relayFeesUsd: Usd
  readonly executionFees: TokenAmount
} {
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED' || attempt.armed === undefined) {
    return { relayFeesUsd: 0n, executionFees: 0n }
  }
  return {
    relayFeesUsd: attempt.children.reduce((sum, child) => sum - returnedUsd(child), messageFeeUsd(state)),
    executionFees: executionFeePaid(attempt) ?? attempt.armed.executionFee,
  }
}

/** Returns the signed fee of the landed message, USD, less the relay's returns; never less than zero. */
function messageFeeUsd(state: IntentState): Usd {
  const attempt = lastAttempt(state)
  if (attempt?.phase !== 'LANDED' || attempt.armed === undefined) return 0n
  const decimals = chainNamed(state.intent.chain)?.feeToken.decimals ?? FEE_DECIMALS
  const signedUsd = dollarsOf(attempt.armed.relayFeeAmount, decimals)
  return signedUsd - minOf(signedUsd, attempt.feeReturnedUsd ?? 0n)
}

/** The part of an ended order's execution fee that came back, USD; 0 without evidence. */
function returnedUsd(child: Child): Usd {
  return hasEnded(child) ? (child.settlement?.executionFeeReturnedUsd ?? 0n) : 0n
}

/** Returns the time of sending, Unix ms: it gives the day of the sending cost. */
export function sentAtMs({ intent, attempts }: IntentState): number {
  const attempt: Attempt | undefined = attempts.at(-1)
  return attempt?.armedAtMs ?? intent.acceptedAtMs
}

/** Tells whether the order is a stop-loss: one that came with its entry, or a separate order. */
function isStop({ intent: { kind, terms } }: IntentState, { role }: Child): boolean {
  return (
    role === 'stop-loss' || (role !== 'take-profit' && kind === 'decrease' && terms.orderType === 'stop-loss')
  )
}

/** True for a reduction whose size is not known: an endpoint that shows no figures, or hosts' words alone. */
function isUnsized(filled: ChildFill | undefined): true | undefined {
  return filled !== undefined && !filled.adds && filled.fill.sizeDeltaUsd === undefined ? true : undefined
}

/** By the venue's clock; else when it was seen. */
function filledAtMs({ updatedAtMs }: IntentState, { settlement, evidence }: Child): number {
  const { timestampSeconds } = settlement ?? {}
  return timestampSeconds === undefined ? (evidence?.atMs ?? updatedAtMs) : timestampSeconds * 1_000
}

/** Place by evidence: the block that shows the log is its own only where the log's place in it is given. */
function placeOf({ settlement, evidence }: Child): { readonly place?: MovePlace } {
  const atSeconds = settlement?.timestampSeconds
  if (atSeconds === undefined) return {}
  const { block, logIndex } = evidence ?? {}
  const exact = block === undefined || logIndex === undefined ? {} : { block: block.number, logIndex }
  return { place: { atSeconds, ...exact } }
}

function sideOfFill({ marketToken, direction, collateralToken }: Fill): PositionSide {
  return { marketToken, direction, collateralToken }
}

/** Tokens by evidence; for an increase, else by size and price; for a reduction, the books compute them. */
function tokensOf(
  { intent: { terms } }: IntentState,
  filled: ChildFill | undefined,
): { tokens?: TokenAmount } {
  if (filled === undefined) return {}
  const { adds, fill, child } = filled
  const { sizeDeltaUsd = 0n, marketToken } = fill
  const { settlement } = child
  if (settlement?.sizeDeltaInTokens !== undefined) return { tokens: settlement.sizeDeltaInTokens }
  const price = settlement?.executionPrice ?? terms.referencePrice
  if (!adds || price <= 0n || !isOn(marketToken, terms.marketToken)) return {}
  return { tokens: amountOfUsd(sizeDeltaUsd, price, terms.indexToken.decimals) }
}

function isOn(one: Address, other: Address): boolean {
  return hexKey(one) === hexKey(other)
}

/** Returns the collateral that an order itself paid in or took out. Collateral that leaves with a reduction follows the size. */
function collateralOf(state: IntentState, child: Child, fill: ChildFill | undefined): TokenAmount {
  const { kind, terms } = state.intent
  if (kind === 'collateral-in') return terms.collateralDelta
  if (kind === 'collateral-out') return -terms.collateralDelta
  if (fill?.adds !== true) return 0n
  const signed = lastAttempt(state)?.armed?.creates[child.index]?.collateralAmount
  return signed ?? terms.collateralDelta / BigInt(terms.twap?.parts ?? 1)
}

type Money = Pick<
  Move,
  | 'pnlUsd'
  | 'basePnlUsd'
  | 'impactUsd'
  | 'positionFeeUsd'
  | 'borrowingUsd'
  | 'fundingUsd'
  | 'fundingReceivedUsd'
  | 'swapUsd'
>

const noMoney: Money = {
  impactUsd: 0n,
  positionFeeUsd: 0n,
  borrowingUsd: 0n,
  fundingUsd: 0n,
  swapUsd: 0n,
}

function moneyOf(settlement: Settlement | undefined, fill: ChildFill | undefined): Money {
  if (settlement === undefined) return noMoney
  const { feesUsd = 0n, borrowingFeeUsd = 0n, fundingFeeUsd = 0n, pnlUsd, basePnlUsd } = settlement
  const { fundingReceivedUsd } = settlement
  const isResult = fill !== undefined && !fill.adds && pnlUsd !== undefined
  return {
    impactUsd: isResult ? (settlement.priceImpactUsd ?? 0n) : 0n,
    positionFeeUsd: feesUsd - borrowingFeeUsd - fundingFeeUsd,
    borrowingUsd: borrowingFeeUsd,
    fundingUsd: fundingFeeUsd,
    ...defined({ fundingReceivedUsd }),
    // A swap on the way into a position is a part of its cost.
    swapUsd: fill === undefined ? (settlement.swapResultUsd ?? 0n) : 0n,
    ...defined({ pnlUsd: isResult ? pnlUsd : undefined, basePnlUsd: isResult ? basePnlUsd : undefined }),
  }
}

/** Tells whether a fill that is reported anew changes nothing. */
export function isSameMove(one: PlacedMove, other: PlacedMove): boolean {
  const isSame = one.move.isFinal === other.move.isFinal && one.key === other.key
  return isSame && isSamePlace(one.move, other.move) && doesTheSame(one.move, other.move)
}
