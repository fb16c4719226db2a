/** The outlook of an order by hand that opens or adds: position and liquidation after it, outcome at its exits, use of limits. Pure. */
import type { MarketConfig } from '../api/rows/marketInfoTypes.ts'
import { defined } from '../base/defined.ts'
import type { Denial, Intent, IntentState } from '../domain/order/intent.ts'
import type { MarketView } from '../domain/snapshot.ts'
import { usdOfFee } from '../market/orderCost.ts'
import type { Direction } from '../protocol/market.ts'
import { isBehindLiquidation, type Position } from '../protocol/position.ts'
import { formatExactPrice, formatPrice } from '../protocol/priceText.ts'
import {
  absOf,
  amountOfUsd,
  BPS_ONE,
  bps,
  formatUnits,
  maxOf,
  mulDiv,
  mulDivUp,
  tenTo,
  USD_DECIMALS,
  type Usd,
} from '../protocol/units.ts'
import { type LiquidationSettings, type PositionAfter, positionAfter } from '../risk/sizing/positionAfter.ts'
import { lossAtStopUsd } from '../risk/sizing/riskSize.ts'
import type { SizeLimit } from '../risk/sizing/sizeLimits.ts'
import { comesBackBps, stopBeyondBps } from './ownExperience.ts'
import type { BoundQuote, OpenOutlook, QuotedTerms, QuoteParts, ShownPosition } from './quotes/manualQuote.ts'
import { gainAtTargetUsd, riskTermsOf } from './riskTerms.ts'

/** Digits after the point of an amount in a command's body. */
const BODY_DIGITS = 18

/** Inputs of an outlook besides the quote. */
export interface OutlookFacts {
  readonly intent: Intent
  readonly view: MarketView
  readonly parts: QuoteParts
  /** Settings of its market; absent: not known. */
  readonly config: MarketConfig | undefined
  readonly limits: readonly SizeLimit[]
  /** Newest own orders. */
  readonly states: readonly IntentState[]
  readonly cap: string | undefined
  /** As `farBpsOf` gives it. */
  readonly farBps: number | undefined
  /** Unix ms. */
  readonly atMs: number
}

/** Returns the whole quote; STOP_BEHIND_LIQUIDATION: the position is liquidated before a stop of the order fires. */
export function withOutlook(quote: BoundQuote, facts: OutlookFacts): (BoundQuote & OpenOutlook) | Denial {
  const { intent, view, parts, config, limits, states, cap, farBps, atMs } = facts
  const { terms } = intent
  const { direction, referencePrice, triggerPrice, sizeDeltaUsd, tpsl = [] } = terms
  const entryPrice = triggerPrice ?? referencePrice
  const after = afterOf(facts, entryPrice)
  const behind = tpsl.find(
    (exit) =>
      exit.type === 'stop-loss' &&
      after !== undefined &&
      isBehindLiquidation({ direction, ...after }, exit.triggerPrice),
  )
  if (behind !== undefined && after?.liquidationPrice !== undefined)
    return behindLiquidation(behind.triggerPrice, after.liquidationPrice, direction)
  const { sending, feeTokenDecimals, fees, held } = parts
  const sendingUsd = sending === undefined ? 0n : usdOfFee(sending.relayFee, feeTokenDecimals)
  const beyondBps = stopBeyondBps(states, terms.marketToken)
  const at = (price: Usd) => riskTermsOf({ direction, entryPrice, fees, sendingUsd, beyondBps }, price, view)
  const nearest = (type: 'stop-loss' | 'take-profit') =>
    tpsl
      .filter((exit) => exit.type === type)
      .toSorted((one, other) =>
        Number(absOf(one.triggerPrice - entryPrice) - absOf(other.triggerPrice - entryPrice)),
      )[0]
  const [stop, target] = [nearest('stop-loss'), nearest('take-profit')]
  const backBps = comesBackBps(states, feeTokenDecimals)
  const outlook: OpenOutlook = {
    tokens: tokensText(sizeDeltaUsd, entryPrice, view),
    comesBackUsd: backBps === undefined || sending === undefined ? null : bps(sendingUsd, backBps).toString(),
    before: held === undefined ? null : shownBefore(held),
    after: after === undefined ? null : shown(after, direction, entryPrice),
    lostAtStopUsd:
      stop === undefined ? null : (-lossAtStopUsd(sizeDeltaUsd, at(stop.triggerPrice))).toString(),
    wonAtTargetUsd:
      target === undefined ? null : gainAtTargetUsd(sizeDeltaUsd, at(target.triggerPrice)).toString(),
    limits: limits.flatMap(({ by, limitUsd, wholeUsd, twiceUsd = 0n }) =>
      wholeUsd === undefined || limitUsd === undefined
        ? []
        : [
            {
              limit: by,
              usedUsd: (wholeUsd - limitUsd - twiceUsd + sizeDeltaUsd).toString(),
              wholeUsd: wholeUsd.toString(),
            },
          ],
    ),
    cap: cap ?? null,
    farBps: farBps ?? null,
    quoted: quotedTerms(quote),
    atMs,
    priceAtMs: view.oraclePrice?.atMs ?? 0,
  }
  return { ...quote, ...outlook }

  function afterOf({ parts: { held: before } }: OutlookFacts, price: Usd): PositionAfter | undefined {
    const settings = liquidationSettingsOf(config)
    if (settings === undefined) return undefined
    const filled = {
      ...{ direction, sizeUsd: sizeDeltaUsd, price, held: before },
      ...{ collateralToken: terms.collateralToken.address, collateralAmount: terms.collateralDelta },
      isWaiting: triggerPrice !== undefined,
    }
    return positionAfter(filled, view, settings)
  }
}

