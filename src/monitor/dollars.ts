/** Dollars for people's tools beside the exact integers of a JSON log line. */
import { MAX_UINT256, toDecimal, USD_DECIMALS } from '../protocol/units.ts'

/**
 * Fields with a decimal beside every exact amount: `size_delta_usd: "2500..."` (an integer with 30 decimals, as the venue has it)
 * gets `size_delta_dollars: "2500"`, and a price such as `execution_price` gets `execution_price_dollars`. In camel case
 * `feesUsd` gets `feesDollars`. Exact, without float: every digit is kept. What a strategy wrote itself (`facts`), figures that are
 * numbers already, and prices in the contracts' own units are left as they are.
 */
export function withDollars(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDollars)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      if (name === 'facts') return [[name, inner]]
      const amount = exactAmount(inner)
      const beside = amount === undefined ? undefined : dollarName(name)
      return amount === undefined || amount === MAX_UINT256 || beside === undefined || beside in value
        ? [[name, withDollars(inner)]]
        : [
            [name, inner],
            [beside, toDecimal(amount, USD_DECIMALS).toFixed()],
          ]
    }),
  )
}

/** Returns the name of the dollar field to add next to a field of this name; undefined where the name does not mean USD with 30 decimals. */
function dollarName(name: string): string | undefined {
  if (/_usd$/.test(name)) return name.replace(/usd$/, 'dollars')
  if (/Usd$/.test(name)) return name.replace(/Usd$/, 'Dollars')
  if (/contract_?price$|gas_?price$/i.test(name)) return undefined
  if (/_price$/.test(name)) return `${name}_dollars`
  return /Price$/.test(name) ? `${name}Dollars` : undefined
}

function exactAmount(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined
}
