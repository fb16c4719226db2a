/** What a kind of the user's own may return: every field of every kind is looked at before it is reckoned with. */
import { expect, test } from 'vitest'
import { decisionProblem, returnedProblem } from '../../src/strategy/decisionProblem.ts'
import { MARKET, USDC } from '../risk/world.ts'

const key = `0x${'0a'.repeat(32)}`
const base = { marketToken: MARKET, direction: 'long', reason: 'because' }
const increase = { ...base, kind: 'increase', collateralToken: USDC, sizeDeltaUsd: 1n, leverageBps: 10_000 }
const decrease = { ...base, kind: 'decrease', collateralToken: USDC, sizeDeltaUsd: 1n, keepLeverage: false }
const twap = { parts: 2, durationSeconds: 60 }
function ring(): unknown {
  const own: { self?: unknown } = {}
  own.self = own
  return own
}
const stop = { type: 'stop-loss', triggerPrice: 1n }
const lists = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [] }

test.each([
  ['increase', increase],
  ['increase with exits', { ...increase, tpsl: [{ type: 'stop-loss', triggerPrice: 1n, shareBps: 5000 }] }],
  ['limit', { ...increase, orderType: 'limit', triggerPrice: 1n }],
  ['stop-market', { ...increase, orderType: 'stop-market', triggerPrice: 1n }],
  ['twap', { ...increase, orderType: 'twap', twap }],
  ['decrease', decrease],
  ['take-profit', { ...decrease, orderType: 'take-profit', triggerPrice: 1n }],
  ['stop-loss', { ...decrease, orderType: 'stop-loss', triggerPrice: 1n }],
  ['decrease twap', { ...decrease, orderType: 'twap', twap }],
  ['close', { ...base, kind: 'close', collateralToken: USDC }],
  ['swap', { ...base, kind: 'swap', payAmount: 1n }],
  ['edit', { ...base, kind: 'edit', orderKey: key, sizeDeltaUsd: 1n, triggerPrice: 1n }],
  ['cancel', { ...base, kind: 'cancel', orderKeys: [key] }],
  ['collateral-in', { ...base, kind: 'collateral-in', collateralToken: USDC, amount: 1n }],
  ['collateral-out', { ...base, kind: 'collateral-out', collateralToken: USDC, amount: 1n }],
  ['batch', { ...base, kind: 'batch', batch: lists }],
  ['unwind', { kind: 'unwind', intentId: 'a', reason: 'b', facts: { age: 5, late: true } }],
])('a good %s passes', (_kind, decision) => {
  expect(decisionProblem(decision)).toBeUndefined()
})

