/** The requests that a browser may make of the control port: from the console's own pages, in no frame, and by both halves of a session. */
import type { Context } from 'hono'
import type { Role } from './access.ts'

/** A browser's session, as one request shows it. */
export interface OpenSession {
  readonly id: string
  readonly role: Role
}

/** The console, as the guard knows it. */
export interface ConsoleDoor {
  /** The session of a request's `Cookie` header and of its page key: both are of the same one, or there is none. */
  readonly sessionOf: (
    cookieHeader: string | undefined,
    pageKey: string | undefined,
  ) => OpenSession | undefined
  /** Told of each of its requests that is let in. */
  readonly used: (id: string) => void
  /** Where browsers reach it through a proxy that ends TLS, without a slash at its end; absent: at the port itself. */
  readonly publicUrl?: string
}

/** Why a browser's request is refused. */
export interface BrowserRefusal {
  readonly error: 'ORIGIN_NOT_ALLOWED' | 'FRAME_REFUSED'
  readonly message: string
}

/** Where a session is seen, begun and ended. */
export const sessionPath = '/console/session'
/** Where a token, and no session, has a link made. */
export const linkPath = '/api/console/link'
/** Where the key of a link begins a session. */
export const enterPath = '/console/enter'
/** The header with the half of a session that only pages of the console's own origin can read. */
export const pageKeyHeader = 'x-perpd-page-key'

const framed: readonly string[] = ['iframe', 'frame', 'fencedframe', 'embed', 'object']
const foreign: BrowserRefusal = {
  error: 'ORIGIN_NOT_ALLOWED',
  message: 'Pages of other origins may not ask here.',
}

/** Tells whether a path belongs to the console: its pages, and its sessions. */
export function isConsolePath(path: string): boolean {
  return path === '/console' || path.startsWith('/console/')
}

/** Tells whether an `Origin` header is the console's own: the console is served under the requested name. */
export function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (origin === publicUrl) return true
  // Under its public name pages come by TLS alone: one that came without it may be anybody's.
  if (publicUrl !== undefined && new URL(publicUrl).host === host.toLowerCase()) return false
  return origin === `http://${host.toLowerCase()}`
}

/** Why a page, a script or a frame may not have a path of the console; undefined: it may. A link from elsewhere may lead there. */
export function pageProblem(c: Context): BrowserRefusal | undefined {
  if (isFramed(c)) return frameRefusal
  const site = c.req.header('sec-fetch-site')
  const isOwn = site === undefined || site === 'same-origin' || site === 'none'
  const isLink = isReading(c) && c.req.header('sec-fetch-mode') === 'navigate'
  return isOwn || isLink ? undefined : foreign
}

/** Why a request under a session is refused; undefined: it is the console's own. */
export function sessionProblem(c: Context): BrowserRefusal | undefined {
  if (isFramed(c)) return frameRefusal
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && !(site === 'none' && isReading(c))) return foreign
  if (isReading(c)) return undefined
  // An Origin that is there is our own: the guard looked before.
  return site === undefined && c.req.header('origin') === undefined ? foreign : undefined
}

/** HEAD asks for what GET gives, without its body. */
export function isReading(c: Context): boolean {
  return c.req.method === 'GET' || c.req.method === 'HEAD'
}

const frameRefusal: BrowserRefusal = { error: 'FRAME_REFUSED', message: 'This is shown in no frame.' }

function isFramed(c: Context): boolean {
  return framed.includes(c.req.header('sec-fetch-dest') ?? '')
}
