/**
 * Reads of a venue in the same process, without what stands between a client and a host that may fail: queue, timeouts, choice of a host, bounds of a
 * text from outside, and the text itself where the venue hands over what it would write. Everything that moves an order, and every answer that is not a
 * plain one, takes the client's whole way.
 */
import { createCoalescer } from '../../api/transport/coalesce.ts'
import { type Read, type Route, targetOf, urlOf } from '../../api/transport/route.ts'
import type { Transport } from '../../api/transport/transportTypes.ts'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { LabAnswer, LabFetch } from './labFetch.ts'
import { sameJson } from './sameJson.ts'

/** Answers that are remembered with what they were decoded to; of more the oldest goes. */
const MOST_REMEMBERED = 200

interface Remembered {
  /** The answer: its JSON, or its text. */
  readonly body: unknown
  readonly isText: boolean
  readonly value: unknown
}

/**
 * Puts direct reads before a transport. An answer that is the same as the last one of its question is not decoded again: its readers get the same
 * value, and what they derive of it by identity stays too. Rows that the venue hands over again are not decoded again either.
 */
export function directReads(
  transport: Transport,
  { fetch, clock }: { readonly fetch: LabFetch; readonly clock: Clock },
): Transport {
  const coalescer = createCoalescer(clock)
  const remembered = new Map<string, Remembered>()
  /** Routes whose first answer came the whole way, so that their hosts are known. */
  const known = new Set<string>()

  async function decoded<Input, Value>(
    route: Route<Input, Value>,
    input: Input,
    key: string,
    given: LabAnswer,
  ): Promise<Value> {
    const answer = given.value ?? (await given.text())
    const last = remembered.get(key)
    if (last !== undefined && sameJson(last.body, answer)) return last.value as Value
    const missing: MissingRow[] = []
    const body: unknown = given.value ?? JSON.parse(String(answer))
    const before = given.value === undefined ? undefined : last
    const value = route.decode(body, {
      ...{ input, missing, dropForeign: refuseForeign },
      ...defined({ last: before?.isText === false ? before : undefined }),
    })
    if (missing.length > 0) throw new RangeError('rows of the answer cannot be read')
    remembered.delete(key)
    remembered.set(key, { body: answer, isText: given.value === undefined, value })
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value ?? '')
    return value
  }

  async function ask<Input, Value>(
    route: Route<Input, Value>,
    input: Input,
    host: string,
    key: string,
  ): Promise<Read<Value> | undefined> {
    const body = route.body === undefined ? undefined : JSON.stringify(route.body(input))
    const readAtMs = clock.now()
    const headers = defined({ 'Content-Type': body === undefined ? undefined : 'application/json' })
    const answer = await fetch(urlOf(route, input, host), {
      method: route.method,
      headers,
      ...defined({ body }),
    })
    if (answer.status !== 200) return undefined
    try {
      const value = await decoded(route, input, key, answer)
      return { value, readAtMs, host, serverDateMs: Math.floor(clock.now() / 1000) * 1000 }
    } catch {
      // The whole way says what is wrong with it.
      return undefined
    }
  }

  return {
    ...transport,
    call(route, input, options = {}) {
      const [host] = transport.hosts[route.service] ?? []
      const isPlain = route.kind === 'read' && route.isExact !== true && options.host === undefined
      if (!isPlain || host === undefined) return transport.call(route, input, options)
      if (!known.has(route.path)) {
        known.add(route.path)
        return transport.call(route, input, options)
      }
      const windowMs = typeof route.cacheMs === 'function' ? route.cacheMs(input) : (route.cacheMs ?? 0)
      const body = route.body === undefined ? '' : JSON.stringify(route.body(input))
      const key = `${route.version ?? ''} ${route.method} ${route.service} ${targetOf(route, input)} ${body}`
      return coalescer.get(
        key,
        windowMs,
        options.isFresh === true,
        async () => (await ask(route, input, host, key)) ?? (await transport.call(route, input, options)),
      )
    },
  }
}

function refuseForeign(): never {
  throw new RangeError('a row of another account')
}
