/** A position that the account of a trial has before the daemon starts, opened by somebody else: for keepers, which open none. */
import { commit } from '../../paper/keeper/settle.ts'
import { increasePosition } from '../../paper/math/increase.ts'
import { cloneMarket } from '../../paper/math/marketState.ts'
import { storePosition } from '../../paper/state/accounts.ts'
import { findMarket } from '../../paper/state/lookup.ts'
import { marketPrices, slotToken, type VenueState } from '../../paper/state/venueState.ts'
import type { Address } from '../../protocol/address.ts'
import { positionKeyOf } from '../../protocol/signing/relayRouter.ts'
import { usd } from '../../protocol/units.ts'

/** Size of the position, USD, and its leverage. */
export const [GIVEN_USD, GIVEN_LEVERAGE] = [usd(2_000), 10n]

/** Opens a long for the account at a Unix second, with the market's short token as collateral; a venue that takes no increases has it from before. */
export function givePosition(venueState: VenueState, account: Address, symbol: string, second: number): void {
  const market = findMarket(venueState, symbol)
  if (market === undefined) throw new RangeError(`no market ${symbol}`)
  const { catalog, key, settings } = market
  const collateralToken = slotToken(market, 1)
  const prices = marketPrices(venueState, market, second)
  const draft = cloneMarket(market.state)
  const { long, short } = settings.maxOpenInterest
  const { position } = increasePosition(
    { ...settings, maxOpenInterest: { long: long + GIVEN_USD, short } },
    draft,
    undefined,
    {
      side: 'long',
      slot: 1,
      sizeDeltaUsd: GIVEN_USD,
      collateralAmount: GIVEN_USD / GIVEN_LEVERAGE / prices.short.min,
    },
    prices,
    second,
  )
  commit(venueState, new Map([[key, draft]]))
  const contractKey = positionKeyOf(account, catalog.marketToken, collateralToken.address, true)
  storePosition(
    venueState,
    { contractKey, account, marketKey: key, collateralToken, state: position },
    position,
  )
}
