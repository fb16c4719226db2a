/**
 * Records the recent responses of each host and each chain endpoint: speed, failures, and cooldown. The console shows them. Kept in memory;
 * `/metrics` counts since the start.
 */
import { defined } from '../base/defined.ts'
import type { Emit } from '../domain/event.ts'
import type { VenueEvent } from '../domain/venueEvent.ts'

/** One host of the APIs, or one endpoint of the chain. Times are Unix ms. */
export interface HostFigures {
  readonly kind: 'host' | 'endpoint'
  /** Base address of a host; the name of an endpoint, without what is secret in its address. */
  readonly name: string
  /** Median and slowest time of the newest responses, `samples` at most, ms. */
  readonly medianMs: number
  readonly slowestMs: number
  /** Requests, or looks at an endpoint, since the start; and those of them that failed. */
  readonly asked: number
  readonly failed: number
  readonly lastAtMs: number
  /** The newest failure: `ok` is never one. `reason`: a sentence, where one was said. */
  readonly lastFailure?: { readonly atMs: number; readonly outcome: string; readonly reason?: string }
  /** It rests until then; absent where it does not. */
  readonly rests?: { readonly untilMs: number; readonly reason: string }
  /** Its prices stand still. */
  readonly isStale?: boolean
  /** Blocks behind the newest that any endpoint shows, at the last look. */
  readonly lagBlocks?: number
  /** Lead of an endpoint's newest block over our clock when an order was last about to be signed, seconds. */
  readonly aheadSeconds?: number
}

/** A row of `GET /api/hosts`. */
export interface HostRow extends HostFigures {
  /** The host's clock less ours, ms; absent before enough of its answers said what time it is there. */
  readonly clockSkewMs?: number
}

/** A host or an endpoint that did not answer when it was asked last, and why. */
export interface SilentHost {
  readonly name: string
  readonly reason: string
}

/** Lists those that rest, or whose newest answer was none. */
export function silentHosts(all: readonly HostFigures[]): readonly SilentHost[] {
  return all.flatMap(({ name, rests, lastFailure, lastAtMs }): readonly SilentHost[] => {
    const failed = lastFailure?.atMs === lastAtMs ? lastFailure : undefined
    const reason = rests?.reason ?? failed?.reason ?? failed?.outcome
    return reason === undefined ? [] : [{ name, reason }]
  })
}

/** Listens, and remembers. */
export interface HostBook {
  readonly listen: Emit
  /** By name; hosts before endpoints. */
  all(): readonly HostFigures[]
}

/** Durations that are kept of each. */
const samples = 64
/** Most hosts and endpoints that are kept; a configuration has a handful. */
const mostNames = 64

interface Kept {
  readonly figures: Omit<HostFigures, 'medianMs' | 'slowestMs'>
  /** Newest last. */
  readonly tookMs: readonly number[]
}

/** An empty book. `now`: Unix ms. */
export function createHostBook(now: () => number): HostBook {
  const kept = new Map<string, Kept>()

  function change(
    kind: HostFigures['kind'],
    name: string,
    of: (figures: Kept['figures']) => Partial<Kept['figures']>,
    tookMs?: number,
  ): void {
    const key = `${kind} ${name}`
    const known = kept.get(key)
    if (known === undefined && kept.size >= mostNames) return
    const { figures, tookMs: before } = known ?? {
      figures: { kind, name, asked: 0, failed: 0, lastAtMs: now() },
      tookMs: [],
    }
    kept.set(key, {
      figures: { ...figures, ...of(figures) },
      tookMs: tookMs === undefined ? before : [...before, tookMs].slice(-samples),
    })
  }

  /** An answer, or none. */
  function answered(
    kind: HostFigures['kind'],
    name: string,
    {
      outcome,
      durationMs,
      isOk,
      reason,
    }: {
      readonly outcome: string
      readonly durationMs: number
      readonly isOk: boolean
      readonly reason?: string | undefined
    },
    more: Partial<Kept['figures']> = {},
  ): void {
    const atMs = now()
    change(
      kind,
      name,
      ({ asked, failed, lastFailure }) => ({
        asked: asked + 1,
        failed: failed + (isOk ? 0 : 1),
        lastAtMs: atMs,
        ...defined({ lastFailure: isOk ? undefined : failureOf(atMs, outcome, reason, lastFailure) }),
        ...more,
      }),
      durationMs,
    )
  }

  /** A good answer ended the rest. */
  function ended(host: string): void {
    const known = kept.get(`host ${host}`)
    if (known?.figures.rests === undefined) return
    const { rests: _, ...figures } = known.figures
    kept.set(`host ${host}`, { ...known, figures })
  }

  return {
    listen(event) {
      switch (event.type) {
        case 'host.attempt':
          answered('host', event.host, { ...event, isOk: isGood(event) })
          if (isGood(event) && event.isResting !== true) ended(event.host)
          break
        case 'host.cooldown': {
          const { cooldownMs, reason } = event
          change('host', event.host, ({ lastFailure }) => ({
            rests: { untilMs: now() + cooldownMs, reason },
            ...defined({ lastFailure: lastFailure === undefined ? undefined : { ...lastFailure, reason } }),
          }))
          break
        }
        case 'host.prices':
          change('host', event.host, () => ({ isStale: event.isStale }))
          break
        case 'chain.read': {
          const { endpoint, outcome, durationMs, lagBlocks, error: reason } = event
          const isOk = outcome === 'ok' || outcome === 'catching-up'
          answered(
            'endpoint',
            endpoint,
            { outcome, durationMs, isOk, reason },
            lagBlocks === undefined ? {} : { lagBlocks },
          )
          break
        }
        case 'chain.time':
          change('endpoint', event.endpoint, () => ({ aheadSeconds: event.aheadSeconds }))
          break
        default:
      }
    },
    all: () =>
      [...kept.values()]
        .map(({ figures, tookMs }) => withoutPast(figures, tookMs, now()))
        .toSorted((one, other) => rankOf(one) - rankOf(other) || one.name.localeCompare(other.name)),
  }
}

/** Makes a failure. Without a reason of its own it takes the reason of the failure before it, if both have one outcome. */
function failureOf(
  atMs: number,
  outcome: string,
  said: string | undefined,
  before: HostFigures['lastFailure'],
): NonNullable<HostFigures['lastFailure']> {
  const reason = said ?? (before?.outcome === outcome ? before.reason : undefined)
  return { atMs, outcome, ...defined({ reason }) }
}

const rankOf = ({ kind }: HostFigures): number => (kind === 'host' ? 0 : 1)

/** With what its durations come to, and without a rest that is over. */
function withoutPast(
  { rests, ...figures }: Kept['figures'],
  tookMs: readonly number[],
  nowMs: number,
): HostFigures {
  const sorted = tookMs.toSorted((one, other) => one - other)
  return {
    ...figures,
    medianMs: Math.round(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0),
    slowestMs: Math.round(sorted.at(-1) ?? 0),
    ...defined({ rests: rests === undefined || rests.untilMs <= nowMs ? undefined : rests }),
  }
}

/** Tells whether a host answered a request as a healthy host does: a refusal is a response. */
export function isGood(event: Extract<VenueEvent, { type: 'host.attempt' }>): boolean {
  return event.outcome === 'ok' || event.outcome === 'refused'
}
