/** Computes the figures that the page shows from the daemon's responses. Pure; amounts stay integers. */

import type {
  Book,
  LimitLine,
  LogLine,
  Market,
  Order,
  PositionRow,
  RestingOrder,
  Status,
} from './pageWire.ts'
import { amountOf, percentText, placesOf, shareBps, shareText, timesText } from './shownAmount.ts'
import { spanText } from './shownTimes.ts'
import { texts } from './texts.ts'

/** A side of a market with one collateral. */
type Side = Pick<PositionRow, 'marketToken' | 'direction' | 'collateralToken'>

/** One key for a side, whatever the case of its addresses. */
export function sideKeyOf({ marketToken, direction, collateralToken }: Side): string {
  return `${marketToken.toLowerCase()} ${direction} ${collateralToken.toLowerCase()}`
}

/** A position as it is shown. */
export interface ShownPosition {
  readonly key: string
  readonly symbol: string
  readonly row: PositionRow
  /** Which of the pool's two tokens backs it; undefined before the markets were read. */
  readonly collateral: 'long' | 'short' | undefined
  /** From the mark price to the liquidation price, bps of the mark price; 0: reached. Undefined: there is no such price. */
  readonly distanceBps: number | undefined
  /** Part of the position that no stop-loss would close, USD; 0 where it is covered. Undefined before the first look at the orders. */
  readonly bareUsd: bigint | undefined
  /** Result if all of the position closed now, USD; after all costs where the venue reports them. */
  readonly pnlUsd: bigint
  /** True when `pnlUsd` includes the costs of closing. */
  readonly isAfterAllCosts: boolean
  /** Its owners, resting exits and collateral; undefined where the status lacks its row. */
  readonly held: Status['held'][number] | undefined
  /** Places of every price of its market. */
  readonly places: number
  /** Funding of a day at the rate of this moment, USD, negative: paid; undefined: the rate is not known. */
  readonly fundingDayUsd: bigint | undefined
  /** Whose parts it is made of. */
  readonly books: readonly Book[]
  /** No running strategy made it. */
  readonly isUnmanaged: boolean
}

/** The positions of a status, largest first. `markets`: what tells which token of its pool backs each. */
export function shownPositions(
  status: Status,
  books: readonly Book[],
  markets: readonly Market[],
): readonly ShownPosition[] {
  const marketOf = new Map(markets.map((market) => [market.marketToken.toLowerCase(), market]))
  const bare =
    status.withoutStop === undefined
      ? undefined
      : new Map(status.withoutStop.map((side) => [sideKeyOf(side), amountOf(side.uncoveredUsd)]))
  const unmanaged = new Set(status.unmanaged.map(sideKeyOf))
  const heldOf = new Map(status.held.map((row) => [sideKeyOf(row), row]))
  const booksOf = Map.groupBy(
    books.filter(({ sizeUsd }) => amountOf(sizeUsd) !== 0n),
    sideKeyOf,
  )
  return status.positions
    .map((row): ShownPosition => {
      const key = sideKeyOf(row)
      const afterAll = row.pnlAfterAllFeesUsd
      return {
        key,
        symbol: status.symbols[row.marketToken.toLowerCase()] ?? row.marketToken,
        row,
        collateral: collateralOf(row, marketOf.get(row.marketToken.toLowerCase())),
        distanceBps: distanceBpsOf(row),
        bareUsd: bare === undefined ? undefined : (bare.get(key) ?? 0n),
        pnlUsd: amountOf(afterAll ?? row.pnlAfterFeesUsd),
        isAfterAllCosts: afterAll !== undefined,
        held: heldOf.get(key),
        places: placesOf(row.markPrice),
        fundingDayUsd: fundingDayOf(row, marketOf.get(row.marketToken.toLowerCase())),
        books: booksOf.get(key) ?? [],
        isUnmanaged: unmanaged.has(key),
      }
    })
    .toSorted((one, other) => compare(amountOf(other.row.sizeInUsd), amountOf(one.row.sizeInUsd)))
}

/** The position of a side; undefined: it is no longer held. */
export function positionOfSide(
  {
    status,
    books,
    markets,
  }: { readonly status?: Status; readonly books: readonly Book[]; readonly markets: readonly Market[] },
  side: Side,
): ShownPosition | undefined {
  if (status === undefined) return undefined
  return shownPositions(status, books, markets).find(({ key }) => key === sideKeyOf(side))
}

