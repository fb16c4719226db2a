/** Steps of a kill that people are told: each once, and stuck only when nothing became less for a minute. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createKillSteps } from '../../src/running/killSteps.ts'
import { noticeOf } from '../support/noticeOf.ts'

function start() {
  const events: Event[] = []
  let nowMs = 0
  const steps = createKillSteps({
    emit: (event) => void events.push(event),
    clock: { monotonicMs: () => nowMs },
  })
  const look = (orders: number, positions: number, inFlight: number, atMs: number, problem?: string) => {
    nowMs = atMs
    steps.look({ close: true, left: { orders, positions, inFlight }, toCancel: orders, stays: [], problem })
  }
  const told = () => events.map((event) => (event.type === 'kill.step' ? event.step : event.type))
  const failed = (atMs: number) => {
    nowMs = atMs
    steps.failed('no host answers')
  }
  return { steps, look, failed, told, events }
}

test('a kill that gets on tells cancelled, closing and done, once each', () => {
  const { steps, look, told, events } = start()
  look(2, 1, 0, 0)
  look(0, 1, 1, 30_000)
  look(0, 1, 1, 80_000)
  look(0, 0, 1, 85_000)
  steps.done(true)
  expect(told()).toEqual(['closing', 'cancelled', 'done'])
  expect(events.map((event) => noticeOf(event)?.kind)).toEqual(['kill-step', 'kill-step', 'kill-step'])
  expect(events.map((event) => noticeOf(event)?.text)).toEqual([
    'kill: closing 1 position at the market',
    'kill: cancelling every order that adds risk, then closing all positions; their exits stay until then',
    'the kill is done: no order rests and no position is open',
  ])
})

test('a kill that does not get on is told as stuck after a minute, once, and anew after it got on', () => {
  const { look, failed, told, events } = start()
  look(2, 0, 0, 0)
  look(2, 0, 0, 59_999, 'cancel: REFUSED')
  expect(told()).toEqual([])
  look(2, 0, 0, 60_000, 'cancel: REFUSED')
  look(2, 0, 0, 200_000, 'cancel: REFUSED')
  expect(told()).toEqual(['stuck'])
  expect(noticeOf(events[0] as Event)).toMatchObject({
    level: 'error',
    text: expect.stringContaining('cancel: REFUSED'),
    action: expect.stringContaining('perpd status'),
  })
  look(1, 0, 0, 210_000)
  // Looks that fail are no progress.
  failed(240_000)
  failed(270_000)
  expect(told()).toEqual(['stuck', 'stuck'])
})

test('one that takes the place of another tells all of its steps', () => {
  const { steps, look, told } = start()
  look(0, 1, 0, 0)
  steps.restart()
  look(0, 1, 0, 1_000)
  steps.abandoned()
  expect(told()).toEqual(['cancelled', 'closing', 'cancelled', 'closing', 'abandoned'])
})
