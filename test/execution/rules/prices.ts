/** Triggers, prices, fees, least outputs and times of created orders, as docs/reference/messages.md says them, in cases, reckoned here. */

import { MAX, nowSeconds } from '../../support/honestOrders.ts'
import type { Scene } from '../../support/messageScenes.ts'
import {
  asItIs,
  type Changes,
  exactly,
  numbers,
  orderIn,
  type Rule,
  type RuleCases,
  upTo,
} from '../../support/ruleCases.ts'
import { boundsOf, buys, part, reachOf } from './sides.ts'

const trigger = (scene: Scene) => (value: bigint) => numbers(scene, { triggerPrice: value })
const triggerAsAsked: Rule = (scene) => exactly(orderIn(scene).numbers.triggerPrice, trigger(scene))
const triggerOfTwap: Rule = (scene) => {
  const [own, other] = buys(scene) ? [MAX, 0n] : [0n, MAX]
  const set = trigger(scene)
  return {
    signed: { any: set(own) },
    harmful: { 'any of the other side': set(other), 'the price': set(1800n * 10n ** 12n) },
  }
}

const price = (scene: Scene) => (value: bigint) => numbers(scene, { acceptablePrice: value })

/** Around a center: to the unit of the contract, one of which is the venue's rounding. */
function aroundIn(
  scene: Scene,
  center: bigint,
  { tolerance, bad, good }: ReturnType<typeof reachOf>,
): RuleCases {
  const slip = BigInt(scene.facts.slippageBps)
  const one = 10_000n
  const [lowest, highest] = buys(scene)
    ? [
        (center * (one - tolerance - good)) / one,
        (center * (one + tolerance) * (one + bad) * (one + slip)) / one ** 3n,
      ]
    : [
        (center * (one - tolerance - slip - bad)) / one,
        (center * (one + tolerance) * (one + good)) / one ** 2n,
      ]
  const set = price(scene)
  return {
    signed: {
      'the lowest': set(lowest - 1n),
      'the highest': set(highest + 1n),
      'the center': set(center),
    },
    moved: {
      'one lower': set(lowest - 2n),
      'one higher': set(highest + 2n),
      'a fifth lower': set((center * 4n) / 5n),
      'a fifth higher': set((center * 6n) / 5n),
    },
    harmful: {
      'more than a fifth lower': set((center * 4n) / 5n - 1n),
      'more than a fifth higher': set((center * 6n) / 5n + 1n),
      'any of its side': set(buys(scene) ? MAX : 0n),
      'any of the other side': set(buys(scene) ? 0n : MAX),
    },
  }
}

const mark = 1800n * 10n ** 12n
const priceOfMarket: Rule = (scene) => aroundIn(scene, mark, reachOf(scene))
const priceOfLimit: Rule = (scene) => {
  const { impactBps } = scene.facts
  const named = impactBps === undefined || scene.name === 'take-profit exit' ? undefined : BigInt(impactBps)
  const reach = named === undefined ? reachOf(scene) : { tolerance: 0n, bad: named, good: named }
  return aroundIn(scene, orderIn(scene).numbers.triggerPrice, reach)
}
const priceOfStop: Rule = (scene) => {
  const around = aroundIn(scene, orderIn(scene).numbers.triggerPrice, reachOf(scene))
  const { 'any of its side': any, ...harmful } = around.harmful ?? {}
  return { ...around, signed: { ...around.signed, ...(any === undefined ? {} : { any }) }, harmful }
}
const priceOfTwap: Rule = (scene) => {
  const [own, other] = buys(scene) ? [MAX, 0n] : [0n, MAX]
  const set = price(scene)
  return {
    signed: { any: set(own) },
    harmful: { 'any of the other side': set(other), 'the price': set(mark) },
  }
}
const priceOfNothing: Rule = (scene) => {
  const set = price(scene)
  return { signed: { none: set(0n), any: set(MAX), 'the price': set(mark), 'as it is': (whole) => whole } }
}
const noPrice: Rule = (scene) => exactly(0n, price(scene))

/** What was written, and what would be written otherwise: intent and message say the same. */
function written(scene: Scene, fields: Partial<ReturnType<typeof orderIn>['numbers']>): Changes[string] {
  const change = numbers(scene, fields)
  return (whole) => {
    const changed = change(whole)
    const { intent } = whole
    const { batch } = intent.terms
    if (batch === undefined) throw new TypeError('a scene of the caller has his message')
    const terms = { ...intent.terms, batch: { ...batch, createOrderParamsList: changed.orders } }
    return { ...changed, intent: { ...intent, terms } }
  }
}

const priceOfOwn: Rule = (scene) => {
  const { acceptablePrice, triggerPrice } = orderIn(scene).numbers
  const isStop = scene.facts.orderType === 'stop-market' || scene.facts.orderType === 'stop-loss'
  const center = triggerPrice === 0n ? mark : triggerPrice
  const around = aroundIn(scene, center, reachOf(scene))
  const far = buys(scene) ? (center * 11n) / 10n : (center * 9n) / 10n
  return {
    signed: asItIs,
    moved: { 'written beyond its bound': written(scene, { acceptablePrice: far }) },
    harmful: {
      'one more': price(scene)(acceptablePrice === MAX ? 1n : acceptablePrice + 1n),
      ...Object.fromEntries(
        Object.entries(around.signed ?? {}).map(([name, change]) => [`${name} instead`, change]),
      ),
      ...(isStop ? {} : { 'any of its side': price(scene)(buys(scene) ? MAX : 0n) }),
    },
  }
}

