/** Readings for an operator besides the status: figures of all markets, and the content of the wallet. They are read on request. */

import type { HasCatalogue } from '../account/accountParts.ts'
import { holdsPayment } from '../account/equity/equity.ts'
import { tolerate } from '../base/tolerate.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import type { HasAccount, HasApi, HasChainReader } from '../execution/context/executionParts.ts'
import type { MarketStanding } from '../market/marketCatalogue.ts'
import { positionFeesOf } from '../market/marketFees.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { JitDataStatus, MarketStatus, Token, TradingCapacity } from '../protocol/market.ts'
import { minOf, type TokenAmount, type Usd, usdOfAmount } from '../protocol/units.ts'
import { basisOf } from '../risk/exposure/availableCapacity.ts'

/** A market with its figures. What the venue does not say is null; rates are factors with 30 decimals an hour, signed. */
export interface MarketFigures extends MarketStanding {
  /** Trading state of the market; `delisted`: it takes only closes. */
  readonly status: MarketStatus | 'delisted'
  readonly markPrice: Usd | null
  /** Open interest of each side at the mark price, at entry prices where the venue says only that, USD. */
  readonly interestLongUsd: Usd | null
  readonly interestShortUsd: Usd | null
  /** Close less open of the last 24 hours by the open, bps, signed, cut to a whole number. */
  readonly change24hBps: bigint | null
  /** Negative: that side pays. */
  readonly fundingLong: bigint | null
  readonly fundingShort: bigint | null
  /** A cost. */
  readonly borrowingLong: bigint | null
  readonly borrowingShort: bigint | null
  /** Available capacity for increases as the venue says it, before our own limits; null while its data is not fresh. */
  readonly capacityLongUsd: Usd | null
  readonly capacityShortUsd: Usd | null
  /** Capacity from just-in-time liquidity; null while the market's data is not fresh. */
  readonly jitLong: JitShare | null
  readonly jitShort: JitShare | null
  /** Fee of a position's change, hundredths of a basis point of its size: where it balances the market, and where it does not. */
  readonly feeBalancingBps100: number | null
  readonly feeUnbalancingBps100: number | null
  /** Possible collateral of a position: the pool's two tokens; null while the venue's list of markets is missing. */
  readonly longToken: Address | null
  readonly shortToken: Address | null
  /** 10000 = 1x. */
  readonly maxLeverageBps: number | null
  /** Time when the figures were read, Unix ms. */
  readonly readAtMs: number | null
}

/** Just-in-time liquidity of one side, as the venue says it. */
export interface JitShare {
  /** Amount that it would add; it is in the capacity only where `dataStatus` is `available`. */
  readonly usd: Usd
  readonly dataStatus: JitDataStatus
}

/** One token of the wallet. */
export interface WalletToken {
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** Base units. */
  readonly amount: TokenAmount
  /** USD; null without a price. */
  readonly worthUsd: Usd | null
  /** True for the native coin, which pays gas and counts for no equity; keepers return unused execution fees in it. */
  readonly isNative: boolean
  /** True for the wrapped native coin: the relay returns the unused part of its fee in it. It counts for the equity. */
  readonly isWrapped: boolean
}

/** Holdings of the account. */
export interface BalanceReport {
  readonly account: Address
  readonly tokens: readonly WalletToken[]
  /** Worth of the tokens with a price, the native coin included. */
  readonly walletUsd: Usd
  /**
   * The native coin of it, which is gas and no part of the equity. The venue's list of balances omits it, so an endpoint of the chain is queried;
   * null where none answers, or the coin has no price.
   */
  readonly gasCoinUsd: Usd | null
  /** Payments that open orders hold. */
  readonly ordersUsd: Usd
  /** The orders that hold it. */
  readonly payingOrders: number
  /** Execution fees inside all open orders: gas, and no part of the equity. */
  readonly executionFeesUsd: Usd
  /** Sum of the equity's parts: wallet without the native coin, orders and positions, by these readings. */
  readonly sumUsd: Usd
  /** Proceeds of closing all positions now. */
  readonly positionsUsd: Usd
  readonly positions: number
  /** Time when the lists were read, Unix ms. */
  readonly readAtMs: number
  /** Rows that could not be read: the figures lack them. */
  readonly missing: number
}

/** Reads. */
export interface Reads {
  /** Returns every market that is known or listed. Unreadable figures are null; never rejects because of network faults. */
  markets(): Promise<readonly MarketFigures[]>
  /** Throws what the api throws. */
  balance(): Promise<BalanceReport>
}

