/**
 * What the control port answers. Closed by default: who asks is known by a token, what shows the account needs the role
 * `read`, what changes anything the role `operate`; pages of other origins and foreign names get nothing at all.
 */
import { isIP } from 'node:net'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { BaseError, reasonOf } from '../base/errors.ts'
import { type OrderRow, orderRow, orderStory, type Plain, toPlain } from '../domain/views/orderView.ts'
import type { EngineApi, EngineStatus } from '../engine/engineStatus.ts'
import type { OperatorCommand } from '../engine/operator/operatorCommand.ts'
import type { Health, Verdict } from '../monitor/health.ts'
import type { Metrics } from '../monitor/metrics.ts'
import { hexKey } from '../protocol/address.ts'
import { createBucket, createRoles, type Role, type Tokens } from './access.ts'
import { json, type Recent, readRoutes } from './controlReads.ts'
import { MAX_BODY_BYTES, parseCommand } from './parseCommand.ts'
import { bodyDigestOf, challengePath, createProofs, type Proven, proofHeader } from './proof.ts'

/** The body of `/api/status`. */
export type StatusBody = Plain<
  Omit<EngineStatus, 'openIntents'> & { readonly openIntents: readonly OrderRow[] }
>

/** What the routes stand on. */
export interface ControlContext {
  readonly engine: EngineApi
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>
  readonly health: Pick<Health, 'live' | 'ready'>
  /** What was written and decided lately. */
  readonly recent: Recent
  /** Host names, without port, by which this server may be addressed besides the loopback ones. */
  readonly hostNames: readonly string[]
  readonly tokens: Tokens
  /** Whether /metrics is for everyone who reaches the port, and whether /livez and /readyz are. */
  readonly isMetricsOpen: boolean
  readonly isHealthOpen: boolean
  /** Most requests a second: of those with a token, of open paths, and of those that are refused, each. */
  readonly requestsPerSecond: number
  /** Any clock in ms; only differences count. */
  readonly now: () => number
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
const healthPaths: readonly string[] = ['/livez', '/healthz', '/readyz']
const DEFAULT_LIMIT = 100
const MOST_ROWS = 10_000

/** The routes as a handler `Request -> Response`. */
export function controlRoutes(context: ControlContext): Hono<Proven> {
  const app = new Hono<Proven>()
  const known = new Set([...loopbackNames, ...context.hostNames.map((each) => each.toLowerCase())])

  const roles = createRoles(context.tokens)
  const proofs = createProofs(context.tokens, context.now)
  const bucket = () => createBucket(context.requestsPerSecond, context.now)
  // A flood of third parties must not keep the operator or the orchestrator out.
  const buckets = { token: bucket(), open: bucket(), stranger: bucket() }
  const isOpen = (path: string): boolean =>
    path === '/metrics' ? context.isMetricsOpen : healthPaths.includes(path) && context.isHealthOpen

  // Whoever proves to hold a token gets an answer that proves it too, refusals included.
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url)
    const asked = proofs.read(c.req.header('authorization'), {
      method: c.req.method,
      path: `${pathname}${search}`,
    })
    c.set('asked', asked)
    await next()
    if (asked === undefined) return
    const body = new Uint8Array(await c.res.clone().arrayBuffer())
    c.header(proofHeader, proofs.answer(asked, { status: c.res.status, bodyDigest: bodyDigestOf(body) }))
  })

  app.use(async (c, next) => {
    const refusal = refuse(c)
    if (refusal !== undefined) return refusal
    await next()
    c.header('Cache-Control', 'no-store')
    c.header('X-Content-Type-Options', 'nosniff')
    return undefined
  })

  function refuse(c: Context<Proven>): Response | undefined {
    const asked = c.get('asked')
    const role = asked?.role ?? roles(c.req.header('authorization'))
    const path = c.req.path
    // It costs nothing and changes nothing, and the command that follows it is counted.
    const isFree = asked !== undefined && path === challengePath
    // HEAD asks for what GET gives, without its body.
    const isReading = c.req.method === 'GET' || c.req.method === 'HEAD'
    const open = isReading && isOpen(path)
    if (!isFree && !buckets[role !== undefined ? 'token' : open ? 'open' : 'stranger'].take()) {
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
    if (open) return undefined
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

  const limited = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: (c) => no(c, 413, 'BODY_TOO_LARGE', `A command has at most ${MAX_BODY_BYTES} bytes.`),
  })
  const command = (path: string, type: OperatorCommand['type']) =>
    app.post(path, limited, async (c) => {
      if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
        return no(c, 415, 'BODY_NOT_JSON', 'A command is JSON: Content-Type: application/json.')
      }
      let body: unknown
      try {
        const text = await c.req.text()
        const asked = c.get('asked')
        if (asked !== undefined && bodyDigestOf(text) !== asked.bodyDigest) {
          return no(c, 401, 'UNAUTHORIZED', 'The body is not the one that was proven.')
        }
        body = JSON.parse(text)
      } catch (error) {
        return no(c, 400, 'BODY_NOT_JSON', `The body cannot be read: ${reasonOf(error)}`)
      }
      const parsed = parseCommand(type, body, c.req.param('id'))
      if (!parsed.ok) return no(c, 400, 'BAD_COMMAND', parsed.problem)
      const answer = await context.engine.operate(parsed.command, { by: parsed.by, via: 'control' })
      if (answer.ok) return c.json(answer)
      return no(c, 409, answer.code, answer.reason)
    })

  command('/api/trading', 'trading')
  command('/api/kill', 'kill')
  command('/api/limits', 'limits')
  command('/api/findings/:id', 'finding')
  command('/api/markets/:id/trust', 'market')
  command('/api/orders/:id/resolve', 'resolve')
  command('/api/orders/:id/flatten', 'flatten')
  command('/api/orders/:id/cancel', 'cancel')
  command('/api/orders', 'open')
  command('/api/positions/close', 'close')

  app.get(challengePath, (c) => c.json({ challenge: proofs.challenge() }))
  app.get('/metrics', async (c) =>
    c.body(await context.metrics.render(context.engine.status()), 200, {
      'Content-Type': context.metrics.contentType,
    }),
  )
  app.get('/livez', (c) => answer(c, context.health.live(context.engine.status())))
  app.get('/healthz', (c) => answer(c, context.health.live(context.engine.status())))
  app.get('/readyz', (c) => answer(c, context.health.ready(context.engine.status())))
  app.get('/api/status', () => {
    const status = context.engine.status()
    const body: StatusBody = toPlain({
      ...status,
      symbols: symbolsOf(status),
      openIntents: status.openIntents.map(orderRow),
    })
    return json(body)
  })
  readRoutes(app, context)
  app.get('/api/orders', async (c) => {
    const limit = c.req.query('limit') ?? String(DEFAULT_LIMIT)
    if (!/^[1-9]\d{0,8}$/.test(limit)) {
      return c.json(
        { error: 'BAD_LIMIT', message: `limit is ${limit}; expected a whole number from 1.` },
        400,
      )
    }
    const strategy = c.req.query('strategy')
    const rows = await context.engine.intents({
      openOnly: c.req.query('open') === 'true',
      limit: Math.min(Number(limit), MOST_ROWS),
      ...(strategy !== undefined && { strategy }),
    })
    return json(rows.map(orderRow))
  })
  app.get('/api/orders/:intentId', async (c) => {
    const intentId = c.req.param('intentId')
    const story = await context.engine.story(intentId)
    if (story === undefined) {
      return c.json({ error: 'NOT_FOUND', message: `There is no order ${intentId}.` }, 404)
    }
    return json(orderStory(story.intent, story.records))
  })
  app.onError((error, c) =>
    error instanceof BaseError
      ? c.json({ error: error.code, message: error.message }, 503)
      : c.json({ error: 'INTERNAL', message: `This answer could not be made: ${reasonOf(error)}` }, 500),
  )
  app.notFound((c) =>
    c.json(
      {
        error: 'NOT_FOUND',
        message: `There is no ${c.req.method} ${c.req.path}; there are GET /metrics, /livez, /readyz, /api/status, /api/markets, /api/balance, /api/decisions, /api/logs, /api/orders and /api/orders/:intentId, and POST /api/trading, /api/kill, /api/limits, /api/findings/:findingId, /api/markets/:market/trust, /api/orders, /api/positions/close, /api/orders/:intentId/cancel, /api/orders/:intentId/resolve and /api/orders/:intentId/flatten.`,
      },
      404,
    ),
  )
  return app
}

/** A refusal. The connection ends with it: what is left of a body is not read. */
function no(
  c: Context<Proven>,
  status: 400 | 401 | 403 | 409 | 413 | 415 | 421 | 429,
  error: string,
  message: string,
) {
  c.header('Cache-Control', 'no-store')
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') c.header('Connection', 'close')
  return c.json({ error, message }, status)
}

/** Symbols of the markets that the status speaks of; a venue lists far more. */
function symbolsOf({ positions, symbols }: EngineStatus): Readonly<Record<string, string>> {
  const held = new Set(positions.map(({ marketToken }) => hexKey(marketToken)))
  return Object.fromEntries(Object.entries(symbols).filter(([marketToken]) => held.has(marketToken)))
}

function answer(c: { json: (value: unknown, status: 200 | 503) => Response }, verdict: Verdict): Response {
  return c.json(verdict, verdict.ok ? 200 : 503)
}

/** An address instead of a name: DNS rebinding needs a name. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function nameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  return header.replace(/:\d+$/, '').toLowerCase()
}
