/** The rules of created orders, as docs/orders.md says them, in cases: numbers are reckoned here, by none of the verifier's code. */
import { ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/address.ts'
import { MAX, nowSeconds, stranger, wordOf } from '../support/honestOrders.ts'
import { account, ethMarket, weth } from '../support/intents.ts'
import type { Scene } from '../support/messageScenes.ts'
import {
  addresses,
  asItIs,
  type Changes,
  exactly,
  numbers,
  onlyFlag,
  order,
  orderIn,
  type Rule,
  type RuleCases,
  top,
  upTo,
} from '../support/ruleCases.ts'
import { btcMarket, secondEthMarket } from '../support/wholeMessage.ts'

const adding = { executionFee: 10n ** 15n, toleranceBps: 100n }
const reducing = { executionFee: 5n * 10n ** 15n, toleranceBps: 200n }

/** Whether the message of a scene adds risk. */
export function adds({ name, facts: { orderType } }: Scene): boolean {
  if (name === 'own order') return ['market increase', 'limit', 'stop-market'].includes(orderType)
  if (name === 'edit') return orderType === 'limit' || orderType === 'stop-market'
  return /increase|exit|swap|collateral-out/.test(name)
}

const boundsOf = (scene: Scene) => (adds(scene) ? adding : reducing)

/** Whether an order fills upwards: increases of longs, decreases of shorts. */
function buys({ name, facts: { direction, orderType } }: Scene): boolean {
  const text = name === 'own order' ? orderType : name
  return /increase|collateral-in|^limit|^stop-market/.test(text) === (direction === 'long')
}

const receiver: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'a stranger': addresses(scene, { receiver: stranger }),
    nobody: addresses(scene, { receiver: ZERO_ADDRESS }),
  },
})

const cancellationReceiver: Rule = (scene) => ({
  signed: {
    nobody: addresses(scene, { cancellationReceiver: ZERO_ADDRESS }),
    'the account': addresses(scene, { cancellationReceiver: account }),
  },
  harmful: { 'a stranger': addresses(scene, { cancellationReceiver: stranger }) },
})

const market: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'another listed one': addresses(scene, { market: scene.name === 'swap' ? ethMarket : btcMarket }),
    'a stranger': addresses(scene, { market: stranger }),
    ...(scene.name === 'swap' ? {} : { none: addresses(scene, { market: ZERO_ADDRESS }) }),
  },
})

const collateralToken: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'the other token of the market': addresses(scene, { initialCollateralToken: weth }),
    'a stranger': addresses(scene, { initialCollateralToken: stranger }),
  },
})

const noPath: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'through its own market': addresses(scene, { swapPath: [ethMarket] }),
    'there and back': addresses(scene, { swapPath: [ethMarket, secondEthMarket] }),
  },
})

const swapPath: Rule = (scene) => {
  const path = (...markets: readonly `0x${string}`[]) => addresses(scene, { swapPath: markets })
  return {
    signed: { ...asItIs, 'another market of the two tokens': path(secondEthMarket) },
    harmful: {
      none: path(),
      'ends in another token': path(btcMarket),
      'ends where it began': path(ethMarket, secondEthMarket),
      'goes through one twice': path(ethMarket, secondEthMarket, ethMarket),
      'is not listed': path(stranger),
      'goes through a market that does not take it': path(ethMarket, btcMarket),
      'is too long': path(ethMarket, secondEthMarket, ethMarket, secondEthMarket),
    },
  }
}

const size = (scene: Scene) => (value: bigint) => numbers(scene, { sizeDeltaUsd: value })
const sizeAsAsked: Rule = (scene) => exactly(scene.facts.sizeDeltaUsd, size(scene))
const noSize: Rule = (scene) => ({ ...exactly(0n, size(scene)) })

