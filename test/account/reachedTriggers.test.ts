/** Which side of its trigger an order waits on, and that it is told of once each time the price reaches it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createReachedTriggers, isTriggered } from '../../src/account/watch/reachedTriggers.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { hexKey } from '../../src/protocol/address.ts'
import type { Order } from '../../src/protocol/position.ts'
import { contractPriceOf, usd } from '../../src/protocol/units.ts'
import { account, armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'

function order(orderType: number, direction: 'long' | 'short', triggerUsd: number): Order {
  return {
    orderKey,
    account,
    receiver: account,
    marketToken: ethMarket,
    initialCollateralToken: usdc,
    orderType,
    direction,
    sizeDeltaUsd: usd(500),
    initialCollateralDeltaAmount: 0n,
    triggerContractPrice: contractPriceOf(usd(triggerUsd), 18),
    acceptableContractPrice: 0n,
    isFrozen: false,
    updatedAtSeconds: 1,
    validFromSeconds: 0,
  }
}

test('a long limit and a long stop-loss wait for the price to fall, a long take-profit and stop increase for it to rise; shorts the other way', () => {
  const falls = [
    [3, 'long'],
    [6, 'long'],
    [5, 'short'],
    [8, 'short'],
  ] as const
  const rises = [
    [5, 'long'],
    [8, 'long'],
    [3, 'short'],
    [6, 'short'],
  ] as const
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 5_000 }), (price, trigger) => {
      for (const [type, side] of falls)
        expect(isTriggered(order(type, side, trigger), usd(price), 18)).toBe(price <= trigger)
      for (const [type, side] of rises)
        expect(isTriggered(order(type, side, trigger), usd(price), 18)).toBe(price >= trigger)
      // A market order and the part of a twap wait for no price.
      for (const type of [2, 4]) expect(isTriggered(order(type, 'long', trigger), usd(price), 18)).toBe(false)
    }),
  )
})

test('an order of ours is told of when the price reaches it, and again when it comes back; one of others never', () => {
  const { intent } = { intent: intentOf() }
  const state: IntentState = {
    intent,
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'h',
        phase: 'LANDED',
        armed: armedFacts(),
        children: [{ index: 0, orderKey, phase: 'OPEN', role: 'main' }],
      },
    ],
    updatedAtMs: startMs,
  }
  const told: string[] = []
  const look = createReachedTriggers({
    open: () => [{ state, label: 'resting' }],
    pollSoon: (intentId) => void told.push(intentId),
  })
  const others = { ...order(3, 'long', 3_000), orderKey: `0x${'0b'.repeat(32)}` as const }
  const snapshot = (priceUsd: number | undefined) =>
    ({
      markets: new Map([
        [
          hexKey(ethMarket),
          {
            indexToken: { decimals: 18 },
            ...(priceUsd === undefined ? {} : { oraclePrice: { value: { medianPrice: usd(priceUsd) } } }),
          },
        ],
      ]),
      orders: { value: [order(3, 'long', 1_900), others], atMs: startMs },
    }) as unknown as Snapshot
  const counts = [2_000, 1_901, 1_900, 1_890, undefined, 1_880, 1_950, 1_899].map((price) => {
    look(snapshot(price))
    return told.length
  })
  expect(counts).toEqual([0, 0, 1, 1, 1, 1, 1, 2])
  expect(new Set(told)).toEqual(new Set([intent.intentId]))
})
