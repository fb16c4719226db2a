import { expect, test } from 'vitest'
import type { Ending } from '../../src/domain/accountRecords/spend.ts'
import type { CloseDecision, IncreaseDecision } from '../../src/domain/order/decision.ts'
import { usd } from '../../src/protocol/units.ts'
import { checkBudget, checkReductionFees } from '../../src/risk/breakers/budget.ts'
import { ethMarket, startMs, usdc } from '../support/intents.ts'

const units = { nativeDecimals: 18, feeTokenDecimals: 6 }
const hourMs = 3_600_000
const open: IncreaseDecision = {
  kind: 'increase',
  marketToken: ethMarket,
  direction: 'long',
  sizeDeltaUsd: usd(500),
  leverageBps: 20_000,
  collateralToken: usdc,
  reason: 'up',
}
const close: CloseDecision = {
  kind: 'close',
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  reason: 'down',
}

test('what the account cancelled itself counts against no budget of attempts: it was asked for', () => {
  const own = Array.from({ length: 20 }, () => ending({ cause: 'CANCELLED USER_INITIATED_CANCEL' }))
  const budget = { attemptsPerCause: 3 }
  expect(checkBudget(open, 'one', own, budget, units, startMs)).toBeUndefined()
  const others = Array.from({ length: 3 }, () => ending())
  expect(checkBudget(open, 'one', others, budget, units, startMs)).toMatchObject({ code: 'RETRY_BUDGET' })
})

function ending(parts: Partial<Ending> = {}): Ending {
  return {
    strategy: 'one',
    kind: 'increase',
    marketToken: ethMarket,
    direction: 'long',
    closedAtMs: startMs - hourMs / 2,
    cause: 'CANCELLED InsufficientReserve',
    executionFee: 10n ** 14n,
    relayFee: 250_000n,
    ...parts,
  }
}

const times = (count: number, parts: Partial<Ending> = {}) =>
  Array.from({ length: count }, () => ending(parts))
const code = (...parameters: Parameters<typeof checkBudget>) => checkBudget(...parameters)?.code

test('the same cause ends the same wish only so often in a day', () => {
  const budget = { attemptsPerCause: 3 }
  expect(code(open, 'one', times(2), budget, units, startMs)).toBeUndefined()
  expect(checkBudget(open, 'one', times(3), budget, units, startMs)).toMatchObject({
    code: 'RETRY_BUDGET',
    wanted: 'try 4 in 24 h',
    allowed: '3 by one cause',
  })
})

test('closes that hosts took and never relayed count against no budget of attempts, and increases of that end do', () => {
  const budget = { attemptsPerCause: 3 }
  const withheld = { cause: 'DEAD withheld' }
  expect(code(close, 'one', times(9, { ...withheld, kind: 'close' }), budget, units, startMs)).toBeUndefined()
  expect(code(open, 'one', times(3, withheld), budget, units, startMs)).toBe('RETRY_BUDGET')
})

test('other causes, strategies, sides and kinds have budgets of their own', () => {
  const budget = { attemptsPerCause: 3 }
  const endings = [
    ...times(2),
    ...times(2, { cause: 'DEAD relay_reverted' }),
    ...times(2, { strategy: 'two' }),
    ...times(2, { direction: 'short' }),
    ...times(2, { kind: 'close' }),
  ]
  expect(code(open, 'one', endings, budget, units, startMs)).toBeUndefined()
})

test('one that works shows that the cause is gone', () => {
  const endings = [...times(5), ending({ cause: 'executed' }), ...times(2)]
  expect(code(open, 'one', endings, { attemptsPerCause: 3 }, units, startMs)).toBeUndefined()
})

test('a reduction past its budget is tried once an hour and never given up', () => {
  const stuck = times(436, { kind: 'close' })
  const budget = { attemptsPerCause: 3 }
  expect(code(close, 'one', stuck, budget, units, startMs)).toBe('RETRY_BUDGET')
  expect(code(close, 'one', stuck, budget, units, startMs + hourMs / 2 - 1)).toBe('RETRY_BUDGET')
  expect(code(close, 'one', stuck, budget, units, startMs + hourMs / 2)).toBeUndefined()
})

test('where the clock was set back a reduction past its budget waits from its newest end that is not ahead', () => {
  const budget = { attemptsPerCause: 3 }
  const ahead = times(3, { kind: 'close', closedAtMs: startMs + hourMs })
  expect(code(close, 'one', ahead, budget, units, startMs)).toBeUndefined()
  const since = [...ahead, ending({ kind: 'close', closedAtMs: startMs - 1_000 })]
  expect(code(close, 'one', since, budget, units, startMs)).toBe('RETRY_BUDGET')
  expect(code(close, 'one', since, budget, units, startMs - 1_000 + hourMs)).toBeUndefined()
})

