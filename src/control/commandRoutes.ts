/** Commands of the operator: each a POST of JSON, read strictly and carried out by the engine. */
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { fileBounds } from '../base/boundedJson.ts'
import { reasonOf } from '../base/errors.ts'
import { jsonProblem, parseStrict } from '../base/strictJson.ts'
import type { Commander } from '../domain/accountRecords/tradingState.ts'
import { toPlain } from '../domain/summaries/orderView.ts'
import { type AnyCommand, namedIn, type ReadRow } from '../operator/commandRow.ts'
import { allRows, type OperatorCommand } from '../operator/commands/index.ts'
import type { OperatorAnswer } from '../operator/operatorAnswer.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { bodyDigestOf } from './guard/proof.ts'
import { no, type Proven } from './guard/requestGuard.ts'
import { MAX_BODY_BYTES, parseCommand } from './parseCommand.ts'

/** Adds the commands of an account to the routes. */
export function commandRoutes(app: Hono<Proven>, engine: EngineApi): void {
  addRows<OperatorCommand>(app, allRows, (_, command, commander) => engine.operate(command, commander))
}

/** Adds the routes of rows. `carryOut` is told each command that was read, with its row. */
export function addRows<Command extends AnyCommand, Row extends ReadRow = ReadRow>(
  app: Hono<Proven>,
  rows: readonly Row[],
  carryOut: (row: Row, command: Command, commander: Commander) => Promise<OperatorAnswer>,
): void {
  const limited = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: (c) => no(c, 413, 'BODY_TOO_LARGE', `A command has at most ${MAX_BODY_BYTES} bytes.`),
  })
  for (const row of rows) {
    const named = namedIn(row.route)
    app.post(row.route, limited, async (c) => {
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
        body = parseStrict(text, fileBounds)
      } catch (error) {
        const reason = error instanceof SyntaxError ? jsonProblem(error) : reasonOf(error)
        return no(c, 400, 'BODY_NOT_JSON', `The body cannot be read: ${reason}.`)
      }
      const parsed = parseCommand<Command>(row, body, named === undefined ? undefined : c.req.param(named))
      if (!parsed.ok) return no(c, 400, 'BAD_COMMAND', parsed.problem)
      const answer = await carryOut(row, parsed.command, { by: parsed.by, via: 'control' })
      if (answer.ok) return c.json(toPlain(answer))
      const { pools } = answer
      return no(c, 409, answer.code, answer.reason, pools === undefined ? {} : { pools: toPlain(pools) })
    })
  }
}
