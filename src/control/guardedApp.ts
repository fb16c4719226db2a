/** An app behind the guard of the control port: whoever asks is known, may ask, and gets an answer that proves itself. */
import { Hono } from 'hono'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { answerRefusals } from './guard/answeredRefusals.ts'
import type { ConsoleDoor } from './guard/browserRules.ts'
import { challengePath, createProofs } from './guard/proof.ts'
import { proveAnswers } from './guard/provenAnswers.ts'
import { createGuard, type Proven, type ServerRules } from './guard/requestGuard.ts'
import { doorRefusal, type SignalSettings } from './signalRoutes.ts'

/** Makes the app. `signalsAt` gives the settings of the signals that a path takes; undefined: it takes none. */
export function guardedApp(
  rules: ServerRules,
  door: ConsoleDoor | undefined,
  signalsAt: (path: string) => SignalSettings | undefined,
): Hono<Proven> {
  const app = new Hono<Proven>()
  const proofs = createProofs(rules.tokens, rules.now)
  const refuse = createGuard({
    ...rules,
    isSelfProven: (path) => signalsAt(path) !== undefined,
    ...defined({ door }),
  })
  proveAnswers(app, proofs)
  app.use(async (c, next) => {
    const refusal = refuse(c)
    if (refusal !== undefined) {
      const event = doorRefusal(refusal.status, rules.requestsPerSecond)
      if (event !== undefined) signalsAt(c.req.path)?.emit(event)
      return refusal
    }
    await next()
    c.header('Cache-Control', 'no-store')
    c.header('X-Content-Type-Options', 'nosniff')
    return undefined
  })
  answerRefusals(app)
  app.get(challengePath, (c) => c.json({ challenge: proofs.challenge() }))
  answerFaults(app)
  return app
}

/** Answers what throws, and what there is no route for. */
export function answerFaults(app: Hono<Proven>): void {
  app.onError((error, c) =>
    error instanceof BaseError
      ? c.json({ error: error.code, message: error.message }, 503)
      : c.json({ error: 'INTERNAL', message: `This answer could not be made: ${reasonOf(error)}` }, 500),
  )
  app.notFound((c) =>
    c.json(
      {
        error: 'NOT_FOUND',
        message: `There is no ${c.req.method} ${c.req.path}; there are ${routesText(app)}.`,
      },
      404,
    ),
  )
}

/** Every route that stands, by method: `GET /metrics, /livez, and POST /api/kill`. The console's own page is left out. */
function routesText(app: Hono<Proven>): string {
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/console'))
  const byMethod = Map.groupBy(routes, ({ method }) => method)
  return [...byMethod]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([method, all]) => `${method} ${[...new Set(all.map(({ path }) => path))].join(', ')}`)
    .join(', and ')
}
