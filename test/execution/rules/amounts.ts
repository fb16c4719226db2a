/** Sizes and collateral of created orders, as docs/reference/messages.md says them, in cases: numbers are reckoned here, by none of the verifier's code. */

import { MAX } from '../../support/honestOrders.ts'
import type { Scene } from '../../support/messageScenes.ts'
import {
  asItIs,
  type Changes,
  exactly,
  numbers,
  order,
  orderIn,
  type Rule,
  type RuleCases,
  upTo,
} from '../../support/ruleCases.ts'
import { part } from './sides.ts'

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

/** A market order of the whole position is paid all that there is, whatever it says; of one that has shrunk it is asked anew. */
const ofFullClose = (scene: Scene, all: bigint): RuleCases => ({
  signed: {
    none: paid(scene)(0n),
    all: paid(scene)(all),
    'far more than all': paid(scene)(2n * all),
    any: paid(scene)(MAX),
  },
  moved: {
    'more than all of a position that has shrunk': numbers(scene, {
      sizeDeltaUsd: scene.facts.held.sizeInUsd - 1n,
      initialCollateralDeltaAmount: 2n * all,
    }),
  },
})

/** An order that waits closes all that there is then only if its size says so. */
const closedWhenever = (scene: Scene, cases: RuleCases): RuleCases => ({
  ...cases,
  signed: {
    ...cases.signed,
    'any with any size': numbers(scene, { sizeDeltaUsd: MAX, initialCollateralDeltaAmount: MAX }),
  },
})

const collateralOfReduction: Rule = (scene) => {
  const { isWhole, keepsLeverage, held, taken, otherSizeDeltaUsd } = scene.facts
  const all = held.collateralAmount
  const isKept = scene.name === 'kept-leverage decrease' || keepsLeverage
  const atMarket = scene.name !== 'take-profit' && scene.name !== 'stop-loss'
  if (isWhole || scene.name === 'close') {
    const cases = atMarket ? ofFullClose(scene, all) : closedWhenever(scene, leaving(scene, all, all))
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
    signed: { ...cases.signed, 'all with the whole': turned, 'more than all with the whole': dearer },
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

/** By field and by the orders that a row names. */
export const amountRules: Readonly<Record<string, Rule>> = {
  'numbers.sizeDeltaUsd | market increase, limit increase, stop entry, own order': (scene) =>
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
  'numbers.initialCollateralDeltaAmount | market increase, limit increase, stop entry, collateral-in, collateral-out, swap, own order':
    paidAsAsked,
  'numbers.initialCollateralDeltaAmount | twap increase': paidOfTwap,
  'numbers.initialCollateralDeltaAmount | market decrease': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | kept-leverage decrease': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | close': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | take-profit, stop-loss': collateralOfReduction,
  'numbers.initialCollateralDeltaAmount | twap decrease': collateralOfTwapOut,
  'numbers.initialCollateralDeltaAmount | take-profit exit, stop-loss exit': collateralOfExit,
}
