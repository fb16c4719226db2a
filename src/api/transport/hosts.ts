/**
 * The hosts of both APIs and of the pair feeds: which one is asked next, which ones rest, how many requests a second each
 * gets, and how far its clock is from ours. Which hosts a route may use is data (`HostLists`).
 *
 * **Rotation.** The application API's hosts are peers and take turns, the first family first; the oracle's have an order,
 * primary first.
 * **Rest.** A host that fails several times in a row rests, longer each time, and is then probed by a single request. One
 * that hangs rests at once while a peer is well, and is probed beside a request that the peer answers, so that nobody
 * waits for a host that stays dead. A host may be told to rest (a 429 or a 503 that says how long, a payload mismatch).
 * Reads use a host in cooldown when all of them rest, prepare does not use one that was told to rest for a reason of
 * trust.
 * **Old prices.** A host whose prices are stale is left for those whose prices do not, and looked at again ever more seldom.
 * **Rate.** Reads wait for their turn in a token bucket. Writes never wait; they take their token from later reads.
 */
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { createHostClocks, type TimedRequest } from './hostClocks.ts'
import type { ApiLimits } from './requestLimits.ts'

/**
 * Service of a host: the application API, the oracle price service, the pair summaries for listings, or the Solana pair feed. The Solana pair feed
 * has one path and no other.
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
   * Hosts of single routes instead of their service's, by service and path: `oracle /signed_prices/latest`. The oracle's
   * document gives fallback hosts to some market reads only and does not name them; here an operator can.
   */
  readonly byRoute?: Readonly<Record<string, readonly string[]>>
}

/** Facts about a request that decide which hosts may receive it. */
export interface HostUser {
  readonly service: Service
  /** Path template. */
  readonly path: string
}

/** A host's prices are stale, or go on again. */
export interface HostPrices {
  readonly host: string
  readonly isStale: boolean
  /** Age of its newest price by its own stamp, ms. */
  readonly ageMs: number
}

/** A host began to rest. */
export interface HostCooldown {
  readonly host: string
  readonly cooldownMs: number
  readonly reason: string
  /** Outcome of the failed request that caused the cooldown; absent: a response caused it. */
  readonly outcome?: string
  /** With it every host of the application API, or of the oracle, is in cooldown. */
  readonly isLast?: true
}

/** A request that came to nothing at a host. */
export interface HostFailure {
  readonly reason: string
  /** Outcome in a word (`AttemptOutcome`). */
  readonly outcome: string
  /** It let the request wait in vain. */
  readonly isHung: boolean
}

interface HostState {
  readonly base: string
  /** Failures since the last success. */
  failures: number
  /** Times it began to rest since the last success; each one is longer. */
  cooldowns: number
  cooldownUntilMs: number
  /** Until when it rests after failures alone, which a good answer ends. */
  failedUntilMs: number
  /** Until when it is not trusted with new orders. */
  distrustUntilMs: number
  isProbing: boolean
  /** When the reads in the air began, monotonic ms, oldest first. */
  readonly pending: number[]
  /** Its last failure was to let a request wait in vain. */
  isHung: boolean
  /** Set while its prices are stale: the stamp of the newest, how often it was found so, and until when it is left alone. */
  stale: { readonly madeAtMs: number; readonly times: number; readonly untilMs: number } | undefined
  /** When the bucket has its next token, if it is empty (generic cell rate); and the bucket of history. */
  nextTokenMs: number
  nextHistoryTokenMs: number
}

/** The hosts, as the transport uses them. */
export interface Hosts {
  readonly lists: HostLists
  /** Base addresses that a route may use, in the configured order. */
  basesOf(route: HostUser): readonly string[]
  /** Tells whether a base address is in any of the lists. */
  isKnown(base: string): boolean
  /** The host to ask next; `avoid` are those that failed in this call already. Undefined when none may be asked. */
  choose(route: HostUser, options: { avoid: ReadonlySet<string>; needsTrust: boolean }): string | undefined
  /**
   * A host that is well and was not asked in this call, for an answer that is not good enough. `madeAtMs`: the stamp of old
   * prices; one whose prices are known to be old too is asked then if they were younger.
   */
  another(route: HostUser, asked: ReadonlySet<string>, madeAtMs: number | undefined): string | undefined
  /** A hung host whose rest is over and that is to be probed beside a request to `chosen`, which is well. It counts as probed now. */
  probeBeside(route: HostUser, chosen: string): string | undefined
  /** Returns the time until this host may be asked again for a read, ms; takes the token. */
  takeTurn(host: string): number
  /**
   * The same for a read of history, which has one of every `share` tokens and then takes its turn like any other: how long
   * until it may do so, ms.
   */
  takeHistoryTurn(host: string, share: number): number
  /** The chosen host was not asked after all. */
  released(host: string): void
  /** A read leaves for the host; gives what to call when it is over. */
  began(host: string): () => void
  succeeded(host: string): void
  /** One that hung is too dear to be tried a few times more while a peer is well. */
  failed(host: string, failure: HostFailure): void
  /** Notes the age of the host's newest price: hosts with prices older than `limits.maxPriceAgeMs` are passed over for others. */
  sawPrices(host: string, ageMs: number, madeAtMs: number): void
  /** Puts a host in cooldown; `isDistrust` keeps new orders away even if every host is in cooldown. */
  coolDown(host: string, cooldownMs: number, reason: string, isDistrust: boolean): void
  isCoolingDown(host: string): boolean
  /** As `HostClocks.saw` and `HostClocks.skewMs`. */
  sawClock(host: string, serverDateMs: number, request: TimedRequest): void
  clockSkewMs(host: string): number | undefined
}

