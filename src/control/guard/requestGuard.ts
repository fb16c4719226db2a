/** Decides who may request what: by host name, by origin, by rate, and by a token's role. */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { createBucket, createBuckets, createRoles, type Role, type Tokens } from './access.ts'
import { addressOf } from './addressOf.ts'
import {
  type ConsoleDoor,
  enterPath,
  isConsolePath,
  isOwnOrigin,
  isReading,
  linkPath,
  type OpenSession,
  pageKeyHeader,
  pageProblem,
  sessionPath,
  sessionProblem,
} from './browserRules.ts'
import { type ChallengedRequest, challengePath } from './proof.ts'

/** Facts about a request: the role that its sender proved, and its session. */
export interface Proven {
  readonly Variables: {
    readonly asked?: ChallengedRequest | undefined
    readonly session?: OpenSession | undefined
    /** As a token or a session says it; absent: of nobody who is known. */
    readonly role?: Role | undefined
  }
}

/** Rules of the guard that hold for any server. */
export type ServerRules = Omit<GuardContext, 'isSelfProven' | 'door'>

/** Rules and sources of the guard. */
export interface GuardContext {
  /** Host names, without port, by which this server may be addressed besides the loopback ones. */
  readonly hostNames: readonly string[]
  readonly tokens: Tokens
  /** True when everyone who reaches the port may read /metrics; `isHealthOpen`: the same for /livez and /readyz. */
  readonly isMetricsOpen: boolean
  readonly isHealthOpen: boolean
  /** Most requests a second: of each role by token and by session, of /metrics, and of each address for what nobody proved. */
  readonly requestsPerSecond: number
  /** Tells whether a POST to this path is proven by itself, and not by a token; absent: none is. */
  readonly isSelfProven?: (path: string) => boolean
  /** The console and its sessions; absent: no browser gets anything. */
  readonly door?: ConsoleDoor
  /** Any clock in ms; only differences count. */
  readonly now: () => number
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** Requests that change nothing beyond the sender's own session. */
const readersMay: ReadonlySet<string> = new Set([`DELETE ${sessionPath}`, `POST ${linkPath}`])
const logInPaths: readonly string[] = [sessionPath, enterPath]
/** Files that one load of the console's page asks for at most, all at once. */
const PAGE_FILES = 150
/** Loads of the page that an address may make at once: an operator's tabs, and reloads in a row. */
const PAGE_LOADS = 5
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
  const ofEach = () => createBuckets(context.requestsPerSecond, context.now)
  // A flood of third parties, or of who may only read, must not keep the operator out.
  const buckets = {
    token: { read: bucket(), operate: bucket() },
    session: { read: bucket(), operate: bucket() },
    open: bucket(),
    page: createBuckets(PAGE_FILES, context.now, PAGE_LOADS * PAGE_FILES),
    stranger: ofEach(),
  }
  const { door } = context

  /** Whose page asks: browsers say it, programs do not. */
  function originProblem(c: Context<Proven>, host: string) {
    const origin = c.req.header('origin')
    if (origin === undefined) return undefined
    if (door !== undefined && isOwnOrigin(origin, host, door.publicUrl)) return undefined
    return no(c, 403, 'ORIGIN_NOT_ALLOWED', 'Pages of other origins may not ask here.')
  }

  /** Takes from the bucket of whoever asks; the refusal when it is empty. */
  function counted(c: Context<Proven>, isTaken: boolean) {
    if (isTaken) return undefined
    c.header('Retry-After', '1')
    return no(c, 429, 'RATE_LIMITED', 'Too many requests; try again in a second.')
  }

  return (c) => {
    const asked = c.get('asked')
    const authorization = c.req.header('authorization')
    const tokenRole = asked?.role ?? roles(authorization)
    // A token is believed before a session, whose cookie a browser sends without being asked to.
    const session =
      authorization === undefined
        ? door?.sessionOf(c.req.header('cookie'), c.req.header(pageKeyHeader))
        : undefined
    const role = tokenRole ?? session?.role
    c.set('session', session)
    c.set('role', role)
    const path = c.req.path
    const isProbe = isReading(c) && healthPaths.includes(path)
    const open =
      isReading(c) && (isProbe ? context.isHealthOpen : path === '/metrics' && context.isMetricsOpen)
    const isSelfProven = c.req.method === 'POST' && context.isSelfProven?.(path) === true
    // The page itself is no secret, and who is no one yet begins a session here.
    const isLogIn = door !== undefined && c.req.method === 'POST' && logInPaths.includes(path)
    const isPage =
      door !== undefined &&
      isReading(c) &&
      (path === sessionPath ? session === undefined : isConsolePath(path))

    // Checks that refuse a request by itself come before every bucket, so that they cost nobody else anything.
    // A web page can point a name of its own at 127.0.0.1; it cannot forge the Host header.
    const address = c.req.header('host')
    const host = nameOf(address)
    if (address === undefined || host === undefined || !(names.has(host) || isAddress(host))) {
      return no(c, 421, 'HOST_NOT_ALLOWED', `This server does not answer to the name ${host ?? '(none)'}.`)
    }
    const foreign = originProblem(c, address)
    if (foreign !== undefined) return foreign
    const problem = isPage || isLogIn ? pageProblem(c) : session !== undefined ? sessionProblem(c) : undefined
    if (problem !== undefined) return no(c, 403, problem.error, problem.message)

    // Their routes judge the secret first, and count what fails.
    if (isSelfProven || isLogIn) return undefined
    // An orchestrator that is refused restarts a daemon that is well.
    if (isProbe && open) return undefined
    if (isPage) return counted(c, buckets.page.take(addressOf(c)))
    if (role === undefined) {
      if (open) return counted(c, buckets.open.take())
      const refusal = counted(c, buckets.stranger.take(addressOf(c)))
      if (refusal !== undefined) return refusal
      c.header('WWW-Authenticate', 'Bearer')
      return no(c, 401, 'UNAUTHORIZED', 'This needs a token: Authorization: Bearer TOKEN.')
    }
    // A challenge costs nothing and changes nothing, and the command that follows it is counted.
    const isFree = isProbe || (asked !== undefined && path === challengePath)
    if (!isFree) {
      const refusal = counted(c, buckets[tokenRole === undefined ? 'session' : 'token'][role].take())
      if (refusal !== undefined) return refusal
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
  more: object = {},
) {
  c.header('Cache-Control', 'no-store')
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') c.header('Connection', 'close')
  return c.json({ error, message, ...more }, status)
}

/** An address instead of a name: DNS rebinding needs a name. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function nameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  return header.replace(/:\d+$/, '').toLowerCase()
}
