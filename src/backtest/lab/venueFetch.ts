/** The road from the daemon to a venue in the same process: no socket, and none of the venue's time. */
import type { FetchAnswer } from '../../api/transport/route.ts'
import { JsonValue, stringify } from '../../paper/http/http.ts'
import type { Venue } from '../../paper/server/venue.ts'
import type { LabAnswer, LabFetch } from './labFetch.ts'
import type { LabHosts } from './labTrader.ts'
import type { Scheduler } from './scheduler.ts'

/** Address that every host of a lab's venue begins with. */
export const LAB_ORIGIN = 'https://venue.test'

/** Addresses of so many hosts of each API, and of so many endpoints of the chain. */
export function labHosts({ api, oracle, rpc }: Venue['paths'], endpoints: number, hosts = 2): LabHosts {
  const whole = (paths: readonly string[]) => paths.map((path) => LAB_ORIGIN + path)
  return {
    api: whole(api.slice(0, hosts)),
    oracle: whole(oracle.slice(0, hosts)),
    rpc: whole(rpc.slice(0, endpoints)),
  }
}

const texts = new WeakMap<Buffer, string>()

/** The text of bytes that the venue answers with again and again. */
function textOf(bytes: Buffer): string {
  const text = texts.get(bytes) ?? bytes.toString('utf8')
  texts.set(bytes, text)
  return text
}

/** Headers by any case of their name; most answers are taken without a look at them. */
function headersOf(headers: Readonly<Record<string, string>>): FetchAnswer['headers'] {
  let lower: ReadonlyMap<string, string> | undefined
  return {
    get(name) {
      lower ??= new Map(Object.entries(headers).map(([each, value]) => [each.toLowerCase(), value]))
      return lower.get(name.toLowerCase()) ?? null
    },
  }
}

/** Makes the road. The venue does what is due, then answers; `look` sees it in between. */
export function venueFetch(parts: {
  readonly scheduler: Scheduler
  readonly venue: Venue
  readonly look?: () => void
}): LabFetch {
  const { scheduler, venue, look } = parts
  return async (url, { method, headers, body }): Promise<LabAnswer> => {
    venue.advance()
    look?.()
    return scheduler.busy(async () => {
      const direct = venue.direct(method, url.slice(LAB_ORIGIN.length))
      const made =
        direct === undefined
          ? await venue.fetch(new Request(url, { method, headers, body: body ?? null }))
          : await direct(body ?? '')
      if (made instanceof Response) {
        const text = await made.text()
        return { status: made.status, headers: made.headers, text: async () => text }
      }
      const answer = { status: made.status, headers: headersOf(made.headers) }
      const { body: given } = made
      if (given instanceof JsonValue)
        return { ...answer, value: given.value, text: async () => stringify(given) }
      const text =
        typeof given === 'string' ? given : textOf(Buffer.isBuffer(given) ? given : Buffer.from(given))
      return { ...answer, text: async () => text }
    })
  }
}