/** A host that has let a read wait this long is not given another while a peer is quicker, ms: it may hang. */
const SLOW_MS = 2_000

/** Base addresses are compared as text: no slash at the end. */
export function baseAddress(url: string): string {
  return url.replace(/\/+$/, '')
}

function withBaseAddresses({ api, oracle, pairFeed, solanaFeed, byRoute }: HostLists): HostLists {
  return {
    api: api.map(baseAddress),
    oracle: oracle.map(baseAddress),
    ...defined({ pairFeed: pairFeed?.map(baseAddress) }),
    ...defined({ solanaFeed: solanaFeed?.map(baseAddress) }),
    ...defined({
      byRoute: byRoute
        ? Object.fromEntries(Object.entries(byRoute).map(([route, bases]) => [route, bases.map(baseAddress)]))
        : undefined,
    }),
  }
}

/** Makes the host book. Pure but for the clock. */
export function createHosts(options: {
  readonly hosts: HostLists
  readonly clock: Clock
  readonly limits: ApiLimits
  readonly onCooldown: (coolDown: HostCooldown) => void
  readonly onPrices?: (prices: HostPrices) => void
}): Hosts {
  const { clock, limits, onCooldown, onPrices } = options
  const lists = withBaseAddresses(options.hosts)
  const known = new Set([
    ...[lists.api, lists.oracle, lists.pairFeed ?? [], lists.solanaFeed ?? []].flat(),
    ...Object.values(lists.byRoute ?? {}).flat(),
  ])
  const states = new Map<string, HostState>()
  const clocks = createHostClocks(clock)
  let turn = 0

  // A host that is not in the lists can still hold an order chain of an earlier configuration.
  function stateOf(base: string): HostState {
    let state = states.get(base)
    if (state === undefined) {
      state = {
        base,
        failures: 0,
        cooldowns: 0,
        cooldownUntilMs: 0,
        failedUntilMs: 0,
        distrustUntilMs: 0,
        isProbing: false,
        pending: [],
        isHung: false,
        stale: undefined,
        nextTokenMs: 0,
        nextHistoryTokenMs: 0,
      }
      states.set(base, state)
    }
    return state
  }

  function isAwake(state: HostState, now: number): boolean {
    if (state.cooldownUntilMs > now) return false
    return state.cooldowns === 0 || !state.isProbing
  }

  /** Not resting, and not one that only a probe may find well again. */
  function isWell(state: HostState, now: number): boolean {
    return state.cooldownUntilMs <= now && state.cooldowns === 0
  }

  function isStale({ stale }: HostState, now: number): boolean {
    return stale !== undefined && stale.untilMs > now
  }

  /** Those that may be asked: none that hangs while another does not, and of those with old prices the youngest first and last. */
  function inOrder(states: readonly HostState[], now: number): readonly HostState[] {
    const awake = states.filter((state) => isAwake(state, now))
    const isSlow = ({ pending: [oldest = now] }: HostState) => now - oldest >= SLOW_MS
    const quick = awake.filter((state) => !(state.isHung && state.cooldowns > 0) && !isSlow(state))
    const asked = quick.length > 0 ? quick : awake
    const old = asked.filter((state) => isStale(state, now))
    const byStamp = (one: HostState, other: HostState) =>
      (other.stale?.madeAtMs ?? 0) - (one.stale?.madeAtMs ?? 0)
    return [...asked.filter((state) => !isStale(state, now)), ...old.toSorted(byStamp)]
  }

  /** The other hosts of what this one serves. */
  function peersOf(base: string): readonly HostState[] {
    const { api, oracle, pairFeed = [], solanaFeed = [], byRoute = {} } = lists
    const own = [api, oracle, pairFeed, solanaFeed, ...Object.values(byRoute)].filter((bases) =>
      bases.includes(base),
    )
    return own.flat().flatMap((each) => (each === base ? [] : [stateOf(each)]))
  }

  function isCoolingDown(host: string): boolean {
    const { cooldownUntilMs, isHung, cooldowns } = stateOf(host)
    // One that hung is away until it answered again: an order that is sent there would hang too.
    return cooldownUntilMs > clock.monotonicMs() || (isHung && cooldowns > 0)
  }

  function coolDown(
    host: string,
    told: Omit<HostCooldown, 'host' | 'isLast'>,
    isDistrust: boolean,
    isOfFailures = false,
  ): void {
    const state = stateOf(host)
    const until = clock.monotonicMs() + told.cooldownMs
    if (until >= state.cooldownUntilMs) state.failedUntilMs = isOfFailures ? until : 0
    state.cooldownUntilMs = Math.max(state.cooldownUntilMs, until)
    if (isDistrust) state.distrustUntilMs = Math.max(state.distrustUntilMs, until)
    state.isProbing = false
    const isLast = [lists.api, lists.oracle].some(
      (bases) => bases.includes(host) && bases.every(isCoolingDown),
    )
    onCooldown({ host, ...told, ...defined({ isLast: isLast ? (true as const) : undefined }) })
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
    coolDown: (host, cooldownMs, reason, isDistrust) => coolDown(host, { cooldownMs, reason }, isDistrust),

    choose(route, { avoid, needsTrust }) {
      const now = clock.monotonicMs()
      const bases = basesOf(route)
      const start = route.service === 'api' ? turn++ % Math.max(1, bases.length) : 0
      const all = bases.map((_, index) => stateOf(bases[(start + index) % bases.length] ?? ''))
      const trusted = needsTrust ? all.filter((state) => state.distrustUntilMs <= now) : all
      const order = inOrder(trusted, now)
      const chosen =
        order.find((state) => !avoid.has(state.base)) ??
        order[0] ??
        trusted.toSorted((one, other) => one.cooldownUntilMs - other.cooldownUntilMs)[0]
      if (chosen === undefined) return undefined
      if (chosen.cooldowns > 0) chosen.isProbing = true
      return chosen.base
    },

    another(route, asked, madeAtMs) {
      const now = clock.monotonicMs()
      const free = inOrder(basesOf(route).map(stateOf), now).filter(({ base }) => !asked.has(base))
      return free.find(
        (state) =>
          isWell(state, now) &&
          (!isStale(state, now) || (madeAtMs !== undefined && (state.stale?.madeAtMs ?? 0) > madeAtMs)),
      )?.base
    },

    probeBeside(route, chosen) {
      const now = clock.monotonicMs()
      if (!isWell(stateOf(chosen), now)) return undefined
      const due = basesOf(route)
        .map(stateOf)
        .find((state) => state.base !== chosen && state.isHung && state.cooldowns > 0 && isAwake(state, now))
      if (due === undefined) return undefined
      due.isProbing = true
      return due.base
    },

    takeTurn: (host) => takeToken(stateOf(host), 'nextTokenMs', 1),
    takeHistoryTurn: (host, share) => takeToken(stateOf(host), 'nextHistoryTokenMs', share),

    released(host) {
      stateOf(host).isProbing = false
    },

    began(host) {
      const { pending } = stateOf(host)
      const now = clock.monotonicMs()
      pending.push(now)
      return () => void pending.splice(pending.indexOf(now), 1)
    },

    succeeded(host) {
      const state = stateOf(host)
      state.failures = 0
      state.cooldowns = 0
      state.isProbing = false
      state.isHung = false
      // A cooldown that the host itself requested, and one after an untrusted payload, remains.
      const isOfFailures = state.cooldownUntilMs === state.failedUntilMs
      if (isOfFailures && state.distrustUntilMs <= clock.monotonicMs()) state.cooldownUntilMs = 0
    },

    failed(host, { reason, outcome, isHung }) {
      const state = stateOf(host)
      const wasProbe = state.isProbing
      state.isProbing = false
      state.failures += 1
      state.isHung = isHung
      const now = clock.monotonicMs()
      const hasPeer = peersOf(state.base).some((peer) => isWell(peer, now) && peer.failures === 0)
      if (!wasProbe && !(isHung && hasPeer) && state.failures < limits.failuresToCooldown) return
      const cooldownMs = Math.min(limits.cooldownMs * 2 ** state.cooldowns, limits.cooldownMaxMs)
      state.cooldowns += 1
      state.failures = 0
      coolDown(host, { cooldownMs, reason, outcome }, false, true)
    },

    sawPrices(host, ageMs, madeAtMs) {
      const state = stateOf(host)
      const was = state.stale
      if (ageMs <= limits.maxPriceAgeMs) {
        state.stale = undefined
        if (was !== undefined) onPrices?.({ host, isStale: false, ageMs })
        return
      }
      const times = (was?.times ?? 0) + 1
      const leftMs = Math.min(limits.cooldownMs * 2 ** (times - 1), limits.cooldownMaxMs)
      state.stale = { madeAtMs, times, untilMs: clock.monotonicMs() + leftMs }
      if (was === undefined) onPrices?.({ host, isStale: true, ageMs })
    },

    isCoolingDown,

    sawClock: (host, serverDateMs, request) => clocks.saw(baseAddress(host), serverDateMs, request),
    clockSkewMs: (host) => clocks.skewMs(baseAddress(host)),
  }
}
