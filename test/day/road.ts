/**
 * The road between the daemon and the paper venue on a day of lag: hosts that answer from lists some seconds old, each list
 * with a delay of its own, prices out of caches, and hosts that go down and come back. Nothing is a lie but what `lie` says.
 */
import type { Fetch, FetchAnswer } from '../../src/api/transport/route.ts'
import type { Scheduler } from '../../src/backtest/lab/scheduler.ts'
import { LAB_ORIGIN, venueFetch } from '../../src/backtest/lab/venueFetch.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import type { Random } from '../simulation/random.ts'

/** The host whose lists are always late. */
const LATE_HOST = 'api/1'
/** How late, ms; a new draw for each list twice a minute, as behind a proxy over several backends. */
const LATE_MS = [1_000, 8_000] as const
const LATE_DRAW_MS = 30_000
/** Lists of a host that came back are this late, for as long. */
const RESTARTED_LATE_MS = 8_000
const RESTARTED_FOR_MS = 45_000
/** Prices and capacities of the late host are this old at the most, ms. */
const CACHED_MS = 5_000
/** Blocks of 250 ms that the second endpoint is behind: 20 s. */
const ENDPOINT_LAG_BLOCKS = 80

const cachedRoutes =
  /^\/(markets\/(tickers|info|values|trading-capacity)|tokens|tokens\/info|prices\/tickers)(\?|$)/
/** A list of the account: what it showed a moment ago is kept. */
const listRoutes = /^\/(positions|orders|trades|balances|allowances)[/?]/

/** Times that a host is down: from and until, ms of the day. */
export type Outages = ReadonlyMap<string, readonly (readonly [fromMs: number, untilMs: number])[]>

/** Changes what a host answers to a GET; undefined passes it on. `path` has the query. */
export type Lie = (host: string, path: string, body: unknown) => unknown

/** The road, and what it did. */
export interface Road {
  readonly fetch: Fetch
  readonly requests: number
  /** Answers that showed an older list than the venue had. */
  readonly lateAnswers: number
  readonly refusedConnections: number
}

interface Shot {
  readonly atMs: number
  readonly text: string
}

/** What a list showed: at the newest change that was seen, and the answers before it. */
interface ListPast {
  /** Oldest first; each is what the list showed until the next one. */
  readonly shots: { readonly fromMs: number; text: string }[]
  version: string
}

/** Outages of a day: each host goes down several times, one at a time, for 5 to 60 s. */
export function planOutages(random: Random, hosts: readonly string[], lengthMs: number): Outages {
  const outages = new Map<string, (readonly [number, number])[]>(hosts.map((host) => [host, []]))
  let atMs = 240_000
  for (let turn = 0; atMs < lengthMs - 300_000; turn += 1) {
    const host = hosts[turn % hosts.length] ?? ''
    const untilMs = atMs + random.int(5_000, 60_000)
    outages.get(host)?.push([atMs, untilMs])
    atMs = untilMs + random.int(120_000, 600_000)
  }
  return outages
}

