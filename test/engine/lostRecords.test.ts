import { expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading, OPERATOR } from '../../src/account/halts/tradingHalts.ts'
import { ACCOUNT_ID, lossHaltOf } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { intentOf, startMs } from '../support/intents.ts'

test('after a loss of records nothing is signed before the last lost signature has died, and then trading goes on by itself', async () => {
  const journal = createMemoryJournal()
  await journal.appendAccount({
    v: RECORD_VERSION,
    atMs: startMs,
    intentId: ACCOUNT_ID,
    kind: 'loss.accepted',
    by: 'Ada',
    lastWritten: 20,
    lastFound: 10,
    quietUntilMs: startMs + 3_600_000,
  })
  let nowMs = startMs
  const accountJournal = createAccountJournal({ journal, clock: { now: () => nowMs } })
  const trading = createTrading({ accountJournal, emit: () => undefined })
  expect(trading.halts()).toMatchObject([
    { scope: 'global', cause: 'lost-records', state: 'halted', by: 'Ada' },
  ])
  expect(trading.veto(intentOf())).toMatchObject({ code: 'TRADING_HALTED' })
  // What is opened by hand is held back too; the ways out are not.
  expect(trading.veto(intentOf({ strategy: OPERATOR }))).toMatchObject({ code: 'TRADING_HALTED' })
  const { marketToken, direction } = intentOf().decision
  const collateralToken = intentOf().terms.collateralToken.address
  const close = { kind: 'close', marketToken, direction, collateralToken, reason: 'by hand' } as const
  expect(trading.veto(intentOf({ strategy: OPERATOR, decision: close }))).toBeUndefined()
  // An operator's word on his own hold does not touch this one.
  await trading.halt({
    scope: 'global',
    cause: 'operator',
    state: 'reducing',
    reason: 'r',
    by: 'Ada',
    releasedBy: 'operator',
  })
  const [, own] = trading.halts()
  if (own === undefined) throw new Error('no hold of the operator')
  await trading.release(own, 'Ada', 'looked at')
  nowMs = startMs + 3_599_999
  expect(trading.haltOn()?.cause).toBe('lost-records')
  nowMs = startMs + 3_600_000
  expect(trading.halts()).toEqual([])
  expect(trading.veto(intentOf())).toBeUndefined()
})

test('where records may be lost nothing is added to a position meanwhile, and exits go on; an accepted loss is not made milder by it', async () => {
  const journal = createMemoryJournal()
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID, lastFound: 10 } as const
  await journal.appendAccount({ ...base, kind: 'loss.possible', quietUntilMs: startMs + 3_600_000 })
  let nowMs = startMs
  const accountJournal = createAccountJournal({ journal, clock: { now: () => nowMs } })
  const trading = createTrading({ accountJournal, emit: () => undefined })
  expect(trading.halts()).toMatchObject([
    { scope: 'global', cause: 'lost-records', state: 'reducing', by: 'perpd', releasedBy: 'itself' },
  ])
  expect(trading.veto(intentOf())).toMatchObject({ code: 'TRADING_REDUCING' })
  const { marketToken, direction } = intentOf().decision
  const collateralToken = intentOf().terms.collateralToken.address
  const close = { kind: 'close', marketToken, direction, collateralToken, reason: 'an exit' } as const
  expect(trading.veto(intentOf({ decision: close }))).toBeUndefined()
  nowMs = startMs + 3_600_000
  expect(trading.halts()).toEqual([])

  const accepted = createMemoryJournal()
  await accepted.appendAccount({
    ...{ ...base, kind: 'loss.accepted', by: 'Ada', lastWritten: 20 },
    quietUntilMs: startMs + 60_000,
  })
  await accepted.appendAccount({ ...base, kind: 'loss.possible', quietUntilMs: startMs + 3_600_000 })
  expect(lossHaltOf(accepted.account(), startMs)).toMatchObject({ state: 'halted', by: 'Ada' })
  // It ends earlier, and a signature of the possible one may land still.
  expect(lossHaltOf(accepted.account(), startMs + 60_000)).toMatchObject({ state: 'reducing', by: 'perpd' })
  expect(lossHaltOf(accepted.account(), startMs + 3_600_000)).toBeUndefined()
})

test('whichever loss is noted last, trading waits for the longest of them', async () => {
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID, lastFound: 10 } as const
  const long = { ...base, kind: 'loss.possible', quietUntilMs: startMs + 3_600_000 } as const
  const short = { ...long, atMs: startMs + 1_000, quietUntilMs: startMs + 60_000 }
  const accepted = { ...short, kind: 'loss.accepted', by: 'Ada', lastWritten: 20 } as const
  for (const later of [short, accepted]) {
    const journal = createMemoryJournal()
    await journal.appendAccount(long)
    await journal.appendAccount(later)
    expect(lossHaltOf(journal.account(), startMs + 60_000), later.kind).toMatchObject({ state: 'reducing' })
    expect(lossHaltOf(journal.account(), startMs + 3_600_000), later.kind).toBeUndefined()
  }
})
