/** The paper venue in this process, on a clock that the test moves, with a client of both APIs over it. */
import { type Api, type ApiOptions, createApi } from '../../src/api/client.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import type { Clock } from '../../src/base/clock.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'

const base = 'http://venue.test'

/** A clock that stands until it is moved; sleepers wake when their time comes. */
export interface ManualClock extends Clock {
  /** Moves the time on, waking sleepers in order and letting what they start run. */
  advance(ms: number): Promise<void>
  /** Sets the wall clock back, as an operator or a time server may; the monotonic one goes on. */
  setBack(ms: number): void
  /** How many still sleep: a process with a real clock does not end before they wake. */
  sleeping(): number
}

/** Lets everything run that waits for nothing but its turn: promises, and the journal's group commit. */
export async function settle(turns = 25): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A clock that starts at `startMs`; `settled` waits until what was woken has nothing left to do. */
export function manualClock(startMs: number, settled: () => Promise<void> = settle): ManualClock {
  let nowMs = startMs
  let backMs = 0
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = []
  return {
    now: () => nowMs - backMs,
    setBack: (ms) => {
      backMs += ms
    },
    monotonicMs: () => nowMs,
    sleeping: () => sleepers.length,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { atMs: nowMs + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((each) => each !== sleeper)
          resolve()
        })
      }),
    async advance(ms) {
      const untilMs = nowMs + ms
      await settled()
      for (;;) {
        const next = sleepers
          .filter(({ atMs }) => atMs <= untilMs)
          .sort((one, other) => one.atMs - other.atMs)[0]
        if (next === undefined) break
        nowMs = Math.max(nowMs, next.atMs)
        sleepers = sleepers.filter((each) => each !== next)
        next.wake()
        await settled()
      }
      nowMs = untilMs
      await settled()
    },
  }
}

/** The venue, the client, and the fetch between them. */
export interface VenueBench {
  readonly clock: ManualClock
  readonly venue: Venue
  readonly api: Api
}

/**
 * The markets of a venue in a test. Reading all of the catalogue's takes half of the processor time of a test that takes many turns; a test of the whole
 * catalogue asks for it by `onlyMarkets: []`.
 */
const fewMarkets = [
  'ETH/USD [WETH-USDC]',
  'BTC/USD [BTC-USDC]',
  'SOL/USD [SOL-USDC]',
  'LINK/USD [LINK-USDC]',
  'kPEPE/USD [WETH-USDC]',
]

/** What a test may put between client and venue. */
export type Between = (url: string, init: Parameters<Fetch>[1], next: Fetch) => ReturnType<Fetch>

/** Makes a venue and a client on one clock. */
export function venueBench(
  options: {
    readonly startMs?: number
    readonly settings?: Partial<VenueSettings>
    readonly between?: Between
    /** Waits until what was woken has nothing left to do. Default: some turns of the event loop. */
    readonly settled?: () => Promise<void>
    /** The client goes by the venue's time, as in the process that has a venue in it. */
    readonly isOneProcess?: true
  } & Pick<ApiOptions, 'onPrices' | 'onMissing'> = {},
): VenueBench {
  const clock = manualClock(options.startMs ?? Date.UTC(2026, 10, 20, 12), options.settled)
  const settings = { onlyMarkets: fewMarkets, ...options.settings }
  const venue = createVenue({ clock, chain: arbitrum, seed: 7, settings })
  const direct: Fetch = async (url, init) => {
    venue.advance()
    const request = new Request(url, { method: init.method, headers: init.headers, body: init.body ?? null })
    return venue.fetch(request)
  }
  const { between, onPrices, onMissing } = options
  const api = createApi({
    chain: arbitrum,
    hosts: {
      ...arbitrum.hosts,
      api: venue.paths.api.map((path) => base + path),
      oracle: venue.paths.oracle.map((path) => base + path),
    },
    fetch: between === undefined ? direct : (url, init) => between(url, init, direct),
    clock: options.isOneProcess ? venue.venueState.clock : clock,
    random: () => 0.5,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    ...(onPrices && { onPrices }),
    ...(onMissing && { onMissing }),
  })
  return { clock, venue, api }
}
