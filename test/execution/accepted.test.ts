/**
 * No message that is accepted can pay anybody but the account, open or grow more than was meant, sell below or buy above the
 * bound, cost more than the limits, or end a swap elsewhere: random messages around honest ones, judged by a reckoning of its own.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { harmsOf, type Limits } from '../support/acceptedJudge.ts'
import { nowSeconds } from '../support/honestOrders.ts'
import { ethMarket, usdc, weth } from '../support/intents.ts'
import { changeNames, orderNames, sceneOf } from '../support/messageScenes.ts'
import { facts, mutated, mutations, names } from '../support/mutations.ts'
import { bySession } from '../support/session.ts'
import {
  batchOf,
  btcMarket,
  judgeBatch,
  judgePrepared,
  secondEthMarket,
  type Whole,
  wbtc,
  wholeOf,
} from '../support/wholeMessage.ts'

const plain = {
  feeToken: usdc,
  wrappedNative: weth,
  pools: [
    { market: ethMarket, one: weth, other: usdc },
    { market: secondEthMarket, one: weth, other: usdc },
    { market: btcMarket, one: wbtc, other: usdc },
  ],
  nowSeconds: BigInt(nowSeconds),
  furthestSeconds: 3700n,
} as const
const addingLimits: Limits = {
  ...plain,
  executionFee: 10n ** 15n,
  relayFee: 2_500_000n,
  toleranceBps: 100n,
  mostImpactBps: 150n,
}
const reducingLimits: Limits = {
  ...plain,
  executionFee: 5n * 10n ** 15n,
  relayFee: 20_000_000n,
  toleranceBps: 200n,
  mostImpactBps: 1_000n,
}

/** The limits of a message by what it does to risk. */
function limitsOf({ intent: { kind, reservationUsd, terms } }: Whole): Limits {
  const opens = terms.orderType === 'limit' || terms.orderType === 'stop-market'
  const adds = kind === 'increase' || kind === 'swap' || kind === 'collateral-out' || reservationUsd > 0n
  return adds || (kind === 'edit' && opens) ? addingLimits : reducingLimits
}

test('no accepted message can do more harm than was meant', () => {
  const seen = { accepted: 0, changed: 0, refused: 0, harmful: 0 }
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(names, facts, mutations, fc.boolean(), (name, given, changes, isSession) => {
      const scene = sceneOf(name, given)
      const honest = isSession ? bySession(wholeOf(scene)) : wholeOf(scene)
      const whole = changes.reduce(mutated, honest)
      const message = { batch: batchOf(whole), relayParams: whole.relayParams }
      const harms = harmsOf(whole.intent, message, limitsOf(whole))
      if (harms.length > 0) seen.harmful += 1
      for (const judge of [judgePrepared, judgeBatch]) {
        const result = judge(whole)
        if ('kind' in result) {
          if (changes.length === 0) expect(result.differences, `${name} as it is`).toEqual([])
          seen.refused += 1
          continue
        }
        // What is accepted is what was asked about, and it does no harm.
        expect(result.batch).toEqual(message.batch)
        expect(harms).toEqual([])
        seen.accepted += 1
        if (changes.length > 0) seen.changed += 1
        kinds.set(name, (kinds.get(name) ?? 0) + 1)
      }
    }),
    { seed: 20_260_706, numRuns: 4_000 },
  )
  // Of each kind some are accepted, and of what is changed both many are accepted and many are harmful.
  expect([...kinds.keys()].sort()).toEqual([...orderNames, ...changeNames].sort())
  expect(seen.changed, JSON.stringify(seen)).toBeGreaterThan(1_000)
  expect(seen.harmful, JSON.stringify(seen)).toBeGreaterThan(1_200)
}, 120_000)
