/** The curve of the equity: its falls, and what deposits and withdrawals are on it. Pure; amounts stay integers. */
import type { EquityPoint, Status } from './pageWire.ts'
import { amountOf } from './shownAmount.ts'

/** Millionths of a whole. */
export const WHOLE = 1_000_000n

/** A deposit (positive) or a withdrawal of the status. */
export type ShownTransfer = Status['transfers'][number]

/**
 * The fall below the highest figure so far, at each point, millionths of it. A deposit or a withdrawal between two points changes no fall: the
 * highest moves with it. `peakUsd`: the highest ever, as of the last point; where no point reached it, it was before the first.
 */
export function drawdowns(
  points: readonly EquityPoint[],
  peakUsd = 0n,
  transfers: readonly ShownTransfer[] = [],
): readonly number[] {
  const steps = points.map(({ atMs, equityUsd }, index) => {
    const value = amountOf(equityUsd)
    const before = points[index - 1]
    const fromUsd = value - (before === undefined ? 0n : movedBetween(transfers, before.atMs, atMs))
    // Where nothing was left before or after, the curve begins anew.
    return { value, fromUsd, isAnew: fromUsd !== value && (fromUsd <= 0n || value <= 0n) }
  })
  const own = fallsFrom(steps, 0n)
  if (own.highest >= peakUsd) return own.falls
  const first = steps.reduceRight(
    (peak, { value, fromUsd }) => (value <= 0n || fromUsd <= 0n ? peak : (peak * fromUsd) / value),
    peakUsd,
  )
  return fallsFrom(steps, first).falls
}

function fallsFrom(
  steps: readonly { readonly value: bigint; readonly fromUsd: bigint; readonly isAnew: boolean }[],
  startUsd: bigint,
): { readonly falls: readonly number[]; readonly highest: bigint } {
  let highest = startUsd
  const falls = steps.map(({ value, fromUsd, isAnew }) => {
    if (isAnew) highest = value
    else if (fromUsd !== value) highest = (highest * value) / fromUsd
    if (value > highest) highest = value
    return highest <= 0n ? 0 : Number(((highest - value) * WHOLE) / highest)
  })
  return { falls, highest }
}

/** Returns the deposits less the withdrawals after one instant up to another, USD. */
function movedBetween(transfers: readonly ShownTransfer[], afterMs: number, untilMs: number): bigint {
  return transfers.reduce(
    (sum, { atMs, amountUsd }) => (atMs > afterMs && atMs <= untilMs ? sum + amountOf(amountUsd) : sum),
    0n,
  )
}

/** Where a curve shows transfers: the sum of those that the point is the first to have, USD; undefined at all other points. */
export function transferSteps(
  points: readonly EquityPoint[],
  transfers: readonly ShownTransfer[],
): readonly (bigint | undefined)[] {
  return points.map(({ atMs }, index) => {
    const before = points[index - 1]
    const isMoved =
      before !== undefined && transfers.some((each) => each.atMs > before.atMs && each.atMs <= atMs)
    return isMoved ? movedBetween(transfers, before.atMs, atMs) : undefined
  })
}

/**
 * The curve as it would be without the deposits and withdrawals since its first point, USD at each point: what is left of its changes is PnL. `points`:
 * oldest first.
 */
export function lessDeposits(
  points: readonly EquityPoint[],
  transfers: readonly ShownTransfer[],
): readonly bigint[] {
  const startMs = points[0]?.atMs ?? 0
  return points.map(({ atMs, equityUsd }) => amountOf(equityUsd) - movedBetween(transfers, startMs, atMs))
}
