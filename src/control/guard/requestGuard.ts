/** Who may ask what: by name, by origin, by how often, and by a token's role. */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { createBucket, createRoles, type Role, type Tokens } from './access.ts'
import {
  type ConsoleDoor,
  isConsolePath,
  isOwnOrigin,
  isReading,
  linkPath,
  type OpenSession,
  pageProblem,
  sessionPath,
  sessionProblem,
} from './browserRules.ts'
import { type ChallengedRequest, challengePath } from './proof.ts'

/** What is known of a request: who proved to hold a token, and whose session it is. */
export interface Proven {
  readonly Variables: {
    readonly asked?: ChallengedRequest | undefined
    readonly session?: OpenSession | undefined
  }
}

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
  /** The console and its sessions; absent: no browser gets anything. */
  readonly door?: ConsoleDoor
  /** Any clock in ms; only differences count. */
  readonly now: () => number
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** What changes no more than the asker's own session. */
const readersMay: ReadonlySet<string> = new Set([`DELETE ${sessionPath}`, `POST ${linkPath}`])
const healthPaths: readonly string[] = ['/livez', '/healthz', '/readyz']

/** Makes the guard: it gives the refusal of a request, or undefined where it may go on. */
export function createGuard(context: GuardContext): (c: Context<Proven>) => Response | undefined {
  const names = new Set([
    ...loopbackNames,
    ...context.hostNames.map((each) => each.toLowerCase()),
    ...(context.door?.publicUrl === undefined ? [] : [new URL(context.door.publicUrl).hostname]),
  ])
  const roles = createRoles(context.tokens)
  const bucket = () => createBucket(context.requestsPerSecond, context.now)
  // A flood of third parties must not keep the operator or the orchestrator out.
  const buckets = {
    token: bucket(),
    session: bucket(),
    page: bucket(),
    open: bucket(),
    stranger: bucket(),
    selfProven: bucket(),
  }
  const isOpen = (path: string): boolean =>
    path === '/metrics' ? context.isMetricsOpen : healthPaths.includes(path) && context.isHealthOpen
  const { door } = context

  /** Whose page asks: browsers say it, programs do not. */
  function originProblem(c: Context<Proven>, host: string) {
    const origin = c.req.header('origin')
    if (origin === undefined) return undefined
    if (door !== undefined && isOwnOrigin(origin, host, door.publicUrl)) return undefined
    return no(c, 403, 'ORIGIN_NOT_ALLOWED', 'Pages of other origins may not ask here.')
  }

  return (c) => {
    const asked = c.get('asked')
    const authorization = c.req.header('authorization')
    const tokenRole = asked?.role ?? roles(authorization)
    // A token is believed before a cookie, which a browser sends without being asked to.
    const session = authorization === undefined ? door?.sessionOf(c.req.header('cookie')) : undefined
    c.set('session', session)
    const role = tokenRole ?? session?.role
    const path = c.req.path
    // It costs nothing and changes nothing, and the command that follows it is counted.
    const isFree = asked !== undefined && path === challengePath
    const open = isReading(c) && isOpen(path)
    const isSelfProven = c.req.method === 'POST' && path === context.selfProvenPath
    // The page itself is no secret, and who is no one yet begins a session here.
    const isPage =
      door !== undefined &&
      isConsolePath(path) &&
      (path === sessionPath
        ? c.req.method === 'POST' || (isReading(c) && session === undefined)
        : isReading(c))
    const known = tokenRole !== undefined ? 'token' : session !== undefined ? 'session' : undefined
    const asker = isSelfProven ? 'selfProven' : isPage ? 'page' : (known ?? (open ? 'open' : 'stranger'))
    if (!isFree && !buckets[asker].take()) {
      c.header('Retry-After', '1')
      return no(c, 429, 'RATE_LIMITED', 'Too many requests; try again in a second.')
    }
    // A web page can point a name of its own at 127.0.0.1; it cannot forge the Host header.
    const address = c.req.header('host')
    const host = nameOf(address)
    if (address === undefined || host === undefined || !(names.has(host) || isAddress(host))) {
      return no(c, 421, 'HOST_NOT_ALLOWED', `This server does not answer to the name ${host ?? '(none)'}.`)
    }
    const foreign = originProblem(c, address)
    if (foreign !== undefined) return foreign
    const problem = isPage ? pageProblem(c) : session !== undefined ? sessionProblem(c, session) : undefined
    if (problem !== undefined) return no(c, 403, problem.error, problem.message)
    if (open || isSelfProven || isPage) return undefined
    if (role === undefined) {
      c.header('WWW-Authenticate', 'Bearer')
      return no(c, 401, 'UNAUTHORIZED', 'This needs a token: Authorization: Bearer TOKEN.')
    }
    const needed: Role = isReading(c) || readersMay.has(`${c.req.method} ${path}`) ? 'read' : 'operate'
    if (needed === 'operate' && role !== 'operate') {
      return no(c, 403, 'FORBIDDEN', 'This token may read; commands need the other one.')
    }
    if (session !== undefined) door?.used(session.id)
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
