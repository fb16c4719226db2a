/** A hand-made world for the tests of risk and strategy: one ETH market, fresh readings, an open book. */
import { defined } from '../../src/base/defined.ts'
import type { Decision, IncreaseDecision } from '../../src/domain/order/decision.ts'
import type { Intent, IntentState, SignedOrder } from '../../src/domain/order/intent.ts'
import type { MarketView, Snapshot } from '../../src/domain/snapshot.ts'
import type { Address } from '../../src/protocol/address.ts'
import type { Candle, CandlePeriod, OraclePrice, Ticker, TradingCapacity } from '../../src/protocol/market.ts'
import type { Order, Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import type { AdmissionContext } from '../../src/risk/exposure/admissionContext.ts'

export const NOW_MS = 1_800_000_000_000
export const SYMBOL = 'ETH/USD [WETH-USDC]'
export const MARKET: Address = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
export const OTHER_MARKET: Address = '0x47c031236e19d024b42f8AE6780E44A573170703'
export const WETH: Address = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
export const USDC: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
export const ACCOUNT: Address = '0x1111111111111111111111111111111111111111'

const token = { isStable: false, isNative: false, isWrapped: false, isSynthetic: false } as const

export function capacity(changes: Partial<TradingCapacity> = {}): TradingCapacity {
  return {
    availableLiquidity: usd(100_000),
    baseAvailableLiquidity: usd(60_000),
    jitAvailableLiquidity: usd(40_000),
    limitingFactor: 'reserve',
    jitDataStatus: 'available',
    marketDataStatus: 'fresh',
    ...changes,
  }
}

export function ticker(changes: Partial<Ticker> = {}): Ticker {
  return {
    symbol: SYMBOL,
    marketToken: MARKET,
    minPrice: usd(1999),
    maxPrice: usd(2001),
    markPrice: usd(2000),
    longInterestUsd: usd(1_000_000),
    shortInterestUsd: usd(1_000_000),
    fundingRateLong: 0n,
    fundingRateShort: 0n,
    borrowingRateLong: 0n,
    borrowingRateShort: 0n,
    ...changes,
  }
}

export function oraclePrice(changes: Partial<OraclePrice> = {}): OraclePrice {
  return {
    tokenSymbol: 'ETH',
    tokenAddress: WETH,
    minPrice: usd(1999),
    maxPrice: usd(2001),
    medianPrice: usd(2000),
    updatedAtSeconds: NOW_MS / 1000,
    ...changes,
  }
}

export function marketView(changes: Partial<MarketView> = {}, atMs = NOW_MS): MarketView {
  return {
    market: {
      symbol: SYMBOL,
      marketToken: MARKET,
      indexToken: WETH,
      longToken: WETH,
      shortToken: USDC,
      isListed: true,
      isSpotOnly: false,
      minPositionSizeUsd: usd(1),
      minCollateralUsd: usd(1),
      maxLeverageBps: 1_000_000,
    },
    indexToken: { ...token, symbol: 'ETH', address: WETH, decimals: 18 },
    longToken: {
      ...token,
      symbol: 'WETH',
      address: WETH,
      decimals: 18,
      minPrice: usd(1999),
      maxPrice: usd(2001),
    },
    shortToken: {
      ...token,
      symbol: 'USDC',
      address: USDC,
      decimals: 6,
      isStable: true,
      minPrice: usd('0.9997'),
      maxPrice: usd('1.0001'),
    },
    status: 'open',
    ticker: { value: ticker(), atMs },
    oraclePrice: { value: oraclePrice(), atMs },
    capacityLong: { value: capacity(), atMs },
    capacityShort: { value: capacity(), atMs },
    ...changes,
  }
}

export function snapshot(
  parts: {
    readonly view?: MarketView
    readonly positions?: readonly Position[]
    readonly orders?: readonly Order[]
    readonly positionsAtMs?: number
  } = {},
): Snapshot {
  const view = parts.view ?? marketView()
  return {
    atMs: NOW_MS,
    account: ACCOUNT,
    markets: new Map([[view.market.marketToken.toLowerCase(), view]]),
    positions: { value: parts.positions ?? [], atMs: parts.positionsAtMs ?? NOW_MS },
    orders: { value: parts.orders ?? [], atMs: NOW_MS },
  }
}

export function position(changes: Partial<Position> = {}): Position {
  return {
    positionKey: `${ACCOUNT}:${MARKET}:${USDC}:true`,
    contractKey: `0x${'ab'.repeat(32)}`,
    account: ACCOUNT,
    marketToken: MARKET,
    collateralToken: USDC,
    direction: 'long',
    sizeInUsd: usd(1000),
    sizeInTokens: 5n * 10n ** 17n,
    collateralAmount: 200_000_000n,
    collateralUsd: usd(200),
    remainingCollateralUsd: usd(200),
    markPrice: usd(1999),
    entryPrice: usd(2000),
    liquidationPrice: usd(1620),
    pnlUsd: 0n,
    pnlAfterFeesUsd: 0n,
    positionValueInUsd: usd(200),
    netValueUsd: usd(200),
    leverageBps: 50_000n,
    increasedAtSeconds: NOW_MS / 1000 - 600,
    decreasedAtSeconds: 0,
    ...changes,
  }
}

export function order(changes: Partial<Order> = {}): Order {
  return {
    orderKey: `0x${'0d'.repeat(32)}`,
    account: ACCOUNT,
    receiver: ACCOUNT,
    marketToken: MARKET,
    initialCollateralToken: USDC,
    orderType: 3,
    direction: 'long',
    sizeDeltaUsd: usd(300),
    initialCollateralDeltaAmount: 60_000_000n,
    triggerContractPrice: 0n,
    acceptableContractPrice: 0n,
    isFrozen: false,
    updatedAtSeconds: NOW_MS / 1000,
    validFromSeconds: 0,
    ...changes,
  }
}

export function increase(changes: Partial<IncreaseDecision> = {}): IncreaseDecision {
  return {
    kind: 'increase',
    marketToken: MARKET,
    direction: 'long',
    sizeDeltaUsd: usd(1000),
    leverageBps: 50_000,
    collateralToken: USDC,
    reason: 'The test wishes it.',
    ...changes,
  }
}

export function close(changes: { readonly direction?: 'long' | 'short' } = {}): Decision {
  return {
    kind: 'close',
    marketToken: MARKET,
    direction: 'long',
    collateralToken: USDC,
    reason: 'The test wishes it.',
    ...changes,
  }
}

export function decrease(sizeDeltaUsd: bigint, keepLeverage = false) {
  return {
    kind: 'decrease',
    marketToken: MARKET,
    direction: 'long',
    sizeDeltaUsd,
    collateralToken: USDC,
    keepLeverage,
    reason: 'The test wishes it.',
  } as const
}

/** An open intent as the journal folds it. */
export function intentState(
  parts: {
    readonly decision?: Decision
    readonly reservationUsd?: bigint
    readonly acceptedAtMs?: number
    readonly intentId?: string
    readonly orderKey?: `0x${string}`
    readonly closed?: boolean
  } = {},
): IntentState {
  const decision = parts.decision ?? increase()
  const sizeDeltaUsd = 'sizeDeltaUsd' in decision ? decision.sizeDeltaUsd : usd(1000)
  const intent: Intent = {
    intentId: parts.intentId ?? 'intent-1',
    decisionKey: 'key-1',
    strategy: 'eth-trend',
    account: ACCOUNT,
    chain: 'arbitrum',
    lane: 'order-chain',
    kind: decision.kind,
    decision,
    terms: {
      orderType: 'market',
      symbol: SYMBOL,
      marketToken: decision.marketToken,
      indexToken: { symbol: 'ETH', address: WETH, decimals: 18 },
      direction: decision.direction,
      collateralToken: {
        symbol: 'USDC',
        address: 'collateralToken' in decision ? decision.collateralToken : USDC,
        decimals: 6,
      },
      sizeDeltaUsd,
      collateralDelta: 0n,
      keepLeverage: false,
      slippageBps: 100,
      referencePrice: usd(2000),
    },
    sizing: { wantedUsd: sizeDeltaUsd, sizeDeltaUsd, cuts: [], dataAgeMs: 0 },
    reservationUsd: parts.reservationUsd ?? (decision.kind === 'increase' ? sizeDeltaUsd : 0n),
    expiresAtMs: NOW_MS + 60_000,
    acceptedAtMs: parts.acceptedAtMs ?? NOW_MS - 1000,
  }
  return {
    intent,
    attempts:
      parts.orderKey === undefined
        ? []
        : [
            {
              n: 1,
              lane: 'order-chain',
              host: 'https://one.example',
              phase: 'LANDED',
              children: [{ index: 0, orderKey: parts.orderKey, phase: 'OPEN', role: 'main' }],
            },
          ],
    ...(parts.closed === true
      ? {
          closing: {
            outcome: 'EXECUTED',
            code: 'EXECUTED',
            reason: 'It was executed.',
            evidence: { level: 'api', atMs: NOW_MS, statement: 'seen' },
          } as const,
        }
      : {}),
    updatedAtMs: NOW_MS,
  }
}

/** The order as if a message of ours had made it with what its row shows. */
export function signedAs(row: Order): SignedOrder {
  return {
    orderType: row.orderType,
    sizeDeltaUsd: row.sizeDeltaUsd,
    collateralAmount: row.initialCollateralDeltaAmount,
    kept: {
      marketToken: row.marketToken,
      direction: row.direction,
      collateralToken: row.initialCollateralToken,
      triggerContractPrice: row.triggerContractPrice,
      acceptableContractPrice: row.acceptableContractPrice,
      minOutputAmount: row.minOutputAmount ?? 0n,
      autoCancel: row.autoCancel ?? false,
    },
  }
}

/** What a desk is made of: the members of the admission context and of its groups, side by side. */
export type DeskParts = Partial<
  Omit<AdmissionContext, 'equity' | 'impact' | 'intent' | 'maker' | 'trading' | 'usage' | 'venue'> &
    AdmissionContext['impact'] &
    AdmissionContext['intent'] &
    AdmissionContext['maker'] &
    AdmissionContext['usage'] &
    AdmissionContext['venue']
> & {
  readonly equityUsd?: bigint
  readonly equityAgeMs?: number
  readonly tradingState?: AdmissionContext['trading']['state']
  readonly tradingReason?: string
  readonly intents?: readonly IntentState[]
}

export function desk(changes: DeskParts = {}): AdmissionContext {
  const { intents = [], tradingState = 'active', tradingReason, equityUsd, equityAgeMs, ...others } = changes
  const { accountLimits, marketLimits, dayResultUsd, marketDayResultUsd, ...noUsage } = others
  const { maxPriceImpactBps, priceImpactLeftUsd, ...noImpact } = noUsage
  const { clockSkewMs, withheldMs, executionFeeOf, ...noVenue } = noImpact
  const { strategy = 'eth-trend', isOperator, tidiesOrders, isKept, ...noMaker } = noVenue
  const {
    acceptedLastHour = { strategy: 0, account: 0 },
    intentId = 'intent-9',
    decisionKey = 'eth-trend:1800000000000:0',
    account = ACCOUNT,
    chain = 'arbitrum',
    lane = 'order-chain',
    closeLanes,
    expiresAtMs = NOW_MS + 60_000,
    ...rest
  } = noMaker
  const world = rest.snapshot ?? snapshot()
  return {
    snapshot: world,
    exposure: exposureOf(world, intents),
    limits: {},
    trading: { state: tradingState, ...defined({ reason: tradingReason }) },
    ...(equityUsd === undefined ? {} : { equity: { equityUsd, ...defined({ ageMs: equityAgeMs }) } }),
    usage: {
      acceptedLastHour,
      ...defined({ accountLimits, marketLimits, dayResultUsd, marketDayResultUsd }),
    },
    impact: defined({ maxPriceImpactBps, priceImpactLeftUsd }),
    venue: defined({ clockSkewMs, withheldMs, executionFeeOf }),
    maker: { strategy, ...defined({ isOperator, tidiesOrders, isKept }) },
    signedOrder: (orderKey) => {
      const row = world.orders.value.find((each) => each.orderKey === orderKey)
      return row && signedAs(row)
    },
    intent: { intentId, decisionKey, account, chain, lane, expiresAtMs, ...defined({ closeLanes }) },
    slippageBps: 100,
    nowMs: NOW_MS,
    ...rest,
  }
}

/** Candles that end now, the running one last; each close is the next step of `closes`. */
export function candles(closes: readonly number[], period: CandlePeriod = '1m', seconds = 60) {
  const runningStart = Math.floor(NOW_MS / 1000 / seconds) * seconds
  const rows: Candle[] = closes.map((close, index) => {
    const open = closes[index - 1] ?? close
    return {
      timestampSeconds: runningStart - (closes.length - 1 - index) * seconds,
      open,
      high: Math.max(open, close) + 1,
      low: Math.min(open, close) - 1,
      close,
    }
  })
  return { value: { period, candles: rows }, atMs: NOW_MS }
}