const fee = (scene: Scene) => (value: bigint) => numbers(scene, { executionFee: value })
const executionFee: Rule = (scene) => {
  const most = boundsOf(scene).executionFee
  return upTo(most, fee(scene), 10n * most)
}
const executionFeeOfOwn: Rule = (scene) => {
  const most = boundsOf(scene).executionFee
  const asWritten = orderIn(scene).numbers.executionFee
  return {
    signed: { ...asItIs, 'the highest, as written': written(scene, { executionFee: most }) },
    moved: {
      'one more than the highest, as written': written(scene, { executionFee: most + 1n }),
      'ten times the highest, as written': written(scene, { executionFee: 10n * most }),
    },
    harmful: {
      'one more than written': fee(scene)(asWritten + 1n),
      'one less than written': fee(scene)(asWritten - 1n),
      'far more, as written': written(scene, { executionFee: 10n * most + 1n }),
    },
  }
}

const output = (scene: Scene) => (value: bigint) => numbers(scene, { minOutputAmount: value })
const noOutput: Rule = (scene) => exactly(0n, output(scene))
const outputOfCollateral: Rule = (scene) => upTo(scene.facts.amount * 10n ** 24n, output(scene))
const outputOfSwap: Rule = (scene) => {
  const { amount, referencePrice } = scene.facts
  // $100 at $1,800, less 1 % of slippage and 1 % of costs, in units of 18 decimals.
  const least = (((amount * 10n ** 42n) / referencePrice) * 98n) / 100n
  const fifth = least / 5n
  const set = output(scene)
  return {
    signed: { 'the least': set(least), 'twice the least': set(2n * least) },
    moved: { 'one less': set(least - 1n), 'a fifth less': set(least - fifth) },
    harmful: {
      'more than a fifth less': set(least - fifth - 1n),
      none: set(0n),
      'more than twice': set(2n * least + 1n),
    },
  }
}

const start = (scene: Scene) => (value: bigint) => numbers(scene, { validFromTime: value })
const noStart: Rule = (scene) => exactly(0n, start(scene))
const schedule: Rule = (scene) => {
  const now = BigInt(nowSeconds)
  const { parts, durationSeconds } = scene.facts
  const due = (index: number) => (BigInt(durationSeconds) * BigInt(index)) / BigInt(parts - 1)
  const from =
    (first: bigint): Changes[string] =>
    (whole) => ({
      ...whole,
      orders: whole.orders.map((each, index) => ({
        ...each,
        numbers: { ...each.numbers, validFromTime: first + due(index) },
      })),
    })
  const set = part('validFromTime')
  return {
    signed: {
      'two minutes ago': from(now - 120n),
      'a minute ahead': from(now + 60n),
      ...set(1, now + due(1) + 1n),
      ...set(1, now + due(1) - 1n),
    },
    harmful: {
      'longer ago': from(now - 121n),
      'further ahead': from(now + 61n),
      never: from(10n ** 12n),
      ...set(1, now + due(1) + 2n),
      ...set(1, now + due(1) - 2n),
      ...set(2, now),
    },
  }
}

/** By field and by the orders that a row names. */
export const priceRules: Readonly<Record<string, Rule>> = {
  'numbers.triggerPrice | market increase, market decrease, kept-leverage decrease, close, collateral-in, collateral-out, swap':
    triggerAsAsked,
  'numbers.triggerPrice | limit increase, stop entry, take-profit, stop-loss, take-profit exit, stop-loss exit, own order':
    triggerAsAsked,
  'numbers.triggerPrice | twap increase, twap decrease': triggerOfTwap,
  'numbers.acceptablePrice | market increase, market decrease, kept-leverage decrease, close, collateral-out':
    priceOfMarket,
  'numbers.acceptablePrice | limit increase, take-profit, take-profit exit': priceOfLimit,
  'numbers.acceptablePrice | stop entry, stop-loss, stop-loss exit': priceOfStop,
  'numbers.acceptablePrice | twap increase, twap decrease': priceOfTwap,
  'numbers.acceptablePrice | collateral-in': priceOfNothing,
  'numbers.acceptablePrice | swap': noPrice,
  'numbers.acceptablePrice | own order': priceOfOwn,
  'numbers.executionFee | every order but own order': executionFee,
  'numbers.executionFee | own order': executionFeeOfOwn,
  'numbers.minOutputAmount | every order but collateral-out, swap': noOutput,
  'numbers.minOutputAmount | collateral-out': outputOfCollateral,
  'numbers.minOutputAmount | swap': outputOfSwap,
  'numbers.validFromTime | every order but twap increase, twap decrease': noStart,
  'numbers.validFromTime | twap increase, twap decrease': schedule,
}
