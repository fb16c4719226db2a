/**
 * The process ends before and after every record that is written between the decision of an order janitor's edit and its outcome, over the
 * paper venue on real sockets: the order is edited once.
 */
import { afterEach, expect, test } from 'vitest'
import { crashedAt } from '../support/crashStride.ts'
import { ann, janitorWith, opening, restingAt } from '../support/janitor.ts'
import { type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { type MortalTrader, mortalTrader } from '../support/mortalTrader.ts'

let bench: KindsBench | undefined
let running: MortalTrader | undefined
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
  const janitor = janitorWith({ unreachableBps: 1_500, onUnreachable: 'edit', entryDistanceBps: 300 })
  const daemon = mortalTrader(diesAt, clock, () => ({ ...over, signer, strategies: [janitor] }))
  running = daemon
  await daemon.start()
  expect(
    await daemon.now().operate({ ...opening, id: 'ope-1', direction: 'long', limit: '1300', far: true }, ann),
  ).toMatchObject({ ok: true })
  await clock.advance(20_000)
  daemon.count()
  for (let turn = 0; turn < 70; turn += 1) {
    await daemon.advance(4_000)
  }
  const edits = daemon.journal.recentIntents().filter(({ intent }) => intent.kind === 'edit')
  const { trades } = (await over.api.getTrades({ account: signer.address, limit: 50 })).value
  const told = {
    resting: await restingAt(over),
    // One that was signed and never sent dies with its deadline, and is decided anew.
    isDone: edits.filter(({ closing }) => closing?.outcome === 'EXECUTED').length === 1,
    isBounded: edits.length <= 2 && edits.every(({ closing }) => closing !== undefined),
    updates: trades.filter(({ eventName }) => eventName === 'OrderUpdated').length,
  }
  daemon.abort()
  await clock.advance(5_000)
  await over.close()
  bench = undefined
  return { ...told, boundaries: daemon.boundaries() }
}

test('a process that ends at any record of an edit leaves the order edited once', {
  timeout: 900_000,
}, async () => {
  const expected = { resting: ['long 3 1746 500'], isDone: true, isBounded: true, updates: 1 }
  const whole = await storyWith(0)
  expect(whole).toMatchObject(expected)
  expect(whole.boundaries).toBeGreaterThan(9)
  for (const at of crashedAt(whole.boundaries, 1)) {
    const { boundaries: _, ...story } = await storyWith(at)
    expect({ at, ...story }).toEqual({ at, ...expected })
  }
})
