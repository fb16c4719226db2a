/** The process ends at every boundary of stories on real files: within commits, checkpoints and lines of the guard too. */
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { crashPointsOf } from './crashPoints.ts'
import { stories } from './scenarios.ts'

const share = shareOfChange(3)

const told: ReadonlySet<string> = new Set([
  'market increase',
  'market increase by the relay',
  'twap increase',
  'increase with exits',
  'cancel of a resting order',
  'relay drops the message',
  'blocks are reorganised',
  'without a chain',
])

test('a crash at every boundary of eight stories on real files loses and repeats nothing', {
  timeout: 600_000,
}, async () => {
  const chosen = stories.filter(({ name }) => told.has(name))
  const points = await crashPointsOf('files', chosen, 'crash', share)
  expect(points.flatMap(({ failures }) => failures)).toEqual([])
  expect(points).toHaveLength(told.size)
  expect(points.reduce((sum, { runs }) => sum + runs, 0)).toBeGreaterThan(600 / share.every)
})