/** Reads over the engine's parts. */
export function createReads(context: HasAccount & HasApi & HasCatalogue & HasChainReader): Reads {
  const { api, catalogue, chainReader } = context
  const account = accountOf(context)
  return {
    async markets() {
      const [listed, tickers, states, configs] = await Promise.all([
        tolerate(api.getMarkets()),
        tolerate(api.getMarketTickers()),
        tolerate(api.getMarketsState()),
        tolerate(api.getMarketsConfig()),
      ])
      const marketOf = byToken(listed?.value)
      const tickerOf = byToken(tickers?.value)
      const configOf = byToken(configs?.value)
      return catalogue.standings().map((standing): MarketFigures => {
        const key = hexKey(standing.marketToken)
        const [market, ticker, config] = [marketOf.get(key), tickerOf.get(key), configOf.get(key)]
        const fees = positionFeesOf(config)
        // A pool that only swaps has no price and no side.
        const price = ticker?.markPrice ?? 0n
        const isGone = listed !== undefined && market?.isListed !== true
        return {
          ...standing,
          status: isGone ? 'delisted' : (states?.value.get(key) ?? 'unknown'),
          markPrice: price > 0n ? price : null,
          interestLongUsd: ticker?.longInterestUsdMark ?? ticker?.longInterestUsd ?? null,
          interestShortUsd: ticker?.shortInterestUsdMark ?? ticker?.shortInterestUsd ?? null,
          change24hBps: ticker?.priceChange24hBps ?? null,
          fundingLong: ticker?.fundingRateLong ?? null,
          fundingShort: ticker?.fundingRateShort ?? null,
          borrowingLong: ticker?.borrowingRateLong ?? null,
          borrowingShort: ticker?.borrowingRateShort ?? null,
          capacityLongUsd: market?.isSpotOnly === true ? null : usable(ticker?.capacityLong),
          capacityShortUsd: market?.isSpotOnly === true ? null : usable(ticker?.capacityShort),
          jitLong: market?.isSpotOnly === true ? null : jitOf(ticker?.capacityLong),
          jitShort: market?.isSpotOnly === true ? null : jitOf(ticker?.capacityShort),
          feeBalancingBps100: fees.balancingBps100,
          feeUnbalancingBps100: fees.unbalancingBps100,
          longToken: market?.longToken ?? null,
          shortToken: market?.shortToken ?? null,
          maxLeverageBps: market?.maxLeverageBps ?? null,
          readAtMs: tickers?.readAtMs ?? null,
        }
      })
    },
    async balance() {
      const [balances, tokens, positions, orders, natives = []] = await Promise.all([
        api.getWalletBalances({ account }),
        api.getTokensInfo(),
        api.getPositions({ account }),
        api.getOrders({ account }),
        chainReader?.nativeBalances?.(account),
      ])
      const tokenOf = new Map(tokens.value.map((token) => [hexKey(token.address), token]))
      const native = tokens.value.find(({ isNative }) => isNative)
      const isListed = balances.value.some(({ address }) => tokenOf.get(hexKey(address))?.isNative === true)
      const [firstTold, ...othersTold] = natives
      const told =
        isListed || native === undefined || firstTold === undefined
          ? []
          : // Where two differ the lower one is shown, as of all that an endpoint alone says.
            [{ ...native, balance: minOf(firstTold, ...othersTold) }]
      const rows = [...balances.value, ...told].map(({ symbol, address, decimals, balance }): WalletToken => {
        const token = tokenOf.get(hexKey(address))
        const price = token?.minPrice
        return {
          symbol,
          address,
          decimals,
          amount: balance,
          worthUsd: price === undefined ? null : usdOfAmount(balance, price, decimals),
          isNative: token?.isNative === true,
          isWrapped: token?.isWrapped === true,
        }
      })
      const worth = (token: Token | undefined, amount: TokenAmount): Usd =>
        token?.minPrice === undefined ? 0n : usdOfAmount(amount, token.minPrice, token.decimals)
      const sumOf = (parts: readonly (Usd | null)[]): Usd =>
        parts.reduce<Usd>((sum, usd) => sum + (usd ?? 0n), 0n)
      const paying = orders.value.filter(holdsPayment)
      const walletUsd = sumOf(rows.map(({ worthUsd }) => worthUsd))
      const gasCoinUsd = rows.find(({ isNative }) => isNative)?.worthUsd ?? null
      const positionsUsd = sumOf(positions.value.map(({ netValueUsd }) => netValueUsd))
      const ordersUsd = sumOf(
        paying.map(({ initialCollateralToken, initialCollateralDeltaAmount }) =>
          worth(tokenOf.get(hexKey(initialCollateralToken)), initialCollateralDeltaAmount),
        ),
      )
      return {
        account,
        tokens: rows,
        walletUsd,
        gasCoinUsd,
        ordersUsd,
        payingOrders: paying.length,
        executionFeesUsd: sumOf(orders.value.map(({ executionFee = 0n }) => worth(native, executionFee))),
        sumUsd: walletUsd - (gasCoinUsd ?? 0n) + ordersUsd + positionsUsd,
        positionsUsd,
        positions: positions.value.length,
        readAtMs: Math.min(balances.readAtMs, positions.readAtMs, orders.readAtMs),
        missing: [balances, positions, orders].reduce((sum, { missing }) => sum + (missing?.length ?? 0), 0),
      }
    },
  }
}

function byToken<T extends { readonly marketToken: Address }>(
  rows: readonly T[] = [],
): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [hexKey(row.marketToken), row]))
}

/** The room that the venue says, by the field that counts; null while it says that its data is not fresh. */
function usable(capacity: TradingCapacity | undefined): Usd | null {
  if (capacity === undefined || capacity.marketDataStatus !== 'fresh') return null
  return capacity[basisOf(capacity)]
}

function jitOf(capacity: TradingCapacity | undefined): JitShare | null {
  if (capacity === undefined || capacity.marketDataStatus !== 'fresh') return null
  return { usd: capacity.jitAvailableLiquidity, dataStatus: capacity.jitDataStatus }
}
