/** The road of a simulated month: hosts that go down and come back, and answers that are lost before or after their work was done. */
import type { Fetch } from '../../src/api/transport/route.ts'
import type { Scheduler } from '../../src/backtest/lab/scheduler.ts'
import { venueFetch } from '../../src/backtest/lab/venueFetch.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import type { Outages } from '../day/road.ts'
import type { Random } from '../simulation/random.ts'

/** Of a thousand requests these many are cut before, and as many after, the venue did its work. */
const CUT_PER_THOUSAND = 3
/** The same of messages that send an order: many more, so that orders of unknown fate are no rarity. */
const CUT_POSTS_PER_THOUSAND = 30

/** When the newest answers that arrived had left perpd, Unix ms; 0: none has. */
export interface ReadTimes {
  readonly ticker: number
  readonly oracle: number
  readonly positions: number
  readonly orders: number
}

const readRoutes: readonly (readonly [keyof ReadTimes, RegExp])[] = [
  ['ticker', /\/markets\/tickers(\?|$)/],
  ['oracle', /\/oracle\/\d\/prices\/tickers(\?|$)/],
  ['positions', /\/v1\/positions\?/],
  ['orders', /\/v1\/orders\?/],
]

/** The road, and what it did. */
export interface MonthRoad {
  readonly fetch: Fetch
  readonly requests: number
  /** Requests that were refused or cut. */
  readonly lost: number
  readonly readTimes: ReadTimes
}

/** Makes the road. `loses`: whether requests and answers are cut; `watch` looks at the venue before each answer. */
export function createMonthRoad(parts: {
  readonly time: Scheduler
  readonly clock: Clock
  readonly venue: Venue
  readonly random: Random
  readonly outages: Outages
  readonly loses: boolean
  readonly watch: () => void
}): MonthRoad {
  const { time, clock, venue, random, outages, loses, watch } = parts
  const asked = venueFetch({ scheduler: time, venue, look: watch })
  const readTimes = { ticker: 0, oracle: 0, positions: 0, orders: 0 }
  let requests = 0
  let lost = 0
  const noteRead = (url: string, leftAtMs: number): void => {
    for (const [name, route] of readRoutes)
      if (route.test(url)) readTimes[name] = Math.max(readTimes[name], leftAtMs)
  }
  /** By host the outage that is next or under way; time only goes on, and a month has thousands. */
  const nextOutage = new Map<string, number>()
  const isDown = (host: string): boolean => {
    const all = outages.get(host) ?? []
    let next = nextOutage.get(host) ?? 0
    while ((all[next]?.[1] ?? Number.POSITIVE_INFINITY) <= time.nowMs) next += 1
    nextOutage.set(host, next)
    return (all[next]?.[0] ?? Number.POSITIVE_INFINITY) <= time.nowMs
  }
  const cut = (host: string): never => {
    lost += 1
    throw Object.assign(new Error(`the connection to ${host} was cut`), { code: 'ECONNRESET' })
  }
  return {
    get requests() {
      return requests
    },
    get lost() {
      return lost
    },
    readTimes,
    async fetch(url, init) {
      requests += 1
      const [, host = ''] = /^https:\/\/venue\.test\/((?:api|oracle)\/\d)/.exec(url) ?? []
      const isGet = init.method === 'GET'
      const perThousand = loses ? (isGet ? CUT_PER_THOUSAND : CUT_POSTS_PER_THOUSAND) : 0
      const draw = random.int(0, 999)
      const leftAtMs = clock.now()
      await clock.sleep(random.int(10, 150), init.signal)
      if (isDown(host) || draw < perThousand) cut(host)
      const answer = await asked(url, init)
      if (draw < 2 * perThousand) cut(host)
      if (init.signal?.aborted === true) throw init.signal.reason
      if (isGet && answer.status === 200) noteRead(url, leftAtMs)
      return answer
    },
  }
}
