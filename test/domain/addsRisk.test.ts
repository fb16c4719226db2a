/** An intent's effect on risk right before it is signed, when the account's orders are not at hand. */
import { expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { intentAddsRisk } from '../../src/domain/order/intent.ts'
import type { OrderKind } from '../../src/domain/order/orderTerms.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { intentOf, startMs } from '../support/intents.ts'

const orderKey = `0x${'7'.repeat(64)}` as const

/** An edit of an order of that type. */
function editOf(orderType: OrderKind) {
  const { decision, terms } = intentOf()
  const { marketToken, direction } = decision
  return intentOf({
    decision: { kind: 'edit', marketToken, direction, orderKey, sizeDeltaUsd: 1n, reason: 'fit' } as never,
    terms: { ...terms, orderType },
  })
}

test('an edit of an exit adds no risk; one of an order that opens does, and so does an increase', () => {
  expect(intentAddsRisk(editOf('stop-loss'))).toBe(false)
  expect(intentAddsRisk(editOf('take-profit'))).toBe(false)
  expect(intentAddsRisk(editOf('limit'))).toBe(true)
  expect(intentAddsRisk(editOf('stop-market'))).toBe(true)
  expect(intentAddsRisk(intentOf())).toBe(true)
})

test.each([
  ['reducing', undefined, 'TRADING_REDUCING'],
  ['halted', 'TRADING_HALTED', 'TRADING_HALTED'],
] as const)(
  'while trading is %s an edit of an exit and one of an entry are signed as that state allows',
  async (state, ofExit, ofEntry) => {
    const journal = createMemoryJournal()
    const accountJournal = createAccountJournal({ journal, clock: { now: () => startMs } })
    const trading = createTrading({ accountJournal, emit: () => undefined })
    await trading.halt({
      scope: 'global',
      cause: 'operator',
      state,
      reason: 'night',
      by: 'ann',
      releasedBy: 'operator',
    })
    expect(trading.veto(editOf('stop-loss'))?.code).toBe(ofExit)
    expect(trading.veto(editOf('limit'))?.code).toBe(ofEntry)
  },
)
