/**
 * Sessions of browsers. A browser holds a cookie, which it sends to every port of the host name, and a page key, which only pages of
 * the console's own origin can read. The daemon holds the hashes of both, in memory alone: a restart ends all. A session begins
 * with a token or with a link that is good once; it ends by itself, by its browser or by an operator.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Clocks } from '../../base/clock.ts'
import type { Role } from '../guard/access.ts'
import type { OpenSession } from '../guard/browserRules.ts'
import { isSameCode } from '../guard/proof.ts'

/**
 * The name of a session's cookie. Cookies do not tell ports apart, so the name does: two daemons of one machine do not log each other's
 * browser out. `port`: of the control port.
 */
export function cookieNameOf(port: number): string {
  return `perpd_session_${port}`
}

/** Longest life of a session, and longest time without a request, ms. */
const lifeMs = 12 * 3_600_000
const idleMs = 3_600_000
/** Lifetime of a link, ms. */
const linkMs = 600_000
/** Most sessions and links of each role that are kept; the one of that role that was used or made first goes. */
const mostSessions = 64
const mostLinks = 32

/** A session as operators see it; times are Unix ms. */
export interface SessionRow {
  readonly id: string
  readonly role: Role
  readonly begunAtMs: number
  readonly lastUsedAtMs: number
  readonly expiresAtMs: number
  /** Where it began: the address of the browser, or of the proxy before it. */
  readonly address: string
}

/** A session that began just now. */
export interface BegunSession {
  /** Cookie for the browser. */
  readonly cookie: string
  /** The key that the page holds and sends with every request. */
  readonly pageKey: string
  readonly row: SessionRow
}

/** A link's key; times are Unix ms. */
export interface OnceKey {
  readonly key: string
  readonly expiresAtMs: number
}

/** The sessions of one run of the daemon. */
export interface Sessions {
  /** The name of the cookie. */
  cookieName(): string
  /** Makes the key of a link that begins one session of this role. */
  link(role: Role): OnceKey
  /** Begins the session of a key, which is good no more; undefined: it is none, was used, or is over. */
  enter(key: string, address: string): BegunSession | undefined
  begin(role: Role, address: string): BegunSession
  /** The session of a request's `Cookie` header and of its page key; undefined: none that is open has both. */
  of(cookieHeader: string | undefined, pageKey: string | undefined): OpenSession | undefined
  /** Counts a request that was let in: the session goes on. */
  use(id: string): void
  /** Tells whether the session is still open; asking does not count as use. */
  isOpen(id: string): boolean
  /** Tells whether the session is open and a request's `Cookie` header is its own. */
  hasCookie(id: string, cookieHeader: string | undefined): boolean
  /** Ends one; false when there is none. */
  end(id: string): boolean
  /** Open ones, the oldest first. */
  list(): readonly SessionRow[]
}

interface Kept {
  readonly hash: string
  readonly pageKeyHash: string
  readonly row: SessionRow
  /** By the monotonic clock. */
  readonly begunMs: number
  readonly usedMs: number
}

/**
 * Without sessions. Lives are measured by both clocks, and the one that says that it is over is believed: the wall clock goes
 * on while a machine sleeps, and nobody sets the other back. `cookieName`: of the port, once it serves.
 */
export function createSessions(clock: Clocks, cookieName: () => string): Sessions {
  const sessions = new Map<string, Kept>()
  const links = new Map<string, { readonly role: Role; readonly atMs: number; readonly madeMs: number }>()
  const isOver = (atMs: number, sinceMs: number, mostMs: number): boolean =>
    clock.now() - atMs >= mostMs || clock.monotonicMs() - sinceMs >= mostMs

  /** Forgets what is over. */
  function sweep(): void {
    for (const [hash, { row, begunMs, usedMs }] of sessions) {
      if (isOver(row.begunAtMs, begunMs, lifeMs) || isOver(row.lastUsedAtMs, usedMs, idleMs))
        sessions.delete(hash)
    }
    for (const [hash, { atMs, madeMs }] of links) if (isOver(atMs, madeMs, linkMs)) links.delete(hash)
  }

  const withId = (id: string) => [...sessions.values()].find(({ row }) => row.id === id)

  function begin(role: Role, address: string): BegunSession {
    sweep()
    const cookie = randomBytes(32).toString('base64url')
    const pageKey = randomBytes(32).toString('base64url')
    const hash = hashOf(cookie)
    const atMs = clock.now()
    const row = {
      id: randomBytes(6).toString('hex'),
      role,
      begunAtMs: atMs,
      lastUsedAtMs: atMs,
      expiresAtMs: atMs + idleMs,
      address,
    }
    const ms = clock.monotonicMs()
    sessions.set(hash, { hash, pageKeyHash: hashOf(pageKey), row, begunMs: ms, usedMs: ms })
    const alike = [...sessions.values()].filter((each) => each.row.role === role)
    const [longestUnused] = alike.toSorted((one, other) => one.usedMs - other.usedMs)
    if (alike.length > mostSessions && longestUnused !== undefined) sessions.delete(longestUnused.hash)
    return { cookie, pageKey, row }
  }

  return {
    cookieName,
    begin,
    link(role) {
      sweep()
      const key = randomBytes(32).toString('base64url')
      const atMs = clock.now()
      links.set(hashOf(key), { role, atMs, madeMs: clock.monotonicMs() })
      const alike = [...links].filter(([, each]) => each.role === role)
      const [oldest] = alike
      if (alike.length > mostLinks && oldest !== undefined) links.delete(oldest[0])
      return { key, expiresAtMs: atMs + linkMs }
    },
    enter(key, address) {
      sweep()
      const hash = hashOf(key)
      const found = links.get(hash)
      links.delete(hash)
      return found === undefined ? undefined : begin(found.role, address)
    },
    of(cookieHeader, pageKey) {
      const cookie = cookieIn(cookieHeader, cookieName())
      if (cookie === undefined || pageKey === undefined) return undefined
      sweep()
      const kept = sessions.get(hashOf(cookie))
      if (kept === undefined || !isSameCode(kept.pageKeyHash, hashOf(pageKey))) return undefined
      return { id: kept.row.id, role: kept.row.role }
    },
    use(id) {
      const found = withId(id)
      if (found === undefined) return
      const atMs = clock.now()
      const expiresAtMs = Math.min(found.row.begunAtMs + lifeMs, atMs + idleMs)
      const row = { ...found.row, lastUsedAtMs: atMs, expiresAtMs }
      sessions.set(found.hash, { ...found, row, usedMs: clock.monotonicMs() })
    },
    isOpen(id) {
      sweep()
      return withId(id) !== undefined
    },
    hasCookie(id, cookieHeader) {
      sweep()
      const cookie = cookieIn(cookieHeader, cookieName())
      return cookie !== undefined && sessions.get(hashOf(cookie))?.row.id === id
    },
    end(id) {
      const found = withId(id)
      return found !== undefined && sessions.delete(found.hash)
    },
    list() {
      sweep()
      return [...sessions.values()]
        .map(({ row }) => row)
        .toSorted((one, other) => one.begunAtMs - other.begunAtMs)
    },
  }
}

/** The one cookie of ours in a `Cookie` header; two of them are none: somebody else put one there. */
function cookieIn(header: string | undefined, cookieName: string): string | undefined {
  if (header === undefined) return undefined
  const found = header
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${cookieName}=`))
  const [only] = found
  const value = only?.slice(cookieName.length + 1)
  return found.length === 1 && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
