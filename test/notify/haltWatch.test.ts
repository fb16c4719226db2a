/** Holds that end with their cause: one story while they come and go; what an operator lifts, and what is stricter, is told at once. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'

type Hold = Extract<Event, { type: 'trading.state' }>

const hold = (over: Partial<Hold> = {}): Hold => ({
  type: 'trading.state',
  ...{ scope: 'account', state: 'reducing', cause: 'stale-data', isPassing: true, releasedBy: 'itself' },
  reason: 'the account could not be read',
  ...over,
})
const lifted = (over: Partial<Hold> = {}): Hold => {
  const { releasedBy: _, ...rest } = hold({
    state: 'active',
    isReleased: true,
    reason: 'perpd released it',
    ...over,
  })
  return over.releasedBy === undefined ? rest : { ...rest, releasedBy: over.releasedBy }
}
const operator = (over: Partial<Hold> = {}): Hold => {
  const { isPassing: _, ...rest } = hold({
    cause: 'drawdown',
    releasedBy: 'operator',
    reason: 'it fell',
    ...over,
  })
  return rest
}
/** What else happens all the time. */
const beat: Event = { type: 'tick.done', strategy: 'eth-trend', durationMs: 5, decisions: 0 }

/** Takes events at their seconds; gives what was told, with when. */
function toldOf(story: readonly (readonly [seconds: number, event: Event])[]) {
  const watch = createIncidents({ now: () => 0 })
  const told = story.flatMap(([seconds, event]) =>
    watch
      .take(event, seconds * 1_000)
      .map(({ notice: { text, isEnd } }) => [seconds, isEnd === true, text] as const),
  )
  return { told, rest: watch.rest(0).map(({ notice: { text } }) => text) }
}

const begun = 'trading on the account is reducing: the account could not be read'
const over = 'trading on the account is active: perpd released it'

test('a hold that comes and goes for an hour is told once, and its end once it has been over for a minute', () => {
  const hour = Array.from({ length: 90 }, (_, n) => [
    [n * 40, hold()] as const,
    [n * 40 + 10, lifted()] as const,
    [n * 40 + 20, beat] as const,
  ]).flat()
  const { told, rest } = toldOf([...hour, [3_629, beat], [3_630, beat], [3_631, beat], [3_640, hold()]])
  expect(told).toEqual([
    [0, false, begun],
    [3_630, true, over],
    [3_640, false, begun],
  ])
  expect(rest).toEqual([])
})

test('what an operator lifts, another cause, and a stricter state of the same are told at once', () => {
  const { told } = toldOf([
    [0, hold()],
    [5, lifted()],
    [6, hold({ cause: 'unknowns', reason: 'an order is unknown' })],
    [7, operator({ state: 'halted' })],
    [8, hold({ state: 'halted' })],
    [9, lifted({ state: 'halted', releasedBy: 'operator' })],
    [10, hold()],
    [11, operator({ state: 'active', isReleased: true, reason: 'ann released it' })],
    [12, operator()],
    [13, hold({ scope: 'strategy:one' })],
  ])
  expect(told.map(([seconds]) => seconds)).toEqual([0, 6, 7, 8, 11, 12, 13])
})

test('an end says the state that is in force when it is told', () => {
  const { told } = toldOf([
    [0, hold()],
    [10, lifted()],
    [20, operator({ state: 'halted' })],
    [70, beat],
    [80, hold({ state: 'halted', releasedBy: 'operator' })],
    [90, lifted({ state: 'halted', releasedBy: 'operator' })],
    [100, operator({ state: 'active', isReleased: true, reason: 'ann released it' })],
    [150, beat],
  ])
  expect(told).toEqual([
    [0, false, begun],
    [20, false, 'trading on the account is halted: it fell'],
    [70, true, 'trading on the account is halted: the halt by stale-data has ended; another halt remains'],
    [80, false, 'trading on the account is halted: the account could not be read'],
    [100, true, 'trading on the account is active: ann released it'],
    [150, true, 'trading on the account is active: the halt by stale-data has ended'],
  ])
})

test('an end that waits is told when nothing comes after, and one whose beginning was not seen is told too', () => {
  expect(toldOf([[0, lifted()]])).toEqual({ told: [], rest: [over] })
  // Its beginning was told to nobody that is known: the next one is.
  expect(
    toldOf([
      [0, lifted()],
      [1, hold()],
    ]).told,
  ).toEqual([[1, false, begun]])
})
