/** Routes of the console: its files, how a browser's session begins and ends, and who has one. */
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Role, RoleOf } from '../guard/access.ts'
import { addressOf } from '../guard/addressOf.ts'
import { enterPath, linkPath, sessionPath } from '../guard/browserRules.ts'
import { no, type Proven } from '../guard/requestGuard.ts'
import type { Assets } from './assets.ts'
import { jsonOf } from './jsonBody.ts'
import type { LoginThrottle } from './loginThrottle.ts'
import { type RunParts, runRoutes } from './runRoutes.ts'
import type { BegunSession, Sessions } from './sessions.ts'

/** Parts that the routes use. */
export interface ConsoleParts {
  readonly sessions: Sessions
  readonly assets: Assets
  /** Throttles of log-ins by token and of log-ins by link; failures of one kind lock nobody out of the other. */
  readonly throttle: { readonly tokens: LoginThrottle; readonly links: LoginThrottle }
  readonly roles: RoleOf
  /** Where browsers reach the console, without a slash at its end. */
  readonly baseUrl: () => string
  /** Share of the equity above which the page asks to type the size of an order, bps. */
  readonly typedSizeBps: number
  /** Backtests; absent: the console has none. */
  readonly runs?: Omit<RunParts, 'sessions'>
}

/** Longest body of a log-in, bytes. */
const MOST_LOGIN_BYTES = 1_024
/** Lifetime of the cookie in the browser, seconds; the daemon ends an unused session earlier. */
const cookieSeconds = 43_200
/** A link's key as it is made. */
const keyForm = /^[A-Za-z0-9_-]{43}$/

/** Response headers that restrict a console page in the browser: it may load files of the console and nothing else. */
const policy: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}
const loginBody = z.strictObject({ token: z.string().max(512) })
const enterBody = z.strictObject({ key: z.string().max(512) })
const linkBody = z.strictObject({ role: z.enum(['read', 'operate']).optional() })

/** Adds the routes. */
export function consoleRoutes(app: Hono<Proven>, parts: ConsoleParts): void {
  app.use('/console/*', async (c, next) => {
    await next()
    // A run's page brings a policy of its own, which is stricter.
    for (const [name, value] of Object.entries(policy)) if (!c.res.headers.has(name)) c.header(name, value)
  })
  app.get('/console', (c) => c.redirect('/console/', 303))
  loginRoutes(app, parts)
  sessionRoutes(app, parts)
  if (parts.runs !== undefined) runRoutes(app, { ...parts.runs, sessions: parts.sessions })
  app.get('/console/*', (c) => {
    const name = c.req.path.slice('/console/'.length)
    const asset = parts.assets.read(name === '' ? 'index.html' : name)
    if (asset === undefined) return no(c, 404, 'NOT_FOUND', 'The console has no such file.')
    const head = { 'Content-Type': asset.type, Vary: 'Accept-Encoding' }
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(c.req.header('accept-encoding') ?? '')
    return asset.gzip !== undefined && takesGzip
      ? c.body(asset.gzip, 200, { ...head, 'Content-Encoding': 'gzip' })
      : c.body(asset.body, 200, head)
  })
}

