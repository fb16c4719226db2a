/** Answers that prove themselves: whoever proves to hold a token gets an answer that proves it too, refusals included. */
import type { Hono } from 'hono'
import { bodyDigestOf, type createProofs, proofHeader } from './proof.ts'
import type { Proven } from './requestGuard.ts'

/** Adds it to routes, before all others. */
export function proveAnswers(app: Hono<Proven>, proofs: ReturnType<typeof createProofs>): void {
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
}
