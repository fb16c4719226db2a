/** Refusals as answers: a browser logs every 4xx as a failed request, although a question was answered. */
import type { Hono } from 'hono'
import type { Proven } from './requestGuard.ts'

/** Header of a request whose refusal comes with the status of an answer. The console's page sends it; it has the same word. */
const header = 'x-perpd-refusals'
/** Its value. */
const asAnswers = 'answered'
/** Refusals of a question. Those of the guard, and faults, keep their status: nothing was answered. */
const refusals: ReadonlySet<number> = new Set([400, 404, 409])

/** Adds it to routes: a refusal with 400, 404 or 409 comes as 200 with `ok: false`, its `status` and the rest of its body, where the request asks for that. */
export function answerRefusals(app: Hono<Proven>): void {
  app.use(async (c, next) => {
    await next()
    const { status, headers } = c.res
    if (!refusals.has(status) || c.req.header(header) !== asAnswers) return
    if (!/^application\/json\b/.test(headers.get('content-type') ?? '')) return
    const body = (await c.res.json()) as object
    c.res = new Response(JSON.stringify({ ok: false, status, ...body }), { headers })
  })
}