/** Routes that begin a session: by a link that works once, or by a token. */
function loginRoutes(app: Hono<Proven>, { sessions, throttle, roles, baseUrl }: ConsoleParts): void {
  const limited = bodyLimit({
    maxSize: MOST_LOGIN_BYTES,
    onError: (c) => no(c, 413, 'BODY_TOO_LARGE', `A log-in has at most ${MOST_LOGIN_BYTES} bytes.`),
  })
  const tooMany = (c: Context<Proven>) => {
    c.header('Retry-After', '60')
    return no(c, 429, 'LOGIN_THROTTLED', 'Too many log-ins failed; try again in a minute.')
  }
  /** The cookie goes to the browser, the other half to the page that asked. */
  const give = (c: Context<Proven>, { cookie, pageKey, row }: BegunSession) => {
    setCookie(c, sessions.cookieName(), cookie, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: cookieSeconds,
      secure: baseUrl().startsWith('https:'),
    })
    return c.json({ role: row.role, pageKey, expiresAtMs: row.expiresAtMs })
  }

  app.post(enterPath, limited, async (c) => {
    const address = addressOf(c)
    const body = await jsonOf(c, enterBody)
    if (body === undefined)
      return no(c, 400, 'BAD_LOGIN', 'A link is JSON, {"key":"..."}, sent as application/json.')
    // A key that is good enters in any case: nobody guesses one.
    const begun = keyForm.test(body.key) ? sessions.enter(body.key, address) : undefined
    if (begun === undefined) {
      if (!throttle.links.isOpen(address)) return tooMany(c)
      throttle.links.failed(address)
      return no(
        c,
        410,
        'LINK_OVER',
        'This link was used, or its ten minutes are over. For a new one: perpd console',
      )
    }
    return give(c, begun)
  })

  app.post(sessionPath, limited, async (c) => {
    const address = addressOf(c)
    const body = await jsonOf(c, loginBody)
    if (body === undefined)
      return no(c, 400, 'BAD_LOGIN', 'A log-in is JSON, {"token":"..."}, sent as application/json.')
    // A token that is good enters in any case: it has 256 bits, and others of this address may try wrong ones all day.
    const role = roles(`Bearer ${body.token}`)
    if (role === undefined) {
      if (!throttle.tokens.isOpen(address)) return tooMany(c)
      throttle.tokens.failed(address)
      return no(c, 401, 'UNAUTHORIZED', 'This is none of the tokens of this perpd.')
    }
    return give(c, sessions.begin(role, address))
  })

  app.post(linkPath, limited, async (c) => {
    const role = c.get('asked')?.role ?? roles(c.req.header('authorization'))
    // A session that could make others would never end.
    if (role === undefined)
      return no(c, 403, 'TOKEN_NEEDED', 'A link is given for a token, not to a session.')
    const body = await jsonOf(c, linkBody)
    if (body === undefined)
      return no(c, 400, 'BAD_COMMAND', 'The body is JSON, {} or {"role":"read"}, sent as application/json.')
    const given: Role = body.role === 'read' ? 'read' : role
    if (body.role === 'operate' && role !== 'operate')
      return no(c, 403, 'FORBIDDEN', 'This token may read; a link that commands needs the other one.')
    return c.json({ ok: true, role: given, ...linkTo(sessions, baseUrl(), given) })
  })
}

/** Routes that show the session and end it. */
function sessionRoutes(app: Hono<Proven>, { sessions, typedSizeBps }: ConsoleParts): void {
  app.get(sessionPath, (c) => {
    const session = c.get('session')
    const row = sessions.list().find(({ id }) => id === session?.id)
    // A fresh page asks this first: that nobody is logged in is an answer, and no fault on its console.
    if (session === undefined || row === undefined) return c.json({ role: null })
    return c.json({ role: row.role, expiresAtMs: row.expiresAtMs, typedSizeBps })
  })
  app.delete(sessionPath, (c) => {
    const session = c.get('session')
    if (session === undefined) return no(c, 401, 'UNAUTHORIZED', 'This is asked by a session.')
    sessions.end(session.id)
    setCookie(c, sessions.cookieName(), '', { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: 0 })
    return c.json({ ok: true })
  })
  app.get('/api/console/sessions', (c) =>
    c.json(sessions.list().map((row) => ({ ...row, isOwn: row.id === c.get('session')?.id }))),
  )
  app.delete('/api/console/sessions/:id', (c) => {
    if (sessions.end(c.req.param('id'))) return c.json({ ok: true })
    return no(c, 404, 'SESSION_NOT_FOUND', 'There is no such session; it may have ended by itself.')
  })
}

/** A link to the console that is good once. */
export interface ConsoleLink {
  readonly url: string
  /** Unix ms. */
  readonly expiresAtMs: number
}

/** Makes a link for a session of this role. Its key stands in the fragment: a browser sends that to nobody, and the page trades it in. */
export function linkTo(sessions: Sessions, baseUrl: string, role: Role): ConsoleLink {
  const { key, expiresAtMs } = sessions.link(role)
  return { url: `${baseUrl}/console/#key=${key}`, expiresAtMs }
}
