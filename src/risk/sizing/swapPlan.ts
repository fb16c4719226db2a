/** Swaps inside one market's pool: bounded by the wallet, by the limits of one order, and by their least output. */
import type { SwapDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { ageOf, type MarketView } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Token } from '../../protocol/market.ts'
import {
  amountOfUsd,
  bps,
  formatDollars,
  formatUnits,
  minOf,
  type TokenAmount,
  type Usd,
  usdOfAmount,
} from '../../protocol/units.ts'
import type { ClassifiedDecision } from '../checks/checks.ts'
import type { AdmissionContext } from '../exposure/admissionContext.ts'
import { type Plan, plainTerms, termsToken } from './plan.ts'

/** Largest loss of a swap to the pool's fee, its price impact and the market's drift on top of the slippage, bps. */
export const SWAP_COST_BPS = 100

/**
 * Plans a swap. The amount is cut to the balance and to `maxOrderSizeUsd`. What it must give is the fair amount at our own
 * oracle prices, on the worse side of each, less slippage and `SWAP_COST_BPS`.
 *
 * Refuses with SWAP_SAME_TOKEN, AMOUNT_NOT_POSITIVE, BALANCE_UNKNOWN, COLLATERAL_PRICE_UNKNOWN, NO_BALANCE and
 * ORDER_TOO_SMALL.
 */
export function planSwap(
  decision: SwapDecision,
  classified: ClassifiedDecision,
  view: MarketView,
  context: AdmissionContext,
): Plan | Denial {
  const { longToken, shortToken, market } = view
  const [pay, receive] = decision.direction === 'long' ? [shortToken, longToken] : [longToken, shortToken]
  if (sameHex(pay.address, receive.address)) {
    return { code: 'SWAP_SAME_TOKEN', reason: `${market.symbol} holds only one token, so it cannot swap.` }
  }
  if (decision.payAmount <= 0n) {
    return {
      code: 'AMOUNT_NOT_POSITIVE',
      reason: 'A swap needs an amount above zero.',
      wanted: amountText(decision.payAmount, pay),
    }
  }
  const balances = context.snapshot.balances
  if (balances === undefined) {
    return {
      code: 'BALANCE_UNKNOWN',
      reason: "The wallet's balances were not requested or could not be read; a swap needs them.",
    }
  }
  const payPrice = pay.minPrice
  const receivePrice = receive.maxPrice
  if (payPrice === undefined || receivePrice === undefined || payPrice <= 0n || receivePrice <= 0n) {
    const token = payPrice === undefined || payPrice <= 0n ? pay : receive
    return {
      code: 'COLLATERAL_PRICE_UNKNOWN',
      reason: `The venue and the oracle give no common price for ${token.symbol}, so the swap has no price bound.`,
    }
  }
  const held = balances.value.find(({ address }) => sameHex(address, pay.address))?.balance ?? 0n
  const most = context.limits.maxOrderSizeUsd
  const cuts: { readonly by: string; readonly toUsd: Usd }[] = []
  let amount = decision.payAmount
  for (const { by, cap } of [
    { by: 'balance', cap: held },
    { by: 'maxOrderSizeUsd', cap: most === undefined ? amount : amountOfUsd(most, payPrice, pay.decimals) },
  ]) {
    if (cap >= amount) continue
    amount = minOf(amount, cap)
    cuts.push({ by, toUsd: usdOfAmount(amount, payPrice, pay.decimals) })
  }
  if (amount <= 0n) {
    return {
      code: 'NO_BALANCE',
      reason: `The wallet has no ${pay.symbol} to swap.`,
      wanted: amountText(decision.payAmount, pay),
      allowed: amountText(held, pay),
    }
  }
  const worthUsd = usdOfAmount(amount, payPrice, pay.decimals)
  const leastUsd = context.limits.minOrderSizeUsd ?? 0n
  const minOutputAmount = leastOutOf(worthUsd, receive, context.slippageBps)
  if (worthUsd < leastUsd || minOutputAmount <= 0n) {
    return {
      code: 'ORDER_TOO_SMALL',
      reason: 'The swap is below the smallest allowed size.',
      wanted: formatDollars(worthUsd),
      allowed: `at least ${formatDollars(leastUsd)}`,
    }
  }
  return {
    terms: {
      ...plainTerms(classified, view, context),
      collateralToken: termsToken(pay),
      collateralDelta: amount,
      swap: { receiveToken: termsToken(receive), isNativeOut: false, minOutputAmount },
    },
    sizing: {
      wantedUsd: usdOfAmount(decision.payAmount, payPrice, pay.decimals),
      sizeDeltaUsd: worthUsd,
      cuts,
      dataAgeMs: Math.max(
        ageOf(context.snapshot, balances),
        view.oraclePrice ? ageOf(context.snapshot, view.oraclePrice) : 0,
      ),
    },
    reservationUsd: 0n,
  }
}

/**
 * The least that a swap of so much must give, units of the token received, rounded down and never negative: the fair amount at
 * our own price, on its dearer side, less slippage and `SWAP_COST_BPS`. 0 without a price.
 */
export function leastOutOf(worthUsd: Usd, receive: Token, slippageBps: number): TokenAmount {
  const price = receive.maxPrice ?? 0n
  if (price <= 0n) return 0n
  const fair = amountOfUsd(worthUsd, price, receive.decimals)
  const least = fair - bps(fair, slippageBps + SWAP_COST_BPS)
  return least > 0n ? least : 0n
}

function amountText(amount: TokenAmount, { decimals, symbol }: Token): string {
  return `${formatUnits(amount, decimals)} ${symbol}`
}
