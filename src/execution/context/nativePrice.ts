/**
 * Price of the chain's native token by our own oracle readings: fees are in it, and limits and fee tokens in dollars. The last undoubted price is
 * retained, however old: it bounds fees, and no order is priced by it.
 */
import type { Api } from '../../api/client.ts'
import { doubtsOf } from '../../api/priceSanity.ts'
import type { Clock } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { Usd } from '../../protocol/units.ts'

/** A move of so many times within the life of a process is a wrong reading of the service, not a market. */
const MOST_MOVE = 3n

/** Keeps the native token's price. */
export interface NativePrice {
  /** Reads anew unless the newest reading is younger, ms; never rejects because of network faults. */
  refresh(youngerThanMs: number): Promise<void>
  /** USD with 30 decimals per whole native token, the higher of the oracle's two; undefined before the first reading. */
  usd(): Usd | undefined
}

/** Makes it over the oracle's prices of the chain's wrapped native token. */
export function createNativePrice(
  api: Pick<Api, 'getOracleTokens' | 'getPrices'>,
  { contracts: { wrappedNative } }: Chain,
  clock: Clock,
): NativePrice {
  let known: { readonly max: Usd; readonly median: Usd } | undefined
  let readAtMs: number | undefined

  async function read(): Promise<void> {
    const tokens = await api.getOracleTokens()
    const decimals = new Map(tokens.value.map((token) => [hexKey(token.address), token.decimals]))
    const { value } = await api.getPrices((address) => decimals.get(hexKey(address)))
    const price = value.find(({ tokenAddress }) => sameHex(tokenAddress, wrappedNative))
    if (price === undefined) return
    const lastAccepted = known === undefined ? new Map() : new Map([[hexKey(wrappedNative), known.median]])
    if (doubtsOf([price], { tokens: [], lastAccepted, maxMoveFactor: MOST_MOVE }).length > 0) return
    known = { max: price.maxPrice, median: price.medianPrice }
    readAtMs = clock.monotonicMs()
  }

  return {
    async refresh(youngerThanMs) {
      if (readAtMs !== undefined && clock.monotonicMs() - readAtMs < youngerThanMs) return
      try {
        await read()
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
    },
    usd: () => known?.max,
  }
}
