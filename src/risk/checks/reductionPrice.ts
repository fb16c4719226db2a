/**
 * The price for every order that cannot add risk, whoever decides it: a strategy, a guard, a task, an operator or a kill. It is judged by every
 * host's statement (`priceJudge.ts`). If no host of the oracle has a fresh price, a substitute counts: the venue's own mark, from the market's ticker
 * or the position's row; the freshest price of any host of the oracle; or the last good price. A reduction cannot add risk, and the protocol executes
 * it at its own price. Without this a position could not be left while the price service stands still, or while one host is wrong.
 */
import { defined } from '../../base/defined.ts'
import { madeOnce } from '../../base/madeOnce.ts'
import { type MarketView, positionsOn, type Snapshot } from '../../domain/snapshot.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { OraclePrice, PriceSource } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import { type AgeLimits, type ClassifiedDecision, REDUCTION_AGE_FACTOR } from './checks.ts'
import { type JudgedPrice, judgePrice, type LastPrice, type PriceWord } from './priceJudge.ts'

/** The prices of a market besides a snapshot. */
export interface KnownPrices {
  /** The newest word of each host. */
  readonly words: readonly PriceWord[]
  readonly last?: LastPrice
}

/** Limits that the price of a reduction is judged by. */
export interface ReductionPriceLimits extends AgeLimits {
  readonly maxPriceDivergenceBps?: number
}

/** Prices that agree may be this far apart where no limit says so, bps. */
export const DIVERGENCE_BPS = 100
/** The oldest prices that are accepted alone, ms. */
const FRESH_WORD_MS = 20_000

/**
 * Returns the snapshot on which a decision is judged. If the decision cannot add risk, the reduction's price of its market replaces the oracle's,
 * with its source.
 */
export function withReductionPrice(
  snapshot: Snapshot,
  { decision, adds }: ClassifiedDecision,
  limits: ReductionPriceLimits,
  known: KnownPrices = { words: [] },
): Snapshot {
  if (adds || decision.kind === 'cancel') return snapshot
  const view = snapshot.markets.get(hexKey(decision.marketToken))
  if (view === undefined) return snapshot
  const standing = standingView(snapshot, view, decision, limits, known)
  return standing === undefined ? snapshot : withView(snapshot, standing)
}

/**
 * Returns the snapshot on which keepers of exits, kinds and tasks decide. Where hosts differ on the price of a market with a position, the band of
 * those that agree replaces one host's price. No host alone then moves or fires an exit.
 */
export function withHeldPrices(
  snapshot: Snapshot,
  limitsOn: (symbol: string) => ReductionPriceLimits,
  knownOf: (marketToken: string) => KnownPrices,
): Snapshot {
  const rows = snapshot.positions.value
  // A strategy's snapshot mostly has one market, and the account positions on many.
  const byMarket = rowsByMarket(rows)
  let judged = snapshot
  for (const [key, view] of snapshot.markets) {
    const held = byMarket.get(key)
    if (held === undefined) continue
    const [limits, known] = [limitsOn(view.market.symbol), knownOf(view.market.marketToken)]
    for (const { marketToken, direction } of held) {
      const standing = standingView(snapshot, view, { marketToken, direction }, limits, known)
      if (standing?.contested !== undefined) judged = withView(judged, standing)
    }
  }
  return judged
}

/** Rows by lower-case market token, in their order; made once for a list: each turn of each strategy asks. */
const rowsByMarket = madeOnce((rows: readonly Position[]) =>
  Map.groupBy(rows, ({ marketToken }) => hexKey(marketToken)),
)

type Side = Pick<ClassifiedDecision['decision'], 'marketToken' | 'direction'>

/** Returns the market with the price for a reduction of a side; undefined where nobody has any. */
function standingView(
  snapshot: Snapshot,
  view: MarketView,
  side: Side,
  limits: ReductionPriceLimits,
  known: KnownPrices,
): MarketView | undefined {
  const words = wordsOf(snapshot, view, side, limits, known.words)
  const divergenceBps = limits.maxPriceDivergenceBps ?? DIVERGENCE_BPS
  const found = judgePrice(words, known.last, divergenceBps, snapshot.atMs)
  return found === undefined ? oldPrice(view, known.last) : judgedView(view, found, words)
}

function withView(snapshot: Snapshot, view: MarketView): Snapshot {
  return { ...snapshot, markets: new Map(snapshot.markets).set(hexKey(view.market.marketToken), view) }
}

/**
 * Returns the statements that count: the recent ones; without any, the position's row, which was read just now; else those whose age reductions
 * accept.
 */
