/** The newest mark price of each market, out of every list of tickers that anybody read. For people's screens: nothing is decided by it. */
import type { Clock } from '../base/clock.ts'
import { hexKey } from '../protocol/address.ts'
import type { Ticker } from '../protocol/market.ts'
import type { Usd } from '../protocol/units.ts'

/** Age from which a mark is not shown any more, ms. */
const OLD_MS = 60_000

/** The marks. */
export interface MarketMarks {
  /** Takes the rows of a list of tickers; a market without a price keeps its last one. */
  saw(rows: readonly Ticker[]): void
  /** The mark of a market, USD per whole index token; undefined: none was read within the last minute. */
  of(marketToken: string): Usd | undefined
}

/** Makes the memory; nothing is known before the first list. */
export function createMarketMarks(clock: Clock): MarketMarks {
  const known = new Map<string, { readonly price: Usd; readonly atMs: number }>()
  return {
    saw(rows) {
      const atMs = clock.monotonicMs()
      for (const { marketToken, markPrice } of rows)
        if (markPrice > 0n) known.set(hexKey(marketToken), { price: markPrice, atMs })
    },
    of(marketToken) {
      const mark = known.get(hexKey(marketToken))
      return mark === undefined || clock.monotonicMs() - mark.atMs > OLD_MS ? undefined : mark.price
    },
  }
}