test.each<readonly [string, unknown, string]>([
  ['no object', 7, 'a decision must be an object, not 7'],
  ['a list', [], 'a decision must be an object, not an empty list'],
  ['no kind', { ...increase, kind: undefined }, 'kind is undefined'],
  ['a kind of Object', { ...increase, kind: 'constructor' }, 'kind is "constructor"'],
  ['an unknown side', { ...increase, direction: 'up' }, 'direction is "up"; expected long or short'],
  ['a market symbol for its token', { ...increase, marketToken: 'ETH' }, 'marketToken is "ETH"'],
  ['no reason', { ...increase, reason: '' }, 'reason is ""; expected a sentence'],
  [
    'a size that is a number',
    { ...increase, sizeDeltaUsd: 100 },
    "sizeDeltaUsd is the number 100; expected a bigint, usd('100')",
  ],
  ['leverage of a half', { ...increase, leverageBps: 0.5 }, 'leverageBps is 0.5'],
  ['an order type of decreases', { ...increase, orderType: 'stop-loss' }, 'orderType is "stop-loss"'],
  ['a limit without a trigger', { ...increase, orderType: 'limit' }, 'triggerPrice is undefined'],
  [
    'a market order with a trigger',
    { ...increase, triggerPrice: 5n },
    'triggerPrice is 5n; expected nothing',
  ],
  ['a twap without its parts', { ...increase, orderType: 'twap' }, 'twap is undefined'],
  [
    'a twap of one part',
    { ...increase, orderType: 'twap', twap: { ...twap, parts: 1 } },
    'twap.parts is 1; expected a whole number from 2 to 30',
  ],
  [
    'a twap of no time',
    { ...increase, orderType: 'twap', twap: { ...twap, durationSeconds: 0 } },
    'twap.durationSeconds is 0; expected whole seconds',
  ],
  [
    'parts of a market order',
    { ...increase, twap },
    'twap is an object with parts and durationSeconds; expected nothing',
  ],
  [
    'exits of a twap',
    { ...increase, orderType: 'twap', twap, tpsl: [] },
    'tpsl is an empty list; expected nothing',
  ],
  [
    'an exit of another type',
    { ...increase, tpsl: [{ type: 'limit', triggerPrice: 1n }] },
    'the decision\'s tpsl[0].type is "limit"; expected take-profit or stop-loss',
  ],
  [
    'the price of a second exit that is a number',
    { ...increase, tpsl: [stop, { type: 'take-profit', triggerPrice: 8.06 }] },
    "the decision's tpsl[1].triggerPrice is the number 8.06; expected a bigint, usd('8.06')",
  ],
  [
    'the price of an exit in a text',
    { ...increase, tpsl: [{ type: 'stop-loss', triggerPrice: '8.06' }] },
    'tpsl[0].triggerPrice is the text "8.06"; expected a bigint, usd(\'8.06\')',
  ],
  [
    'an amount with its decimals that became a number',
    { ...increase, tpsl: [{ type: 'stop-loss', triggerPrice: 8.06e30 }] },
    "tpsl[0].triggerPrice is 8.06e+30; expected a bigint, USD with 30 decimals per whole token: usd('12.5')",
  ],
  [
    'a price far below a cent',
    { ...increase, orderType: 'limit', triggerPrice: 1e-7 },
    "triggerPrice is the number 1e-7; expected a bigint, usd('0.0000001')",
  ],
  [
    'an exit without a price',
    { ...increase, tpsl: [{ type: 'stop-loss' }] },
    'tpsl[0].triggerPrice is undef',
  ],
  ['a part of an exit', { ...increase, tpsl: [{ ...stop, shareBps: 0.5 }] }, 'tpsl[0].shareBps is 0.5'],
  [
    'one exit for a list',
    { ...increase, tpsl: stop },
    'tpsl is an object with type and triggerPrice; expected a',
  ],
  [
    'a hole in the exits',
    { ...increase, tpsl: [stop, undefined] },
    'tpsl[1] is undefined; expected an object',
  ],
  ['leverage neither kept nor left', { ...decrease, keepLeverage: 1 }, 'keepLeverage is 1'],
  ['a limit decrease', { ...decrease, orderType: 'limit', triggerPrice: 1n }, 'orderType is "limit"'],
  [
    'a swap of a number',
    { ...base, kind: 'swap', payAmount: 1 },
    "payAmount is the number 1; expected a bigint, parseUnits('1', token.decimals)",
  ],
  ['an edit of a short key', { ...base, kind: 'edit', orderKey: '0x0a' }, 'orderKey is "0x0a"'],
  [
    'a cancel of one bad key',
    { ...base, kind: 'cancel', orderKeys: [key, 'x'] },
    'orderKeys[1] is "x"; expected an order key',
  ],
  [
    'collateral of a float',
    { ...base, kind: 'collateral-in', collateralToken: USDC, amount: 0.1 },
    'amount is the number 0.1',
  ],
  [
    'a size that is no number',
    { ...increase, sizeDeltaUsd: Number.NaN },
    'sizeDeltaUsd is NaN; expected a bigint',
  ],
  [
    'a stop in a field of another program',
    { ...increase, stopLoss: 5 },
    "stopLoss is not a field of kind increase; did you mean tpsl: [{ type: 'stop-loss', triggerPrice }]?",
  ],
  [
    'a mistyped field',
    { ...increase, triggerprice: 5n },
    'triggerprice is not a field of kind increase; did you mean triggerPrice?',
  ],
  [
    'a field of another kind',
    { ...base, kind: 'close', collateralToken: USDC, sizeDeltaUsd: 1n },
    'sizeDeltaUsd is not a field of kind close; its fields are kind, direction',
  ],
  [
    'a field of an exit that is not known',
    { ...increase, tpsl: [{ type: 'stop-loss', triggerPrice: 1n, limitPrice: 1n }] },
    'tpsl[0].limitPrice is not a field of an exit; did you mean triggerPrice?',
  ],
  [
    'a twap of a third field',
    { ...increase, orderType: 'twap', twap: { ...twap, every: 60 } },
    'twap.every is not a field of twap; its fields are parts, durationSeconds',
  ],
  [
    'a fact that JSON cannot carry',
    { ...increase, facts: { rsi: Number.NaN } },
    'facts.rsi is NaN; expected a text',
  ],
  [
    'an amount among the facts',
    { ...increase, facts: { price: 5n } },
    'facts.price is 5n; expected a text, a finite number, true or false (formatUsd(price)',
  ],
  [
    'an unwind of a market',
    { kind: 'unwind', intentId: 'a', reason: 'b', direction: 'long' },
    'direction is not',
  ],
  [
    'a reason that holds itself',
    { ...increase, reason: ring() },
    'reason is an object with self; expected a sentence',
  ],
  [
    'a batch without lists',
    { ...base, kind: 'batch', batch: {} },
    'batch.createOrderParamsList is undefined; expected a list',
  ],
])('%s is told, with the field and the value', (_what, decision, said) => {
  expect(decisionProblem(decision)?.reason).toContain(said)
})

