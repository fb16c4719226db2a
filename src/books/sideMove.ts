/** One thing that happened to a side of the account, and the rule by which a reduction takes from its books. Pure. */
import { maxOf, minOf, sharesOf, type TokenAmount, type Usd } from '../protocol/units.ts'

/** Time and place on the chain of a move: they order the moves of a side. */
export interface MovePlace {
  /** Unix seconds of the venue. */
  readonly atSeconds: number
  /** Number of the block, and the log's place in it; absent where the evidence is no endpoint's. */
  readonly block?: bigint
  readonly logIndex?: number
}

/** One thing that happened to a side, ours or not. */
export interface Move {
  /** Key of the order, or id of the discrepancy: a take-back names it. */
  readonly id: string
  readonly intentId?: string
  /** Strategy of the order; `UNATTRIBUTED`: none of ours. */
  readonly strategy: string
  /** Time of the move by the venue's time where that is known, Unix ms. */
  readonly atMs: number
  /** Absent without evidence: then it comes behind the moves that were reported before it. */
  readonly place?: MovePlace
  /** USD, signed; 0 for a move without a size. */
  readonly sizeDeltaUsd: Usd
  /** Index token, base units, not signed; absent: computed. */
  readonly tokens?: TokenAmount
  /** Collateral paid in, or taken out by an order for that alone; token units, signed. */
  readonly collateral: TokenAmount
  /** Reductions: PnL after impact and fees, USD, signed; absent: not known. */
  readonly pnlUsd?: Usd
  /** PnL of the price alone; absent: computed from `pnlUsd`, the fees and `impactUsd`. */
  readonly basePnlUsd?: Usd
  readonly impactUsd: Usd
  readonly positionFeeUsd: Usd
  readonly borrowingUsd: Usd
  readonly fundingUsd: Usd
  /** Funding that was put aside for the account, USD; absent: none, or not known. It is in no other figure here. */
  readonly fundingReceivedUsd?: Usd
  readonly swapUsd: Usd
  /** Share of the cost of sending the message, USD. It is in the results since the message landed; a win has to earn it. */
  readonly sendingUsd: Usd
  /**
   * A message, or the rest of one, that filled nothing: `sendingUsd` alone counts. Whether it was about exits, which cost the round
   * trip that they were for although it is over. Absent: a fill.
   */
  readonly spent?: 'exits' | 'other'
  /** A reduction whose size no evidence shows yet, so that `sizeDeltaUsd` is 0 and it may have left nothing; absent: the size is known. */
  readonly isUnsized?: boolean
  /** A stop-loss, or a liquidation; absent: neither. */
  readonly isStop?: boolean
  /** Nothing takes it back any more. */
  readonly isFinal: boolean
}

/** Tells whether two moves happened at the same place. */
export function isSamePlace({ place: one }: Move, { place: other }: Move): boolean {
  return (
    one?.atSeconds === other?.atSeconds && one?.block === other?.block && one?.logIndex === other?.logIndex
  )
}

/** Tells whether two moves change a side in the same way, each in its place. Finality makes no difference. */
export function doesTheSame(one: Move, other: Move): boolean {
  return (
    one.id === other.id &&
    one.intentId === other.intentId &&
    one.strategy === other.strategy &&
    one.atMs === other.atMs &&
    one.sizeDeltaUsd === other.sizeDeltaUsd &&
    one.isUnsized === other.isUnsized &&
    one.tokens === other.tokens &&
    one.collateral === other.collateral &&
    one.pnlUsd === other.pnlUsd &&
    one.basePnlUsd === other.basePnlUsd &&
    one.impactUsd === other.impactUsd &&
    one.positionFeeUsd === other.positionFeeUsd &&
    one.borrowingUsd === other.borrowingUsd &&
    one.fundingUsd === other.fundingUsd &&
    one.fundingReceivedUsd === other.fundingReceivedUsd &&
    one.swapUsd === other.swapUsd &&
    one.sendingUsd === other.sendingUsd &&
    one.spent === other.spent
  )
}

/** The sizes that a reduction takes, by name, USD above 0, in the order in which they are taken. */
export type Takes = readonly (readonly [strategy: string, takenUsd: Usd])[]

/**
 * Splits a reduction of a side: the books that are named first lose first, one after the other, then all others by size. `beyondUsd`: the rest,
 * which no book holds.
 *
 * @param first the order's book, then the unattributed one
 */
export function takesOf(
  parts: ReadonlyMap<string, { readonly sizeUsd: Usd }>,
  first: readonly string[],
  lessUsd: Usd,
): { readonly takes: Takes; readonly beyondUsd: Usd } {
  const takes: (readonly [string, Usd])[] = []
  let leftUsd = lessUsd
  for (const name of new Set(first)) {
    const takenUsd = minOf(leftUsd, maxOf(0n, parts.get(name)?.sizeUsd ?? 0n))
    if (takenUsd > 0n) takes.push([name, takenUsd])
    leftUsd -= takenUsd
  }
  const others = [...parts].filter(([name, { sizeUsd }]) => sizeUsd > 0n && !first.includes(name))
  const sizes = others.map(([, { sizeUsd }]) => sizeUsd)
  const sharedUsd = minOf(
    leftUsd,
    sizes.reduce((sum, each) => sum + each, 0n),
  )
  const shares = sharesOf(sharedUsd, sizes)
  for (const [place, [name]] of others.entries()) {
    const share = shares[place] ?? 0n
    if (share > 0n) takes.push([name, share])
  }
  return { takes, beyondUsd: leftUsd - sharedUsd }
}
