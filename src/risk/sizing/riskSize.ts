/**
 * The size of an increase from the dollars that it may lose at its stop. The loss contains the way to the stop, a fill beyond it, the fees of both ends,
 * a day of funding and borrowing, the price impact of both ends, and sending. It only grows with the size, so that one largest size fits. Pure.
 */
import { absOf, BPS_ONE, maxOf, minOf, mulDivUp, ONE_USD, type Usd } from '../../protocol/units.ts'

/** Time for which the loss contains funding and borrowing, hours. */
const HELD_HOURS = 24n

/** One cent: sizes are whole ones. */
const CENT: Usd = ONE_USD / 100n

/** Circumstances of an increase and its stop. */
export interface RiskTerms {
  /** USD per whole index token, above zero. */
  readonly entryPrice: Usd
  readonly stopPrice: Usd
  /** Distance beyond its trigger at which a stop fills, bps of the entry price. */
  readonly beyondBps: number
  /** The market's highest fee, hundredths of a basis point of the size; each end pays it. */
  readonly feeBps100: number
  /** Funding and borrowing that the side pays an hour, fraction of the size with 30 decimals; a negative one is earned, and counts as 0. */
  readonly hourlyCost: bigint
  /** Sending and executing the entry, the stop and the target, USD. */
  readonly sendingUsd: Usd
  /** Price impact of opening and of closing so much, USD, negative at our cost; a gain counts as 0. */
  readonly openImpactUsd: (sizeUsd: Usd) => Usd
  readonly closeImpactUsd: (sizeUsd: Usd) => Usd
}

/** Returns the loss of a size at its stop, after all costs, USD, rounded up. */
export function lossAtStopUsd(sizeUsd: Usd, terms: RiskTerms): Usd {
  const { entryPrice, stopPrice, beyondBps, feeBps100, hourlyCost, sendingUsd } = terms
  const wayUsd = mulDivUp(sizeUsd, absOf(entryPrice - stopPrice), entryPrice)
  const beyondUsd = mulDivUp(sizeUsd, BigInt(beyondBps), BigInt(BPS_ONE))
  const feesUsd = mulDivUp(sizeUsd, 2n * BigInt(feeBps100), 100n * BigInt(BPS_ONE))
  const heldUsd = mulDivUp(sizeUsd, maxOf(0n, hourlyCost) * HELD_HOURS, ONE_USD)
  const impactUsd = maxOf(0n, -terms.openImpactUsd(sizeUsd)) + maxOf(0n, -terms.closeImpactUsd(sizeUsd))
  return wayUsd + beyondUsd + feesUsd + heldUsd + impactUsd + sendingUsd
}

/**
 * Returns the largest size in whole cents whose loss at the stop is no more than the risk, USD; 0 where not even a cent's is. The interval is cut where a
 * straight line between its ends meets the risk, since a loss is costly to count and nearly straight, and each third time in half.
 */
export function sizeAtRisk(riskUsd: Usd, terms: RiskTerms): Usd {
  const leftAt = (cents: bigint): Usd => riskUsd - lossAtStopUsd(cents * CENT, terms)
  let fitting = { cents: 0n, leftUsd: maxOf(0n, leftAt(0n)) }
  let beyond = { cents: boundOf(riskUsd, terms) + 1n, leftUsd: -riskUsd - 1n }
  let hadFit: boolean | undefined
  for (let step = 1; beyond.cents - fitting.cents > 1n; step += 1) {
    const width = beyond.cents - fitting.cents
    const part = step % 3 === 0 ? width / 2n : (width * fitting.leftUsd) / (fitting.leftUsd - beyond.leftUsd)
    const cents = fitting.cents + maxOf(1n, minOf(part, width - 1n))
    const leftUsd = leftAt(cents)
    const fits = leftUsd >= 0n
    // An end that stays twice pulls less, or the other one would only creep.
    if (fits) {
      fitting = { cents, leftUsd }
      if (hadFit === true) beyond = { ...beyond, leftUsd: beyond.leftUsd / 2n - 1n }
    } else {
      beyond = { cents, leftUsd }
      if (hadFit === false) fitting = { ...fitting, leftUsd: fitting.leftUsd / 2n }
    }
    hadFit = fits
  }
  return fitting.cents * CENT
}

/** Rounds an amount down to whole cents. */
export function wholeCents(amount: Usd): Usd {
  return (amount / CENT) * CENT
}

/** A size in cents that loses the whole risk by the distance and the fees alone. */
function boundOf(riskUsd: Usd, { entryPrice, stopPrice, beyondBps, feeBps100 }: RiskTerms): bigint {
  const way = mulDivUp(ONE_USD, absOf(entryPrice - stopPrice), entryPrice)
  const others = (ONE_USD * (100n * BigInt(beyondBps) + 2n * BigInt(feeBps100))) / (100n * BigInt(BPS_ONE))
  return (riskUsd * ONE_USD) / maxOf(1n, way + others) / CENT + 1n
}
