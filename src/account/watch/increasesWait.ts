/** Reasons why no order that adds risk is made now, whatever a strategy wishes: no host is available, or data that increases need is too old. */
import { isoTime } from '../../base/clock.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import type { Feed } from '../../domain/venueEvent.ts'

/** Part of a strategy's status: its schedule, and the reason why it gets no turns. */
interface AskedStrategy {
  readonly cadenceMs: number
  readonly symbols: readonly string[]
  readonly pausedBy?: unknown
  readonly pausedForMs?: number
  readonly unfit?: unknown
}

/** Facts for the judgement. Times in ms. */
export interface IncreaseFacts {
  /** True while every host of the application API is in cooldown. */
  readonly isNoHost: boolean
  readonly nowMs: number
  readonly feedAgesMs: Readonly<Partial<Record<Feed, number>>>
  /** The account's. */
  readonly limits: Limits
  /** Interval at which positions are read without any strategy. */
  readonly watchMs: number
  readonly strategies: readonly AskedStrategy[]
}

/** Reason of a denied increase while no host is available. */
export const NO_HOST_REASON =
  'every host of the application API is in cooldown; increases wait until one is back'

/** Tells whether every host of the application API is in cooldown. */
export function isNoHost(api: {
  readonly hosts: { readonly api: readonly string[] }
  readonly isCoolingDown: (host: string) => boolean
}): boolean {
  return api.hosts.api.every((host) => api.isCoolingDown(host))
}

/** Readings that an increase needs, each with the limit of its age. */
const needs: readonly (readonly [Feed, keyof Limits, string])[] = [
  ['positions', 'maxAccountAgeMs', 'positions'],
  ['oracle', 'maxOracleAgeMs', 'oracle prices'],
  ['tickers', 'maxTickerAgeMs', 'tickers'],
  ['capacity', 'maxCapacityAgeMs', 'trading capacities'],
]

/** Facts for judging readings that are too old. */
export type AgeFacts = Omit<IncreaseFacts, 'isNoHost'>

/** Age of a feed's newest reading, the age that increases accept, and the age beyond which it is too old, ms. */
interface JudgedAge {
  readonly feed: Feed
  readonly name: string
  readonly ageMs: number
  readonly limitMs: number
  readonly tooOldMs: number
}

/**
 * Returns the reasons, a sentence each; empty while increases are made. A feed is too old beyond its limit, and where it is read more seldom than
 * that, beyond two readings. A feed that only strategies read is not judged while none gets turns.
 */
export function increasesWait({ isNoHost, ...facts }: IncreaseFacts): readonly string[] {
  const old = judgedAges(facts)
    .filter(({ ageMs, tooOldMs }) => ageMs > tooOldMs)
    // The moment and not the age: it stays the same sentence while it lasts.
    .map(
      ({ name, ageMs, limitMs }) =>
        `the newest ${name} are of ${isoTime(facts.nowMs - ageMs)}, older than the limit of ${limitMs / 1_000} s (risk.maxDataAgeMs); increases wait`,
    )
  return [...(isNoHost ? [NO_HOST_REASON] : []), ...old]
}

/** For how long each feed has been too old by the judgement above, ms; 0 while it is not, and absent where it is not judged. */
export function overdueFeeds(facts: AgeFacts): Readonly<Partial<Record<Feed, number>>> {
  return Object.fromEntries(
    judgedAges(facts).map(({ feed, ageMs, tooOldMs }) => [feed, Math.max(0, ageMs - tooOldMs)]),
  )
}

function judgedAges(facts: AgeFacts): readonly JudgedAge[] {
  const { feedAgesMs, limits } = facts
  return needs.flatMap(([feed, own, name]) => {
    const [ageMs, everyMs] = [feedAgesMs[feed], readEveryMs(feed, facts)]
    if (ageMs === undefined || everyMs === undefined) return []
    const limitMs = Math.min(...[limits.maxDataAgeMs, limits[own]].map(orUnlimited))
    return [{ feed, name, ageMs, limitMs, tooOldMs: Math.max(limitMs, 2 * everyMs) }]
  })
}

/** Returns the longest interval between readings of a feed; undefined: nobody reads it now. */
function readEveryMs(feed: Feed, { watchMs, strategies }: AgeFacts): number | undefined {
  if (feed === 'positions') return watchMs
  const asked = strategies.filter(
    ({ symbols, pausedBy, pausedForMs, unfit }) =>
      symbols.length > 0 && pausedBy === undefined && pausedForMs === undefined && unfit === undefined,
  )
  return asked.length === 0 ? undefined : Math.min(...asked.map(({ cadenceMs }) => cadenceMs))
}

function orUnlimited(value: number | bigint | undefined): number {
  return value === undefined ? Number.POSITIVE_INFINITY : Number(value)
}
