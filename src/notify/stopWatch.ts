/**
 * Watches whether every position has resting stop-losses. It notifies when a position has none for two looks, again when twice as much of it is
 * uncovered, and when that ends. Pure.
 */

import type { Notice } from '../monitor/events/notice.ts'
import { formatUsd, minOf, type Usd } from '../protocol/units.ts'

/** A side that lacks stops. */
export interface BareName {
  /** For people. */
  readonly side: string
  /** Size that no stop-loss would close, USD. */
  readonly uncoveredUsd: Usd
}

/** Takes the sides without stops for all of them of one look; gives what is to be told. */
export function createStopWatch(): (bare: readonly BareName[]) => readonly Notice[] {
  let before: ReadonlyMap<string, Usd> = new Map()
  /** Uncovered size last notified for a side, USD, or the lowest size since. */
  const told = new Map<string, Usd>()
  return (bare) => {
    // Several positions with the same name, which differ in collateral, count together.
    const now = new Map<string, Usd>()
    for (const { side, uncoveredUsd } of bare) now.set(side, (now.get(side) ?? 0n) + uncoveredUsd)
    // A stop is set a moment after its entry: one look alone says nothing.
    const begun = [...now].filter(([side, uncoveredUsd]) => {
      const seenUsd = before.get(side)
      return seenUsd !== undefined && minOf(seenUsd, uncoveredUsd) >= 2n * (told.get(side) ?? 0n)
    })
    const ended = [...told.keys()].filter((side) => !now.has(side))
    before = now
    for (const [side, toldUsd] of told) told.set(side, minOf(toldUsd, now.get(side) ?? toldUsd))
    for (const [side, uncoveredUsd] of begun) told.set(side, uncoveredUsd)
    for (const side of ended) told.delete(side)
    return [...begun.map(withoutStop), ...ended.map(withStop)]
  }
}

function withoutStop([side, uncoveredUsd]: readonly [string, Usd]): Notice {
  return {
    kind: 'position-without-stop',
    level: 'warn',
    cause: `stop:${side}`,
    stage: formatUsd(uncoveredUsd),
    text: `no effective stop-loss rests for ${formatUsd(uncoveredUsd)} of ${side}: there is none, or it lies behind the liquidation price. perpd places one only if a strategy says so`,
    action: 'Set a stop or a nearer one, or check that its strategy has its own exits.',
  }
}

function withStop(side: string): Notice {
  return {
    kind: 'position-without-stop',
    level: 'info',
    cause: `stop:${side}`,
    isEnd: true,
    text: `${side} is fully covered by stop-losses again, or closed`,
  }
}
