/** What the control port answers. Reads only: nothing here changes an order or the daemon. */
import { isIP } from 'node:net'
import { Hono } from 'hono'
import { hexKey } from '../domain/address.ts'
import { reasonOf } from '../domain/errors.ts'
import { type OrderRow, orderRow, orderStory, type Plain, toPlain } from '../domain/orderView.ts'
import type { EngineDoor, EngineStatus } from '../engine/status.ts'
import type { Health, Verdict } from '../monitor/health.ts'
import type { Metrics } from '../monitor/metrics.ts'

/** The body of `/api/status`. */
export type StatusBody = Plain<
  Omit<EngineStatus, 'openIntents'> & { readonly openIntents: readonly OrderRow[] }
>

/** What the routes stand on. */
export interface ControlContext {
  readonly door: EngineDoor
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>
  readonly health: Pick<Health, 'live' | 'ready'>
  /** Host names, without port, by which this server may be addressed besides the loopback ones. */
  readonly hostNames: readonly string[]
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
const DEFAULT_LIMIT = 100
const MOST_ROWS = 10_000

/** The routes as a handler `Request -> Response`. */
export function controlRoutes(context: ControlContext): Hono {
  const app = new Hono()
  const known = new Set([...loopbackNames, ...context.hostNames.map((each) => each.toLowerCase())])

  app.use(async (c, next) => {
    // A web page can point a name of its own at 127.0.0.1; it cannot forge the Host header.
    const host = nameOf(c.req.header('host'))
    if (host === undefined || !(known.has(host) || isAddress(host))) {
      return c.json(
        {
          error: 'HOST_NOT_ALLOWED',
          message: `This server does not answer to the name ${host ?? '(none)'}.`,
        },
        421,
      )
    }
    if (c.req.header('origin') !== undefined && c.req.method !== 'GET') {
      return c.json(
        { error: 'METHOD_NOT_ALLOWED', message: 'Pages of other origins may not send this.' },
        403,
      )
    }
    await next()
    c.header('Cache-Control', 'no-store')
    c.header('X-Content-Type-Options', 'nosniff')
    return undefined
  })

  app.get('/metrics', async (c) =>
    c.body(await context.metrics.render(), 200, { 'Content-Type': context.metrics.contentType }),
  )
  app.get('/healthz', (c) => answer(c, context.health.live()))
  app.get('/readyz', (c) => answer(c, context.health.ready()))
  app.get('/api/status', () => {
    const status = context.door.status()
    const body: StatusBody = toPlain({
      ...status,
      symbols: symbolsOf(status),
      openIntents: status.openIntents.map(orderRow),
    })
    return Response.json(body)
  })
  app.get('/api/orders', (c) => {
    const limit = c.req.query('limit') ?? String(DEFAULT_LIMIT)
    if (!/^[1-9]\d{0,8}$/.test(limit)) {
      return c.json(
        { error: 'BAD_LIMIT', message: `limit is ${limit}; expected a whole number from 1.` },
        400,
      )
    }
    const strategy = c.req.query('strategy')
    const rows = context.door.intents({
      openOnly: c.req.query('open') === 'true',
      limit: Math.min(Number(limit), MOST_ROWS),
      ...(strategy !== undefined && { strategy }),
    })
    return json(rows.map(orderRow))
  })
  app.get('/api/orders/:intentId', (c) => {
    const intentId = c.req.param('intentId')
    const story = context.door.story(intentId)
    if (story === undefined) {
      return c.json({ error: 'NOT_FOUND', message: `There is no order ${intentId}.` }, 404)
    }
    return json(orderStory(story.intent, story.records))
  })
  app.onError((error, c) =>
    c.json({ error: 'INTERNAL', message: `This answer could not be made: ${reasonOf(error)}` }, 500),
  )
  app.notFound((c) =>
    c.json(
      {
        error: 'NOT_FOUND',
        message: `There is no ${c.req.path}; there are /metrics, /healthz, /readyz, /api/status, /api/orders and /api/orders/:intentId.`,
      },
      404,
    ),
  )
  return app
}

/** Symbols of the markets that the status speaks of; a venue lists far more. */
function symbolsOf({ positions, symbols }: EngineStatus): Readonly<Record<string, string>> {
  const held = new Set(positions.map(({ marketToken }) => hexKey(marketToken)))
  return Object.fromEntries(Object.entries(symbols).filter(([marketToken]) => held.has(marketToken)))
}

function answer(c: { json: (value: unknown, status: 200 | 503) => Response }, verdict: Verdict): Response {
  return c.json(verdict, verdict.ok ? 200 : 503)
}

function json(value: unknown): Response {
  return Response.json(toPlain(value))
}

/** An address instead of a name: DNS rebinding needs a name. */
function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function nameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  return header.replace(/:\d+$/, '').toLowerCase()
}