const sizeOfPart: Rule = (scene) => {
  const { facts } = scene
  const set = size(scene)
  const { isWhole, otherSizeDeltaUsd, held, sizeDeltaUsd } = facts
  if (isWhole) {
    return {
      signed: {
        'the whole': set(held.sizeInUsd),
        'the part that was wished for': numbers(scene, { sizeDeltaUsd, initialCollateralDeltaAmount: 0n }),
      },
      moved: { 'one less than the whole': set(held.sizeInUsd - 1n), 'hardly anything': set(1n) },
      harmful: { 'one more than the whole': set(held.sizeInUsd + 1n), any: set(MAX), none: set(0n) },
    }
  }
  return {
    signed: {
      'as asked': set(sizeDeltaUsd),
      ...(otherSizeDeltaUsd === undefined ? {} : { 'the whole': set(held.sizeInUsd) }),
    },
    harmful: {
      'one more': set(sizeDeltaUsd + 1n),
      'one less': set(sizeDeltaUsd - 1n),
      none: set(0n),
      any: set(MAX),
      'more than there is': set(held.sizeInUsd + 1n),
      ...(otherSizeDeltaUsd === undefined ? { 'the whole': set(held.sizeInUsd) } : {}),
    },
  }
}

const sizeOfClose: Rule = (scene) => {
  const whole = scene.facts.held.sizeInUsd
  const set = size(scene)
  return {
    signed: { 'the whole': set(whole) },
    moved: { 'one less': set(whole - 1n), 'hardly anything': set(1n) },
    harmful: { 'one more': set(whole + 1n), any: set(MAX), none: set(0n) },
  }
}

const sizeOfWaiting: Rule = (scene) => {
  const { isWhole, held, sizeDeltaUsd } = scene.facts
  const set = size(scene)
  const asked = isWhole ? held.sizeInUsd : sizeDeltaUsd
  return {
    signed: { 'as asked': set(asked), ...(isWhole ? { any: set(MAX) } : {}) },
    ...(isWhole ? { moved: { 'one less': set(asked - 1n), 'hardly anything': set(1n) } } : {}),
    harmful: {
      'one more': set(asked + 1n),
      none: set(0n),
      ...(isWhole ? {} : { any: set(MAX), 'one less': set(asked - 1n), 'the whole': set(held.sizeInUsd) }),
    },
  }
}

/** What an exit of the scene closes, and what there is for it to close. */
function exitOf({ facts: { isWhole, held, sizeDeltaUsd, amount } }: Scene) {
  const whole = held.sizeInUsd + sizeDeltaUsd
  const all = held.collateralAmount + amount
  return { closes: isWhole ? whole : (sizeDeltaUsd * 2n) / 5n, whole, all }
}

const sizeOfExit: Rule = (scene) => {
  const { closes, whole } = exitOf(scene)
  const set = size(scene)
  const isWhole = closes === whole
  return {
    signed: { 'as asked': set(closes), ...(isWhole ? { any: set(MAX) } : {}) },
    harmful: {
      'one more': set(closes + 1n),
      'one less': set(closes - 1n),
      none: set(0n),
      ...(isWhole ? {} : { any: set(MAX), 'all that there is': set(whole) }),
    },
  }
}

const eachPart = (
  scene: Scene,
  set: (index: number, value: bigint) => Changes,
  value: bigint,
): RuleCases => ({
  signed: asItIs,
  harmful: {
    ...set(0, value + 1n),
    ...set(1, value - 1n),
    ...set(2, value * 2n),
    ...set(scene.facts.parts - 1, 0n),
  },
})

/** A number of one part of a twap. */
const part =
  (name: 'sizeDeltaUsd' | 'initialCollateralDeltaAmount' | 'validFromTime') =>
  (index: number, value: bigint): Changes => ({
    [`part ${index} is ${value}`]: (whole) => ({
      ...whole,
      orders: whole.orders.map((each, at) =>
        at === index ? { ...each, numbers: { ...each.numbers, [name]: value } } : each,
      ),
    }),
  })

const sizeOfTwap: Rule = (scene) => {
  const { isWhole, held, sizeDeltaUsd, parts } = scene.facts
  const isAll = isWhole && scene.name === 'twap decrease'
  const each = (isAll ? held.sizeInUsd : sizeDeltaUsd) / BigInt(parts)
  const cases = eachPart(scene, part('sizeDeltaUsd'), each)
  if (!isAll) return cases
  return {
    ...cases,
    moved: { ...part('sizeDeltaUsd')(0, each - 1n), ...part('sizeDeltaUsd')(2, 1n) },
    harmful: {
      ...part('sizeDeltaUsd')(0, each + 1n),
      ...part('sizeDeltaUsd')(1, 2n * each),
      ...part('sizeDeltaUsd')(2, 0n),
    },
  }
}

