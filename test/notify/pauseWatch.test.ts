/** That a strategy which paused after its failures, or whose memory did not fit, goes on again. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { noticeOf } from '../support/noticeOf.ts'

const strategy = 'mine'
const paused: Event = { type: 'strategy.paused', strategy, failures: 3, forMs: 60_000, reason: 'It threw.' }
const unfit: Event = { type: 'strategy.unfit', strategy, reason: 'It is of version 1.', facts: {} }
const failed: Event = { type: 'tick.failed', strategy, reason: 'It threw.', failures: 1 }
const done: Event = { type: 'tick.done', strategy, durationMs: 5, decisions: 0 }

/** What is told of good turns, each at its minute. */
function toldOf(story: readonly (readonly [minute: number, event: Event])[]) {
  const watch = createIncidents({ now: () => 0 })
  return story.flatMap(([minute, event]) =>
    watch
      .take(event, minute * 60_000)
      .filter(() => event.type === 'tick.done')
      .map(({ notice }) => ({ minute, ...notice })),
  )
}

test('its end is told once its turns were in good order for ten minutes, and only then', () => {
  const told = toldOf([
    [0, done],
    [1, paused],
    [3, done],
    [8, failed],
    [9, { ...done, isSlow: true }],
    [10, { ...done, invalid: 1 }],
    [12, done],
    [19, done],
    [20, { ...done, strategy: 'another' }],
    [21, done],
    [40, done],
  ])
  expect(told).toMatchObject([
    { minute: 21, kind: 'strategy-paused', level: 'info', isEnd: true, cause: noticeOf(paused)?.cause },
  ])
})

test('a memory that fits again ends what was told of it, and both may end together', () => {
  expect(
    toldOf([
      [0, unfit],
      [20, done],
      [40, done],
    ]),
  ).toMatchObject([{ minute: 20, kind: 'strategy-unfit', isEnd: true, cause: noticeOf(unfit)?.cause }])
  expect(
    toldOf([
      [0, paused],
      [5, unfit],
      [20, done],
    ]).map(({ kind }) => kind),
  ).toEqual(['strategy-paused', 'strategy-unfit'])
})

test('what an operator let go on is told by his word alone', () => {
  const running: Event = { type: 'strategy.switched', strategy, to: 'running', reason: 'It may.', by: 'ann' }
  expect(
    toldOf([
      [0, paused],
      [5, running],
      [20, done],
    ]),
  ).toEqual([])
})
