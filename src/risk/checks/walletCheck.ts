/** Checks an order's payment against the wallet. */
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { OrderTerms } from '../../domain/order/orderTerms.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatUnits } from '../../protocol/units.ts'

/**
 * NO_BALANCE: the wallet holds less of the collateral than the order pays in. On the chain it would revert after it was
 * signed and sent. Where the balances were not read, nothing is said.
 */
export function checkBalance(
  { kind }: Decision,
  terms: OrderTerms,
  balances: NonNullable<Snapshot['balances']>['value'] | undefined,
): Denial | undefined {
  if (balances === undefined || (kind !== 'increase' && kind !== 'collateral-in')) return undefined
  const { address, symbol, decimals } = terms.collateralToken
  const held = balances.find((each) => sameHex(each.address, address))?.balance ?? 0n
  if (held >= terms.collateralDelta) return undefined
  const amount = (units: bigint) => `${formatUnits(units, decimals)} ${symbol}`
  return {
    code: 'NO_BALANCE',
    reason: `The wallet holds less ${symbol} than the order pays in.`,
    wanted: amount(terms.collateralDelta),
    allowed: amount(held),
  }
}
