/** Limits on amounts, and on trading at all. */
import {
  formatDollars,
  formatUnits,
  NATIVE_DECIMALS,
  type TokenAmount,
  type Usd,
} from '../../protocol/units.ts'
import { type LimitRow, type LimitUnit, limitTable } from './limitTable.ts'

/** Permission for new orders: all of them, only those that cannot add risk, or none. */
export type TradingState = 'active' | 'reducing' | 'halted'

/** A limit's name. */
export type LimitName = keyof typeof limitTable

/** Limits whose row has a mark. */
type Marked<Mark extends object> = {
  [K in LimitName]: (typeof limitTable)[K] extends Mark ? K : never
}[LimitName]

/** Type of a limit's value in the code. */
type ValueOf<Unit extends LimitUnit> = Unit extends 'usd' ? Usd : Unit extends 'native' ? TokenAmount : number

/** Limits of one strategy, of one market or of the whole account; an absent field does not limit. Units are in the names. */
export type Limits = { readonly [K in LimitName]?: ValueOf<(typeof limitTable)[K]['unit']> }

/** The account's: those that are always set, and the rest. */
export type AccountLimits = Limits & Required<Omit<Limits, Marked<{ readonly isOptional: true }>>>

/** Limits on usage. */
export type CountedLimits = Pick<Limits, Marked<{ readonly isCounted: true }>>

/** Name of a limit that may be set for all accounts of a process together. */
export type DeskLimitName = Marked<{ readonly ofDesk: object }>

/** The limits of positions and orders in flight. */
export type ExposureLimits = Pick<Limits, Marked<{ readonly isExposure: true }>>

/** All rows with their names, in the table's order. */
export const limitRows = Object.entries(limitTable) as readonly (readonly [LimitName, LimitRow])[]

/** The row of that name, or undefined when no limit is called so. */
export function limitRow(name: string): LimitRow | undefined {
  return Object.hasOwn(limitTable, name) ? limitTable[name as LimitName] : undefined
}

/** Names of the limits whose row has a mark. */
export function limitsWith(
  mark: 'isOptional' | 'isOfNoMarket' | 'isExposure' | 'isCounted' | 'isLoss' | 'isEquityShare',
): readonly LimitName[] {
  return limitRows.filter(([, row]) => row[mark] === true).map(([name]) => name)
}

/** The rows of limits that may be set for all accounts of a process together, with their names. */
export const deskLimitRows = limitRows.flatMap(([name, { ofDesk, ...row }]) =>
  ofDesk === undefined ? [] : [[name as DeskLimitName, { ...row, ofDesk }] as const],
)

/** The name of a limit's setting under `risk`: a leverage is written in times. */
export type LimitSetting<K extends LimitName> = (typeof limitTable)[K]['unit'] extends 'times'
  ? K extends `${infer Times}Bps`
    ? Times
    : K
  : K

/** Returns the name of a limit's setting under `risk`. */
export function limitSetting<K extends LimitName>(name: K): LimitSetting<K> {
  const written = limitTable[name].unit === 'times' ? name.replace(/Bps$/, '') : name
  return written as LimitSetting<K>
}

/** The name of a limit in a strategy file, where times are seconds. */
export function limitField(name: LimitName): string {
  return limitTable[name].unit === 'ms' ? name.replace(/Ms$/, 'Seconds') : limitSetting(name)
}

/** Settings of breakers that the code holds in another unit. */
const breakerSettings: Readonly<Record<string, string>> = {
  unknownAgeMs: 'unknownSeconds',
  staleMs: 'staleSeconds',
  reserveSeconds: 'reserveMinutes',
}

/**
 * The name by which people set a limit of the scope (`strategy NAME`, `breakers`, empty or `account` for the account, a market's symbol):
 * of a strategy the field of its file, of all else the setting.
 */
export function limitSetName(scope: string, name: string): string {
  if (limitRow(name) === undefined) return breakerSettings[name] ?? name
  const known = name as LimitName
  return scope.startsWith('strategy ') ? limitField(known) : limitSetting(known)
}

/** A value of a limit for people. */
export function limitText(name: string, value: bigint | number): string {
  const unit = limitRow(name)?.unit
  if (unit === 'native') return formatUnits(BigInt(value), NATIVE_DECIMALS)
  return unit === 'usd' ? formatDollars(BigInt(value)) : String(value)
}

/**
 * The same with the unit that a trader reads: `10x`, `5% (500 bps)`, `15 s (15000 ms)`. The end of the name selects it, so that breakers' figures
 * read alike.
 */
export function limitReadable(name: string, value: bigint | number): string {
  const text = limitText(name, value)
  const unit = limitRow(name)?.unit
  if (unit === 'times') return `${Number(value) / 10_000}x`
  if (name.endsWith('Bps')) return `${Number(value) / 100}% (${text} bps)`
  if (name.endsWith('Ms')) {
    const seconds = `${Number(value) / 1_000} s`
    return breakerSettings[name] === undefined ? `${seconds} (${text} ms)` : seconds
  }
  return name.endsWith('Seconds') ? `${text} s` : text
}

/** Says for each figure which of two values is the tighter one. */
export type Tightness<T> = Readonly<Record<keyof T & string, 'less' | 'more'>>

/** Tightness of each limit. */
export const limitTightness = Object.fromEntries(
  limitRows.map(([name, { tighter }]) => [name, tighter]),
) as Tightness<Limits>

/** Limits on usage: a market's limit counts everything that happened on it, a strategy's limit counts its own orders. */
export const countedLimits = limitsWith('isCounted') as readonly (keyof CountedLimits & LimitName)[]

type Value = number | bigint | undefined

/** Tells whether `one` is the tighter of two values; an absent one does not limit. */
export function isTighter(rule: 'less' | 'more', one: Value, other: Value): boolean {
  if (one === undefined || one === other) return false
  if (other === undefined) return true
  return rule === 'less' ? one < other : one > other
}

/** Takes the tighter value of each figure from two sets. Pure; commutative and associative. */
export function tightenBy<K extends string, T extends { readonly [P in K]?: Value }>(
  tightness: Readonly<Record<K, 'less' | 'more'>>,
  one: T,
  other: T,
): Pick<T, K & keyof T> {
  const [first, second] = [one, other] as readonly Readonly<Record<string, Value>>[]
  const entries = Object.entries<'less' | 'more'>(tightness).map(([name, rule]) => [
    name,
    isTighter(rule, second?.[name], first?.[name]) ? second?.[name] : first?.[name],
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Pick<T, K & keyof T>
}

/** The limits that satisfy both: of each field the tighter one. Pure; commutative and associative. */
export function tighten(one: Limits, other: Limits): Limits {
  return tightenBy(limitTightness, one, other)
}

/** The stricter of two trading states. */
export function stricter(one: TradingState, other: TradingState): TradingState {
  const rank = { active: 0, reducing: 1, halted: 2 } as const
  return rank[one] >= rank[other] ? one : other
}
