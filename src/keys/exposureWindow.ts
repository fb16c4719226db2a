/**
 * The exposure that was signed in the last while: a sum that moves with the clock, so that a signature costs the same after a
 * thousand others and after ten.
 */
import type { Usd } from '../protocol/units.ts'

type Signed = { readonly atSeconds: number; readonly addsUsd: Usd }

/** The sum over the entries that were added and not removed and that are younger than the window. */
export interface ExposureWindow {
  add(entry: Signed): void
  remove(entry: Signed): void
  /** The sum at this time, Unix seconds. A clock that is set back brings in again what is younger than the window by it. */
  sumAt(nowSeconds: number): Usd
}

/** Makes an empty one over `windowSeconds`. */
export function createExposureWindow(windowSeconds: number): ExposureWindow {
  /** USD that was signed for in each second. */
  const bySecond = new Map<number, Usd>()
  /** The sum of all seconds after `edge`. */
  let sumUsd = 0n
  let edge = Number.NEGATIVE_INFINITY

  function change(second: number, byUsd: Usd): void {
    const left = (bySecond.get(second) ?? 0n) + byUsd
    if (left === 0n) bySecond.delete(second)
    else bySecond.set(second, left)
    if (second > edge) sumUsd += byUsd
  }

  /** Sums the seconds after `from` up to `to`. */
  function between(from: number, to: number): Usd {
    let usd = 0n
    if (to - from > bySecond.size) {
      for (const [second, each] of bySecond) if (second > from && second <= to) usd += each
    } else for (let second = from + 1; second <= to; second += 1) usd += bySecond.get(second) ?? 0n
    return usd
  }

  return {
    add: ({ atSeconds, addsUsd }) => change(atSeconds, addsUsd),
    remove: ({ atSeconds, addsUsd }) => change(atSeconds, -addsUsd),
    sumAt(nowSeconds) {
      const to = nowSeconds - windowSeconds
      sumUsd += to > edge ? -between(edge, to) : between(to, edge)
      edge = to
      return sumUsd
    },
  }
}