/** Funding of a day; a rate is a factor of an hour with 30 decimals. */
function fundingDayOf({ direction, sizeInUsd }: PositionRow, market: Market | undefined): bigint | undefined {
  const rate = direction === 'long' ? market?.fundingLong : market?.fundingShort
  return rate === undefined || rate === null
    ? undefined
    : (amountOf(sizeInUsd) * amountOf(rate) * 24n) / 10n ** 30n
}

/** Which token of its pool backs a position. */
function collateralOf({ collateralToken }: Side, market: Market | undefined): 'long' | 'short' | undefined {
  const backing = collateralToken.toLowerCase()
  if (market?.longToken?.toLowerCase() === backing) return 'long'
  return market?.shortToken?.toLowerCase() === backing ? 'short' : undefined
}

function distanceBpsOf({ direction, markPrice, liquidationPrice }: PositionRow): number | undefined {
  if (liquidationPrice === undefined) return undefined
  const [mark, liquidation] = [amountOf(markPrice), amountOf(liquidationPrice)]
  if (mark <= 0n) return undefined
  const gap = direction === 'long' ? mark - liquidation : liquidation - mark
  return gap <= 0n ? 0 : shareBps(gap, mark)
}

/** The day's result, USD; undefined before the first reading. */
export function dayPnlOf({ equity }: Status): bigint | undefined {
  return equity === undefined ? undefined : amountOf(equity.equityUsd) - amountOf(equity.dayStartUsd)
}

/** The fall of the equity below its peak, in percent of the peak; undefined before the first reading. */
export function drawdownTextOf({ equity }: Status): string | undefined {
  if (equity === undefined) return undefined
  const fallUsd = amountOf(equity.peakUsd) - amountOf(equity.equityUsd)
  return shareText(fallUsd > 0n ? fallUsd : 0n, equity.peakUsd)
}

/** Tells whether a resting order matches the search. `find`: in lower case. */
export function isRestingFound(
  find: string,
  { market, direction, type, owner, orderKey }: RestingOrder,
): boolean {
  return holds(find, market, direction, type, owner, orderKey)
}

/** A limit, and how much of it is used where that is known. */
export interface LimitBar {
  readonly key: string
  readonly scope: string
  readonly limit: string
  /** As the daemon writes it. */
  readonly allowed: string
  /** The same way. */
  readonly used?: string
  /** `used` of `allowed`, bps; above 10000 when it is exceeded. */
  readonly shareBps?: number
}

/** All limits, with what the daemon counted of them. */
export function limitBars(limits: readonly LimitLine[]): readonly LimitBar[] {
  return limits.map(({ scope, limit, value, used, usedShareBps }): LimitBar => {
    const bar = { key: `${scope} ${limit}`, scope, limit, allowed: value }
    return used === undefined || usedShareBps === undefined ? bar : { ...bar, used, shareBps: usedShareBps }
  })
}

/** The value of a limit in the unit that its name says; what is no plain count of it stays as the daemon wrote it. */
export function limitText({ limit, value }: Pick<LimitLine, 'limit' | 'value'>): string {
  const [, coins] = /^(\d+\.\d{6})\d+$/.exec(value) ?? []
  if (coins !== undefined) return coins
  if (!/^\d{1,12}$/.test(value)) return value
  if (limit.includes('Leverage')) return timesText(value)
  if (limit.endsWith('Bps')) return percentText(Number(value))
  if (limit.endsWith('Ms')) return spanText(Number(value))
  return limit.endsWith('Seconds') ? spanText(Number(value) * 1_000) : value
}

/** Whose a limit is, and its unit where its name does not say it. */
export function limitScope({ limit, scope }: Pick<LimitLine, 'limit' | 'scope'>): string {
  const unit = texts.limits.units[limit]
  return unit === undefined ? scope : `${scope}, ${unit}`
}

