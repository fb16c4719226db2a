/** A decision is judged by the facts of one look and by nothing else. */
import { expect, test } from 'vitest'
import { type AccountFacts, withPending } from '../../src/account/facts.ts'
import { judge } from '../../src/engine/judging/judgeDecision.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { isDenial } from '../../src/risk/exposure/admissionContext.ts'
import { increase, MARKET, OTHER_MARKET, position, snapshot, USDC } from '../risk/world.ts'
import { accountFacts } from '../support/accountFacts.ts'

const opener = { name: 'one', strategy: { opensPositions: true } }
const keeper = { name: 'one', strategy: { opensPositions: false } }
const close = {
  kind: 'close',
  marketToken: MARKET,
  direction: 'long',
  collateralToken: USDC,
  reason: 'Out.',
} as const

function judged(
  facts: AccountFacts,
  decision: Parameters<typeof judge>[1]['decision'] = increase(),
  source = opener,
) {
  const found = judge(facts, { source, decision, decisionKey: 'one@0#0' })
  return isDenial(found) ? found.code : found
}

/** Freezes a value and everything in it. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const each of Object.values(value)) frozen(each)
  return value
}

test('the same facts give the same intent, and judging changes none of them', () => {
  const facts = frozen(accountFacts())
  const first = judged(facts)
  expect(first).toMatchObject({ strategy: 'one', kind: 'increase', reservationUsd: usd(1000) })
  expect(judged(facts)).toEqual(first)
})

test('each condition that holds increases back denies one, and lets a close through', () => {
  const calm = accountFacts(snapshot({ positions: [position()] }))
  const discrepancy = { marketToken: MARKET, statement: 'a position that nobody opened' } as never
  const elsewhere = { marketToken: OTHER_MARKET, statement: 'another' } as never
  const halt = { scope: 'global', cause: 'operator', state: 'reducing', reason: 'lunch' } as never
  const codeOf = (standstills: Partial<AccountFacts['standstills']>, decision: typeof close | undefined) =>
    judged({ ...calm, standstills: { ...calm.standstills, ...standstills } }, decision, keeper)
  for (const [standstills, code] of [
    [{ isNoHost: true }, 'NO_HOST'],
    [{ isJournalShort: true }, 'JOURNAL_SHORT'],
    [{ discrepancies: [elsewhere, discrepancy] }, 'UNEXPLAINED'],
    [{ halts: [halt] }, 'TRADING_REDUCING'],
  ] as const) {
    expect(codeOf(standstills, undefined)).toBe(code)
    expect(codeOf(standstills, close)).toMatchObject({ kind: 'close' })
  }
  expect(codeOf({ discrepancies: [elsewhere] }, undefined)).toMatchObject({ kind: 'increase' })
  expect(codeOf({ isStopping: true }, close)).toBe('STOPPING')
})

test('judged intents that are not accepted yet count in every limit of the next decision', () => {
  const facts = accountFacts(snapshot(), { account: { maxOrdersPerHour: 1 } })
  const first = judged(facts)
  if (typeof first === 'string') throw new Error(first)
  expect(judged(withPending(facts, [first]))).toBe('SLOT_BUSY')
  expect(judged(withPending(facts, [first]), increase({ direction: 'short' }))).toBe('ORDERS_PER_HOUR')
})

test('a reduction needs a position that more than one statement supports, and a part of its own', () => {
  const facts = accountFacts(snapshot({ positions: [position()] }))
  const unproven = { ...facts, known: { ...facts.known, isVouched: () => false } }
  expect(judged(unproven, close, keeper)).toBe('POSITION_UNPROVEN')
  expect(judged(facts, close)).toBe('BEYOND_BOOK')
  const part = { marketToken: MARKET, direction: 'long', collateralToken: USDC, sizeUsd: usd(400) } as never
  expect(judged({ ...facts, own: { ...facts.own, parts: [part] } }, close)).toMatchObject({
    kind: 'decrease',
    terms: { sizeDeltaUsd: usd(400) },
  })
})

test('the loss of a day on the market counts by its lower-case token', () => {
  const limits = { markets: { 'ETH/USD [WETH-USDC]': { maxDailyLossUsd: usd(50) } } }
  const facts = accountFacts(snapshot(), limits)
  const lost = { ...facts.usage, marketDaysUsd: new Map([[hexKey(MARKET), -usd(60)]]) }
  expect(judged(facts)).toMatchObject({ kind: 'increase' })
  expect(judged({ ...facts, usage: lost })).toBe('MAX_DAILY_LOSS')
})
