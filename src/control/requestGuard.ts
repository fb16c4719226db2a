/** Who may ask what: by name, by origin, by how often, and by a token's role. */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { createBucket, createRoles, type Role, type Tokens } from './access.ts'
import { challengePath, type Proven } from './proof.ts'

/** What the guard goes by. */
export interface GuardContext {
  /** Host names, without port, by which this server may be addressed besides the loopback ones. */
  readonly hostNames: readonly string[]
  readonly tokens: Tokens
  /** Whether /metrics is for everyone who reaches the port, and whether /livez and /readyz are. */
  readonly isMetricsOpen: boolean
  readonly isHealthOpen: boolean
  /** Most requests a second: of those with a token, of open paths, and of those that are refused, each. */
  readonly requestsPerSecond: number
  /** Where a POST is proven by itself, and not by a token; absent: nowhere. */
  readonly selfProvenPath?: string
  /** Any clock in ms; only differences count. */
  readonly now: () => number
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
const healthPaths: readonly string[] = ['/livez', '/healthz', '/readyz']

/** Makes the guard: it gives the refusal of a request, or undefined where it may go on. */
export function createGuard(context: GuardContext): (c: Context<Proven>) => Response | undefined {
  const known = new Set([...loopbackNames, ...context.hostNames.map((each) => each.toLowerCase())])
  const roles = createRoles(context.tokens)
  const bucket = () => createBucket(context.requestsPerSecond, context.now)
  // A flood of third parties must not keep the operator or the orchestrator out.
  const buckets = { token: bucket(), open: bucket(), stranger: bucket(), selfProven: bucket() }
  const isOpen = (path: string): boolean =>
    path === '/metrics' ? context.isMetricsOpen : healthPaths.includes(path) && context.isHealthOpen

  return (c) => {
    const asked = c.get('asked')
    const role = asked?.role ?? roles(c.req.header('authorization'))
    const path = c.req.path
    // It costs nothing and changes nothing, and the command that follows it is counted.
    const isFree = asked !== undefined && path === challengePath
    // HEAD asks for what GET gives, without its body.
    const isReading = c.req.method === 'GET' || c.req.method === 'HEAD'
    const open = isReading && isOpen(path)
    const isSelfProven = c.req.method === 'POST' && path === context.selfProvenPath
    const asker = isSelfProven ? 'selfProven' : role !== undefined ? 'token' : open ? 'open' : 'stranger'
    if (!isFree && !buckets[asker].take()) {
      c.header('Retry-After', '1')
      return no(c, 429, 'RATE_LIMITED', 'Too many requests; try again in a second.')
    }
    // A web page can point a name of its own at 127.0.0.1; it cannot forge the Host header.
    const host = nameOf(c.req.header('host'))
    if (host === undefined || !(known.has(host) || isAddress(host))) {
      return no(c, 421, 'HOST_NOT_ALLOWED', `This server does not answer to the name ${host ?? '(none)'}.`)
    }
    // Browsers say whose page asks; programs do not. No page of any origin works with this port.
    if (c.req.header('origin') !== undefined) {
      return no(c, 403, 'ORIGIN_NOT_ALLOWED', 'Pages of other origins may not ask here.')
    }
    if (open || isSelfProven) return undefined
    if (role === undefined) {
      c.header('WWW-Authenticate', 'Bearer')
      return no(c, 401, 'UNAUTHORIZED', 'This needs a token: Authorization: Bearer TOKEN.')
    }
    const needed: Role = isReading ? 'read' : 'operate'
    if (needed === 'operate' && role !== 'operate') {
      return no(c, 403, 'FORBIDDEN', 'This token may read; commands need the other one.')
    }
    return undefined
  }
}

/** A refusal. The connection ends with it: what is left of a body is not read. */
export function no(
  c: Context<Proven>,
  status: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 415 | 421 | 429 | 503,
  error: string,
  message: string,
) {
  c.header('Cache-Control', 'no-store')
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') c.header('Connection', 'close')
  return c.json({ error, message }, status)
}

/** An address instead of a name: DNS rebinding needs a name. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function nameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  return header.replace(/:\d+$/, '').toLowerCase()
}
