/** What a kind of the user's own may return: every field of every kind is looked at before it is reckoned with. */
import { expect, test } from 'vitest'
import { decisionProblem, returnedProblem } from '../../src/engine/decisionProblem.ts'
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
  ['flatten', { kind: 'flatten', intentId: 'a', reason: 'b', facts: { age: 5, late: true } }],
])('a good %s passes', (_kind, decision) => {
  expect(decisionProblem(decision)).toBeUndefined()
})

test.each<readonly [string, unknown, string]>([
  ['no object', 7, 'a decision is an object, not 7'],
  ['a list', [], 'a decision is an object, not []'],
  ['no kind', { ...increase, kind: undefined }, 'kind is undefined'],
  ['a kind of Object', { ...increase, kind: 'constructor' }, 'kind is "constructor"'],
  ['an unknown side', { ...increase, direction: 'up' }, 'direction is "up"; expected long or short'],
  ['a market symbol for its token', { ...increase, marketToken: 'ETH' }, 'marketToken is "ETH"'],
  ['no reason', { ...increase, reason: '' }, 'reason is ""; expected a sentence'],
  ['a size that is a number', { ...increase, sizeDeltaUsd: 100 }, 'sizeDeltaUsd is 100; expected a bigint'],
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
    'twap is {"parts":1,"durationSeconds":60}',
  ],
  [
    'a twap of no time',
    { ...increase, orderType: 'twap', twap: { ...twap, durationSeconds: 0 } },
    'twap is {"parts":2,"durationSeconds":0}',
  ],
  [
    'parts of a market order',
    { ...increase, twap },
    'twap is {"parts":2,"durationSeconds":60}; expected nothing',
  ],
  ['exits of a twap', { ...increase, orderType: 'twap', twap, tpsl: [] }, 'tpsl is []; expected nothing'],
  ['an exit of another type', { ...increase, tpsl: [{ type: 'limit', triggerPrice: 1n }] }, 'tpsl is [{'],
  ['an exit with a float', { ...increase, tpsl: [{ type: 'stop-loss', triggerPrice: 1.5 }] }, 'tpsl is [{'],
  ['leverage neither kept nor left', { ...decrease, keepLeverage: 1 }, 'keepLeverage is 1'],
  ['a limit decrease', { ...decrease, orderType: 'limit', triggerPrice: 1n }, 'orderType is "limit"'],
  ['a swap of a number', { ...base, kind: 'swap', payAmount: 1 }, 'payAmount is 1'],
  ['an edit of a short key', { ...base, kind: 'edit', orderKey: '0x0a' }, 'orderKey is "0x0a"'],
  ['a cancel of one bad key', { ...base, kind: 'cancel', orderKeys: [key, 'x'] }, 'orderKeys is ['],
  [
    'collateral of a float',
    { ...base, kind: 'collateral-in', collateralToken: USDC, amount: 0.1 },
    'amount is 0.1',
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
    'tpsl is [{"type":"stop-loss"',
  ],
  ['a twap of a third field', { ...increase, orderType: 'twap', twap: { ...twap, every: 60 } }, 'twap is {'],
  ['a fact that JSON cannot carry', { ...increase, facts: { rsi: Number.NaN } }, 'facts is {"rsi":"NaN"}'],
  ['an amount among the facts', { ...increase, facts: { price: 5n } }, 'formatUsd(price) makes a text'],
  [
    'a flatten of a market',
    { kind: 'flatten', intentId: 'a', reason: 'b', direction: 'long' },
    'direction is not',
  ],
  ['a reason that holds itself', { ...increase, reason: ring() }, 'reason is an object that cannot be shown'],
  ['a batch without lists', { ...base, kind: 'batch', batch: {} }, 'batch is {}'],
])('%s is told, with the field and the value', (_what, decision, said) => {
  expect(decisionProblem(decision)?.reason).toContain(said)
})

test.each([
  [
    'a promise',
    Promise.resolve([]),
    'decide returned a promise; expected a list of decisions (decide is not async',
  ],
  ['nothing', undefined, 'decide returned undefined; expected a list of decisions ([] asks for nothing)'],
  ['one decision', increase, 'a single one stands in a list too'],
  ['more than a turn takes', Array(201).fill(increase), 'decide returned 201 decisions; at most 200'],
])('%s instead of a list is told', (_what, returned, said) => {
  expect(returnedProblem(returned)?.reason).toContain(said)
  expect(returnedProblem([increase])).toBeUndefined()
})

test('values that are wrong in the same way have one cause, so that it is told once', () => {
  const causeOf = (sizeDeltaUsd: unknown) => decisionProblem({ ...increase, sizeDeltaUsd })?.cause
  expect(causeOf(1.5)).toBe(causeOf(2.5))
  expect(causeOf(1.5)).not.toBe(decisionProblem({ ...increase, reason: '' })?.cause)
})
