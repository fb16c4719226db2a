/** Reading routes beside status and orders: figures of markets, the balance, books, newest decisions, and the log. */
import type { Hono } from 'hono'
import { defined, ifDefined } from '../base/defined.ts'
import { visible } from '../base/shownText.ts'
import { logLevels } from '../domain/logLevels.ts'
import { toPlain } from '../domain/summaries/orderView.ts'
import type { HostFigures, HostRow } from '../monitor/hostFigures.ts'
import type { IncidentReads } from '../monitor/incidents/incidents.ts'
import type { LastDecision } from '../monitor/lastDecisions.ts'
import type { LevelTable } from '../monitor/log/levelTable.ts'
import type { LogRing } from '../monitor/log/logRing.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { chartCandles, mostCandles } from '../operator/port/readCandles.ts'
import type { CandlePeriod } from '../protocol/market.ts'
import type { StartReport } from './console/startReport.ts'
import type { Proven } from './guard/requestGuard.ts'

/** Recent log lines, decisions and host figures from memory, open incidents, and the log levels in force. */
export interface Recent {
  readonly log: LogRing
  readonly levels: LevelTable
  readonly decisions: { all(): readonly LastDecision[] }
  readonly hosts: { all(): readonly HostFigures[] }
  readonly incidents: IncidentReads
}

const periods: readonly CandlePeriod[] = ['1m', '5m', '15m', '1h', '4h', '1d']
/** Most lines of the log in one answer. */
const MOST_LINES = 2_000

/** Adds the routes. */
export function readRoutes(
  app: Hono<Proven>,
  {
    engine,
    recent,
    nextStart,
  }: { readonly engine: EngineApi; readonly recent: Recent; readonly nextStart: () => StartReport },
): void {
  app.get('/api/markets', async () => json(await engine.markets()))
  app.get('/api/candles', async (c) => {
    const [market = '', word = '5m'] = [c.req.query('market'), c.req.query('period')]
    const period = periods.find((each) => each === word)
    const [limit = String(chartCandles), before] = [c.req.query('limit'), c.req.query('before')]
    const isPart = /^[1-9]\d{0,3}$/.test(limit) && (before === undefined || /^\d{1,11}$/.test(before))
    if (period === undefined || market === '' || market.length > 120 || !isPart) {
      const message = `expected market as a symbol or a market token, period as one of ${periods.join(', ')}, limit as a whole number up to ${mostCandles}, and before as Unix seconds.`
      return c.json({ error: 'BAD_QUERY', message }, 400)
    }
    const report = await engine.candles(market, period, {
      limit: Math.min(Number(limit), mostCandles),
      ...defined({ beforeSeconds: ifDefined(before, Number) }),
    })
    if (report !== undefined) return json(report)
    return c.json({ error: 'NOT_FOUND', message: `There is no price of ${visible(market)}.` }, 404)
  })
  app.get('/api/balance', async () => json(await engine.balance()))
  app.get('/api/tasks', async () => json(await engine.tasks()))
  app.get('/api/books', () => json(engine.books()))
  app.get('/api/limits', () => json(engine.limits()))
  app.get('/api/strategies/:name/file', (c) => {
    const name = c.req.param('name')
    const file = engine.fileOf(name)
    if (file === undefined)
      return c.json({ error: 'NOT_FOUND', message: `No strategy ${visible(name)} runs.` }, 404)
    return json(file)
  })
  app.get('/api/decisions', () => json(recent.decisions.all()))
  app.get('/api/config', () => json(nextStart()))
  app.get('/api/hosts', () => json(hostRows(recent.hosts.all(), engine)))
  app.get('/api/log/levels', () => json(recent.levels.inForce()))
  app.get('/api/logs', (c) => {
    const [after = '0', limit = '200', word = 'info'] = [
      c.req.query('after'),
      c.req.query('limit'),
      c.req.query('level'),
    ]
    const level = logLevels.find((each) => each === word)
    const strategy = c.req.query('strategy')
    const order = c.req.query('order')?.toLowerCase()
    if (order !== undefined && !/^(?:0x)?[\da-f]{1,64}$/.test(order)) {
      return c.json({ error: 'BAD_QUERY', message: "expected an order's id, or its first characters." }, 400)
    }
    if (level === undefined || !/^\d{1,15}$/.test(after) || !/^[1-9]\d{0,8}$/.test(limit)) {
      const message = `expected after and limit as whole numbers, and a level of ${logLevels.join(', ')}.`
      return c.json({ error: 'BAD_QUERY', message }, 400)
    }
    return json(
      recent.log.read({
        ...{ after: Number(after), limit: Math.min(Number(limit), MOST_LINES), level },
        ...defined({ strategy, intentId: order }),
      }),
    )
  })
}

function hostRows(all: readonly HostFigures[], { clockSkewMs }: EngineApi): readonly HostRow[] {
  return all.map((figures) => {
    const skewMs = figures.kind === 'host' ? clockSkewMs(figures.name) : undefined
    return { ...figures, ...defined({ clockSkewMs: skewMs === undefined ? undefined : Math.round(skewMs) }) }
  })
}

/** A value as an answer. */
export function json(value: unknown): Response {
  // A name from outside turns nothing around on the screen of whoever asks by hand; as JSON it says the same.
  return new Response(visible(JSON.stringify(toPlain(value))), {
    headers: { 'content-type': 'application/json' },
  })
}
