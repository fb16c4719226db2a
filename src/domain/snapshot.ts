/** Everything known at one instant, with the age of each part. Strategies see nothing else. */
import { madeOnce } from '../base/madeOnce.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import {
  type Balance,
  type Candle,
  type CandlePeriod,
  type Direction,
  executionSidePrice,
  type Market,
  type MarketStatus,
  type OraclePrice,
  type PriceDoubt,
  type PriceSource,
  type Ticker,
  type Token,
  type TradingCapacity,
} from '../protocol/market.ts'
import type { Order, Position } from '../protocol/position.ts'
import type { ImpactData } from '../protocol/priceImpact.ts'
import { placesOf } from '../protocol/priceText.ts'
import type { Reading } from '../protocol/reading.ts'
import { priceOfContractPrice, type Usd } from '../protocol/units.ts'
import { type PositionSide, sideKeyOf } from './accountRecords/accountRecord.ts'
import type { HiddenSide, UnlistedSide } from './accountRecords/held.ts'
import type { ContestedPrice } from './order/contestedPrice.ts'

/** Candles of one period. */
export type CandleReading = Reading<{ readonly period: CandlePeriod; readonly candles: readonly Candle[] }>

/** Known data of one market. A part is absent when it was not requested or could not be read. */
export interface MarketView {
  readonly market: Market
  readonly indexToken: Token
  readonly longToken: Token
  readonly shortToken: Token
  readonly status: MarketStatus
  readonly ticker?: Reading<Ticker>
  /** The index token's price from the oracle service: the second opinion that signing is bounded by. */
  readonly oraclePrice?: Reading<OraclePrice>
  /** Absent while `oraclePrice` is the oracle's and as fresh as it should be. */
  readonly priceSource?: PriceSource
  /** Set where hosts differ on the index token's price of a market with a position; `oraclePrice` is then the band of those that agree. */
  readonly contested?: ContestedPrice
  /** The reason why the venue's values of this market count as stale, and its capacity with them; absent: they do not. */
  readonly staleValues?: string
  /** Faults of this market's data: a clause for each list row that is or may be about it and could not be read. Increases wait. Absent: none. */
  readonly gaps?: readonly string[]
  /**
   * The reason why only hosts' statements support the market's facts, or why one contradicts them: one clause. Increases wait. Absent: the facts are
   * known.
   */
  readonly untrusted?: string
  /** Doubts about the oracle's prices of this market's tokens; a doubted price is not here. Absent: none. */
  readonly priceDoubts?: readonly PriceDoubt[]
  /** Data for our own estimate of price impacts. */
  readonly impact?: Reading<ImpactData>
  readonly capacityLong?: Reading<TradingCapacity>
  readonly capacityShort?: Reading<TradingCapacity>
  /** Candles of the first requested period; ascending by time, the running candle last. */
  readonly candles?: CandleReading
  /** Candles of the further periods. Absent: one period was requested. */
  readonly moreCandles?: readonly CandleReading[]
}

/** The account's list of positions. */
export interface ListedPositions {
  readonly positions: Reading<readonly Position[]>
}

/** The account's lists of positions and of orders. */
export interface AccountLists extends ListedPositions {
  readonly orders: Reading<readonly Order[]>
}

/** The world at one instant. */
export interface Snapshot extends AccountLists {
  /** Time when the snapshot was put together, Unix ms. */
  readonly atMs: number
  readonly account: Address
  /** By lower-cased market token. */
  readonly markets: ReadonlyMap<string, MarketView>
  /** Sides of which the list as it was read shows less than the journal knows. Absent: none. */
  readonly hidden?: readonly HiddenSide[]
  /** Sides that are held and of which the list shows no row that can be read; of them size and side are known alone. Absent: none. */
  readonly unlisted?: readonly UnlistedSide[]
  /** Tokens in the account's wallet; absent when they were not asked for or could not be read. */
  readonly balances?: Reading<readonly Balance[]>
}

