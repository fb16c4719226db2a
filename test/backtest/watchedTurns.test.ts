/** A later turn of a kind is quiet by what the kind itself answers: fast mode leaves out no turn that decides, fails or changes a memory. */
import { expect, test } from 'vitest'
import { watchTurns } from '../../src/backtest/fast/watchedTurns.ts'
import { defineStrategy, testView, z } from '../../src/strategy/strategy.ts'
import { loadedOf } from '../support/loaded.ts'

/** A kind that keeps what `next` makes of its memory, and decides nothing. */
function keeps(next: (turns: number) => number) {
  const strategy = defineStrategy({
    kind: 'keeps',
    description: 'Keeps a number.',
    params: z.strictObject({}),
    memory: { version: 1, schema: z.strictObject({ turns: z.number() }), first: { turns: 0 } },
    needs: (_params, symbols) => ({ symbols }),
    decide: (_view, { turns }) => ({ decisions: [], memory: { turns: next(turns) } }),
  })
  const watched = watchTurns(loadedOf(strategy, 'keeps', ['ETH/USD']))
  const view = testView({ params: {} })
  watched.loaded.strategy.decide(view, { turns: 1 })
  return { watched, snapshot: view.snapshot }
}

test('a turn that would change the memory is not quiet, though it decides nothing', () => {
  const { watched, snapshot } = keeps((turns) => turns + 1)
  expect(watched.lastSnapshot()).toBe(snapshot)
  expect(watched.isIdle(snapshot)).toBe(false)
})

test('a turn that would keep the memory and decide nothing is quiet', () => {
  const { watched, snapshot } = keeps(() => 7)
  expect(watched.isIdle(snapshot)).toBe(true)
})

test('a turn that the kind would fail at is not quiet', () => {
  let isFailing = false
  const { watched, snapshot } = keeps(() => {
    if (isFailing) throw new Error('no price')
    return 7
  })
  isFailing = true
  expect(watched.isIdle(snapshot)).toBe(false)
})
