/**
 * The limits in force: read at the start, tightened while the daemon runs, loosened only by a restart or when an operator confirms it. The journal
 * persists them, so that a start can report its changes.
 */

import { type BreakerName, breakerNames } from '../domain/accountRecords/tradingState.ts'
import type { DeskBudgets } from '../domain/limits/deskBudgets.ts'
import {
  deskLimitRows,
  isTighter,
  type Limits,
  limitReadable,
  limitSetName,
  limitText,
  limitTightness,
  type Tightness,
  tighten,
  tightenBy,
} from '../domain/limits/limits.ts'
import { type BreakerSettings, breakerTightness } from '../risk/breakers/circuitBreakers.ts'
import { type ConfiguredLimits, type LimitsInForce, limitsInForce } from './limitsInForce.ts'

/** One change of a limit. A value that is absent does not limit. */
export interface LimitChange {
  /** Empty for the account; a market's symbol, `strategy NAME`, or `breakers`. */
  readonly scope: string
  readonly limit: string
  readonly from: bigint | undefined
  readonly to: bigint | undefined
  readonly isTighter: boolean
}

/** A change, and whether it takes effect: not a looser value that nobody confirmed. */
export interface AppliedChange extends LimitChange {
  readonly isApplied: boolean
}

/** The limits in force, as they change. Each question is answered by those of the moment. */
export interface LiveLimits extends LimitsInForce {
  /** Returns the account's budgets of the desk's limits, as of now; undefined: the desk has none. */
  desk(): DeskBudgets | undefined
  /** Returns the present limits, an immutable value. */
  now(): LimitsInForce
  /** Returns the changes that accepting `next` would make, by scope and limit; nothing changes yet. */
  compare(next: ConfiguredLimits, isConfirmed: boolean): readonly AppliedChange[]
  /** Applies the tighter values of `next`, or all of it when an operator confirmed. */
  replace(next: ConfiguredLimits, isConfirmed: boolean): void
  /** A strategy begins with the limits of its file; without any it runs no more. */
  run(strategy: string, limits: Limits | undefined): void
}

/** Limits that begin with `first`. */
export function createLiveLimits(first: ConfiguredLimits): LiveLimits {
  let inForce = limitsInForce(first)
  const take = (next: ConfiguredLimits): void => {
    inForce = limitsInForce(next)
  }
  const current = () => inForce.current()
  return {
    current,
    on: (symbol, strategy) => inForce.on(symbol, strategy),
    ownOn: (strategy) => inForce.ownOn(strategy),
    countedOn: (symbol) => inForce.countedOn(symbol),
    desk: () => first.desk?.(),
    now: () => inForce,
    compare: (next, isConfirmed) =>
      changesOf(figuresOf(current()), figuresOf(known(current(), next))).map((change) => ({
        ...change,
        isApplied: isConfirmed || change.isTighter,
      })),
    replace(next, isConfirmed) {
      const { account, markets, strategies, breakers } = known(current(), next)
      if (isConfirmed) {
        take({ account, markets, strategies, breakers })
        return
      }
      take({
        account: tighten(current().account, account),
        markets: tightenEach(current().markets, markets),
        strategies: tightenEach(current().strategies, strategies),
        breakers: {
          ...tightenBy(breakerTightness, current().breakers, breakers),
          sets: statesOf(tightenBy(setTightness, haltsOf(current().breakers), haltsOf(breakers))),
        },
      })
    },
    run(strategy, limits) {
      const { [strategy]: _, ...others } = current().strategies
      take({ ...current(), strategies: limits === undefined ? others : { ...others, [strategy]: limits } })
    },
  }
}

/** Figures by `SCOPE|LIMIT`, as decimal text: the journal's form of the limits in force. */
export type Figures = Readonly<Record<string, string>>

/** All figures of a set. */
export function figuresOf({ account, markets, strategies, breakers }: ConfiguredLimits): Figures {
  const groups: readonly (readonly [string, Tightness<object>, object])[] = [
    ['', limitTightness, account],
    ...Object.entries(markets).map(([symbol, limits]) => [symbol, limitTightness, limits] as const),
    ...Object.entries(strategies).map(
      ([name, limits]) => [`strategy ${name}`, limitTightness, limits] as const,
    ),
    ['breakers', breakerTightness, breakers],
    ['breakers', setTightness, haltsOf(breakers)],
  ]
  return Object.fromEntries(
    groups.flatMap(([scope, tightness, values]) =>
      Object.keys(tightness).flatMap((name) => {
        const value = (values as Readonly<Record<string, bigint | number | undefined>>)[name]
        return value === undefined ? [] : [[`${scope}|${name}`, value.toString()]]
      }),
    ),
  )
}

