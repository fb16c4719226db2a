/**
 * The real daemon on the real paper venue, killed with SIGKILL before and after every journal record of a market order's
 * road, and started again. The venue's own record is the judge.
 */
import { afterAll, beforeAll, test } from 'vitest'
import { expectOrderSurvives, hastyVenue } from './killPoint.ts'
import { startPaper } from './processes.ts'

let paper: Awaited<ReturnType<typeof startPaper>>

beforeAll(async () => {
  paper = await startPaper(hastyVenue)
})

afterAll(async () => {
  paper.child.kill('SIGTERM')
  await paper.ended
})

const kinds = [
  'intent.accepted',
  'attempt.preparing',
  'attempt.armed',
  'send.result',
  'landed',
  'child.executed',
  'intent.closed',
]

const points = kinds.flatMap((kind) => [`${kind}:before`, `${kind}:after`])

test.concurrent.each(points)(
  'killed at %s: nothing is sent twice and every intent ends',
  { timeout: 240_000 },
  (point) => expectOrderSurvives(point, paper),
)
