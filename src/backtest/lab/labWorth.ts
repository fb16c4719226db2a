/** The lab's judge of money: what an account is worth by the venue's own state, whatever the daemon or a host says. */
import { ordersOfAccount, positionWorthUsd } from '../../paper/prepare/positionRows.ts'
import { accountOf, positionsOfAccount } from '../../paper/state/accounts.ts'
import { bringsCollateral, orderTypes } from '../../paper/state/orderTypes.ts'
import { tokenPrice, type VenueState } from '../../paper/state/venueState.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'

/** Amounts that an account has outside of positions, by lower-case token: wallet, claims, and what resting orders hold. */
export function amountsOf(venueState: VenueState, account: Address): ReadonlyMap<string, TokenAmount> {
  const amounts = new Map<string, TokenAmount>()
  const add = (token: string, amount: TokenAmount): void => {
    const key = hexKey(token)
    amounts.set(key, (amounts.get(key) ?? 0n) + amount)
  }
  const { balances, claimableFunding, claimableCollateral } = accountOf(venueState, account)
  // Claimable amounts are keyed by market and token.
  for (const map of [balances, claimableFunding, claimableCollateral])
    for (const [key, amount] of map) add(key.split(':').at(-1) ?? key, amount)
  const { wrappedNative } = venueState.chain.contracts
  for (const { params } of ordersOfAccount(venueState, account)) {
    const { addresses, numbers, orderType } = params
    const type = Number(orderType)
    const pays = bringsCollateral(type) || type === orderTypes.marketSwap || type === orderTypes.limitSwap
    if (pays) add(addresses.initialCollateralToken, numbers.initialCollateralDeltaAmount)
    add(wrappedNative, numbers.executionFee)
  }
  return amounts
}

/** The worth of one base unit of a token at a Unix second, USD: the middle of its prices, times two, so that it stays whole. */
function twicePriceOf(venueState: VenueState, tokenKey: string, seconds: number): bigint {
  const token = venueState.catalog.tokenByAddress.get(tokenKey)
  if (token === undefined) return 0n
  const { min, max } = tokenPrice(venueState, token, seconds)
  return min + max
}

/** Worth of an account at a moment. */
export interface AccountWorth {
  readonly equityUsd: Usd
  /** Sizes of open positions by side. */
  readonly longUsd: Usd
  readonly shortUsd: Usd
}

/** Values an account at a Unix second: amounts at the middle of their prices, positions at what closing them would pay. */
export function accountWorth(venueState: VenueState, account: Address, seconds: number): AccountWorth {
  let equityUsd = 0n
  for (const [token, amount] of amountsOf(venueState, account))
    equityUsd += (amount * twicePriceOf(venueState, token, seconds)) / 2n
  const sizes = { long: 0n, short: 0n }
  for (const record of positionsOfAccount(venueState, account)) {
    equityUsd += positionWorthUsd(venueState, record, seconds)
    sizes[record.state.side] += record.state.sizeInUsd
  }
  return { equityUsd, longUsd: sizes.long, shortUsd: sizes.short }
}

/** The middle of the prices of a market's index at a Unix second, USD per whole token. */
export function indexPriceOf(venueState: VenueState, symbol: string, seconds: number): Usd {
  const market = venueState.markets.find(({ catalog }) => catalog.symbol === symbol)
  if (market === undefined) throw new RangeError(`no market ${symbol}`)
  const { min, max } = tokenPrice(venueState, market.indexToken, seconds)
  return ((min + max) / 2n) * 10n ** BigInt(market.indexToken.decimals)
}
