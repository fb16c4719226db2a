/**
 * The hosts of both APIs and of the pair feeds: which one is asked next, which ones rest, how many requests a second each
 * gets, and how far its clock is from ours. Which hosts a route may use is data (`HostLists`).
 *
 * **Rotation.** The application API's hosts are peers and take turns; the oracle's have an order, primary first.
 * **Rest.** A host that fails several times in a row rests, longer each time, and is then probed by a single request. A
 * host may be told to rest (a 429, a poisoned payload). Reads use a resting host when all of them rest, prepare does not
 * use one that was told to rest for a reason of trust.
 * **Rate.** Reads wait for their turn in a token bucket. Writes never wait; they take their token from later reads.
 */
import type { Clock } from '../domain/clock.ts'
import type { ApiLimits } from './limits.ts'

/**
 * What a host serves: the application API, the oracle price service, the pair summaries for listings, or the Solana pair
 * feed, which has one path and no other.
 */
export type Service = 'api' | 'oracle' | 'pairFeed' | 'solanaFeed'

/** Base addresses in use, in the configured order. A service without hosts is not asked. */
export interface HostLists {
  /** Peers of equal rank, with the version segment: `https://arbitrum.host/v1`. */
  readonly api: readonly string[]
  /** Primary first, then the fallbacks. */
  readonly oracle: readonly string[]
  /** `{pair_feed_url}`, without a path. */
  readonly pairFeed?: readonly string[]
  /** `{solana_api_url}`, without a path. */
  readonly solanaFeed?: readonly string[]
  /**
   * Hosts of single routes instead of their service's, by service and path: `oracle /signed_prices/latest`. The oracle
   * document gives fallback hosts to some market reads only and does not name them; here an operator can.
   */
  readonly byRoute?: Readonly<Record<string, readonly string[]>>
}

/** What decides which hosts may be asked. */
export interface HostUser {
  readonly service: Service
  /** Path template. */
  readonly path: string
}

/** A host began to rest. */
export interface HostRest {
  readonly host: string
  readonly restMs: number
  readonly reason: string
}

interface HostState {
  readonly base: string
  /** Failures since the last success. */
  failures: number
  /** Times it began to rest since the last success; each one is longer. */
  rests: number
  restUntilMs: number
  /** Until when it is not trusted with new orders. */
  distrustUntilMs: number
  isProbing: boolean
  /** When the bucket has its next token, if it is empty (generic cell rate); and the bucket of history. */
  nextTokenMs: number
  nextHistoryTokenMs: number
  /** Readings of the host's clock less our monotonic one, ms: a jump of our wall clock does not reach them. */
  readonly clocksMs: number[]
}

/** What the transport asks of its hosts. */
export interface Hosts {
  readonly lists: HostLists
  /** Base addresses that a route may use, in the configured order. */
  basesOf(route: HostUser): readonly string[]
  /** Whether a base address is in any of the lists. */
  isKnown(base: string): boolean
  /** The host to ask next; `avoid` are those that failed in this call already. Undefined when none may be asked. */
  choose(route: HostUser, options: { avoid: ReadonlySet<string>; needsTrust: boolean }): string | undefined
  /** How long until this host may be asked again for a read, ms; takes the token. */
  takeTurn(host: string): number
  /**
   * The same for a read of history, which has one of every `share` tokens and then takes its turn like any other: how long
   * until it may do so, ms.
   */
  takeHistoryTurn(host: string, share: number): number
  /** The chosen host was not asked after all. */
  released(host: string): void
  succeeded(host: string): void
  failed(host: string, reason: string): void
  /** Keeps requests away for a while; `isDistrust` keeps new orders away even if every host rests. */
  rest(host: string, restMs: number, reason: string, isDistrust: boolean): void
  isResting(host: string): boolean
  /** One reading of the host's clock: its `Date` (whole seconds) against the middle of our request, which has just ended. */
  sawClock(host: string, serverDateMs: number, tookMs: number): void
  clockSkewMs(host: string): number | undefined
}

/** Readings kept for the skew estimate: odd, so that the median is one of them. */
const SKEW_READINGS = 9

/** Half of the second that a `Date` header leaves unsaid. */
const HALF_DATE_STEP_MS = 500

/** Base addresses are compared as text: no slash at the end. */
export function baseAddress(url: string): string {
  return url.replace(/\/+$/, '')
}

function withBaseAddresses({ api, oracle, pairFeed, solanaFeed, byRoute }: HostLists): HostLists {
  return {
    api: api.map(baseAddress),
    oracle: oracle.map(baseAddress),
    ...(pairFeed && { pairFeed: pairFeed.map(baseAddress) }),
    ...(solanaFeed && { solanaFeed: solanaFeed.map(baseAddress) }),
    ...(byRoute && {
      byRoute: Object.fromEntries(
        Object.entries(byRoute).map(([route, bases]) => [route, bases.map(baseAddress)]),
      ),
    }),
  }
}

