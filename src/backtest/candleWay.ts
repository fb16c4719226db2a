/** The way of the price inside each candle of a run: to the extreme that hurts what is held first, so that a stop comes before a target. */

import type { CandleWay } from '../paper/catalog/historyPrices.ts'
import { assetOf } from '../paper/catalog/prices.ts'
import { positionsOfAccount } from '../paper/state/accounts.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import type { Address } from '../protocol/address.ts'

/**
 * Chooses the way of each candle once, at its beginning or when it is first asked for, by what the account holds of the asset then, in all of its markets:
 * longs meet the low first, shorts the high; of both the larger side counts. Without a position the nearer extreme comes first.
 *
 * @param world the venue, once there is one; undefined before
 */
export function stopFirst(
  world: () => VenueState | undefined,
  nowSeconds: () => number,
  account: Address,
  asset: string,
  periodSeconds: number,
): (startSeconds: number) => CandleWay {
  let chosen: { readonly startSeconds: number; readonly way: CandleWay } | undefined
  const wayNow = (): CandleWay => {
    const venueState = world()
    if (venueState === undefined) return 'nearer first'
    const sizes = { long: 0n, short: 0n }
    for (const { marketKey, state } of positionsOfAccount(venueState, account)) {
      const market = venueState.marketByKey.get(marketKey)
      if (market !== undefined && assetOf(market.indexToken) === asset) sizes[state.side] += state.sizeInUsd
    }
    if (sizes.long === sizes.short) return 'nearer first'
    return sizes.long > sizes.short ? 'low first' : 'high first'
  }
  return (startSeconds) => {
    if (chosen?.startSeconds === startSeconds) return chosen.way
    const now = nowSeconds()
    if (startSeconds > now) return 'unknown'
    // The ends and extremes of a candle that is over matter alone.
    if (startSeconds + periodSeconds <= now) return 'nearer first'
    chosen = { startSeconds, way: wayNow() }
    return chosen.way
  }
}
