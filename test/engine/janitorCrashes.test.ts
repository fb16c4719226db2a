/**
 * The process ends before and after every record that is written between the decision of an order janitor's edit and its outcome, over the
 * paper venue on real sockets: the order is edited once.
 */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { dyingJournal } from '../support/dyingJournal.ts'
import { ann, janitorWith, opening, restingAt } from '../support/janitor.ts'
import { type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { testTrader } from '../support/trader.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
  bench = undefined
})

/** One story with an end of the process at one of the records written while the edit is under way; 0: none. */
async function storyWith(diesAt: number) {
  const over = await kindsBench({ path: [[0, 1_800]], settings: { orderDeadlineSeconds: 60 } })
  bench = over
  const { clock } = over
  const journal = createMemoryJournal()
  const janitor = janitorWith({ unreachableBps: 1_500, onUnreachable: 'edit', entryDistanceBps: 300 })
  let [boundaries, isDown, isCounting] = [0, false, false]
  const run = async () => {
    isDown = false
    const { trader } = testTrader({
      ...over,
      signer,
      strategies: [janitor],
      journal: dyingJournal(journal, () => {
        if (!isCounting) return false
        boundaries += 1
        if (boundaries !== diesAt) return false
        isDown = true
        running?.abort()
        return true
      }),
    })
    running = trader
    await trader.start()
  }
  await run()
  expect(
    await running?.operate({ ...opening, id: 'ope-1', direction: 'long', limit: '1300' }, ann),
  ).toMatchObject({ ok: true })
  await clock.advance(20_000)
  isCounting = true
  for (let turn = 0; turn < 70; turn += 1) {
    await clock.advance(4_000)
    if (isDown) await run()
  }
  const edits = journal.recentIntents().filter(({ intent }) => intent.kind === 'edit')
  const { trades } = (await over.api.getTrades({ account: signer.address, limit: 50 })).value
  const told = {
    resting: await restingAt(over),
    // One that was signed and never sent dies with its deadline, and is decided anew.
    isDone: edits.filter(({ closing }) => closing?.outcome === 'EXECUTED').length === 1,
    isBounded: edits.length <= 2 && edits.every(({ closing }) => closing !== undefined),
    updates: trades.filter(({ eventName }) => eventName === 'OrderUpdated').length,
  }
  running?.abort()
  await clock.advance(5_000)
  await over.close()
  bench = undefined
  return { ...told, boundaries }
}

test('a process that ends at any record of an edit leaves the order edited once', {
  timeout: 900_000,
}, async () => {
  const expected = { resting: ['long 3 1746 500'], isDone: true, isBounded: true, updates: 1 }
  const whole = await storyWith(0)
  expect(whole).toMatchObject(expected)
  expect(whole.boundaries).toBeGreaterThan(9)
  for (let at = 1; at <= whole.boundaries; at += 1) {
    const { boundaries: _, ...story } = await storyWith(at)
    expect({ at, ...story }).toEqual({ at, ...expected })
  }
})
