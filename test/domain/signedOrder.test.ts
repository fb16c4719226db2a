/** A resting order as our own messages made it: what was signed last and landed, and nothing where that is not proven. */
import { expect, test } from 'vitest'
import type { Attempt, IntentState, SignedOrder } from '../../src/domain/order/intent.ts'
import type { EditTerms } from '../../src/domain/order/orderTerms.ts'
import { rowDifference, signedOrderAmong } from '../../src/domain/order/signedOrder.ts'
import type { UpdateOrderParams } from '../../src/protocol/batch.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'

const otherKey = `0x${'0b'.repeat(32)}` as const
const signed: SignedOrder = {
  orderType: 3,
  sizeDeltaUsd: usd(500),
  collateralAmount: 250_000_000n,
  kept: {
    marketToken: ethMarket,
    direction: 'long',
    collateralToken: usdc,
    triggerContractPrice: 1_900n * 10n ** 12n,
    acceptableContractPrice: 1_925n * 10n ** 12n,
    minOutputAmount: 0n,
    autoCancel: false,
  },
}

function stateOf(parts: Partial<IntentState>, attempt: Partial<Attempt>): IntentState {
  const whole = { n: 1, lane: 'order-chain', phase: 'LANDED', children: [], ...attempt } as unknown as Attempt
  return { intent: intentOf(), attempts: [whole], updatedAtMs: startMs, ...parts }
}

/** It made two orders, ours the second. */
function makerOf(creates: readonly SignedOrder[]): IntentState {
  const children = [otherKey, orderKey].map((key, index) => ({
    index,
    orderKey: key,
    phase: 'OPEN' as const,
    role: 'main' as const,
  }))
  return stateOf({}, { armed: armedFacts({ creates }), children })
}

const maker = makerOf([{ ...signed, sizeDeltaUsd: usd(1) }, signed])
const update: UpdateOrderParams = {
  key: orderKey,
  sizeDeltaUsd: usd(700),
  acceptablePrice: 1_850n * 10n ** 12n,
  triggerPrice: 1_800n * 10n ** 12n,
  minOutputAmount: 0n,
  validFromTime: 0n,
  autoCancel: true,
  executionFeeIncrease: 5n,
}

function editOf(key: `0x${string}`, attempt: Partial<Attempt>): IntentState {
  const base = intentOf()
  const edit = { orderKey: key } as EditTerms
  return stateOf({ intent: intentOf({ kind: 'edit', terms: { ...base.terms, edit } }) }, attempt)
}

test('an order is known by the place in its message, and by the newest change of it that landed', () => {
  expect(signedOrderAmong([], maker, orderKey)).toEqual(signed)
  const landed = editOf(orderKey, { armed: armedFacts({ updates: [update] }) })
  const dead = editOf(orderKey, {
    phase: 'DEAD',
    armed: armedFacts({ updates: [{ ...update, sizeDeltaUsd: 1n }] }),
  })
  const another = editOf(otherKey, { armed: armedFacts({ updates: [{ ...update, key: otherKey }] }) })
  expect(signedOrderAmong([landed, dead, another], maker, orderKey)).toEqual({
    ...signed,
    sizeDeltaUsd: usd(700),
    kept: {
      ...signed.kept,
      triggerContractPrice: 1_800n * 10n ** 12n,
      acceptableContractPrice: 1_850n * 10n ** 12n,
      autoCancel: true,
    },
  })
})

test.each<readonly [string, IntentState, readonly IntentState[]]>([
  [
    'which was made by a version that kept less',
    makerOf([signed, { sizeDeltaUsd: 1n, collateralAmount: 1n }]),
    [],
  ],
  ['that nobody of ours made', stateOf({}, { armed: armedFacts() }), []],
  [
    'of which a change has no proven end',
    maker,
    [editOf(orderKey, { phase: 'UNRESOLVED', armed: armedFacts() })],
  ],
  ['of which a change landed that was not kept', maker, [editOf(orderKey, { armed: armedFacts() })]],
])('an order %s is not known', (_what, made, changes) => {
  expect(signedOrderAmong(changes, made, orderKey)).toBeUndefined()
})

test('a row that leaves out what the venue does not say is no other order', () => {
  const row = {
    orderKey,
    account: ethMarket,
    receiver: ethMarket,
    marketToken: ethMarket.toLowerCase() as `0x${string}`,
    initialCollateralToken: usdc,
    orderType: 3,
    direction: 'long',
    sizeDeltaUsd: usd(500),
    initialCollateralDeltaAmount: 1n,
    triggerContractPrice: 1_900n * 10n ** 12n,
    acceptableContractPrice: 1_925n * 10n ** 12n,
    isFrozen: true,
    updatedAtSeconds: 9,
    validFromSeconds: 0,
  } as const
  expect(rowDifference(row, signed)).toBeUndefined()
  expect(rowDifference({ ...row, autoCancel: true }, signed)).toEqual({
    field: 'autoCancel',
    signed: 'false',
    listed: 'true',
  })
})
