/**
 * The price by which a reduction is judged, from every host's statement and the last price that most agreed on. No host alone decides it, and
 * differing statements accuse nobody: the largest group that agrees is the honest band. Pure.
 *
 * With one bad host of the oracle and one of the API, and all others honest, the band is honest. Three hosts that agree are accepted at any price (a
 * market may crash), two only within the possible move of a market since the last good price. That price also decides a tie between hosts.
 */
import type { Usd } from '../../protocol/units.ts'
import { BPS_ONE, bps, maxOf, minOf } from '../../protocol/units.ts'

/** A host's statement of an index token's price, USD per whole token. */
export interface PriceWord {
  /** The oracle service's price, or the mark of the application API. */
  readonly kind: 'oracle' | 'mark'
  readonly host: string
  readonly minPrice: Usd
  readonly maxPrice: Usd
  readonly medianPrice: Usd
  /** Time at which it was true, Unix ms. */
  readonly atMs: number
}

/** The last price that most hosts agreed on. */
export interface LastPrice {
  readonly price: Usd
  /** Time of their agreement, Unix ms. */
  readonly atMs: number
}

/** Prices that a reduction may use. */
export interface JudgedPrice {
  /** The widest band of those that agree. */
  readonly lowest: Usd
  readonly highest: Usd
  readonly medianPrice: Usd
  /** The words in the band; none where the last price stands against the only ones that there are. */
  readonly words: readonly PriceWord[]
  /** True where a price lies outside of the band: then nobody can say of a message that its price is wrong. */
  readonly isContested: boolean
  /** True where it may be remembered as the last good price. */
  readonly isGood: boolean
}

/** The last good price counts as one source for this long, ms. */
const LAST_COUNTS_MS = 60_000
/** The most that a market can move in each minute that began since the last good price, bps. */
const MOVE_PER_MINUTE_BPS = 2_000
const MINUTE_MS = 60_000
/** So many hosts that agree cannot all be bad where one of each kind is. */
const SURE = 3

/** Statements within the divergence of each other, with their support. */
interface Camp {
  readonly words: readonly PriceWord[]
  readonly hasLast: boolean
}

/** Judges these words, or gives undefined where there are none. `divergenceBps`: how far words that agree may be apart. */
export function judgePrice(
  words: readonly PriceWord[],
  last: LastPrice | undefined,
  divergenceBps: number,
  nowMs: number,
): JudgedPrice | undefined {
  if (words.length === 0) return undefined
  const leaders = leadersOf(campsOf(words, last, divergenceBps, nowMs))
  const bounds = last && movesSince(last, nowMs)
  const isPossible = (price: Usd) =>
    bounds === undefined || (price >= bounds.lowest && price <= bounds.highest)
  const held = union(leaders)
  if (held.length >= SURE || held.every(({ medianPrice }) => isPossible(medianPrice)))
    return judged(words, leaders)
  const possible = words.filter(({ medianPrice }) => isPossible(medianPrice))
  if (possible.length > 0) return judged(words, leadersOf(campsOf(possible, last, divergenceBps, nowMs)))
  // One or two hosts alone report a move that no market makes: follow it as far as one can move, and no further before time has passed.
  const [first] = held
  const edge =
    first !== undefined && bounds !== undefined && first.medianPrice < bounds.lowest
      ? bounds.lowest
      : (bounds?.highest ?? 0n)
  return { lowest: edge, highest: edge, medianPrice: edge, words: [], isContested: true, isGood: false }
}

function movesSince(
  { price, atMs }: LastPrice,
  nowMs: number,
): { readonly lowest: Usd; readonly highest: Usd } {
  const minutes = Math.floor(Math.max(0, nowMs - atMs) / MINUTE_MS) + 1
  const moved = bps(price, MOVE_PER_MINUTE_BPS * minutes)
  return { lowest: maxOf(0n, price - moved), highest: price + moved }
}

/** Every run of words from a lowest one up to the divergence above it. */
function campsOf(
  words: readonly PriceWord[],
  last: LastPrice | undefined,
  divergenceBps: number,
  nowMs: number,
): readonly Camp[] {
  const counted = last !== undefined && Math.abs(nowMs - last.atMs) <= LAST_COUNTS_MS ? last.price : undefined
  const reach = (price: Usd): Usd => bps(price, Math.min(divergenceBps, BPS_ONE))
  const begins = words.filter(
    ({ medianPrice }, at) => words.findIndex((word) => word.medianPrice === medianPrice) === at,
  )
  return begins.map((least) => {
    const own = words.filter(
      ({ medianPrice }) =>
        medianPrice >= least.medianPrice && medianPrice <= least.medianPrice + reach(least.medianPrice),
    )
    const most = own.reduce((price, { medianPrice }) => maxOf(price, medianPrice), least.medianPrice)
    const hasLast =
      counted !== undefined &&
      counted >= least.medianPrice - reach(least.medianPrice) &&
      counted <= most + reach(most)
    return { words: own, hasLast }
  })
}

/** Those that most speak for: by their number, then by the last good price, then by the oracle's hosts. Several: nobody can say. */
function leadersOf(camps: readonly Camp[]): readonly Camp[] {
  const rankOf = ({ words, hasLast }: Camp): number =>
    (words.length + (hasLast ? 1 : 0)) * 1_000 +
    (hasLast ? 100 : 0) +
    words.filter(({ kind }) => kind === 'oracle').length
  const most = Math.max(...camps.map(rankOf))
  return camps.filter((camp) => rankOf(camp) === most)
}

function union(camps: readonly Camp[]): readonly PriceWord[] {
  return [...new Set(camps.flatMap(({ words }) => words))]
}

function judged(all: readonly PriceWord[], leaders: readonly Camp[]): JudgedPrice {
  const words = union(leaders)
  const sorted = words.toSorted((one, other) => (one.medianPrice < other.medianPrice ? -1 : 1))
  const others = all.filter((word) => !words.includes(word))
  return {
    lowest: words.reduce((price, { minPrice }) => minOf(price, minPrice), words[0]?.minPrice ?? 0n),
    highest: words.reduce((price, { maxPrice }) => maxOf(price, maxPrice), 0n),
    medianPrice: sorted[Math.floor((sorted.length - 1) / 2)]?.medianPrice ?? 0n,
    words,
    isContested: others.length > 0,
    // A price that needs the last price to win does not renew its age, unless it breaks a tie.
    isGood: leaders.length === 1 && others.length <= words.length,
  }
}
