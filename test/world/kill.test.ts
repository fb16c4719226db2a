/**
 * The real daemon on the real paper venue, killed with SIGKILL before and after every journal record of a market order's
 * road, and started again; of a change at a third of these moments. The venue's own record is the judge.
 */
import { afterAll, beforeAll, test } from 'vitest'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { expectOrderSurvives, hastyVenue, threadEnded } from './killPoint.ts'
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

test.concurrent.each(ofShare(points, shareOfChange(3)))(
  'killed at %s: nothing is sent twice and every intent ends',
  { timeout: 240_000 },
  (point) => expectOrderSurvives(point, paper),
)

test.concurrent.each([
  { point: 'attempt.armed:after', by: 'memory', reason: 'memory' },
  { point: 'send.result:before', by: 'memory', reason: 'memory' },
  { point: 'landed:after', by: 'throw', reason: 'a mistake in the thread' },
] as const)(
  'the thread that writes the journal ends by $by at $point: the daemon says so and ends, and another one resumes the order',
  { timeout: 240_000 },
  ({ point, by, reason }) => expectOrderSurvives(point, paper, threadEnded(by, reason)),
)