/** Makes the host book. Pure but for the clock. */
export function createHosts(options: {
  readonly hosts: HostLists
  readonly clock: Clock
  readonly limits: ApiLimits
  readonly onRest: (rest: HostRest) => void
}): Hosts {
  const { clock, limits, onRest } = options
  const lists = withBaseAddresses(options.hosts)
  const known = new Set([
    ...[lists.api, lists.oracle, lists.pairFeed ?? [], lists.solanaFeed ?? []].flat(),
    ...Object.values(lists.byRoute ?? {}).flat(),
  ])
  const states = new Map<string, HostState>()
  let turn = 0

  // A host that is not in the lists can still hold an order chain of an earlier configuration.
  function stateOf(base: string): HostState {
    let state = states.get(base)
    if (state === undefined) {
      state = {
        base,
        failures: 0,
        rests: 0,
        restUntilMs: 0,
        distrustUntilMs: 0,
        isProbing: false,
        nextTokenMs: 0,
        nextHistoryTokenMs: 0,
        clocksMs: [],
      }
      states.set(base, state)
    }
    return state
  }

  function isAwake(state: HostState, now: number): boolean {
    if (state.restUntilMs > now) return false
    return state.rests === 0 || !state.isProbing
  }

  function rest(host: string, restMs: number, reason: string, isDistrust: boolean): void {
    const state = stateOf(host)
    const until = clock.monotonicMs() + restMs
    state.restUntilMs = Math.max(state.restUntilMs, until)
    if (isDistrust) state.distrustUntilMs = Math.max(state.distrustUntilMs, until)
    state.isProbing = false
    onRest({ host, restMs, reason })
  }

  /** Takes one of every `share` tokens of a host's rate; gives how long until it is there, ms. */
  function takeToken(state: HostState, next: 'nextTokenMs' | 'nextHistoryTokenMs', share: number): number {
    const rate = limits.requestsPerSecondPerHost
    if (!Number.isFinite(rate)) return 0
    const now = clock.monotonicMs()
    const stepMs = (1000 / rate) * share
    const burst = Math.max(1, Math.floor(limits.burstPerHost / share))
    const waitMs = Math.max(0, state[next] - (burst - 1) * stepMs - now)
    state[next] = Math.max(state[next], now) + stepMs
    return waitMs
  }

  function basesOf({ service, path }: HostUser): readonly string[] {
    return lists.byRoute?.[`${service} ${path}`] ?? lists[service] ?? []
  }

  return {
    lists,
    basesOf,
    isKnown: (base) => known.has(base),
    rest,

    choose(route, { avoid, needsTrust }) {
      const now = clock.monotonicMs()
      const bases = basesOf(route)
      const start = route.service === 'api' ? turn++ % Math.max(1, bases.length) : 0
      const order = bases.map((_, index) => stateOf(bases[(start + index) % bases.length] ?? ''))
      const trusted = needsTrust ? order.filter((state) => state.distrustUntilMs <= now) : order
      const awake = trusted.filter((state) => isAwake(state, now))
      const chosen =
        awake.find((state) => !avoid.has(state.base)) ??
        awake[0] ??
        trusted.toSorted((one, other) => one.restUntilMs - other.restUntilMs)[0]
      if (chosen === undefined) return undefined
      if (chosen.rests > 0) chosen.isProbing = true
      return chosen.base
    },

    takeTurn: (host) => takeToken(stateOf(host), 'nextTokenMs', 1),
    takeHistoryTurn: (host, share) => takeToken(stateOf(host), 'nextHistoryTokenMs', share),

    released(host) {
      stateOf(host).isProbing = false
    },

    succeeded(host) {
      const state = stateOf(host)
      state.failures = 0
      state.rests = 0
      state.isProbing = false
    },

    failed(host, reason) {
      const state = stateOf(host)
      const wasProbe = state.isProbing
      state.isProbing = false
      state.failures += 1
      if (!wasProbe && state.failures < limits.failuresToRest) return
      const restMs = Math.min(limits.restMs * 2 ** state.rests, limits.restMaxMs)
      state.rests += 1
      state.failures = 0
      rest(host, restMs, reason, false)
    },

    isResting(host) {
      return stateOf(host).restUntilMs > clock.monotonicMs()
    },

    sawClock(host, serverDateMs, tookMs) {
      const { clocksMs } = stateOf(host)
      const middleMs = clock.monotonicMs() - tookMs / 2
      clocksMs.push(serverDateMs + HALF_DATE_STEP_MS - middleMs)
      if (clocksMs.length > SKEW_READINGS) clocksMs.shift()
    },

    clockSkewMs(host) {
      const readings = states.get(baseAddress(host))?.clocksMs.toSorted((one, other) => one - other)
      const median = readings?.[Math.floor(readings.length / 2)]
      return median === undefined ? undefined : median + clock.monotonicMs() - clock.now()
    },
  }
}