/** Age of a reading in ms at the snapshot's instant; never negative. */
export function ageOf(snapshot: Snapshot, reading: Reading<unknown>): number {
  return Math.max(0, snapshot.atMs - reading.atMs)
}

/** Tells whether a reading exists and is not older than `maxAgeMs`. */
export function isFresh(
  snapshot: Snapshot,
  reading: Reading<unknown> | undefined,
  maxAgeMs: number,
): boolean {
  return reading !== undefined && ageOf(snapshot, reading) <= maxAgeMs
}

/** The view of one market, by its market token in any case. */
export function marketOf(snapshot: Snapshot, marketToken: string): MarketView | undefined {
  return snapshot.markets.get(hexKey(marketToken))
}

/** The capacity reading of one side. */
export function capacityReading(
  view: MarketView,
  direction: Direction,
): Reading<TradingCapacity> | undefined {
  return direction === 'long' ? view.capacityLong : view.capacityShort
}

/** Lower-case keys of the markets of positions, each once, in the order of the list; made once for a list: each turn asks. */
export const marketKeysOf = madeOnce((rows: readonly Position[]): ReadonlySet<string> => {
  return new Set(rows.map(({ marketToken }) => hexKey(marketToken)))
})

/** The account's positions on one side of one market; two when both tokens back one. */
export function positionsOn(
  snapshot: ListedPositions,
  marketToken: string,
  direction: Direction,
): readonly Position[] {
  const key = hexKey(marketToken)
  return snapshot.positions.value.filter(
    (position) => position.direction === direction && hexKey(position.marketToken) === key,
  )
}

/** Maps each side's key to its first row in the list; made once for a list. */
export const rowsBySide = madeOnce((rows: readonly Position[]): ReadonlyMap<string, Position> => {
  const bySide = new Map<string, Position>()
  for (const row of rows) {
    const key = sideKeyOf(row)
    if (!bySide.has(key)) bySide.set(key, row)
  }
  return bySide
})

/** The account's position on a side, or undefined. */
export function positionOf({ positions }: ListedPositions, side: PositionSide): Position | undefined {
  return rowsBySide(positions.value).get(sideKeyOf(side))
}

/** A side that is held without a row that can be read, or undefined. */
export function unlistedOn(
  { unlisted = [] }: Snapshot,
  { marketToken, direction, collateralToken }: PositionSide,
): UnlistedSide | undefined {
  return unlisted.find(
    (side) =>
      side.direction === direction &&
      sameHex(side.marketToken, marketToken) &&
      sameHex(side.collateralToken, collateralToken),
  )
}

/** Returns the size of a position by its row, else by the other known facts, USD; 0 without a position. */
export function heldUsdOn(snapshot: Snapshot, side: PositionSide): Usd {
  return positionOf(snapshot, side)?.sizeInUsd ?? unlistedOn(snapshot, side)?.sizeUsd ?? 0n
}

/** Returns the price at which a resting order fires, USD per whole index token; undefined where its market was not read. */
export function triggerPriceOf(
  { marketToken, triggerContractPrice }: Order,
  snapshot: Snapshot,
): Usd | undefined {
  const market = marketOf(snapshot, marketToken)
  return market && priceOfContractPrice(triggerContractPrice, market.indexToken.decimals)
}

/** Returns the price at which a reduction of a position executes now, USD per whole index token. */
export function reductionPriceOf({ marketToken, direction, markPrice }: Position, snapshot: Snapshot): Usd {
  const oracle = marketOf(snapshot, marketToken)?.oraclePrice?.value
  return oracle === undefined ? markPrice : executionSidePrice(oracle, direction, 'decrease')
}

/** Places in which prices of a market are shown, by its price now; undefined: no oracle price is known. */
export function placesOfMarket(snapshot: Snapshot, marketToken: Address): number | undefined {
  const oracle = marketOf(snapshot, marketToken)?.oraclePrice?.value
  return oracle && placesOf([oracle.medianPrice])
}
