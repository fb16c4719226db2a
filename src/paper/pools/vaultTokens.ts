/**
 * Tokens of the liquidity vaults at the oracle: the same vaults that `/apy` and the JIT reads name (jitPools.ts), with symbols of this
 * network's own pools (docs/reference/api-coverage.md O2). A vault token follows its long token with half of its worth; the other
 * half stands still, as the stable coin does. So a candle of it is exactly the candle of the long token, drawn smaller.
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import { type Candles, createCandles } from '../catalog/candles.ts'
import type { PriceRange, Prices } from '../catalog/prices.ts'
import { hashText, unit } from '../math/random.ts'
import type { VenueState } from '../state/venueState.ts'
import { jitVaults } from './jitPools.ts'

/** A token of a vault. */
export interface VaultToken {
  /** As `GLV [WETH-USDC]`. */
  readonly symbol: string
  readonly address: Address
  readonly decimals: 18
}

/** The vault tokens of a venue, their prices and candles by lower-case address. */
export interface VaultTokens {
  readonly tokens: readonly VaultToken[]
  readonly prices: Prices
  readonly candles: Candles
}

const memo = new WeakMap<VenueState, VaultTokens>()

/** The vault tokens of a venue. */
export function vaultTokensOf(venueState: VenueState): VaultTokens {
  const known = memo.get(venueState)
  if (known !== undefined) return known
  const made = makeVaultTokens(venueState)
  memo.set(venueState, made)
  return made
}

function makeVaultTokens(venueState: VenueState): VaultTokens {
  const { catalog, epochSeconds, prices, seed } = venueState
  const tokens: VaultToken[] = []
  /** By vault token: its long token, and how a price of that becomes one of the vault. */
  const paths = new Map<string, { readonly longKey: string; readonly priced: (long: bigint) => bigint }>()
  for (const { glv, poolName, markets } of jitVaults(venueState)) {
    const [market] = markets
    if (market === undefined) continue
    const longKey = catalog.priceKeyOf(market.longToken)
    const longAtStart = prices.medianAt(longKey, prices.stepAt(epochSeconds).startSeconds)
    if (longAtStart === undefined || longAtStart <= 0n) continue
    // Between $0.90 and $1.60 at the start, as the pool tokens are; contract price of 18 decimals.
    const milliUsd = 900 + Math.floor(700 * unit(hashText(`${seed}:${glv}:vault`), 0))
    const atStart = BigInt(milliUsd) * 10n ** 9n
    tokens.push({ symbol: `GLV [${poolName}]`, address: glv, decimals: 18 })
    paths.set(hexKey(glv), {
      longKey,
      priced: (long) => (atStart * (long + longAtStart)) / (2n * longAtStart),
    })
  }
  const along = <T>(
    key: string,
    read: (longKey: string, priced: (long: bigint) => bigint) => T,
  ): T | undefined => {
    const path = paths.get(key)
    return path === undefined ? undefined : read(path.longKey, path.priced)
  }
  const vaultPrices: Prices = {
    tokens: [...paths.keys()],
    stepAt: prices.stepAt,
    at: (key, seconds) =>
      along(key, (longKey, priced) => {
        const pair = prices.at(longKey, seconds)
        return pair && { min: priced(pair.min), max: priced(pair.max) }
      }),
    pairOf: (key, median) =>
      along(key, (longKey, priced) => {
        const pair = prices.pairOf(longKey, median)
        return pair && { min: priced(pair.min), max: priced(pair.max) }
      }),
    medianAt: (key, seconds) =>
      along(key, (longKey, priced) => {
        const median = prices.medianAt(longKey, seconds)
        return median === undefined ? undefined : priced(median)
      }),
    rangeOf: (key, fromSeconds, toSeconds) =>
      along(key, (longKey, priced): PriceRange | undefined => {
        const range = prices.rangeOf(longKey, fromSeconds, toSeconds)
        return (
          range && {
            open: priced(range.open),
            high: priced(range.high),
            low: priced(range.low),
            close: priced(range.close),
          }
        )
      }),
  }
  return { tokens, prices: vaultPrices, candles: createCandles(vaultPrices) }
}
