/** The road from the daemon to a venue in the same process: no socket, and none of the venue's time. */
import type { Fetch, FetchAnswer } from '../../api/transport/route.ts'
import type { Clock } from '../../base/clock.ts'
import type { Venue } from '../../paper/server/venue.ts'
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

/** Headers by any case of their name. */
function headersOf(headers: Readonly<Record<string, string>>): FetchAnswer['headers'] {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { get: (name) => lower.get(name.toLowerCase()) ?? null }
}

/** Makes the road. The venue does what is due, then answers; `look` sees it in between. */
export function venueFetch(parts: {
  readonly scheduler: Scheduler
  readonly venue: Venue
  /** The venue's own; dates the answers that it need not make. */
  readonly clock: Clock
  readonly look?: () => void
}): Fetch {
  const { scheduler, venue, clock, look } = parts
  return async (url, { method, headers, body }): Promise<FetchAnswer> => {
    venue.advance()
    look?.()
    const known = method === 'GET' ? venue.quick(url.slice(LAB_ORIGIN.length)) : undefined
    if (known !== undefined) {
      const text = textOf(known)
      const date = new Date(clock.now()).toUTCString()
      return {
        status: 200,
        headers: new Headers({ 'content-type': 'application/json', date }),
        text: async () => text,
      }
    }
    return scheduler.busy(async () => {
      const direct = venue.direct(method, url.slice(LAB_ORIGIN.length))
      if (direct !== undefined) {
        const made = await direct(body ?? '')
        if (made instanceof Response) {
          const text = await made.text()
          return { status: made.status, headers: made.headers, text: async () => text }
        }
        const { body: bytes } = made
        const text =
          typeof bytes === 'string' ? bytes : textOf(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes))
        return { status: made.status, headers: headersOf(made.headers), text: async () => text }
      }
      const answer = await venue.fetch(new Request(url, { method, headers, body: body ?? null }))
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, text: async () => text }
    })
  }
}