test.each([
  [
    'a promise',
    Promise.resolve([]),
    'decide returned a promise; expected a list of decisions (decide must not be async',
  ],
  ['nothing', undefined, 'decide returned undefined; expected a list of decisions ([] means no decision)'],
  ['one decision', increase, 'put a single one in a list too'],
  [
    'more than a turn takes',
    Array(201).fill(increase),
    'decide returned 201 decisions; the most in one turn is 200',
  ],
])('%s instead of a list is told', (_what, returned, said) => {
  expect(returnedProblem(returned)?.reason).toContain(said)
  expect(returnedProblem([increase])).toBeUndefined()
})

test('values that are wrong in the same way have one cause, so that it is told once', () => {
  const causeOf = (sizeDeltaUsd: unknown) => decisionProblem({ ...increase, sizeDeltaUsd })?.cause
  expect(causeOf(1.5)).toBe(causeOf(2.5))
  expect(causeOf(1.5)).not.toBe(decisionProblem({ ...increase, reason: '' })?.cause)
  const causeOfExits = (...tpsl: readonly unknown[]) => decisionProblem({ ...increase, tpsl })?.cause
  expect(causeOfExits({ ...stop, triggerPrice: 1 })).toBe(causeOfExits(stop, { ...stop, triggerPrice: 2 }))
})

test('a value is told in a few words, whatever it holds', () => {
  const long = Array.from({ length: 40 }, (_, at) => [`field${at}`, 'x'.repeat(50)])
  const texts = [
    decisionProblem({ ...increase, sizeDeltaUsd: Object.fromEntries(long) }),
    decisionProblem({ ...increase, tpsl: [{ ...stop, type: 'y'.repeat(5_000) }] }),
    decisionProblem({ ...increase, facts: { ['z'.repeat(5_000)]: 1n } }),
    decisionProblem({ ...increase, facts: { 'two\nlines': {} } }),
  ].map((problem) => problem?.reason ?? '')
  for (const text of texts) {
    expect(text.length).toBeLessThan(300)
    expect(text).not.toMatch(/[{}\n]/)
  }
  expect(texts[0]).toContain('is an object with field0, field1, field2, field3, field4, field5 and 34 more')
  expect(texts[3]).toContain('facts["two\\nlines"] is an object without fields')
})
