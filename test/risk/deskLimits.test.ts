/** The desk's limits at admission: an account increases within its budgets, and nothing else is held back by them. */
import { expect, test } from 'vitest'
import { deskRows } from '../../src/account/liveLimits.ts'
import type { DeskBudget, DeskBudgets } from '../../src/domain/limits/deskBudgets.ts'
import { deskLimitRows } from '../../src/domain/limits/limits.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { close, type DeskParts, decrease, desk, increase, intentState, position, snapshot } from './world.ts'

const budgetOf = (budget: bigint, used = 0n): DeskBudget => ({
  limit: budget * 4n,
  budget,
  used,
  waitsFor: [],
})
const held = snapshot({ positions: [position()] })

/** Budgets of which each is spent. */
const spent: DeskBudgets = {
  maxTotalExposureUsd: budgetOf(0n),
  maxDailyLossUsd: budgetOf(usd('50'), usd('50')),
  maxOrdersPerHour: budgetOf(3n, 3n),
}
const used = { acceptedLastHour: { strategy: 0, account: 3 } }

function denialOf(budgets: DeskBudgets, parts: DeskParts = {}) {
  const admitted = admit(
    increase({ sizeDeltaUsd: usd('1000') }),
    desk({ limits: { desk: budgets }, ...parts }),
  )
  return admitted.kind === 'denial' ? admitted.denial : undefined
}

test('each limit of the desk refuses an increase with a code of its own, which names the limit', () => {
  const codes = deskLimitRows.map(([name, { ofDesk }]) => {
    const denial = denialOf({ [name]: spent[name] }, used)
    expect(denial?.code).toBe(ofDesk.code)
    expect(denial?.reason).toContain(`desk.${name}`)
    return denial?.code
  })
  expect(new Set(codes).size).toBe(3)
})

test('reductions and closes are never refused by a limit of the desk', () => {
  for (const decision of [close(), decrease(usd('500'))])
    expect(admit(decision, desk({ snapshot: held, limits: { desk: spent }, ...used })).kind).toBe('intent')
})

test('an increase is cut to what the budget leaves, with what is held and in flight counted', () => {
  const intents = [intentState({ intentId: 'other', decision: increase({ sizeDeltaUsd: usd('300') }) })]
  const world = desk({
    intents,
    limits: { desk: { maxTotalExposureUsd: budgetOf(usd('700')) } },
    strategy: 'second',
  })
  const other = { ...world, exposure: { ...world.exposure, sides: new Map() } }
  const admitted = admit(increase({ sizeDeltaUsd: usd('1000') }), other)
  expect(admitted.kind === 'intent' && admitted.intent.sizing.cuts).toEqual([
    { by: 'desk.maxTotalExposureUsd', toUsd: usd('400') },
  ])
})

test('before the first deal an increase is refused, and the refusal names the accounts that were not read', () => {
  const waiting = { limit: 10n, budget: 0n, used: 0n, waitsFor: ['beta'] }
  for (const [name, { ofDesk }] of deskLimitRows) {
    const denial = denialOf({ [name]: waiting })
    expect([denial?.code, denial?.reason]).toEqual([ofDesk.code, expect.stringContaining('beta')])
  }
  expect(denialOf({ maxTotalExposureUsd: { ...waiting, waitsFor: [] } })?.reason).not.toContain('beta')
})

test('the limits in force show budget, use and the limit of the desk', () => {
  expect(deskRows({ maxTotalExposureUsd: budgetOf(usd('500'), usd('125')) })).toEqual([
    {
      scope: 'desk',
      limit: 'maxTotalExposureUsd',
      value: '$500.00',
      used: '$125.00',
      ofDesk: '$2,000.00',
      usedShareBps: 2_500,
    },
  ])
})
