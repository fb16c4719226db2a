/** Reads from the venue's own state what an account did and has (monthDeeds.ts), and hands it to the judge of limits. */
import type { Event } from '../../src/domain/event.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { tradingCapacity } from '../../src/paper/math/capacity.ts'
import { mid } from '../../src/paper/math/marketState.ts'
import { positionRow } from '../../src/paper/prepare/positionRows.ts'
import { accountOf, positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { isMarketOrder, orderTypes } from '../../src/paper/state/orderTypes.ts'
import type { Operation, PositionRecord, TradeRow } from '../../src/paper/state/venueRecords.ts'
import { marketPrices, sideOf, type VenueState } from '../../src/paper/state/venueState.ts'
import { type Address, hexKey, sameHex } from '../../src/protocol/address.ts'
import type { CreateOrderParams } from '../../src/protocol/signing/relayRouter.ts'
import { BPS_ONE, MAX_UINT256, maxOf, type Usd } from '../../src/protocol/units.ts'
import type { LookDeed, OrderDeed, PositionDeed, RestingDeed } from './monthDeeds.ts'
import type { createLimitJudge } from './monthLimits.ts'
import type { ReadTimes } from './monthRoad.ts'

const increaseTypes: ReadonlySet<number> = new Set([
  orderTypes.marketIncrease,
  orderTypes.limitIncrease,
  orderTypes.stopIncrease,
])

/** A part of a whole in bps, as a number; the sign stays. */
const bpsOf = (part: bigint, whole: bigint): number => Number((part * BigInt(BPS_ONE)) / whole)

/** Watches an account at a venue. `readTimes` tells when what perpd knows left it. */
export function createMonthWatch(parts: {
  readonly venueState: VenueState
  readonly account: Address
  readonly clockNow: () => number
  readonly judge: ReturnType<typeof createLimitJudge>
  readonly readTimes: () => ReadTimes
}) {
  const { venueState, account, clockNow, judge, readTimes } = parts
  /** Who asked for a message, by its digest, and for an order, by its key. */
  const askedDigest = new Map<string, string>()
  const askedOrder = new Map<string, string>()
  const judged = new Set<string>()
  const over = new Set<string>()
  let tradesSeen = 0
  let seen = ''

  const secondsNow = (): number => Math.floor(clockNow() / 1000)
  const sideText = (market: string, isLong: boolean): string => `${hexKey(market)} ${sideOf(isLong)}`

  function usdOf(token: string, amount: bigint, seconds: number): Usd {
    const known = venueState.catalog.tokenByAddress.get(hexKey(token))
    const price = known && venueState.prices.at(venueState.catalog.priceKeyOf(known), seconds)
    return price === undefined ? 0n : amount * price.min
  }

  function orderDeed(params: CreateOrderParams, orderKey: string, sentAtMs: number): OrderDeed | undefined {
    const { addresses, numbers, isLong } = params
    const market = venueState.marketByKey.get(hexKey(addresses.market))
    if (market === undefined || market.settings.isSpotOnly) return undefined
    const sentSeconds = Math.floor(sentAtMs / 1000)
    const { index } = marketPrices(venueState, market, sentSeconds)
    const atOnce = isLong ? index.max : index.min
    const from = isMarketOrder(Number(params.orderType)) ? atOnce : numbers.triggerPrice
    const worse = isLong ? numbers.acceptablePrice - from : from - numbers.acceptablePrice
    const isUnbounded = numbers.acceptablePrice === (isLong ? MAX_UINT256 : 0n)
    const { settings, state } = market
    // This look is minutes later, and what a nearly full side has left moves with the price of all that it holds.
    const [sent, now] = [sentSeconds, secondsNow()].map((seconds) => {
      const prices = marketPrices(venueState, market, seconds)
      return tradingCapacity(settings, state, sideOf(isLong), prices).availableLiquidity
    })
    return {
      orderKey: hexKey(orderKey),
      side: sideText(market.key, isLong),
      isIncrease: increaseTypes.has(Number(params.orderType)),
      sizeUsd: numbers.sizeDeltaUsd,
      collateralUsd: usdOf(
        addresses.initialCollateralToken,
        numbers.initialCollateralDeltaAmount,
        sentSeconds,
      ),
      isUnbounded,
      slippageBps: isUnbounded || from === 0n ? 0 : bpsOf(worse, from),
      capacityUsd: maxOf(sent ?? 0n, now ?? 0n),
    }
  }

  /** Messages that the chain took since the look before. */
  function readMessages(): void {
    for (const operation of venueState.operations.values()) {
      const { taskId, status, digest } = operation
      if (status !== 'executed' || judged.has(taskId) || !sameHex(operation.account, account)) continue
      judged.add(taskId)
      const strategy = askedDigest.get(hexKey(digest))
      if (strategy !== undefined) for (const key of operation.orderKeys) askedOrder.set(hexKey(key), strategy)
      judge.message(messageOf(operation, strategy))
    }
  }

  function messageOf(operation: Operation, strategy: string | undefined) {
    const { acceptedAtMs, batch, orderKeys, relayParams } = operation
    const creates = batch.createOrderParamsList
    const { feeToken, feeAmount } = relayParams.fee
    return {
      atMs: acceptedAtMs,
      strategy,
      executionFee: creates.reduce((sum, { numbers }) => sum + numbers.executionFee, 0n),
      relayFeeUsd: usdOf(feeToken, feeAmount, Math.floor(acceptedAtMs / 1000)),
      orders: creates.flatMap((params, i) => orderDeed(params, orderKeys[i] ?? '', acceptedAtMs) ?? []),
    }
  }

  function readTrades(): void {
    const { trades, counters } = venueState
    const fresh = counters.trade - tradesSeen
    tradesSeen = counters.trade
    for (const row of fresh > 0 ? trades.slice(-fresh) : [])
      if (row.eventName === 'OrderExecuted' && sameHex(row.account, account)) readFill(row)
  }

  function readFill({ fields, orderKey, orderType, timestamp }: TradeRow): void {
    const amount = (name: string): bigint => {
      const value = fields[name]
      return typeof value === 'bigint' ? value : 0n
    }
    // A swap is no trade on a position.
    if (fields.executionPrice === undefined) return
    const isIncrease = increaseTypes.has(orderType)
    judge.fill({
      atMs: timestamp * 1000,
      strategy: askedOrder.get(hexKey(orderKey)),
      side: sideText(String(fields.marketAddress), fields.isLong === true),
      isIncrease,
      sizeUsd: amount('sizeDeltaUsd'),
      resultUsd: isIncrease
        ? -amount('collateralTotalCostAmount') * amount('collateralTokenPriceMin')
        : amount('pnlUsd'),
    })
  }

  function positionDeed(record: PositionRecord): PositionDeed & { readonly valueUsd: Usd } {
    const { marketKey, state } = record
    const row = positionRow(venueState, record, clockNow())
    const market = venueState.marketByKey.get(marketKey)
    if (market === undefined) throw new RangeError(`position in unknown market ${marketKey}`)
    const scale = 10n ** BigInt(market.indexToken.decimals)
    const mark = mid(marketPrices(venueState, market, secondsNow()).index) * scale
    const liquidation = row.liquidationPrice === undefined ? undefined : BigInt(String(row.liquidationPrice))
    const away =
      liquidation === undefined ? 0n : state.side === 'long' ? mark - liquidation : liquidation - mark
    return {
      side: `${marketKey} ${state.side}`,
      market: marketKey,
      sizeUsd: state.sizeInUsd,
      leverageBps: Number(row.leverage ?? 0),
      liquidationBps: liquidation === undefined ? undefined : bpsOf(away, mark),
      valueUsd: BigInt(String(row.positionValueInUsd)),
    }
  }

  function lookDeed(): LookDeed {
    const positions = positionsOfAccount(venueState, account).map(positionDeed)
    const resting: RestingDeed[] = []
    for (const { account: owner, key, params } of venueState.orders.values()) {
      if (!sameHex(owner, account) || !increaseTypes.has(Number(params.orderType))) continue
      const { market } = params.addresses
      resting.push({
        side: sideText(market, params.isLong),
        market: hexKey(market),
        strategy: askedOrder.get(hexKey(key)),
        sizeUsd: params.numbers.sizeDeltaUsd,
      })
    }
    let equityUsd = positions.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
    for (const [token, amount] of accountOf(venueState, account).balances)
      equityUsd += usdOf(token, amount, secondsNow())
    return { atMs: clockNow(), positions, resting, equityUsd }
  }

  function readAdmitted({ intentId, strategy, kind, terms }: Intent): void {
    const times = readTimes()
    const nowMs = clockNow()
    const market = venueState.marketByKey.get(hexKey(terms.marketToken))
    let divergenceBps = 0
    if (market !== undefined && !market.settings.isSpotOnly) {
      const at = (ms: number): bigint => mid(marketPrices(venueState, market, Math.floor(ms / 1000)).index)
      const [marked, told] = [at(times.ticker), at(times.oracle)]
      divergenceBps = bpsOf(marked > told ? marked - told : told - marked, told)
    }
    judge.admitted({
      atMs: nowMs,
      strategy,
      intentId,
      kind,
      side: `${hexKey(terms.marketToken)} ${terms.direction}`,
      isMarket: terms.orderType === 'market',
      ageMs: {
        ticker: nowMs - times.ticker,
        oracle: nowMs - times.oracle,
        account: nowMs - Math.min(times.positions, times.orders),
      },
      divergenceBps,
    })
  }

  return {
    listen(event: Event): void {
      if (event.type === 'decision.admitted') readAdmitted(event.intent)
      if (event.type !== 'journal.committed') return
      const { intent, attempts, closing } = event.state
      for (const { armed } of attempts)
        if (armed !== undefined) askedDigest.set(hexKey(armed.digest), intent.strategy)
      if (closing === undefined || over.has(intent.intentId)) return
      over.add(intent.intentId)
      const said = attempts.flatMap(({ children }) => children.map(({ cancelReason }) => cancelReason ?? ''))
      const isDone = closing.outcome === 'EXECUTED' || closing.outcome === 'PARTIAL'
      judge.ended({
        atMs: clockNow(),
        strategy: intent.strategy,
        intentId: intent.intentId,
        kind: intent.kind,
        side: `${hexKey(intent.terms.marketToken)} ${intent.terms.direction}`,
        cause: isDone ? undefined : [closing.outcome, closing.code, ...said].join(' ').trim(),
      })
    },
    /** Reads what happened at the venue since the last time; cheap when nothing did. */
    look(): void {
      const { counters, operations, orders } = venueState
      const now = `${counters.trade} ${counters.transaction} ${operations.size} ${orders.size}`
      if (now === seen) return
      seen = now
      readMessages()
      readTrades()
      judge.look(lookDeed())
    },
  }
}
