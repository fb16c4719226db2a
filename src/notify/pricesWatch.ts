/**
 * Watches whether the prices of oracle hosts advance. It notifies when those of one host stand still, and when they have advanced again for a minute.
 * So a host that comes and goes is one story. Pure but for its state.
 */
import type { Event } from '../domain/event.ts'
import { phrase } from '../monitor/log/phrase.ts'
import { span } from '../monitor/text.ts'
import type { Notice } from './notice.ts'

/** Time that prices must have advanced before that is notified, ms. */
const CALM_MS = 60_000

type PricesEvent = Extract<Event, { type: 'host.prices' }>

/** A host that was told of and whose end was not. */
interface Told {
  /** True when the notice said that with this host all stand still. */
  readonly isOfAll: boolean
  /** The word that ends it, and when that came, monotonic ms; absent while it lasts. */
  readonly over?: { readonly event: PricesEvent; readonly atMs: number }
}

/** Watch over the events of host prices. */
export interface PricesWatch {
  /** Takes each event in its order, with its monotonic ms; gives what is to be told of it, and of hosts that have stayed well. */
  take(event: Event, nowMs: number): readonly Notice[]
  /** The ends that wait, to be told now: nothing comes after. */
  rest(): readonly Notice[]
}

/** A watch that knows of no host. */
export function createPricesWatch(): PricesWatch {
  let hosts: readonly string[] = []
  const told = new Map<string, Told>()

  function endsUntil(untilMs: number): readonly Notice[] {
    return [...told].flatMap(([host, { over }]): readonly Notice[] => {
      if (over === undefined || over.atMs > untilMs) return []
      told.delete(host)
      return [{ ...named(host), level: 'info', isEnd: true, text: phrase(over.event).text }]
    })
  }

  /** Returns the notice about a host whose prices stand still; none for one that did a moment ago, unless all do by now. */
  function begin(event: PricesEvent): readonly Notice[] {
    const { host, ageMs } = event
    const known = told.get(host)
    const others = hosts.filter((each) => each !== host).map((each) => told.get(each))
    const isAll = hosts.length > 0 && others.every((each) => each !== undefined && each.over === undefined)
    const isTold = known === undefined || (isAll && [...told.values()].every(({ isOfAll }) => !isOfAll))
    told.set(host, { isOfAll: known?.isOfAll === true || (isAll && isTold) })
    if (!isTold) return []
    if (!isAll) return [{ ...named(host), level: 'warn', stage: 'one', text: phrase(event).text }]
    return [
      {
        ...named(host),
        level: 'error',
        stage: 'all',
        text: `the prices of all oracle hosts are stale (${hosts.join(', ')}). The last one was ${host}; its newest price is ${span(ageMs)} old. Increases wait, reductions may use the venue's mark price, and perpd keeps retrying`,
        action:
          'Check the network of this machine, and compare prices with another source: perpd markets. If they look wrong: perpd trading reducing --by NAME',
      },
    ]
  }

  return {
    take(event, nowMs) {
      const ends = told.size === 0 ? [] : endsUntil(nowMs - CALM_MS)
      if (event.type === 'daemon.started') hosts = event.oracleHosts
      if (event.type !== 'host.prices') return ends
      if (event.isStale) return [...ends, ...begin(event)]
      const known = told.get(event.host)
      if (known !== undefined) told.set(event.host, { ...known, over: { event, atMs: nowMs } })
      return ends
    },
    rest: () => endsUntil(Number.POSITIVE_INFINITY),
  }
}

function named(host: string): Pick<Notice, 'kind' | 'cause'> {
  return { kind: 'prices-stale', cause: `prices:${host}` }
}
