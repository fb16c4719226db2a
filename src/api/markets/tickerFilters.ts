/**
 * Reads of many callers, each of markets of its own. Shared reads answer one question once; a hundred strategies on a
 * hundred markets ask a hundred questions. So while more than a few are in use, every caller is answered out of one read
 * of all tickers, which carry the capacity of both sides too, and the requests at the venue stay the same however many
 * callers there are.
 */
import { hexKey } from '../../protocol/address.ts'
import type { Ticker } from '../../protocol/market.ts'
import type { Read } from '../transport/route.ts'

/** Questions in use up to which each is asked on its own: a few small answers are cheaper than all markets. */
const QUESTIONS_MAX = 4

/** Time after its last read during which a query counts as in use, ms: two polls of once a second. */
const IN_USE_MS = 2_000

/** Which markets; absent or empty lists do not filter. */
export interface TickerFilter {
  readonly addresses?: readonly string[]
  readonly symbols?: readonly string[]
}

interface Use {
  pending: number
  /** When the request of its last read left, Unix ms. */
  readAtMs: number
}

/** Counts the questions in use. Reads no clock: time is the moment that the latest read left. */
export function createQuestions(): {
  /** Makes one read, from all markets where many questions are in use. `question` is text that tells them apart. */
  ask<T>(question: string, read: (isOfAll: boolean) => Promise<Read<T>>): Promise<Read<T>>
} {
  const uses = new Map<string, Use>()
  let latestMs = Number.NEGATIVE_INFINITY
  /** `latestMs` when those that are out of use were removed last: without a later answer or a failure there are no new ones. */
  let sweptMs: number | undefined

  function countInUse(): number {
    if (sweptMs === latestMs) return uses.size
    sweptMs = latestMs
    for (const [question, use] of uses) {
      if (use.pending === 0 && use.readAtMs < latestMs - IN_USE_MS) uses.delete(question)
    }
    return uses.size
  }

  return {
    async ask(question, read) {
      const use = uses.get(question) ?? { pending: 0, readAtMs: Number.NEGATIVE_INFINITY }
      uses.set(question, use)
      use.pending += 1
      try {
        const answer = await read(countInUse() > QUESTIONS_MAX)
        use.readAtMs = answer.readAtMs
        latestMs = answer.readAtMs
        return answer
      } catch (error) {
        sweptMs = undefined
        throw error
      } finally {
        use.pending -= 1
      }
    },
  }
}

/** Tickers by market for the newest list, which strategies share: hundreds look one market up in it. */
const lists = new WeakMap<readonly Ticker[], ReadonlyMap<string, readonly Ticker[]>>()

function bySymbol(tickers: readonly Ticker[]): ReadonlyMap<string, readonly Ticker[]> {
  const known = lists.get(tickers) ?? Map.groupBy(tickers, ({ symbol }) => symbol)
  lists.set(tickers, known)
  return known
}

/**
 * Returns the venue's response to a filter, taken out of the whole list. Undefined when only the venue can answer. That is so for a market that is
 * not listed, and for both kinds of filter at once. No document says whether the two add or overlap.
 */
export function filteredTickers(
  tickers: readonly Ticker[],
  { addresses = [], symbols = [] }: TickerFilter,
): readonly Ticker[] | undefined {
  if (addresses.length > 0 && symbols.length > 0) return undefined
  const [symbol] = symbols
  if (symbols.length === 1 && symbol !== undefined) {
    const found = bySymbol(tickers).get(symbol) ?? []
    return found.length === 1 ? found : undefined
  }
  const wanted = new Set(addresses.length > 0 ? addresses.map(hexKey) : symbols)
  const found = tickers.filter(({ marketToken, symbol }) =>
    wanted.has(addresses.length > 0 ? hexKey(marketToken) : symbol),
  )
  return found.length === wanted.size ? found : undefined
}
