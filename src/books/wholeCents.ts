/** Amounts in whole cents that add up as they are shown. Pure. */
import { absOf, tenTo, USD_DECIMALS, type Usd } from '../protocol/units.ts'

const centUsd = tenTo(USD_DECIMALS - 2)

/** Rounds an amount to whole cents, half a cent away from zero, USD. */
export function toCents(amount: Usd): Usd {
  const cents = ((absOf(amount) + centUsd / 2n) / centUsd) * centUsd
  return amount < 0n ? -cents : cents
}

/**
 * Rounds amounts so that they add up to `totalUsd`, which is in whole cents; by default it is their rounded sum, and none is then a cent away from its
 * exact amount. Those with the largest remainders are rounded up.
 */
export function centsThatAddUp(
  amounts: readonly Usd[],
  totalUsd: Usd = toCents(amounts.reduce((sum, each) => sum + each, 0n)),
): readonly Usd[] {
  if (amounts.length === 0) return []
  const floors = amounts.map((amount) => {
    const rest = ((amount % centUsd) + centUsd) % centUsd
    return { floorUsd: amount - rest, rest }
  })
  const leftUsd = totalUsd - floors.reduce((sum, { floorUsd }) => sum + floorUsd, 0n)
  const count = BigInt(amounts.length)
  const cents = leftUsd / centUsd
  // A total that is not that of the amounts is shared evenly, and what is left of it by the remainders.
  const evenly = cents >= 0n ? cents / count : -((-cents + count - 1n) / count)
  const lucky = new Set(
    floors
      .map(({ rest }, place) => ({ rest, place }))
      .toSorted((one, other) =>
        one.rest === other.rest ? one.place - other.place : one.rest > other.rest ? -1 : 1,
      )
      .slice(0, Number(cents - evenly * count))
      .map(({ place }) => place),
  )
  return floors.map(({ floorUsd }, place) => floorUsd + (evenly + (lucky.has(place) ? 1n : 0n)) * centUsd)
}

/** A row of amounts that add up, USD, signed. */
export interface SummedRow {
  readonly parts: readonly Usd[]
  /** The sum of the parts. */
  readonly sumUsd: Usd
}

/** Rounds a table so that every row and every column adds up as it is shown: the sums to their rounded total, and each row's parts to its sum. */
export function tableOfCents(rows: readonly SummedRow[]): {
  readonly rows: readonly SummedRow[]
  readonly total: SummedRow
} {
  const sums = centsThatAddUp(rows.map(({ sumUsd }) => sumUsd))
  const shown = rows.map(({ parts }, place) => {
    const sumUsd = sums[place] ?? 0n
    return { parts: centsThatAddUp(parts, sumUsd), sumUsd }
  })
  const width = rows[0]?.parts.length ?? 0
  const parts = Array.from({ length: width }, (_, at) =>
    shown.reduce((sum, row) => sum + (row.parts[at] ?? 0n), 0n),
  )
  return { rows: shown, total: { parts, sumUsd: sums.reduce((sum, each) => sum + each, 0n) } }
}
