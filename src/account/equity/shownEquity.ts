/**
 * The equity that people see, and of which limits are shares. Right after a fill the lists of one venue are of different instants: the wallet has
 * paid and no position shows yet, or both show the same collateral. A figure is therefore shown when the lists match the effects of our orders
 * (`readingsAddUp.ts`). It is also shown when they held the same things for longer than they lag, and no order of ours was in flight meanwhile. Until
 * then the last such figure stays, with its age. Breakers do not wait for this: they judge by the cautious figures of `equity.ts`.
 */
import { scaledBy } from '../../domain/accountRecords/tradingState.ts'
import { maxOf, minOf, type Usd } from '../../protocol/units.ts'

/** A figure, USD, and when its lists were read, Unix ms. */
export interface ShownEquity {
  readonly equityUsd: Usd
  /** Absent: a lower bound, before the first lists of this process that belong together. */
  readonly atMs?: number
  /** True if the account has moved since and the lists may be of different instants: the figure is from before. */
  readonly isSettling?: boolean
}

/** One reading for the figure that is shown. */
export interface ShownReading {
  readonly equityUsd: Usd
  /** Content of the lists, without prices: equal texts mean equal content. */
  readonly inventory: string
  /** True if an order of ours is in flight, or was filled so recently that lists may not show it. */
  readonly isMoving: boolean
  /** True if its lists are known to be of one state, from after all changes by our orders. Absent: unknown. */
  readonly isProven?: boolean
  readonly nowMs: number
  readonly monotonicMs: number
}

/** Follows readings; gives the newest figure whose lists belong together. */
export interface ShownEquityTracker {
  /** Gives whether the reading is shown. */
  take(reading: ShownReading): boolean
  shown(): Required<ShownEquity> | undefined
}

/** The highest that people were shown: of breakers' peaks and figures, whichever host they are of. */
export interface ShownPeak {
  /** The highest so far, with these two; USD. */
  raise(peakUsd: Usd, figureUsd: Usd): Usd
  /** The highest so far; absent before the first. */
  highest(): Usd | undefined
  /** Money came in (positive) or left, and the account is worth `afterUsd` now: falls stay the share that they were. */
  transfer(amountUsd: Usd, afterUsd: Usd): void
  /** An operator accepted a loss: the peak starts over. */
  forget(): void
}

/**
 * A peak that never falls: breakers raise theirs a minute and a quarter after a gain, and a figure stands above it meanwhile.
 *
 * @param beforeUsd the highest that people were shown before this process; absent: nothing was kept of it
 */
export function createShownPeak(beforeUsd?: Usd): ShownPeak {
  let highestUsd = beforeUsd
  return {
    raise(peakUsd, figureUsd) {
      highestUsd = maxOf(peakUsd, figureUsd, ...(highestUsd === undefined ? [] : [highestUsd]))
      return highestUsd
    },
    highest: () => highestUsd,
    transfer(amountUsd, afterUsd) {
      if (highestUsd !== undefined) highestUsd = scaledBy(highestUsd, amountUsd, afterUsd)
    },
    forget() {
      highestUsd = undefined
    },
  }
}

/** Makes the tracker. `lagMs`: how long lists of one venue may be behind each other. */
export function createShownEquity(lagMs: number): ShownEquityTracker {
  let inventory: string | undefined
  let sinceMs = Number.NEGATIVE_INFINITY
  let shown: Required<ShownEquity> | undefined
  return {
    take(reading) {
      // Before the first reading nothing is known to have changed.
      if (inventory !== undefined && inventory !== reading.inventory) sinceMs = reading.monotonicMs
      inventory = reading.inventory
      if (reading.isProven === true) sinceMs = Number.NEGATIVE_INFINITY
      const isShown =
        reading.isProven === true || (!reading.isMoving && reading.monotonicMs - sinceMs >= lagMs)
      if (isShown) shown = { equityUsd: reading.equityUsd, atMs: reading.nowMs, isSettling: false }
      else if (shown !== undefined) shown = { ...shown, isSettling: true }
      return isShown
    },
    shown: () => shown,
  }
}

/**
 * Returns the equity of which limits are shares: the shown figure, or the breakers' own figure as soon as that is less. Lists that count an amount
 * twice after a fill therefore make no limit wider, and a loss counts before the lists agree again.
 */
export function limitEquityOf(
  shown: ShownEquity | undefined,
  cautiousUsd: Usd | undefined,
): ShownEquity | undefined {
  if (shown === undefined || cautiousUsd === undefined) return undefined
  const equityUsd = minOf(shown.equityUsd, cautiousUsd)
  return equityUsd === shown.equityUsd ? shown : { equityUsd }
}
