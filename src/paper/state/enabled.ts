/** Disabled markets: no order is made or executed in them, and no swap goes through them, as the contracts refuse it. */
import { type Address, hexKey } from '../../protocol/address.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { namesMarket } from './dataFaults.ts'
import type { VenueState } from './venueState.ts'

/** Tells whether a market is enabled; an unknown market counts as enabled. */
export function isEnabled(venueState: VenueState, market: Address | string): boolean {
  return !namesMarket(venueState.dataFaults.disabledMarkets, hexKey(market))
}

/** Throws ProtocolRevert DisabledMarket when one of the markets is disabled. */
export function requireEnabled(venueState: VenueState, markets: readonly Address[]): void {
  const disabled = markets.find((market) => !isEnabled(venueState, market))
  if (disabled !== undefined) throw new ProtocolRevert('DisabledMarket', [disabled])
}
