/** Rules of a strategy file's `protect` block, which keep a strategy from adding exposure for a while. */
import type { Usd } from '../../protocol/units.ts'
import type { Closings, Weekday } from './closingTimes.ts'

/** A span of the clock on some weekdays. One whose end is not after its beginning continues into the next day. */
export interface TradingWindow {
  /** Days on which it begins. */
  readonly days: readonly Weekday[]
  /** Minutes since midnight, 0 to 1439; its first minute. */
  readonly fromMinute: number
  /** The same, 1 to 1440; the first minute that is outside again. */
  readonly toMinute: number
}

/** Rules of one strategy; an absent one does not hold it. All of them let every reduction pass. */
export interface Protections {
  /** After its book on a market came to nothing, nothing is added there for so long, ms. */
  readonly cooldownMs?: number
  /** After `count` stops within `windowMs`, nothing is added for `pauseMs` from the newest of them. */
  readonly stops?: { readonly count: number; readonly windowMs: number; readonly pauseMs: number }
  /** It adds within these alone, by the clock of an IANA time zone. */
  readonly windows?: { readonly timeZone: string; readonly open: readonly TradingWindow[] }
  /** It adds nothing around these. */
  readonly closings?: Closings
  /** Nothing is added while its realized result less open losses is so far below its highest realized one. USD. */
  readonly maxDrawdownUsd?: Usd
  /** It opens only where its expected profit exceeds the expected cost of opening, holding and closing by this much. */
  readonly edge?: { readonly minBps: number; readonly holdMs: number }
}
