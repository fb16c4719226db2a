/** The fills of a run as the venue executed them, and what the journal says of each: whose it is, and the cost of its message. */
import { sendingOf } from '../books/bookMoves.ts'
import type { IntentState } from '../domain/order/intent.ts'
import { orderTypes } from '../paper/state/orderTypes.ts'
import type { VenueMarket } from '../paper/state/seedMarkets.ts'
import type { TradeRow } from '../paper/state/venueRecords.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import { type Address, hexKey, sameHex } from '../protocol/address.ts'
import { priceOfContractPrice, type Usd } from '../protocol/units.ts'
import type { RunFill } from './runFiles.ts'

/** A fill without what the journal knows of it. */
export interface VenueFill extends Omit<RunFill, 'strategy' | 'intentId' | 'sendingFeeUsd'> {
  readonly orderKey: string
}

/** Rows of the venue's history that one look reaches back over at most. */
const MOST_TOGETHER = 200

/** Takes executed orders of an account from the venue, each once. `candleSeconds`: the length of a market's candles. */
export function createFillBook(
  venueState: VenueState,
  account: Address,
  candleSeconds: (market: string) => number,
): { readonly fills: readonly VenueFill[]; look(): void } {
  const fills: VenueFill[] = []
  // Trades that a continued venue had before belong to an earlier segment.
  let seen = venueState.trades.at(-1)?.id ?? ''
  return {
    fills,
    look() {
      const { trades } = venueState
      if (trades.at(-1)?.id === seen) return
      let from = trades.length
      while (from > 0 && trades[from - 1]?.id !== seen) from -= 1
      for (const row of trades.slice(from)) {
        if (row.eventName !== 'OrderExecuted' || !sameHex(row.account, account)) continue
        const market = venueState.marketByKey.get(hexKey(String(row.fields.marketAddress)))
        // A swap has no market of its own.
        if (market === undefined || row.fields.executionPrice === undefined) continue
        const isTwofold = isAmbiguous(venueState, row, market, candleSeconds(market.catalog.symbol))
        fills.push({ ...fillOf(venueState, row, market), isAmbiguous: isTwofold })
      }
      seen = trades.at(-1)?.id ?? ''
    },
  }
}

function amount(fields: TradeRow['fields'], name: string): bigint {
  const value = fields[name]
  return typeof value === 'bigint' ? value : 0n
}

function fillOf(venueState: VenueState, row: TradeRow, market: VenueMarket): Omit<VenueFill, 'isAmbiguous'> {
  const { fields, orderType, timestamp } = row
  const of = (name: string): bigint => amount(fields, name)
  const isIncrease =
    orderType === orderTypes.marketIncrease ||
    orderType === orderTypes.limitIncrease ||
    orderType === orderTypes.stopIncrease
  const isLiquidation = orderType === orderTypes.liquidation
  const price = of('collateralTokenPriceMin')
  const token = venueState.catalog.tokenByAddress.get(hexKey(String(fields.collateralTokenAddress)))
  return {
    orderKey: row.orderKey.toLowerCase(),
    second: timestamp,
    market: market.catalog.symbol,
    side: fields.isLong === true ? 'long' : 'short',
    action: isIncrease ? 'increase' : isLiquidation ? 'liquidation' : 'decrease',
    sizeDeltaUsd: isIncrease ? of('sizeDeltaUsd') : -of('sizeDeltaUsd'),
    price: priceOfContractPrice(of('executionPrice'), market.indexToken.decimals),
    // The decrease that closes an increase settles the increase's price impact.
    impactUsd: isIncrease ? 0n : of('totalImpactUsd') - of('priceImpactDiffUsd'),
    positionFeeUsd: of('positionFeeAmount') * price,
    borrowingFeeUsd: of('borrowingFeeAmount') * price,
    fundingFeeUsd: of('fundingFeeAmount') * price,
    liquidationFeeUsd: of('liquidationFeeAmount') * price,
    swapFeeUsd: of('swapFeeUsd') - of('swapImpactUsd'),
    collateral: token?.symbol ?? '',
    collateralDelta: isIncrease ? of('initialCollateralDeltaAmount') : -of('executionAmountOut'),
    pnlUsd: isIncrease ? 0n : of('basePnlUsd'),
  }
}

const otherExit: ReadonlyMap<number, number> = new Map([
  [orderTypes.limitDecrease, orderTypes.stopLossDecrease],
  [orderTypes.stopLossDecrease, orderTypes.limitDecrease],
])

/** Tells whether the candle that executed an exit also reached the other exit of its position, so that the path inside the candle decided. */
function isAmbiguous(
  venueState: VenueState,
  row: TradeRow,
  market: VenueMarket,
  candleSeconds: number,
): boolean {
  const other = otherExit.get(row.orderType)
  if (other === undefined) return false
  const start = row.timestamp - (row.timestamp % candleSeconds)
  const { prices, catalog, trades } = venueState
  const range = prices.rangeOf(catalog.priceKeyOf(market.indexToken), start, start + candleSeconds)
  if (range === undefined) return false
  // An order cancelled with a position ends in the transaction that closed it.
  return trades.slice(-MOST_TOGETHER).some(({ eventName, orderType, fields }) => {
    const trigger = amount(fields, 'triggerPrice')
    return (
      eventName === 'OrderCancelled' &&
      orderType === other &&
      fields.transactionHash === row.fields.transactionHash &&
      trigger >= range.low &&
      trigger <= range.high
    )
  })
}

/** Fills with what the journal says of them; the cost of a message stands at the first fill of its orders. */
export function settledFills(
  fills: readonly VenueFill[],
  intents: readonly IntentState[],
): readonly RunFill[] {
  const byOrder = new Map<string, IntentState>()
  for (const state of intents)
    for (const { children } of state.attempts)
      for (const { orderKey } of children) byOrder.set(orderKey.toLowerCase(), state)
  const paid = new Set<string>()
  return fills.map(({ orderKey, ...fill }) => {
    const state = byOrder.get(orderKey)
    if (state === undefined) return { ...fill, sendingFeeUsd: 0n, strategy: '', intentId: '' }
    const { intentId, strategy } = state.intent
    const sendingFeeUsd = paid.has(intentId) ? 0n : sendingOf(state).relayFeesUsd
    paid.add(intentId)
    return { ...fill, sendingFeeUsd, strategy, intentId }
  })
}

/** Returns the cost of all messages that landed, whether they filled anything or not, USD. */
export function sendingUsdOf(intents: readonly IntentState[]): Usd {
  return intents.reduce((sum, state) => sum + sendingOf(state).relayFeesUsd, 0n)
}
