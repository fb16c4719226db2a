/** Notices of unprotected positions: sides that no effective stop-loss would close whole. Pure. */
import { formatUsd, type Usd } from '../../protocol/units.ts'
import type { Notice } from '../events/notice.ts'

/** A side that lacks stops. */
export interface UnprotectedSide {
  /** For people. */
  readonly side: string
  /** Size that no stop-loss would close, USD. */
  readonly uncoveredUsd: Usd
}

/** Uncovered size of each side, USD: positions of one name, which differ in collateral, count together. */
export function sumsOf(bare: readonly UnprotectedSide[]): ReadonlyMap<string, Usd> {
  const sums = new Map<string, Usd>()
  for (const { side, uncoveredUsd } of bare) sums.set(side, (sums.get(side) ?? 0n) + uncoveredUsd)
  return sums
}

/** Cause of a side. */
export function unprotectedCause(side: string): string {
  return `stop:${side}`
}

/** The notice of a side; without an uncovered size, that of its end. */
export function unprotectedNotice(side: string, uncoveredUsd?: Usd): Notice {
  const common = { kind: 'position-without-stop', cause: unprotectedCause(side) } as const
  if (uncoveredUsd === undefined) {
    const text = `${side} is fully covered by stop-losses again, or closed`
    return { ...common, level: 'info', isEnd: true, text }
  }
  const size = formatUsd(uncoveredUsd)
  return {
    ...common,
    level: 'warn',
    stage: size,
    text: `no effective stop-loss rests for ${size} of ${side}: there is none, or it lies beyond the liquidation price. perpd places one only for a strategy or an operator`,
    action:
      'Set a stop or a nearer one (perpd protect MARKET SIDE --stop-loss PRICE), or check that its strategy has its own exits.',
  }
}
