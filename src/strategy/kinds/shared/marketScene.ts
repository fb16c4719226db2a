/** Usual start of a market's turn: its price, the instance's positions there, and whether an order is in flight. Pure. */
import { defined } from '../../../base/defined.ts'
import type { CloseDecision, DecisionFacts, IncreaseDecision } from '../../../domain/order/decision.ts'
import type { MarketView } from '../../../domain/snapshot.ts'
import { type Address, sameHex } from '../../../protocol/address.ts'
import type { Candle, CandlePeriod, Direction } from '../../../protocol/market.ts'
import { bps, type Usd } from '../../../protocol/units.ts'
import { closedCandles, secondsOfPeriod } from '../../closedCandles.ts'
import { collateralTokenOf, type OrderSize, type OwnPosition, type StrategyView, z } from '../../strategy.ts'

/** Length of a candle. */
export const periodField = z.enum(['1m', '5m', '15m', '1h', '4h', '1d'])

/** Sides that a kind may open. */
export const sidesField = z.enum(['both', 'long', 'short'])

/** One market as an instance sees it. */
export interface MarketScene {
  readonly market: MarketView
  readonly symbol: string
  readonly size: OrderSize
  /** Collateral of its positions and of its entries here. */
  readonly collateralToken: Address
  /** Median oracle price, USD per whole index token. */
  readonly price: Usd
  /** The instance's own parts of positions here that this token backs. */
  readonly held: readonly OwnPosition[]
  /** True while an order of the instance is in flight here; exits that rest for its position do not count. */
  readonly isBusy: boolean
}

/** Undefined when the market was not read, has no price, or the file names no size. */
export function sceneOf(view: StrategyView, symbol: string): MarketScene | undefined {
  const market = view.market(symbol)
  const { size } = view.instance
  const price = market?.oraclePrice?.value.medianPrice
  if (market === undefined || size === undefined || price === undefined || price <= 0n) return undefined
  const collateralToken = backingTokenOf(view, market, size)
  return {
    market,
    symbol,
    size,
    collateralToken,
    price,
    held: view
      .ownPositions(symbol)
      .filter((held) => sameHex(held.collateralToken, collateralToken) && held.sizeInUsd > 0n),
    isBusy: view.isBusy(symbol),
  }
}

/**
 * Returns the token that backs the instance's position on a market, or on one side of it; without a position there, the token of its file. A file
 * with another token therefore applies to entries after the close, and leaves nothing behind.
 */
export function backingTokenOf(
  view: StrategyView,
  market: MarketView,
  size: OrderSize,
  direction?: Direction,
): Address {
  const ofFile = collateralTokenOf(market, size.collateral)
  const tokens = view
    .ownPositions(market.market.symbol, direction)
    .filter(({ sizeInUsd }) => sizeInUsd > 0n)
    .map(({ collateralToken }) => collateralToken)
  return tokens.some((token) => sameHex(token, ofFile)) ? ofFile : (tokens[0] ?? ofFile)
}

/** Closed candles of a period; undefined when none was read or the newest of them ended more than two periods ago. */
export function freshCandles(
  view: StrategyView,
  symbol: string,
  period: CandlePeriod,
): readonly Candle[] | undefined {
  const reading = view.candles(symbol, period)
  if (reading === undefined) return undefined
  const { atMs } = view.snapshot
  const candles = closedCandles(reading.value, period, atMs)
  const newest = candles.at(-1)
  if (newest === undefined) return undefined
  return atMs > (newest.timestampSeconds + 3 * secondsOfPeriod(period)) * 1000 ? undefined : candles
}

/** A market order of the instance's size. */
export function entryOf(
  { market, size, collateralToken }: MarketScene,
  direction: Direction,
  reason: string,
  facts: DecisionFacts,
  stopPrice?: Usd,
  expectedEdgeBps?: number,
): IncreaseDecision {
  return {
    kind: 'increase',
    marketToken: market.market.marketToken,
    direction,
    sizeDeltaUsd: size.usd,
    leverageBps: size.leverageBps,
    collateralToken,
    ...defined({
      tpsl: stopPrice === undefined ? undefined : [{ type: 'stop-loss', triggerPrice: stopPrice }],
    }),
    ...defined({ expectedEdgeBps }),
    reason,
    facts,
  }
}

/** Closes the instance's position on a side. */
export function closeOf(
  { market, collateralToken }: MarketScene,
  direction: Direction,
  reason: string,
  facts: DecisionFacts,
): CloseDecision {
  return { kind: 'close', marketToken: market.market.marketToken, direction, collateralToken, reason, facts }
}

/** A price that lies `stopBps` on the losing side of another. */
export function stopPriceOf(price: Usd, direction: Direction, stopBps: number): Usd {
  return direction === 'long' ? price - bps(price, stopBps) : price + bps(price, stopBps)
}

/** Tells whether the price is at or past a position's stop: then a close does not wait for the order at the venue. */
export function isPastStop(position: OwnPosition, price: Usd, stopBps: number): boolean {
  if (position.entryPrice === undefined) return false
  const stop = stopPriceOf(position.entryPrice, position.direction, stopBps)
  return position.direction === 'long' ? price <= stop : price >= stop
}

/** A number for the facts of a decision, to six digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
