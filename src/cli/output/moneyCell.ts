/** Amounts of dollars in the columns of a table. Pure. */
import { toCents } from '../../books/wholeCents.ts'
import { money } from '../../monitor/text.ts'
import { parseUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'

const centUsd = parseUnits('0.01', USD_DECIMALS)

/** An amount in whole cents, so that a column reads as one: what is less than a cent is `<$0.01`, or `-<$0.01`; `--json` has it all. */
export function moneyCell(amount: Usd): string {
  if (amount === 0n || amount >= centUsd || amount <= -centUsd) return money(amount)
  return amount > 0n ? '<$0.01' : '-<$0.01'
}

/** An amount in the whole cents that a table's sums gave it; `<$0.01` where something was rounded to nothing. */
export function centsCell(amount: Usd, cents: Usd): string {
  return cents === 0n && amount !== 0n ? (amount > 0n ? '<$0.01' : '-<$0.01') : money(cents)
}

/** The sum of amounts as their cells show them, in whole cents, USD: what a screen adds up equals its sum. */
export function sumOfShown(amounts: readonly Usd[]): Usd {
  return amounts.reduce((sum, amount) => sum + toCents(amount), 0n)
}
