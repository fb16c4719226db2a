/**
 * Restricts the venue's control routes to programs on this machine; web pages are refused. A page can send simple requests to any address and point
 * its own host name at 127.0.0.1. It cannot forge the Host header or hide its origin.
 */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { jsonOf } from '../http/http.ts'

/** Names of this machine; addresses pass as such, because a page that borrows an address needs a name for it. */
const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Values of the `Sec-Fetch-Site` header for a request that no other page made. */
const ownSites: ReadonlySet<string> = new Set(['none', 'same-origin'])

/** Why a request to a control route is refused. */
export interface ControlRefusal {
  readonly status: 403 | 415 | 421
  readonly message: string
}

/**
 * Refuses a request to a control route whose Host is no name of this machine and no address, that a web page made, or that
 * changes something and is not said to be JSON. Undefined: it may pass.
 */
export function refuseControl({ headers, method, url }: Request): ControlRefusal | undefined {
  const host = (headers.get('host') ?? new URL(url).host).replace(/:\d+$/, '').toLowerCase()
  if (!loopbackNames.has(host) && isIP(host.replace(/^\[|\]$/g, '')) === 0) {
    return { status: 421, message: 'The control routes refuse this host name' }
  }
  if (headers.get('origin') !== null || !ownSites.has(headers.get('sec-fetch-site') ?? 'none')) {
    return { status: 403, message: 'The control routes refuse requests of web pages' }
  }
  const isJson = /^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')
  if (method === 'POST' && !isJson) {
    return { status: 415, message: 'The control routes take JSON: Content-Type: application/json' }
  }
  return undefined
}

/** The JSON of a control request; undefined when it is none. */
export function givenTo(context: Context): Promise<unknown> {
  return jsonOf(context.req.raw).catch(() => undefined)
}
