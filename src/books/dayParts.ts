/** The parts of a day's change of equity, as status, live screen and console show them: one definition, whose cents add up. Pure. */
import type { Usd } from '../protocol/units.ts'
import type { BookDay } from './books.ts'
import { sumOf } from './bookView.ts'
import { resultOf } from './figures.ts'
import { centsThatAddUp, toCents } from './wholeCents.ts'

/** Parts of a day's change of equity, USD in whole cents, signed: they add up to the rounded change. Deposits and withdrawals are in none. */
export interface DayParts {
  /** Price and impact of reductions, and swaps, by the books. */
  readonly closedUsd: Usd
  /** Change of the unrealized results of open parts since the day's first figure. */
  readonly openUsd: Usd
  /** Fees, funding, borrowing and sending less what came back, by the books; below 0 for a cost. */
  readonly costsUsd: Usd
  /**
   * The rest: tokens that became dearer or cheaper, fees of open positions that are pending, positions of others, and what no equity counts: fees
   * that came back in the gas coin, and funding that waits to be claimed.
   */
  readonly restUsd: Usd
}

/** The names of the parts, in the order in which they are shown. */
export const dayPartNames = ['closedUsd', 'openUsd', 'costsUsd', 'restUsd'] as const

/**
 * Splits a day's change of equity.
 *
 * @param changeUsd equity less the day's first figure
 * @param days results of all books on that day
 * @param openUsd change of the unrealized results of open parts
 */
export function dayPartsOf(changeUsd: Usd, days: readonly BookDay[], openUsd: Usd): DayParts {
  const figures = sumOf(days.map((day) => day.figures))
  const closed = figures.pricePnlUsd + figures.impactUsd + figures.swapUsd
  const costs = resultOf(figures) - closed
  const rest = changeUsd - closed - openUsd - costs
  const [closedUsd = 0n, open = 0n, costsUsd = 0n, restUsd = 0n] = centsThatAddUp(
    [closed, openUsd, costs, rest],
    toCents(changeUsd),
  )
  return { closedUsd, openUsd: open, costsUsd, restUsd }
}
