/** How much, and whether at all. */
import { type CountedLimits, type LimitName, type Limits, limitRows, limitsWith } from './limitTable.ts'

export type { AccountLimits, CountedLimits, LimitName, Limits } from './limitTable.ts'

/** Whether new orders may be made: all, only such as cannot add risk, or none. */
export type TradingState = 'active' | 'reducing' | 'halted'

/** Of some figures, which of two values of each is the tighter one. */
export type Tightness<T> = Readonly<Record<keyof T & string, 'less' | 'more'>>

/** Of each limit. */
export const limitTightness = Object.fromEntries(
  limitRows.map(([name, { tighter }]) => [name, tighter]),
) as Tightness<Limits>

/** Limits of what a scope has used up; a market's hold for what happened on it, a strategy's for its own orders. */
export const countedLimits = limitsWith('isCounted') as readonly (keyof CountedLimits & LimitName)[]

type Value = number | bigint | undefined

/** Whether `one` is the tighter of two values; an absent one does not limit. */
export function isTighter(rule: 'less' | 'more', one: Value, other: Value): boolean {
  if (one === undefined || one === other) return false
  if (other === undefined) return true
  return rule === 'less' ? one < other : one > other
}

/** Of each figure the tighter one of two sets. Pure; commutative and associative. */
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
