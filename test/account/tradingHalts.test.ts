/** What is told of halts: the state that their scope is in, whichever of its holds changed. */
import { expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import type { TradingHalt } from '../../src/domain/accountRecords/tradingState.ts'
import type { Event } from '../../src/domain/event.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'

const held: TradingHalt = {
  scope: 'account',
  cause: 'operator',
  state: 'halted',
  reason: 'ann looks into it',
  by: 'ann',
  sinceMs: 0,
  releasedBy: 'operator',
}
const breaker: TradingHalt = {
  ...held,
  cause: 'rejects',
  state: 'reducing',
  reason: 'five were refused',
  by: 'perpd',
  releasedBy: 'itself',
}

test('a hold that is put on beside a stricter one is told with the state that is in force, and with what lifts that', async () => {
  const events: Event[] = []
  const clock = { now: () => 1_800_000_000_000 }
  const accountJournal = createAccountJournal({ journal: createMemoryJournal(), clock } as never)
  const trading = createTrading({ accountJournal, emit: (event) => void events.push(event) })
  await trading.halt(held)
  await trading.halt(breaker)
  await trading.release(held, 'ann', 'seen')
  await trading.halt({ ...held, state: 'reducing' })
  await trading.release(breaker, 'perpd', 'over')
  expect(events).toMatchObject([
    { cause: 'operator', state: 'halted', releasedBy: 'operator' },
    {
      cause: 'rejects',
      state: 'halted',
      releasedBy: 'operator',
      reason: expect.stringMatching(
        /^rejects, by perpd: five were refused; .*; still halted: ann looks into it$/,
      ),
    },
    { cause: 'operator', isReleased: true, state: 'reducing', releasedBy: 'itself' },
    // Of two that are as strict the new one says what lifts it: the other's end does not.
    { cause: 'operator', state: 'reducing', releasedBy: 'operator' },
    { cause: 'rejects', isReleased: true, state: 'reducing', releasedBy: 'operator' },
  ])
})
