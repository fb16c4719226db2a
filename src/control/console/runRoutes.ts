/**
 * Backtests on the console: their list, one that is started, and the report page of each. The page is a document of its own in a tab of its own. It is
 * served sandboxed, so that its origin is nobody's: no script in it reads the console's key, and none asks anything of this port.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { visible } from '../../base/shownText.ts'
import { isSameCode } from '../guard/proof.ts'
import { no, type Proven } from '../guard/requestGuard.ts'
import { jsonOf } from './jsonBody.ts'
import type { RunDesk } from './runDesk.ts'
import type { Sessions } from './sessions.ts'

/** Parts that the routes use. */
export interface RunParts {
  readonly desk: RunDesk
  readonly sessions: Sessions
  /** The file of a strategy that runs in an account; undefined: none of this name does. `account`: undefined where the only one has no name. */
  readonly fileOf: (strategy: string, account: string | undefined) => { readonly path: string } | undefined
}

const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .exactOptional()
const account = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,15}$/)
  .exactOptional()
const orderBody = z.strictObject({
  account,
  strategy: z.string().max(120),
  mode: z.enum(['fast', 'exact']),
  from: day,
  to: day,
  balance: z
    .string()
    .regex(/^\d{1,12}$/)
    .exactOptional(),
  source: z
    .string()
    .regex(/^[a-z0-9][\w-]{0,39}$/i)
    .exactOptional(),
})
const resumeBody = z.strictObject({ account, name: z.string().max(120) })
const busy = 'A backtest is being made; wait for its end, or cancel it.'
/** Longest body, bytes. */
const MOST_BODY_BYTES = 1_024

/** Headers of a report page: its scripts are its own, its origin is nobody's, and it loads nothing. */
const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  // A browser refuses to open a sandboxed document under any other value.
  'Cross-Origin-Opener-Policy': 'unsafe-none',
}

/** Adds the routes. */
export function runRoutes(app: Hono<Proven>, { desk, sessions, fileOf }: RunParts): void {
  const seal = randomBytes(32)
  const codeOf = (session: string, name: string): string =>
    createHmac('sha256', seal).update(`${session} ${name}`).digest('base64url')
  /** The path of a run's page for one session: a tab sends the session's cookie, and this stands for its other half. */
  const pathOf = (session: string, name: string): string =>
    `/console/runs/${encodeURIComponent(name)}/${session}.${codeOf(session, name)}`

  app.get('/api/runs', async (c) => {
    const { job, runs, more } = await desk.list()
    const session = c.get('session')
    const rows = runs.map((row) => {
      const page =
        session === undefined || row.figures === undefined ? undefined : pathOf(session.id, row.name)
      return { ...row, ...defined({ page }) }
    })
    return c.json({ ...defined({ job }), runs: rows, more })
  })

  const limited = bodyLimit({
    maxSize: MOST_BODY_BYTES,
    onError: (c) => no(c, 413, 'BODY_TOO_LARGE', `A backtest has at most ${MOST_BODY_BYTES} bytes.`),
  })
  app.post('/api/runs', limited, async (c) => {
    const order = await jsonOf(c, orderBody)
    if (order === undefined) return no(c, 400, 'BAD_RUN', badRun)
    const file = fileOf(order.strategy, order.account)
    if (file === undefined) return no(c, 404, 'NOT_FOUND', `No strategy ${visible(order.strategy)} runs.`)
    const job = desk.start({ ...order, path: file.path })
    if (job === undefined) return no(c, 409, 'BACKTEST_RUNNING', busy)
    return c.json({ ok: true, job })
  })
  app.post('/api/runs/resume', limited, async (c) => {
    const body = await jsonOf(c, resumeBody)
    if (body === undefined) return no(c, 400, 'BAD_RUN', 'A run to resume is named by its folder: name.')
    const job = await desk.resume(body.name, body.account)
    if (job === 'none')
      return no(c, 404, 'NOT_FOUND', `No run ${visible(body.name)} was stopped before its end.`)
    if (job === 'running') return no(c, 409, 'BACKTEST_RUNNING', busy)
    return c.json({ ok: true, job })
  })
  app.post('/api/runs/cancel', limited, (c) =>
    desk.cancel() ? c.json({ ok: true }) : no(c, 409, 'NO_BACKTEST', 'No backtest is being made.'),
  )

  app.get('/console/runs/:name/:code', async (c) => {
    const name = c.req.param('name')
    const [session = '', code = ''] = c.req.param('code').split('.')
    const isOwn =
      isSameCode(code, codeOf(session, name)) && sessions.hasCookie(session, c.req.header('cookie'))
    if (!isOwn)
      return no(
        c,
        403,
        'SESSION_NEEDED',
        'This page is for the session that listed it. Open the console again.',
      )
    return await pageOf(c, desk, name)
  })
}

const badRun =
  'A backtest is JSON: {"strategy":"eth-trend","mode":"fast"}, with from and to as 2026-11-02, balance in whole units, source where it is needed, and account where there are several.'

async function pageOf(c: Context<Proven>, desk: RunDesk, name: string) {
  const page = await desk.page(name)
  if (page === undefined) return no(c, 404, 'NOT_FOUND', `No run ${visible(name)} is over.`)
  return c.body(page, 200, pageHeaders)
}