/** Makes the road. */
export function createRoad(parts: {
  readonly time: Scheduler
  readonly clock: Clock
  readonly venue: Venue
  readonly random: Random
  readonly outages: Outages
  /** Whether anything lags; false for a day without lag, to compare with. */
  readonly lags: boolean
  /** What is said that is not so, now. */
  readonly lie?: () => Lie | undefined
}): Road {
  const { time, clock, venue, random, outages, lags, lie } = parts
  const { venueState } = venue
  const asked = venueFetch({ scheduler: time, venue })
  if (lags) venue.faults.rpcLagBlocks = ENDPOINT_LAG_BLOCKS
  const pasts = new Map<string, ListPast>()
  const caches = new Map<string, Shot>()
  const delays = new Map<string, { readonly untilMs: number; readonly lateMs: number }>()
  let requests = 0
  let lateAnswers = 0
  let refusedConnections = 0

  const isDown = (host: string): boolean =>
    (outages.get(host) ?? []).some(([fromMs, untilMs]) => time.nowMs >= fromMs && time.nowMs < untilMs)

  /** How late a list of a host is now, ms. */
  function lateMs(host: string, route: string): number {
    if (!lags || !host.startsWith('api/')) return 0
    const isBack = (outages.get(host) ?? []).some(
      ([, untilMs]) => time.nowMs >= untilMs && time.nowMs < untilMs + RESTARTED_FOR_MS,
    )
    if (isBack) return RESTARTED_LATE_MS
    if (host !== LATE_HOST) return 0
    const key = `${host}${route}`
    const known = delays.get(key)
    if (known !== undefined && known.untilMs > time.nowMs) return known.lateMs
    const drawn = { untilMs: time.nowMs + LATE_DRAW_MS, lateMs: random.int(...LATE_MS) }
    delays.set(key, drawn)
    return drawn.lateMs
  }

  /** Changes whenever a list of any account may show something else than its prices. */
  function version(): string {
    const { counters, positions, orders } = venueState
    const frozen = [...orders.values()].map(
      ({ key, isFrozen, updatedAtSeconds }) => `${key}${isFrozen}${updatedAtSeconds}`,
    )
    const sizes = [...positions.values()].map(({ state }) => `${state.sizeInUsd}:${state.collateralAmount}`)
    return `${Object.values(counters).join()}|${frozen.join()}|${sizes.join()}`
  }

  /** Notes a change that came since the last answer: what lists showed until now is their past. */
  function noteChange(): void {
    venue.advance()
    const now = version()
    for (const past of pasts.values()) {
      if (past.version === now) continue
      past.version = now
      const newest = past.shots.at(-1)
      if (newest !== undefined && newest.text !== '') past.shots.push({ fromMs: time.nowMs, text: '' })
      while (past.shots.length > 1 && (past.shots[1]?.fromMs ?? 0) < time.nowMs - 60_000) past.shots.shift()
    }
  }

  async function answerOf(
    host: string,
    path: string,
    url: string,
    init: Parameters<Fetch>[1],
  ): Promise<Awaited<ReturnType<Fetch>>> {
    noteChange()
    const date = new Date(clock.now()).toUTCString()
    const made = (status: number, text: string, headers?: FetchAnswer['headers']) => ({
      status,
      headers: headers ?? new Headers({ 'content-type': 'application/json', date }),
      text: async () => text,
    })
    const isGet = init.method === 'GET'
    if (lags && isGet && (host === LATE_HOST || host === 'oracle/1') && cachedRoutes.test(path)) {
      const cached = caches.get(`${host}${path}`)
      if (cached !== undefined && time.nowMs - cached.atMs < CACHED_MS) return made(200, cached.text)
    }
    const quick = isGet ? venue.quick(url.slice(LAB_ORIGIN.length)) : undefined
    if (quick !== undefined && !listRoutes.test(path)) return made(200, quick.toString('utf8'))
    const answer = await asked(url, init)
    let text = await answer.text()
    if (isGet && answer.status === 200) {
      if (cachedRoutes.test(path)) caches.set(`${host}${path}`, { atMs: time.nowMs, text })
      if (listRoutes.test(path)) text = listOf(host, path, text)
      const lied = lie?.()?.(host, path, JSON.parse(text))
      if (lied !== undefined) text = JSON.stringify(lied)
    }
    return made(answer.status, text, answer.headers)
  }

  /** What the host shows of a list, given what the venue shows now. */
  function listOf(host: string, path: string, now: string): string {
    const late = lateMs(host, path.replace(/\?.*/, ''))
    if (path.startsWith('/trades')) {
      if (late === 0) return now
      const body = JSON.parse(now) as { trades?: { timestamp: number }[] } | { timestamp: number }[]
      const sinceSeconds = (clock.now() - late) / 1000
      const kept = <T extends { timestamp: number }>(rows: T[]): T[] =>
        rows.filter(({ timestamp }) => timestamp <= sinceSeconds)
      const rows = Array.isArray(body) ? body : (body.trades ?? [])
      if (kept(rows).length === rows.length) return now
      lateAnswers += 1
      return JSON.stringify(Array.isArray(body) ? kept(body) : { ...body, trades: kept(rows) })
    }
    let past = pasts.get(path)
    if (past === undefined) {
      past = { shots: [{ fromMs: time.nowMs, text: now }], version: version() }
      pasts.set(path, past)
      return now
    }
    const newest = past.shots.at(-1)
    if (newest !== undefined) newest.text = now
    if (late === 0) return now
    const shown = past.shots.filter(({ fromMs, text }) => fromMs <= time.nowMs - late && text !== '').at(-1)
    const isOlder = shown !== undefined && shown !== newest
    if (isOlder) lateAnswers += 1
    return isOlder ? shown.text : now
  }

  return {
    get requests() {
      return requests
    },
    get lateAnswers() {
      return lateAnswers
    },
    get refusedConnections() {
      return refusedConnections
    },
    async fetch(url, init) {
      requests += 1
      const [, host = '', path = ''] =
        /^https:\/\/venue\.test\/((?:api|oracle)\/\d|rpc(?:\/1)?)(?:\/v\d)?(.*)$/.exec(url) ?? []
      await clock.sleep(random.int(5, 40), init.signal)
      if (isDown(host === 'rpc' ? 'rpc/0' : host)) {
        refusedConnections += 1
        throw Object.assign(new Error(`connect ECONNREFUSED ${host}`), { code: 'ECONNREFUSED' })
      }
      const answer = await answerOf(host, path, url, init)
      await clock.sleep(random.int(5, 80), init.signal)
      if (init.signal?.aborted === true) throw init.signal.reason
      return answer
    },
  }
}
