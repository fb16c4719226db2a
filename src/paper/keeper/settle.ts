/** Applies the common end of all executions: drafts become the markets' states, receivers are paid, funding is credited. */
import { type Address, hexKey } from '../../protocol/address.ts'
import type { MarketState } from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { accountOf, addTo, claimableKeyOf } from '../state/accounts.ts'
import { requireEnabled } from '../state/enabled.ts'
import type { MarketMove } from '../state/marketEvents.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { Account, OrderRecord } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

/** Replaces the states of the markets that an execution worked on, and gives what they were before. */
export function commit(
  venueState: VenueState,
  drafts: ReadonlyMap<string, MarketState>,
): readonly MarketMove[] {
  const moves: MarketMove[] = []
  for (const [key, draft] of drafts) {
    const market = venueState.marketByKey.get(key)
    if (market === undefined) continue
    moves.push({ market, before: market.state })
    market.state = draft
  }
  return moves
}

/** The market of an order on a position. Throws ProtocolRevert InvalidPositionMarket, DisabledMarket. */
export function positionMarketOf(venueState: VenueState, order: OrderRecord): VenueMarket {
  const market = venueState.marketByKey.get(hexKey(order.params.addresses.market))
  if (market === undefined || market.settings.isSpotOnly) {
    throw new ProtocolRevert('InvalidPositionMarket', [order.params.addresses.market])
  }
  requireEnabled(venueState, [market.catalog.marketToken])
  return market
}

/** Credits the funding that a position earned; it is claimable, never collateral. */
export function creditFunding(
  venueState: VenueState,
  market: VenueMarket,
  address: Address,
  fees: { readonly claimableLongTokenAmount: bigint; readonly claimableShortTokenAmount: bigint },
): void {
  const { claimableFunding } = accountOf(venueState, address)
  const credit = (token: Address, amount: bigint): void => {
    const key = claimableKeyOf(market.catalog.marketToken, token)
    if (amount > 0n) claimableFunding.set(key, (claimableFunding.get(key) ?? 0n) + amount)
  }
  credit(market.longToken.address, fees.claimableLongTokenAmount)
  credit(market.shortToken.address, fees.claimableShortTokenAmount)
}

/** Pays the receiver; wrapped native is unwrapped when the order says so. */
export function payOut(venueState: VenueState, order: OrderRecord, token: Address, amount: bigint): void {
  if (amount === 0n) return
  const receiver: Account = accountOf(venueState, order.params.addresses.receiver)
  const isWrappedNative = hexKey(token) === hexKey(venueState.chain.contracts.wrappedNative)
  const native = venueState.catalog.catalog.tokens.find((one) => one.isNative)
  const paid = isWrappedNative && order.params.shouldUnwrapNativeToken && native ? native.address : token
  addTo(receiver.balances, paid, amount)
}
