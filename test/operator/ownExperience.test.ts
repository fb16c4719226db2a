/** Costs by the account's own newest orders: how far beyond their triggers its stops filled, and how much of what sending cost came back. */
import { expect, test } from 'vitest'
import type { Child, IntentState } from '../../src/domain/order/intent.ts'
import { comesBackBps, stopBeyondBps } from '../../src/operator/ownExperience.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, weth } from '../support/intents.ts'

const base = intentOf()

/** A landed order of the ETH market with these orders at the venue; sending was signed for $1. */
function landed(
  children: readonly Partial<Child>[],
  over: Partial<IntentState['intent']['terms']> = {},
): IntentState {
  return {
    intent: { ...base, terms: { ...base.terms, marketToken: ethMarket, direction: 'long', ...over } },
    attempts: [
      {
        ...{ n: 1, lane: 'order-chain', host: 'http://127.0.0.1:1/v1', phase: 'LANDED' },
        armed: { ...armedFacts(), relayFeeAmount: 1_000_000n },
        children: children.map((child, index) => ({
          ...{ index, orderKey: `0x${index}`, phase: 'EXECUTED', ...child },
        })),
      },
    ],
    closing: {
      outcome: 'EXECUTED',
      code: 'X',
      reason: 'x',
      evidence: { level: 'api', atMs: 0, statement: 'x' },
    },
    updatedAtMs: 0,
  } as unknown as IntentState
}

const stop = (price: string, over = {}): IntentState =>
  landed([{ role: 'main', settlement: { executionPrice: usd(price) } } as Partial<Child>], {
    ...{ orderType: 'stop-loss', triggerPrice: usd(2_000) },
    ...over,
  })

test('before the first own stop of a market has filled, a stop is taken to fill 0.1 % beyond its trigger', () => {
  expect(stopBeyondBps([], ethMarket)).toBe(10)
  expect(stopBeyondBps([stop('1900')], weth)).toBe(10)
})

test('the middle of the distances counts, on the losing side alone; a better fill is no distance', () => {
  expect(stopBeyondBps([stop('1990')], ethMarket)).toBe(50)
  expect(stopBeyondBps([stop('1990'), stop('1999'), stop('1800')], ethMarket)).toBe(50)
  expect(stopBeyondBps([stop('2010')], ethMarket)).toBe(0)
  expect(stopBeyondBps([stop('2010', { direction: 'short' })], ethMarket)).toBe(50)
})

test('a stop that came with an entry counts by its own trigger, and one of two that cannot be told apart does not', () => {
  const child = { role: 'stop-loss', settlement: { executionPrice: usd('1940.3') } } as Partial<Child>
  const one = [{ type: 'stop-loss', triggerPrice: usd(1_950) }]
  expect(stopBeyondBps([landed([child], { tpsl: one } as never)], ethMarket)).toBe(49)
  const two = [...one, { type: 'stop-loss', triggerPrice: usd(1_900) }]
  expect(stopBeyondBps([landed([child], { tpsl: two } as never)], ethMarket)).toBe(10)
})

test('what came back is the middle of the shares of landed and ended orders that show it, and never more than was paid', () => {
  const back = (dollars: string) =>
    landed([{ settlement: { executionFeeReturnedUsd: usd(dollars) } } as Partial<Child>])
  expect(comesBackBps([], 6)).toBeUndefined()
  expect(comesBackBps([landed([{}])], 6)).toBeUndefined()
  expect(comesBackBps([back('0.4')], 6)).toBe(4_000)
  expect(comesBackBps([back('0.4'), back('0.1'), back('9')], 6)).toBe(4_000)
  expect(comesBackBps([back('9')], 6)).toBe(10_000)
  const { closing: _, ...open } = back('0.4')
  expect(comesBackBps([open as IntentState], 6)).toBeUndefined()
})
