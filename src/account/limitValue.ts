/** Limits of the account as people write them, under `risk` of a configuration. Pure. */
import { typedDecimal } from '../base/typedNumber.ts'
import { type LimitName, limitRow, limitRows, limitSetting } from '../domain/limits/limits.ts'
import { NATIVE_DECIMALS, parseUnits, USD_DECIMALS } from '../protocol/units.ts'

/** All names. */
export const writtenLimits: readonly string[] = limitRows.map(([name]) => limitSetting(name))

/** The limit of a name: that of its setting, with `risk.` or without, or the code's. */
export function limitWritten(text: string): LimitName | undefined {
  const written = text.trim().replace(/^risk\./, '')
  return limitRows.map(([name]) => name).find((name) => name === written || limitSetting(name) === written)
}

/** A value as the code holds it; undefined: it is none, or out of its bounds. 0 is no limit, and so is none that is tighter. */
export function unitsOf(name: LimitName, text: string): bigint | number | undefined {
  const { unit, bounds = [1, 1_000_000_000] } = limitRow(name) ?? { unit: 'count' as const }
  const [places, isAmount] =
    unit === 'usd'
      ? [USD_DECIMALS, true]
      : unit === 'native'
        ? [NATIVE_DECIMALS, true]
        : [unit === 'times' ? 4 : 0, false]
  const plain = typedDecimal(text, places)
  if (plain === undefined) return undefined
  const units = parseUnits(plain, places)
  if (isAmount) return units
  const [least, most] = unit === 'times' ? [10_000, 2_000_000] : [Math.max(1, bounds[0]), bounds[1]]
  return units >= BigInt(least) && units <= BigInt(most) ? Number(units) : undefined
}

/** Describes the form of the limit's value. */
export function formOf(name: LimitName): string {
  const { unit, bounds = [1, 1_000_000_000] } = limitRow(name) ?? { unit: 'count' as const }
  const [least, most] = [Math.max(1, bounds[0]), bounds[1]]
  switch (unit) {
    case 'usd':
      return 'dollars above zero, as 2500 or 0.5'
    case 'native':
      return 'an amount of the native token above zero, as 0.01'
    case 'times':
      return 'a leverage from 1 to 200, as 5 or 2.5'
    default:
      return `a whole number from ${least} to ${most}${unit === 'count' ? '' : ` ${unit}`}`
  }
}
