/** Falls of the equity from the highest point before them. Pure. */
import type { Decimal } from 'decimal.js'
import type { Usd } from '../../protocol/units.ts'
import { ratioOf } from './dailyReturns.ts'
import type { EquityMoment, Transfer } from './reportSubject.ts'

/** The worst fall, and the longest one. */
export interface Drawdown {
  /** The deepest fall by share: its depth in USD and as a share of its peak; null where the curve begins with nothing. */
  readonly usd: Usd
  readonly ratio: Decimal | null
  /** Unix seconds of its peak and of its lowest point. */
  readonly peakSecond: number
  readonly lowSecond: number
  /** Its length: from its peak until the peak was reached again, or until the end, seconds. */
  readonly lengthSeconds: number
  /** False where the equity is still below the peak at the end. */
  readonly hasRecovered: boolean
  /** The longest time below a peak of all falls, seconds. */
  readonly longestSeconds: number
}

/** A moment with its distance below the highest point before it. */
export interface FallMoment {
  readonly second: number
  /** 0 at a peak, else negative: -0.05 is five percent below it. */
  readonly ratio: Decimal | null
}

/** The equity with transfers since its first figure taken out, so that a withdrawal is no fall. */
export function withoutTransfers(
  equity: readonly EquityMoment[],
  transfers: readonly Transfer[],
): readonly EquityMoment[] {
  const [first] = equity
  if (first === undefined || transfers.length === 0) return equity
  return equity.map((moment) => {
    const moved = transfers.filter(({ second }) => second > first.second && second <= moment.second)
    return {
      ...moment,
      equityUsd: moved.reduce((usd, { amountUsd }) => usd - amountUsd, moment.equityUsd),
    }
  })
}

/** A time below a peak. */
interface Fall {
  readonly peakUsd: Usd
  readonly peakSecond: number
  lowUsd: Usd
  lowSecond: number
  endSecond: number
  hasRecovered: boolean
}

/** Every fall: it begins at the last moment of its peak, and ends where the peak is reached again. */
function fallsOf(equity: readonly EquityMoment[]): readonly Fall[] {
  const falls: Fall[] = []
  let peak = equity[0]
  let open: Fall | undefined
  for (const moment of equity) {
    const { second, equityUsd } = moment
    if (peak === undefined || equityUsd >= peak.equityUsd) {
      if (open !== undefined) Object.assign(open, { endSecond: second, hasRecovered: true })
      ;[peak, open] = [moment, undefined]
      continue
    }
    if (open === undefined) {
      open = {
        peakUsd: peak.equityUsd,
        peakSecond: peak.second,
        lowUsd: equityUsd,
        lowSecond: second,
        endSecond: second,
        hasRecovered: false,
      }
      falls.push(open)
    }
    open.endSecond = second
    if (equityUsd < open.lowUsd) Object.assign(open, { lowUsd: equityUsd, lowSecond: second })
  }
  return falls
}

/**
 * The largest drawdown: the deepest fall, as a share of the highest point before it; of a curve that begins with nothing, in USD. The
 * longest is measured over all falls.
 */
export function drawdownOf(equity: readonly EquityMoment[]): Drawdown {
  const falls = fallsOf(equity)
  const start = equity[0]?.second ?? 0
  const hasShares = (equity[0]?.equityUsd ?? 0n) > 0n
  const [first, ...others] = falls
  const longestSeconds = Math.max(0, ...falls.map((fall) => fall.endSecond - fall.peakSecond))
  if (first === undefined)
    return {
      usd: 0n,
      ratio: ratioOf(0n, equity[0]?.equityUsd ?? 0n),
      peakSecond: start,
      lowSecond: start,
      lengthSeconds: 0,
      hasRecovered: true,
      longestSeconds,
    }
  // Shares are compared crosswise: no division rounds.
  const isDeeper = (one: Fall, other: Fall): boolean => {
    const [own, others] = hasShares ? [one.peakUsd, other.peakUsd] : [1n, 1n]
    return (one.peakUsd - one.lowUsd) * others > (other.peakUsd - other.lowUsd) * own
  }
  const worst = others.reduce((deepest, fall) => (isDeeper(fall, deepest) ? fall : deepest), first)
  const usd = worst.peakUsd - worst.lowUsd
  return {
    usd,
    ratio: hasShares ? ratioOf(usd, worst.peakUsd) : null,
    peakSecond: worst.peakSecond,
    lowSecond: worst.lowSecond,
    lengthSeconds: worst.endSecond - worst.peakSecond,
    hasRecovered: worst.hasRecovered,
    longestSeconds,
  }
}

/** The distance of each moment below the highest point before it. */
export function fallMoments(equity: readonly EquityMoment[]): readonly FallMoment[] {
  let peakUsd = equity[0]?.equityUsd ?? 0n
  return equity.map(({ second, equityUsd }) => {
    if (equityUsd > peakUsd) peakUsd = equityUsd
    return { second, ratio: ratioOf(equityUsd - peakUsd, peakUsd) }
  })
}
