/** What all executions share: drafts become the markets' states, receivers are paid, funding is credited. */
import { type Address, hexKey } from '../domain/address.ts'
import { accountOf, addTo } from './accounts.ts'
import { requireEnabled } from './enabled.ts'
import type { MarketState } from './model/market.ts'
import { ProtocolRevert } from './model/revert.ts'
import type { WorldMarket } from './seedMarkets.ts'
import type { World } from './world.ts'
import type { Account, OrderRecord } from './worldRecords.ts'

/** Replaces the states of the markets that an execution worked on. */
export function commit(world: World, drafts: ReadonlyMap<string, MarketState>): void {
  for (const [key, draft] of drafts) {
    const market = world.marketByKey.get(key)
    if (market !== undefined) market.state = draft
  }
}

/** The market of an order on a position. Throws ProtocolRevert InvalidPositionMarket, DisabledMarket. */
export function positionMarketOf(world: World, order: OrderRecord): WorldMarket {
  const market = world.marketByKey.get(hexKey(order.params.addresses.market))
  if (market === undefined || market.settings.isSpotOnly) {
    throw new ProtocolRevert('InvalidPositionMarket', [order.params.addresses.market])
  }
  requireEnabled(world, [market.catalog.marketToken])
  return market
}

/** Credits the funding that a position earned; it is claimable, never collateral. */
export function creditFunding(
  world: World,
  market: WorldMarket,
  address: Address,
  fees: { readonly claimableLongTokenAmount: bigint; readonly claimableShortTokenAmount: bigint },
): void {
  const { claimableFunding } = accountOf(world, address)
  addTo(claimableFunding, market.longToken.address, fees.claimableLongTokenAmount)
  addTo(claimableFunding, market.shortToken.address, fees.claimableShortTokenAmount)
}

/** Pays the receiver; wrapped native is unwrapped when the order says so. */
export function payOut(world: World, order: OrderRecord, token: Address, amount: bigint): void {
  if (amount === 0n) return
  const receiver: Account = accountOf(world, order.params.addresses.receiver)
  const isWrappedNative = hexKey(token) === hexKey(world.chain.contracts.wrappedNative)
  const native = world.catalog.catalog.tokens.find((one) => one.isNative)
  const paid = isWrappedNative && order.params.shouldUnwrapNativeToken && native ? native.address : token
  addTo(receiver.balances, paid, amount)
}