/** Settings of a market that decide a liquidation; undefined where the venue does not say all of them. */
function liquidationSettingsOf(config: MarketConfig | undefined): LiquidationSettings | undefined {
  const minCollateralFactor = config?.minCollateralFactorForLiquidation
  const maxImpactFactor = config?.maxPositionImpactFactorForLiquidations
  const balancing = config?.positionFeeFactorForBalanceWasImproved
  const unbalancing = config?.positionFeeFactorForBalanceWasNotImproved
  return minCollateralFactor === undefined ||
    maxImpactFactor === undefined ||
    balancing === undefined ||
    unbalancing === undefined
    ? undefined
    : { minCollateralFactor, maxImpactFactor, feeFactors: { balancing, unbalancing } }
}

function behindLiquidation(stop: Usd, liquidation: Usd, direction: Direction): Denial {
  return {
    code: 'STOP_BEHIND_LIQUIDATION',
    reason:
      'the position would be liquidated before this stop-loss fires; take less leverage, or a nearer stop-loss',
    wanted: formatExactPrice(stop),
    allowed: `${direction === 'long' ? 'above' : 'below'} ${formatPrice(liquidation)}`,
  }
}

function shown(
  { sizeUsd, leverageBps, liquidationPrice }: PositionAfter,
  direction: Direction,
  price: Usd,
): ShownPosition {
  const wayUsd =
    liquidationPrice === undefined
      ? undefined
      : direction === 'long'
        ? price - liquidationPrice
        : liquidationPrice - price
  return {
    sizeUsd: sizeUsd.toString(),
    leverageBps: leverageBps?.toString() ?? null,
    liquidationPrice: liquidationPrice?.toString() ?? null,
    liquidationBps:
      wayUsd === undefined || price <= 0n ? null : Number(mulDiv(maxOf(0n, wayUsd), BigInt(BPS_ONE), price)),
  }
}

function shownBefore({
  sizeInUsd,
  leverageBps,
  liquidationPrice,
  direction,
  markPrice,
}: Position): ShownPosition {
  return shown({ sizeUsd: sizeInUsd, ...defined({ leverageBps, liquidationPrice }) }, direction, markPrice)
}

/** A size in index tokens, to about the worth of a cent: `0.0245 BTC`. */
function tokensText(sizeUsd: Usd, price: Usd, { market, indexToken: { decimals } }: MarketView): string {
  const amount = amountOfUsd(sizeUsd, price, decimals)
  // As many places as a cent needs.
  const cents = price / (tenTo(USD_DECIMALS) / 100n)
  const places = Math.min(decimals, cents.toString().length)
  const unit = tenTo(decimals - places)
  return `${formatUnits((amount + unit / 2n) / unit, places)} ${market.symbol.split('/')[0]}`
}

/** The terms of a quote as a send carries them. */
function quotedTerms(quote: BoundQuote): QuotedTerms {
  return {
    market: quote.market,
    size: bodyAmount(BigInt(quote.sizeUsd)),
    ...defined({ price: quote.boundPrice === null ? undefined : bodyAmount(BigInt(quote.boundPrice)) }),
    cost: bodyAmount(costOf(quote)),
  }
}

/** An amount as a body holds it, rounded up to its last digit. */
function bodyAmount(amount: Usd): string {
  return formatUnits(mulDivUp(amount, 1n, tenTo(USD_DECIMALS - BODY_DIGITS)), BODY_DIGITS)
}

/** The highest cost of opening, USD; of an order at any price its fees alone. */
export function costOf({ worstCostUsd, venueFeesUsd, orderFeesUsd }: BoundQuote): Usd {
  return worstCostUsd === null ? BigInt(venueFeesUsd) + BigInt(orderFeesUsd) : BigInt(worstCostUsd)
}
