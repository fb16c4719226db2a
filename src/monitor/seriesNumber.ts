/** Amounts as series have them; apart from the series themselves, which load their package: texts of a short command stand beside them. */
import { toDecimal, USD_DECIMALS, type Usd } from '../protocol/units.ts'

/** Returns US dollars as a number: a series is a float by nature, and nothing is ever computed from it again. */
export function asNumber(amount: Usd): number {
  return toDecimal(amount, USD_DECIMALS).toNumber()
}
