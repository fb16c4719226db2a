/** Equity of an account, for a kind that holds a share of it. Pure. */
import type { MarketView, Snapshot } from '../../../domain/snapshot.ts'
import { sameHex } from '../../../protocol/address.ts'
import { type Usd, usdOfAmount } from '../../../protocol/units.ts'

/**
 * The net value of all positions, and the wallet's balances of the pool tokens of these markets at their lower prices, USD;
 * undefined when it is not known: a list that lacks rows would make the account look poorer than it is.
 */
export function accountWorth(
  { balances, positions }: Snapshot,
  markets: readonly MarketView[],
): Usd | undefined {
  if (balances === undefined || balances.missing || positions.missing) return undefined
  let worth = positions.value.reduce((sum, { netValueUsd }) => sum + netValueUsd, 0n)
  const counted: string[] = []
  for (const token of markets.flatMap(({ longToken, shortToken }) => [longToken, shortToken])) {
    if (counted.some((address) => sameHex(address, token.address))) continue
    counted.push(token.address)
    const balance = balances.value.find(({ address }) => sameHex(address, token.address))?.balance ?? 0n
    if (balance === 0n) continue
    if (token.minPrice === undefined) return undefined
    worth += usdOfAmount(balance, token.minPrice, token.decimals)
  }
  return worth
}