test('past its budget an operator’s close is tried sooner', () => {
  const stuck = times(12, { kind: 'close' })
  const budget = { attemptsPerCause: 12, retryPastMs: 60_000 }
  const lastMs = Math.max(...stuck.map(({ closedAtMs }) => closedAtMs))
  expect(code(close, 'one', stuck, budget, units, lastMs + 59_999)).toBe('RETRY_BUDGET')
  expect(code(close, 'one', stuck, budget, units, lastMs + 60_000)).toBeUndefined()
})

test('the day’s fees keep increases back and never a reduction', () => {
  const spent = times(4, { cause: 'executed', strategy: 'other' })
  const execution = { account: { executionFeesPerDay: 4n * 10n ** 14n } }
  expect(checkBudget(open, 'one', spent, execution, units, startMs)).toMatchObject({
    code: 'FEES_PER_DAY',
    wanted: '0.0004 of the native token spent',
    allowed: '0.0004 of the native token in 24 h',
  })
  expect(code(open, 'one', spent.slice(1), execution, units, startMs)).toBeUndefined()
  expect(
    checkBudget(open, 'one', spent, { account: { relayFeesPerDayUsd: usd(1) } }, units, startMs),
  ).toMatchObject({
    code: 'FEES_PER_DAY',
    wanted: '$1.00 spent',
    allowed: '$1.00 in 24 h',
  })
  const both = { account: { executionFeesPerDay: 1n, relayFeesPerDayUsd: 1n } }
  expect(code(close, 'one', spent, both, units, startMs)).toBeUndefined()
})

test('what open orders have paid is spent, and is no ending by any cause', () => {
  const open4 = times(12, { cause: '', isOpen: true })
  expect(code(open, 'one', open4, { attemptsPerCause: 2 }, units, startMs)).toBeUndefined()
  const execution = { account: { executionFeesPerDay: 12n * 10n ** 14n } }
  expect(code(open, 'one', open4, execution, units, startMs)).toBe('FEES_PER_DAY')
})

test('fees have budgets of the strategy and of the market too, each for what it spent itself', () => {
  const elsewhere: IncreaseDecision = { ...open, marketToken: usdc }
  const spent = times(4, { cause: 'executed', strategy: 'other' })
  const fees = { executionFeesPerDay: 4n * 10n ** 14n, relayFeesPerDayUsd: usd(1) }
  expect(code(open, 'one', spent, { strategy: fees }, units, startMs)).toBeUndefined()
  expect(code(open, 'other', spent, { strategy: fees }, units, startMs)).toBe('FEES_PER_DAY')
  expect(code(open, 'one', spent, { market: fees }, units, startMs)).toBe('FEES_PER_DAY')
  expect(code(elsewhere, 'one', spent, { market: fees }, units, startMs)).toBeUndefined()
})

test('what moves by itself spends no tries: gas, prices, positions, offers', () => {
  const budget = { attemptsPerCause: 3 }
  const fees = { cause: 'REFUSED_LOCAL FEE_ABOVE_LIMIT' }
  expect(code(open, 'one', times(30, fees), budget, units, startMs)).toBeUndefined()
  expect(code(close, 'one', times(30, { kind: 'close', ...fees }), budget, units, startMs)).toBeUndefined()
  const moved = { cause: 'REFUSED_LOCAL PRICE_OUT_OF_BOUNDS' }
  expect(code(open, 'one', times(30, moved), budget, units, startMs)).toBeUndefined()
  const mismatched = { cause: 'REFUSED_LOCAL TYPED_DATA_MISMATCH' }
  expect(code(open, 'one', times(3, mismatched), budget, units, startMs)).toBe('RETRY_BUDGET')
  expect(code(close, 'one', times(30, { kind: 'close', ...moved }), budget, units, startMs)).toBeUndefined()
})

test('reductions of strategies have a budget of fees of their own, in which what is on its way counts as its worst', () => {
  const budget = { perDayUsd: usd(10), mostEachUsd: usd(5), orders: 1, waiting: 0 }
  const reduce = (endings: readonly Ending[], parts: Partial<typeof budget> = {}) =>
    checkReductionFees(close, endings, { ...budget, ...parts }, 6)?.code
  const closes = (count: number) => times(count, { kind: 'close', relayFee: 2_000_000n })
  expect(reduce(closes(4))).toBeUndefined()
  expect(reduce(closes(5))).toBe('REDUCTION_FEES_PER_DAY')
  // What increases cost is another budget's.
  expect(reduce([...closes(4), ...times(50)])).toBeUndefined()
  expect(reduce([], { waiting: 1 })).toBeUndefined()
  expect(reduce([], { waiting: 2 })).toBe('REDUCTION_FEES_PER_DAY')
  expect(reduce([], { orders: 3 })).toBe('REDUCTION_FEES_PER_DAY')
  // One alone may always go while anything is left.
  expect(reduce(closes(4), { mostEachUsd: usd(50) })).toBeUndefined()
})
