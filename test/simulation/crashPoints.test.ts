/** The process ends at every boundary of every story, of a change at each third: commits, requests, answers, signatures, looks. */
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { type CrashPoints, crashPointsOf } from './crashPoints.ts'
import { engineStories, pairStories, stories } from './scenarios.ts'
import { runSeed } from './tiers.ts'

const share = shareOfChange(3)

const failuresOf = (points: readonly CrashPoints[]) => points.flatMap(({ failures }) => failures)
const runsOf = (points: readonly CrashPoints[]) => points.reduce((sum, { runs }) => sum + runs, 0)

test('a crash at every boundary of the machine neither loses nor repeats an order', {
  timeout: 600_000,
}, async () => {
  const points = await crashPointsOf('core', stories, 'crash', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.length).toBeGreaterThanOrEqual(20)
  expect(runsOf(points)).toBeGreaterThan(1_000 / share.every)
})

test('a crash at every boundary of the shell neither loses nor repeats an order', {
  timeout: 600_000,
}, async () => {
  const points = await crashPointsOf('shell', stories, 'crash', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.length).toBeGreaterThanOrEqual(20)
  expect(runsOf(points)).toBeGreaterThan(1_500 / share.every)
})

test('nor do two crashes, at every pair of boundaries of five stories', { timeout: 600_000 }, async () => {
  const points = await crashPointsOf('core', pairStories, 'pair', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.length).toBe(5)
  expect(runsOf(points)).toBeGreaterThan(3_000 / share.every)
})

test('nor does a crash at every boundary of the shell over a journal on a server, in a story of each lane', {
  timeout: 600_000,
}, async () => {
  const points = await crashPointsOf('shared', pairStories.slice(0, 2), 'crash', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.map(({ story }) => story)).toEqual(['market increase', 'market increase by the relay'])
  expect(runsOf(points)).toBeGreaterThan(120 / share.every)
})

test.each([
  ['files', 'in a commit'],
  ['shared', 'after intent.accepted'],
] as const)(
  'in the tier %s a process ends after its host was asked to prepare, and before it knows that J1 and J2 are durable',
  async (tier, boundary) => {
    const [story] = stories
    if (story === undefined) throw new RangeError('there is no story')
    const ends: string[] = []
    for (let at = 1; ends.at(-1) !== 'after attempt.preparing'; at += 1) {
      const scenario = { ...story, crashes: [at] }
      const { trace, violation } = await runSeed(tier, 1, { scenario, keepsTrace: true })
      expect(violation).toBeUndefined()
      ends.push(
        / crash at (.*), tail/.exec(trace.find((line) => line.includes(' crash at ')) ?? '')?.[1] ?? '',
      )
    }
    expect(ends.slice(ends.indexOf('fetch /orders/txns/prepare'))).toContain(boundary)
  },
)

test('a process that is frozen at any boundary of the machine, and wakes up when another has its journal, does no harm', {
  timeout: 600_000,
}, async () => {
  const points = await crashPointsOf('core', stories, 'takeover', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.length).toBeGreaterThanOrEqual(20)
  expect(runsOf(points)).toBeGreaterThan(1_000 / share.every)
})

test('nor does it at any boundary of the shell, in a story of each lane', { timeout: 600_000 }, async () => {
  const points = await crashPointsOf('shell', pairStories.slice(0, 2), 'takeover', share)
  expect(failuresOf(points)).toEqual([])
  expect(points.map(({ story }) => story)).toEqual(['market increase', 'market increase by the relay'])
  expect(runsOf(points)).toBeGreaterThan(60 / share.every)
})

// A crash of the whole daemon takes 0.4 s: each sixth boundary, which are commits, requests and answers alike.
test('a crash at boundaries of the whole daemon, between a target and its stop-loss too, leaves no exit too large and none missing', {
  timeout: 600_000,
}, async () => {
  const points = await crashPointsOf('engine', engineStories, 'crash', {
    shares: 4,
    every: 6 * share.every,
    from: 6 * share.from,
  })
  expect(failuresOf(points)).toEqual([])
  expect(runsOf(points)).toBeGreaterThan(60 / share.every)
})