const paid = (scene: Scene) => (value: bigint) => numbers(scene, { initialCollateralDeltaAmount: value })
const paidAsAsked: Rule = (scene) => exactly(orderIn(scene).numbers.initialCollateralDeltaAmount, paid(scene))
const paidOfTwap: Rule = (scene) =>
  eachPart(scene, part('initialCollateralDeltaAmount'), scene.facts.amount / BigInt(scene.facts.parts))

/** Collateral that leaves: up to a bound that is not 0, and 5 % of all of it beyond where the position moved. */
const leaving = (scene: Scene, most: bigint, all: bigint): RuleCases =>
  upTo(most, paid(scene), most === 0n ? undefined : most + (all * 5n) / 100n)

const collateralOfReduction: Rule = (scene) => {
  const { isWhole, keepsLeverage, held, taken, otherSizeDeltaUsd } = scene.facts
  const all = held.collateralAmount
  const isKept = scene.name === 'kept-leverage decrease' || keepsLeverage
  if (isWhole || scene.name === 'close') {
    const cases = leaving(scene, all, all)
    // Where sizing made a part the whole and the venue does not: the part's own bound.
    const asPart = order(scene, (each) => ({
      ...each,
      numbers: {
        ...each.numbers,
        sizeDeltaUsd: scene.facts.sizeDeltaUsd,
        initialCollateralDeltaAmount: isKept ? taken + (all * 5n) / 100n + 1n : 1n,
      },
    }))
    const turned = scene.name === 'market decrease' || scene.name === 'kept-leverage decrease'
    return turned ? { ...cases, harmful: { ...cases.harmful, 'more with a part': asPart } } : cases
  }
  const cases = leaving(scene, isKept ? taken : 0n, all)
  if (otherSizeDeltaUsd === undefined) return cases
  const turned = order(scene, (each) => ({
    ...each,
    numbers: { ...each.numbers, sizeDeltaUsd: held.sizeInUsd, initialCollateralDeltaAmount: all },
  }))
  const dearer = order(scene, (each) => ({
    ...each,
    numbers: { ...each.numbers, sizeDeltaUsd: held.sizeInUsd, initialCollateralDeltaAmount: all + 1n },
  }))
  return {
    ...cases,
    signed: { ...cases.signed, 'all with the whole': turned },
    moved: { ...cases.moved, 'more than all with the whole': dearer },
  }
}

const collateralOfTwapOut: Rule = (scene) => {
  const { isWhole, held, taken, parts } = scene.facts
  const count = BigInt(parts)
  return leaving(scene, (isWhole ? held.collateralAmount : taken) / count, held.collateralAmount / count)
}

