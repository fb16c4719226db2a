/**
 * Turns at which the daemon would do nothing: no order is on its way, none that rests can be reached, no loss nears a breaker, and no kind decides
 * anything on what it would see. A fast run lets them pass; where any of that is not certain the daemon takes its turn.
 */
import { EQUITY_WINDOW_MS, LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import { type ExitSettings, exitsHereOf, needsRange } from '../../domain/order/exitSettings.ts'
import type { Label } from '../../domain/order/intent.ts'
import type { Prices } from '../../paper/catalog/prices.ts'
import { quietUntil } from '../../paper/keeper/quietSpan.ts'
import type { VenueState } from '../../paper/state/venueState.ts'
import { type CandleWindows, createCandleWindows } from './candleWindows.ts'
import { laterSnapshot } from './laterSnapshot.ts'
import type { LossWatch } from './lossWatch.ts'
import type { WatchedTurns } from './watchedTurns.ts'

/** Time after the last record or denial of an order until which the daemon takes every turn, ms: lists, fees and bases have settled by then. */
const SETTLED_MS = 4 * LIST_LAG_MS

const DAY_SECONDS = 86_400

/** An instance of a run. */
export interface QuietInstance {
  readonly watched: WatchedTurns
  readonly turnSeconds: number
  /** Tells whether every market of it has a price at a Unix ms: else its kind is not asked. */
  readonly isPriced: (atMs: number) => boolean
}

/** Dependencies of quiet turns. */
export interface QuietParts {
  readonly venueState: VenueState
  /** Prices at the beginnings of candles: inside one that has not begun the way is not known. */
  readonly prices: Prices
  /** Lengths of the candles that prices follow, seconds. */
  readonly priceSeconds: readonly number[]
  readonly instances: readonly QuietInstance[]
  /** Least time after which all instances have a turn in one second again, seconds: the daemon stands still for whole multiples of it. */
  readonly gridSeconds: number
  /** Time between two seconds at which instances may have turns, seconds; the grid is a whole multiple of it. */
  readonly stepSeconds: number
  /** Tells whether a task is under way: it makes orders between turns. */
  readonly hasTasks: () => boolean
  /** Labels of the open orders. */
  readonly labels: () => readonly Label[]
  /** Tells whether an instance holds a part of a position. */
  readonly holds: (strategy: string) => boolean
  readonly losses: LossWatch
}

/** The turns ahead of a run. */
export interface QuietTurns {
  /** A record of an order was written, or an order was denied, Unix ms. */
  moved(atMs: number): void
  /**
   * Looks ahead, for as long as the daemon stands still. What it returns tells whether the daemon does nothing at the turn after a Unix second. Where
   * its reading of the account counts at the one after that, or for losses, the daemon does nothing there either.
   */
  ahead(): (second: number) => boolean
}

/** Makes the quiet turns of a segment of a run; at its beginning the daemon takes its turns. */
export function createQuietTurns(parts: QuietParts, startMs: number): QuietTurns {
  const { venueState, instances, gridSeconds, stepSeconds } = parts
  const windows = createCandleWindows(parts.prices)
  let movedMs = startMs
  /** The turns up to here are known to be quiet, and this one not to be, Unix seconds. */
  let [quietTo, busyAt] = [0, 0]

  /** Tells whether nothing but price and time can move the daemon. */
  function isStill(): boolean {
    return (
      !parts.hasTasks() && parts.labels().every((label) => label === 'resting') && instances.every(isFixed)
    )
  }

  /** Tells whether perpd's own work for the instance (exits, protection) depends on neither price nor time. */
  function isFixed({ watched }: QuietInstance): boolean {
    const { name, exits, protect } = watched.loaded
    const lastMs = watched.lastSnapshot()?.atMs
    if (lastMs === undefined || lastMs - movedMs < LIST_LAG_MS) return false
    if (!parts.holds(name)) return protect === undefined || parts.labels().length === 0
    return !isMoving(exits) && protect === undefined
  }

  /** Tells whether the turns after a grid's second up to the next one's are quiet. */
  function isQuiet(fromSecond: number, second: number): boolean {
    // The day's figures begin with a look at its first turns.
    if (second % DAY_SECONDS < 2 * gridSeconds) return false
    if ((venueState.due[0]?.atMs ?? Number.POSITIVE_INFINITY) <= second * 1000) return false
    const isExposed = venueState.orders.size + venueState.positions.size > 0
    if (isExposed && quietUntil(venueState, fromSecond, second) < second) return false
    // Instances with shorter turns than others have turns between.
    for (let at = second - gridSeconds + stepSeconds; at <= second; at += stepSeconds)
      if (!isQuietAt(at)) return false
    return true
  }

  function isQuietAt(second: number): boolean {
    if (parts.priceSeconds.some((seconds) => second % seconds !== 0)) return false
    if (!instances.every((instance) => isIdle(instance, second, windows))) return false
    return parts.losses.isCalm(second, second - stepSeconds)
  }

  /** Tells whether all turns up to a second are quiet; those up to the one before it are known to be. */
  function isQuietTo(fromSecond: number, second: number): boolean {
    if (second <= quietTo) return true
    if (second === busyAt || !isQuiet(fromSecond, second)) {
      busyAt = second
      return false
    }
    quietTo = second
    return true
  }

  function isIdle({ watched, turnSeconds, isPriced }: QuietInstance, second: number, made: CandleWindows) {
    if (second % turnSeconds !== 0 || !isPriced(second * 1000)) return true
    const read = watched.lastSnapshot()
    if (read === undefined) return false
    const { candles = [] } = watched.loaded.needs
    const afterMs = second * 1000 - Math.floor(read.atMs / 1000) * 1000
    const { snapshot, isKnown } = laterSnapshot(read, { venueState, windows: made, candles }, afterMs)
    return watched.isIdle(snapshot) && isKnown()
  }

  return {
    moved(atMs) {
      movedMs = Math.max(movedMs, atMs)
      quietTo = 0
      busyAt = 0
    },
    ahead() {
      // The daemon took its turn: a height that it saw is none any more.
      busyAt = 0
      let still: boolean | undefined
      return (second) => {
        if (second * 1000 - movedMs < SETTLED_MS) return false
        still ??= isStill()
        if (!still) return false
        quietTo = Math.max(quietTo, second)
        const next = second + gridSeconds
        if (!isQuietTo(second, next)) return false
        // A height that the daemon counts losses from is known by the turn after it.
        const isLast = stepSeconds * 1000 > EQUITY_WINDOW_MS && !parts.losses.isAbove(next)
        return isLast || isQuietTo(second, next + gridSeconds)
      }
    },
  }
}

/** Tells whether exits of a plan move with price or time. */
function isMoving(plan: ExitSettings | undefined): boolean {
  return plan !== undefined && (exitsHereOf(plan).length > 0 || needsRange(plan))
}