/** Markets to show: those in use first, then by capacity. `find`: in lower case. */
export function shownMarkets(
  {
    markets,
    status,
    find,
  }: { readonly markets: readonly Market[]; readonly find: string } & { readonly status?: Status },
  isAll: boolean,
): readonly Market[] {
  const used = new Set([
    ...(status?.positions.map(({ marketToken }) => marketToken.toLowerCase()) ?? []),
    ...(status?.strategies.flatMap(({ symbols }) => symbols) ?? []),
    ...(status?.openIntents.map(({ market }) => market) ?? []),
  ])
  const isUsed = ({ marketToken, symbol }: Market) => used.has(marketToken.toLowerCase()) || used.has(symbol)
  const found = markets.filter((market) =>
    find === '' ? isAll || isUsed(market) : holds(find, market.symbol, market.marketToken),
  )
  return found.toSorted(
    (one, other) =>
      Number(isUsed(other)) - Number(isUsed(one)) ||
      compare(capacityOf(other), capacityOf(one)) ||
      one.symbol.localeCompare(other.symbol),
  )
}

function capacityOf({ capacityLongUsd, capacityShortUsd }: Market): bigint {
  return amountOf(capacityLongUsd ?? 0n) + amountOf(capacityShortUsd ?? 0n)
}

/** Filter of the log lines that are shown. */
export interface LogFilter {
  readonly level: 'info' | 'warn' | 'error'
  readonly strategy: string
  /** All of them must stand in a line; in lower case. */
  readonly texts: readonly string[]
}

const levelRanks = { debug: 0, info: 1, warn: 2, error: 3 } as const

/** Lines that a filter lets through, newest first. */
export function shownLines(
  lines: readonly LogLine[],
  { level, strategy, texts }: LogFilter,
): readonly LogLine[] {
  const least = levelRanks[level]
  return lines
    .filter(
      (line) =>
        levelRanks[line.level] >= least &&
        (strategy === '' || namesStrategy(line.text, strategy)) &&
        texts.every((text) => holds(text, line.text, line.word, line.event)),
    )
    .toReversed()
}

/** Tells whether a line names a strategy: its name as a whole word, so that `eth` is not `eth-trend`. */
function namesStrategy(text: string, strategy: string): boolean {
  return ` ${text} `.split(/[^\w@.-]+/).some((word) => word.replace(/[.:]+$/, '') === strategy)
}

/** Tells whether one of the texts contains the search text. `find`: in lower case; empty matches all. */
export function holds(find: string, ...texts: readonly string[]): boolean {
  return find === '' || texts.some((text) => text.toLowerCase().includes(find))
}

/** Names the author of an order or of a trade: a strategy, or the hand. */
export function authorText(strategy: string): string {
  return strategy === '@operator' ? texts.resting.owners.hand : strategy
}

/** Tells whether an order matches the search. */
export function isFound(
  find: string,
  { intentId, market, strategy, kind, status, decisionReason }: Order,
): boolean {
  return holds(find, intentId, market, authorText(strategy), kind, status, decisionReason)
}

/** Tells whether an order is still open. */
export function isOpenOrder({ closedAt }: Order): boolean {
  return closedAt === null
}

/** Tells whether an operator's cancel would have an effect: the order is in flight, or a part of it rests. */
export function isCancellable(order: Order): boolean {
  return (
    isOpenOrder(order) && (order.legs.length === 0 || order.legs.some(({ status }) => status === 'resting'))
  )
}

/** PnL after all costs of the fills of an order; undefined where it has none. */
export function orderPnlOf({ legs }: Order): bigint | undefined {
  const known = legs.flatMap(({ pnlUsd }) => (pnlUsd === null ? [] : [amountOf(pnlUsd)]))
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0n)
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/**
 * Returns the filled size of an order of several parts, USD. Undefined where all of it was filled, it has one part, or a part's size is not known.
 */
export function partFilledUsd({ legs, sizeDeltaUsd }: Order): bigint | undefined {
  const parts = legs.filter(({ role }) => role === 'main' || role === 'part')
  if (parts.length < 2 || parts.some((leg) => leg.sizeDeltaUsd === null)) return undefined
  const filledUsd = parts
    .filter(({ status }) => status === 'filled')
    .reduce((sum, leg) => sum + amountOf(leg.sizeDeltaUsd ?? '0'), 0n)
  return filledUsd < amountOf(sizeDeltaUsd) ? filledUsd : undefined
}

/** Symbols of the markets that a position can be opened on: pools that only swap have no price of their own, and delisted ones take closes alone. */
export function tradable(markets: readonly Market[]): readonly string[] {
  return markets
    .filter(({ symbol, status }) => status !== 'delisted' && !symbol.startsWith('SWAP-ONLY'))
    .map(({ symbol }) => symbol)
}