function wordsOf(
  snapshot: Snapshot,
  view: MarketView,
  { marketToken, direction }: Side,
  { maxDataAgeMs = Number.POSITIVE_INFINITY, maxOracleAgeMs, maxTickerAgeMs }: AgeLimits,
  known: readonly PriceWord[],
): readonly PriceWord[] {
  const mostMs = {
    oracle: Math.min(maxDataAgeMs, maxOracleAgeMs ?? Number.POSITIVE_INFINITY) * REDUCTION_AGE_FACTOR,
    mark: Math.min(maxDataAgeMs, maxTickerAgeMs ?? Number.POSITIVE_INFINITY) * REDUCTION_AGE_FACTOR,
  }
  const ageMs = ({ atMs }: PriceWord) => Math.max(0, snapshot.atMs - atMs)
  const usable = (words: readonly PriceWord[]) => words.filter((word) => ageMs(word) <= mostMs[word.kind])
  const byHosts = usable(known)
  // A snapshot's own reading represents the service where no host's statement is known.
  const own = usable([ofOracle(view), ofTicker(view)].flatMap((word) => word ?? []))
  const words = [...byHosts, ...own.filter(({ kind }) => !byHosts.some((word) => word.kind === kind))]
  const fresh = words.filter((word) => ageMs(word) <= FRESH_WORD_MS)
  if (fresh.length > 0) return fresh
  const row = ofPosition(snapshot, marketToken, direction)
  return row === undefined ? words : [row]
}

function judgedView(
  view: MarketView,
  { lowest, highest, medianPrice, words, isContested }: JudgedPrice,
  all: readonly PriceWord[],
): MarketView {
  const { priceDoubts, ...rest } = view
  const atMs = Math.max(...(words.length > 0 ? words : all).map((word) => word.atMs))
  const value: OraclePrice = {
    ...named(view),
    minPrice: lowest,
    maxPrice: highest,
    medianPrice,
    updatedAtSeconds: Math.floor(atMs / 1000),
  }
  // A doubt about the index token's price is one word among several here.
  const doubts = priceDoubts?.filter(({ tokenAddress }) => !sameHex(tokenAddress, view.market.indexToken))
  const isOracle = all.some(({ kind }) => kind === 'oracle')
  const isRow = all.every(({ host }) => host === ROW)
  const contestedWords = all.map((word) => ({
    kind: word.kind,
    host: word.host,
    price: word.medianPrice,
    isTaken: words.includes(word),
  }))
  return {
    ...rest,
    oraclePrice: { value, atMs },
    ...defined({
      priceDoubts: doubts?.length === 0 ? undefined : doubts,
      priceSource: isOracle ? undefined : isRow ? ('position' as const) : ('ticker' as const),
      contested: isContested ? { lowest, highest, words: contestedWords } : undefined,
    }),
  }
}

/** Returns a substitute price where none is young enough: the freshest that any oracle host had, else the last good one. */
function oldPrice(view: MarketView, last: LastPrice | undefined): MarketView | undefined {
  const source: PriceSource = 'old-oracle'
  if (view.oraclePrice !== undefined) return { ...view, priceSource: source }
  if (last === undefined) return undefined
  const { price, atMs } = last
  const value = {
    ...named(view),
    minPrice: price,
    maxPrice: price,
    medianPrice: price,
    updatedAtSeconds: Math.floor(atMs / 1000),
  }
  return { ...view, oraclePrice: { value, atMs }, priceSource: source }
}

function ofOracle({ oraclePrice }: MarketView): PriceWord | undefined {
  if (oraclePrice === undefined) return undefined
  const { minPrice, maxPrice, medianPrice } = oraclePrice.value
  return { kind: 'oracle', host: 'oracle', minPrice, maxPrice, medianPrice, atMs: oraclePrice.atMs }
}

function ofTicker({ ticker }: MarketView): PriceWord | undefined {
  if (ticker === undefined || ticker.value.minPrice <= 0n) return undefined
  const { minPrice, maxPrice, markPrice } = ticker.value
  return { kind: 'mark', host: 'ticker', minPrice, maxPrice, medianPrice: markPrice, atMs: ticker.atMs }
}

/** The host of a word that is a position's row. */
const ROW = 'position'

function ofPosition(
  snapshot: Snapshot,
  marketToken: string,
  direction: ClassifiedDecision['decision']['direction'],
): PriceWord | undefined {
  const { atMs } = snapshot.positions
  const price = positionsOn(snapshot, marketToken, direction)[0]?.markPrice ?? 0n
  if (price <= 0n) return undefined
  return { kind: 'mark', host: ROW, minPrice: price, maxPrice: price, medianPrice: price, atMs }
}

function named({ indexToken: { symbol, address } }: MarketView): {
  readonly tokenSymbol: string
  readonly tokenAddress: Address
} {
  return { tokenSymbol: symbol, tokenAddress: address }
}
