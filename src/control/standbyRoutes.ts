/**
 * Routes of a perpd that waits for its journal: it is alive and not ready, says for whom it waits, and carries out nothing. The guard is that of the
 * control port.
 */
import { type Context, Hono } from 'hono'
import { defined } from '../base/defined.ts'
import type { AwaitedServer } from '../domain/journalServer.ts'
import type { Metrics } from '../monitor/metrics/metrics.ts'
import { STANDBY_WAITS } from './guard/accountRefusals.ts'
import { challengePath, createProofs } from './guard/proof.ts'
import { proveAnswers } from './guard/provenAnswers.ts'
import { createGuard, no, type Proven, type ServerRules } from './guard/requestGuard.ts'

/** Status of a perpd that waits. */
export interface StandbyStatus {
  readonly version: string
  readonly profile: string
  readonly chain: string
  readonly state: 'waiting'
  readonly nowMs: number
  readonly startedAtMs: number
  /** Code of what it waits for: JOURNAL_LOCKED, JOURNAL_NEWER, JOURNAL_UNREACHABLE or JOURNAL_STANDBY_MISSING; FLEET_ELSEWHERE where its fleet has it held by another node; STRATEGIES_REFUSED or ACCOUNT_NOT_TAKEN where it cannot be opened now. */
  readonly code: string
  /** One sentence for people. */
  readonly reason: string
  /** `holder`: the perpd that has the right; `since`: as a time of ISO 8601. Absent: not known. */
  readonly journal: {
    readonly path: string
    readonly epoch?: number
    readonly holder?: string
    readonly since?: string
  }
}

/** Parts that the routes use. */
export interface StandbyContext extends ServerRules {
  readonly metrics: Metrics
  readonly standby: () => StandbyStatus
}

/** Answers a question for the status of an account that is waited for. */
export function waits(c: Context<Proven>, standby: StandbyStatus): Response {
  return no(c, 503, STANDBY_WAITS, standby.reason, { standby })
}

/** Returns the server of a journal that is waited for, as far as it is known: that this perpd does not have the right is known without an answer. */
export function serverOf({ journal: { epoch, holder = '' } }: StandbyStatus): AwaitedServer {
  return { isHeld: false, holder, ...defined({ epoch }) }
}

/** The routes. */
export function standbyRoutes(context: StandbyContext): Hono<Proven> {
  const { standby, metrics } = context
  const app = new Hono<Proven>()
  const proofs = createProofs(context.tokens, context.now)
  const refuse = createGuard(context)
  proveAnswers(app, proofs)
  app.use(async (c, next) => {
    const refusal = refuse(c)
    if (refusal !== undefined) return refusal
    await next()
    c.header('Cache-Control', 'no-store')
    c.header('X-Content-Type-Options', 'nosniff')
    return undefined
  })
  app.get(challengePath, (c) => c.json({ challenge: proofs.challenge() }))
  app.get('/metrics', async (c) => {
    return c.body(await metrics.render(undefined, serverOf(standby())), 200, {
      'Content-Type': metrics.contentType,
    })
  })
  for (const path of ['/livez', '/healthz']) app.get(path, (c) => c.json({ ok: true, reasons: [] }))
  app.get('/readyz', (c) => c.json({ ok: false, reasons: [standby().reason] }, 503))
  app.get('/api/status', (c) => waits(c, standby()))
  app.notFound((c) => no(c, 503, STANDBY_WAITS, standby().reason))
  return app
}
