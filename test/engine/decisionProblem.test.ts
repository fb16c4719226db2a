/** What a kind of the user's own may return: every field of every kind is looked at before it is reckoned with. */
import { expect, test } from 'vitest'
import { decisionProblem } from '../../src/engine/decisionProblem.ts'
import { MARKET, USDC } from '../risk/world.ts'

const key = `0x${'0a'.repeat(32)}`
const base = { marketToken: MARKET, direction: 'long', reason: 'because' }
const increase = { ...base, kind: 'increase', collateralToken: USDC, sizeDeltaUsd: 1n, leverageBps: 10_000 }
const decrease = { ...base, kind: 'decrease', collateralToken: USDC, sizeDeltaUsd: 1n, keepLeverage: false }
const twap = { parts: 2, durationSeconds: 60 }
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
  ['a batch without lists', { ...base, kind: 'batch', batch: {} }, 'batch is {}'],
])('%s is told, with the field and the value', (_what, decision, said) => {
  expect(decisionProblem(decision)).toContain(said)
})