/** Returns the changes from some figures to others, by scope and limit; a limit that this version does not know is left out. */
export function changesOf(from: Figures, to: Figures): readonly LimitChange[] {
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  const changes = keys.flatMap((key) => {
    const bar = key.lastIndexOf('|')
    const [scope, limit] = [key.slice(0, bar), key.slice(bar + 1)]
    const rule = ruleOf[limit]
    const [before, after] = [figureOf(from[key]), figureOf(to[key])]
    if (rule === undefined || before === after) return []
    return { scope, limit, from: before, to: after, isTighter: isTighter(rule, after, before) }
  })
  const order = Object.keys(ruleOf)
  return changes.sort(
    (one, other) =>
      Number(one.scope > other.scope) - Number(one.scope < other.scope) ||
      order.indexOf(one.limit) - order.indexOf(other.limit),
  )
}

/** Describes a change as it is reported and persisted. */
export function changeText({ limit, scope, from, to }: LimitChange): string {
  return `${scope === '' ? '' : `${scope} `}${limitSetName(scope, limit)} ${figureText(limit, from, limitReadable)} -> ${figureText(limit, to, limitReadable)}`
}

/** A limit in force, for people. `scope`: `account`, a market's symbol, `strategy NAME` or `breakers`. */
export interface LimitRow {
  readonly scope: string
  readonly limit: string
  readonly value: string
  /** Usage of the limit, written as `value`, and its share of the limit, bps: above 10000 when more is used. Absent: it counts nothing. */
  readonly used?: string
  readonly usedShareBps?: number
  /** The whole limit of all accounts, written as `value`, which is this account's budget of it. Absent: it is no limit of the desk. */
  readonly ofDesk?: string
}

/** A limit that is configured otherwise than it is in force; `configured` as `value` is. */
export interface WaitingLimit extends LimitRow {
  readonly configured: string
  /** True if it takes effect without a confirmation. */
  readonly isTighter: boolean
}

/** Returns changes as rows: the value in force of each, and the configured one. */
export function waitingLimits(changes: readonly LimitChange[]): readonly WaitingLimit[] {
  return changes.map(({ scope, limit, from, to, isTighter }) => ({
    scope: scope === '' ? 'account' : scope,
    limit,
    value: figureText(limit, from),
    configured: figureText(limit, to),
    isTighter,
  }))
}

/** Returns all limits that are set, the account's first. `usedOf`: usage of one, in its unit. */
export function limitRows(
  configured: ConfiguredLimits,
  usedOf: (scope: string, limit: string) => bigint | undefined = () => undefined,
): readonly LimitRow[] {
  return changesOf({}, figuresOf(configured)).map(({ scope: written, limit, to }) => {
    const scope = written === '' ? 'account' : written
    const row = { scope, limit, value: figureText(limit, to) }
    const used = usedOf(scope, limit)
    if (used === undefined || to === undefined || to <= 0n) return row
    return { ...row, used: figureText(limit, used), usedShareBps: Number((used * 10_000n) / to) }
  })
}

/** Returns the account's budgets of the desk's limits, with what is used of them. */
export function deskRows(budgets: DeskBudgets = {}): readonly LimitRow[] {
  return deskLimitRows.flatMap(([limit]) => {
    const own = budgets[limit]
    if (own === undefined) return []
    const text = (value: bigint) => limitText(limit, value)
    const row = {
      scope: 'desk',
      limit,
      value: text(own.budget),
      used: text(own.used),
      ofDesk: text(own.limit),
    }
    return [own.budget > 0n ? { ...row, usedShareBps: Number((own.used * 10_000n) / own.budget) } : row]
  })
}

function figureText(limit: string, value: bigint | undefined, textOf = limitText): string {
  if (setTightness[limit as BreakerName] !== undefined) return value === undefined ? 'reducing' : 'halted'
  if (value === undefined) return 'none'
  return textOf(limit, value)
}

/** `halted` is the tighter state that a breaker may set; `reducing`, which is the default, counts as no figure. */
const setTightness: Tightness<Record<BreakerName, number>> = Object.fromEntries(
  breakerNames.map((name) => [name, 'more']),
) as Tightness<Record<BreakerName, number>>

const ruleOf: Readonly<Record<string, 'less' | 'more'>> = {
  ...limitTightness,
  ...breakerTightness,
  ...setTightness,
}

function haltsOf({ sets }: BreakerSettings): Partial<Record<BreakerName, number>> {
  return Object.fromEntries(breakerNames.flatMap((name) => (sets[name] === 'halted' ? [[name, 1]] : [])))
}

function statesOf(halts: Partial<Record<BreakerName, number>>): BreakerSettings['sets'] {
  return Object.fromEntries(Object.keys(halts).map((name) => [name, 'halted']))
}

function figureOf(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}

/** Completes `next` with limits of running strategies that it omits, and drops strategies that do not run. */
function known(current: ConfiguredLimits, next: ConfiguredLimits): ConfiguredLimits {
  const strategies = Object.entries(current.strategies).map(([name, own]) => [
    name,
    next.strategies[name] ?? own,
  ])
  return { ...next, strategies: Object.fromEntries(strategies) }
}

function tightenEach(
  one: Readonly<Record<string, Limits>>,
  other: Readonly<Record<string, Limits>>,
): Readonly<Record<string, Limits>> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(names.map((name) => [name, tighten(one[name] ?? {}, other[name] ?? {})]))
}
