/** Rounds of hosts: a transfer is told when every host that was asked told of it, and one that is silent keeps it waiting. */
import { expect, test } from 'vitest'
import type { AccountReading } from '../../src/account/equity/equity.ts'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { createTransferRounds } from '../../src/account/watch/transferRounds.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { manualClock } from '../support/venue.ts'

const second = 1_000

/** What a host shows of a wallet that holds nothing but dollars. */
function holding(dollars: number): AccountReading {
  const worthUsd = usd(dollars)
  return {
    lowUsd: worthUsd,
    highUsd: worthUsd,
    inventory: String(dollars),
    placed: '',
    books: {
      positions: [],
      orders: [],
      wallet: new Map([[usdc.toLowerCase(), BigInt(dollars) * 1_000_000n]]),
      worth: (_token, amount) => amount * 10n ** 24n,
      holdsPayment: () => false,
    },
  }
}

test('what one host tells waits for another that was asked and is silent, and is told once both say it', async () => {
  const clock = manualClock(Date.UTC(2026, 10, 20, 12))
  const journal = createMemoryJournal()
  const accountJournal = createAccountJournal({ journal, clock })
  const trading = createTrading({ accountJournal, emit: () => undefined })
  const rounds = createTransferRounds({ clock, journal, trading }, 30 * second, () => new Map())
  const asked = ['one', 'two']
  const told: unknown[] = []
  /** A round in ten seconds from now, of the hosts that answer. */
  const round = async (dollars: number, answering: readonly string[]) => {
    await clock.advance(10 * second)
    const reading = holding(dollars)
    const looks = answering.map((host) => rounds.look(host, reading, [], false))
    const [base] = looks.map((look) => look.base)
    const transfer = await rounds.settle(asked, {
      reading,
      isStepPending: false,
      ...(base === undefined ? {} : { base }),
    })
    if (transfer !== undefined) told.push(transfer)
  }
  for (let turn = 0; turn < 5; turn += 1) await round(1_000, asked)
  // The second host hangs while the first shows that money left.
  for (let turn = 0; turn < 5; turn += 1) await round(400, ['one'])
  expect([told, accountJournal.state().trading.transfers]).toEqual([[], undefined])
  // It answers again, within the minute that a word lasts, and says the same.
  for (let turn = 0; turn < 5; turn += 1) await round(400, asked)
  expect(told).toEqual([{ amountUsd: usd(-600), afterUsd: usd(400) }])
  // It hangs for longer: what the first told is no word any more.
  for (let turn = 0; turn < 12; turn += 1) await round(700, ['one'])
  for (let turn = 0; turn < 5; turn += 1) await round(700, asked)
  expect(told).toHaveLength(1)
  for (let turn = 0; turn < 5; turn += 1) await round(900, asked)
  expect(told.slice(1)).toEqual([{ amountUsd: usd(200), afterUsd: usd(900) }])
  expect(accountJournal.state().trading.transfers?.map(({ amountUsd }) => amountUsd)).toEqual([
    usd(-600),
    usd(200),
  ])
})