const collateralOfExit: Rule = (scene) => {
  const { closes, whole, all } = exitOf(scene)
  const share = (all * closes + whole - 1n) / whole
  const most = closes === whole ? all : share + (all * 2n) / 100n
  return leaving(scene, most, all)
}

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
function aroundIn(scene: Scene, center: bigint, toleranceBps: bigint): RuleCases {
  const slip = BigInt(scene.facts.slippageBps)
  const one = 10_000n
  const [lowest, highest] = buys(scene)
    ? [(center * (one - toleranceBps)) / one, (center * (one + toleranceBps) * (one + slip)) / (one * one)]
    : [(center * (one - slip - toleranceBps)) / one, (center * (one + toleranceBps)) / one]
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
const priceOfMarket: Rule = (scene) => aroundIn(scene, mark, boundsOf(scene).toleranceBps)
const priceOfLimit: Rule = (scene) => {
  const { impactBps } = scene.facts
  const named = impactBps === undefined || scene.name === 'take-profit exit' ? undefined : BigInt(impactBps)
  return aroundIn(scene, orderIn(scene).numbers.triggerPrice, named ?? boundsOf(scene).toleranceBps)
}
const priceOfStop: Rule = (scene) => {
  const around = aroundIn(scene, orderIn(scene).numbers.triggerPrice, boundsOf(scene).toleranceBps)
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
  const around = aroundIn(scene, center, boundsOf(scene).toleranceBps)
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

const orderType: Rule = (scene) => {
  const own = orderIn(scene).orderType
  const others = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].filter((each) => each !== own)
  return {
    signed: asItIs,
    harmful: Object.fromEntries(others.map((each) => [`type ${each}`, top(scene, { orderType: each })])),
  }
}

const swapType = (scene: Scene) => (value: bigint) => top(scene, { decreasePositionSwapType: value })
const noSwapType: Rule = (scene) => ({
  signed: asItIs,
  harmful: { one: swapType(scene)(1n), two: swapType(scene)(2n) },
})
const ownTokenSwapType: Rule = (scene) => ({
  signed: { none: swapType(scene)(0n), 'profit to collateral': swapType(scene)(1n) },
  harmful: { 'collateral to the other token': swapType(scene)(2n), 'no such': swapType(scene)(3n) },
})

const isLong: Rule = (scene) => onlyFlag(orderIn(scene).isLong, (value) => top(scene, { isLong: value }))
const unwraps: Rule = (scene) =>
  onlyFlag(orderIn(scene).shouldUnwrapNativeToken, (value) => top(scene, { shouldUnwrapNativeToken: value }))
const noAutoCancel: Rule = (scene) =>
  onlyFlag(orderIn(scene).autoCancel, (value) => top(scene, { autoCancel: value }))
const eitherAutoCancel: Rule = (scene) => ({
  signed: { 'with it': top(scene, { autoCancel: true }), without: top(scene, { autoCancel: false }) },
})

const code = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`
const referralCode: Rule = (scene) => {
  const owners: Changes[string] = (whole) => ({
    ...whole,
    policy: { ...whole.policy, referralCode: code('a') },
  })
  return {
    signed: {
      none: top(scene, { referralCode: ZERO_HASH }),
      "the owner's": (whole) => owners(top(scene, { referralCode: code('a') })(whole)),
      "not the owner's though he has one": owners,
    },
    harmful: {
      "somebody else's": top(scene, { referralCode: code('b') }),
      "somebody else's instead of the owner's": (whole) =>
        owners(top(scene, { referralCode: code('b') })(whole)),
    },
  }
}

const data = (scene: Scene, ...dataList: readonly `0x${string}`[]) => top(scene, { dataList })
const metadata: Rule = (scene) => ({
  signed: {
    nothing: data(scene),
    'the word': data(scene, wordOf()),
    'the word of another source': data(scene, wordOf(0, '0000', '02:1:0')),
  },
  harmful: {
    'a word twice': data(scene, wordOf(), wordOf()),
    'the word of a part': data(scene, wordOf(3, '1a2b')),
    'a twap that it is no part of': data(scene, wordOf(0, '1a2b')),
    'another version': data(
      scene,
      `0x${Buffer.from('gmxo:2:0:0000:01:0:1'.padEnd(32, '\0')).toString('hex')}`,
    ),
    'what nobody understands': data(scene, code('1')),
  },
})
const metadataOfTwap: Rule = (scene) => {
  const all =
    (...dataList: readonly `0x${string}`[]): Changes[string] =>
    (whole) => ({ ...whole, orders: whole.orders.map((each) => ({ ...each, dataList })) })
  const { parts } = scene.facts
  return {
    signed: { 'nothing in all': all(), 'another id in all': all(wordOf(parts, 'beef')) },
    harmful: {
      'nothing in one': data(scene),
      'another id in one': data(scene, wordOf(parts, 'beef')),
      'another number of parts': data(scene, wordOf(parts + 1, '1a2b')),
      'the word of an order that is no part': all(wordOf()),
      'a word twice': all(wordOf(parts, '1a2b'), wordOf(parts, '1a2b')),
    },
  }
}
const metadataOfOwn: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    nothing: data(scene),
    'another word of the venue': data(scene, wordOf(0, '0000', '02:1:0')),
    'what nobody understands': data(scene, code('1')),
  },
})

/** By field and by the orders that a row names. */
export const orderRules: Readonly<Record<string, Rule>> = {
  'addresses.receiver | every order': receiver,
  'addresses.cancellationReceiver | every order': cancellationReceiver,
  'addresses.callbackContract | every order': (scene) => ({
    signed: asItIs,
    harmful: {
      'a stranger': addresses(scene, { callbackContract: stranger }),
      'the account': addresses(scene, { callbackContract: account }),
    },
  }),
  'numbers.callbackGasLimit | every order': (scene) =>
    exactly(0n, (value) => numbers(scene, { callbackGasLimit: value })),
  'addresses.uiFeeReceiver | every order': (scene) => ({
    signed: asItIs,
    harmful: {
      'a stranger': addresses(scene, { uiFeeReceiver: stranger }),
      'the account': addresses(scene, { uiFeeReceiver: account }),
    },
  }),
  'addresses.market | every order': market,
  'addresses.initialCollateralToken | every order': collateralToken,
  'addresses.swapPath | every order but swap': noPath,
  'addresses.swapPath | swap': swapPath,
  'numbers.sizeDeltaUsd | market increase, limit increase, stop-market increase, own order': (scene) =>
    scene.name === 'own order'
      ? exactly(orderIn(scene).numbers.sizeDeltaUsd, size(scene))
      : sizeAsAsked(scene),
  'numbers.sizeDeltaUsd | twap increase': sizeOfTwap,
  'numbers.sizeDeltaUsd | twap decrease': sizeOfTwap,
  'numbers.sizeDeltaUsd | market decrease, kept-leverage decrease': sizeOfPart,
  'numbers.sizeDeltaUsd | close': sizeOfClose,
  'numbers.sizeDeltaUsd | take-profit, stop-loss': sizeOfWaiting,
  'numbers.sizeDeltaUsd | take-profit exit, stop-loss exit': sizeOfExit,
  'numbers.sizeDeltaUsd | collateral-in, collateral-out, swap': noSize,
  'numbers.initialCollateralDeltaAmount | market increase, limit increase, stop-market increase, collateral-in, collateral-out, swap, own order':
    paidAsAsked,
  'numbers.initialCollateralDeltaAmount | twap increase': paidOfTwap,
  'numbers.initialCollateralDeltaAmount | market decrease': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | kept-leverage decrease': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | close': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | take-profit, stop-loss': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | twap decrease': collateralOfTwapOut,
  'numbers.initialCollateralDeltaAmount | take-profit exit, stop-loss exit': collateralOfExit,
  'numbers.triggerPrice | market increase, market decrease, kept-leverage decrease, close, collateral-in, collateral-out, swap':
    triggerAsAsked,
  'numbers.triggerPrice | limit increase, stop-market increase, take-profit, stop-loss, take-profit exit, stop-loss exit, own order':
    triggerAsAsked,
  'numbers.triggerPrice | twap increase, twap decrease': triggerOfTwap,
  'numbers.acceptablePrice | market increase, market decrease, kept-leverage decrease, close, collateral-out':
    priceOfMarket,
  'numbers.acceptablePrice | limit increase, take-profit, take-profit exit': priceOfLimit,
  'numbers.acceptablePrice | stop-market increase, stop-loss, stop-loss exit': priceOfStop,
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
  'orderType | every order': orderType,
  'decreasePositionSwapType | increases, collateral-in, swap': noSwapType,
  'decreasePositionSwapType | reductions, exits, collateral-out': ownTokenSwapType,
  'decreasePositionSwapType | own order': noSwapType,
  'isLong | every order': isLong,
  'shouldUnwrapNativeToken | every order but swap': unwraps,
  'shouldUnwrapNativeToken | swap': unwraps,
  'autoCancel | take-profit, stop-loss, take-profit exit, stop-loss exit': eitherAutoCancel,
  'autoCancel | increases, market decrease, kept-leverage decrease, close, twap decrease, collateral-in, collateral-out, swap':
    noAutoCancel,
  'autoCancel | own order': noAutoCancel,
  'referralCode | every order': referralCode,
  'dataList | every order but twap increase, twap decrease, own order': metadata,
  'dataList | twap increase, twap decrease': metadataOfTwap,
  'dataList | own order': metadataOfOwn,
}
