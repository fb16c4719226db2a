/** Updates of orders, as docs/reference/messages.md says them, in cases. */

import type { EditTerms } from '../../../src/domain/order/orderTerms.ts'
import { type Hex, ZERO_HASH } from '../../../src/protocol/address.ts'
import type { UpdateOrderParams } from '../../../src/protocol/batch.ts'
import { MAX } from '../../support/honestOrders.ts'
import {
  asItIs,
  type Change,
  exactly,
  onlyFlag,
  type Rule,
  update,
  updateIn,
} from '../../support/ruleCases.ts'
import { reachOf } from './sides.ts'

const otherKey: Hex = `0x${'0b'.repeat(32)}`

/** What was asked of the order, or written of it: the update says the same. */
function asked(fields: Partial<UpdateOrderParams>, named?: EditTerms['changed']): Change {
  return (whole) => {
    const updates = whole.updates.map((each) => ({ ...each, ...fields }))
    const { terms } = whole.intent
    const { edit, batch } = terms
    const { executionFeeIncrease, acceptablePrice } = fields
    const changed = {
      ...terms,
      ...(edit === undefined
        ? {}
        : {
            edit: {
              ...edit,
              ...(executionFeeIncrease === undefined ? {} : { executionFeeIncrease }),
              ...(acceptablePrice === undefined ? {} : { acceptableContractPrice: acceptablePrice }),
              ...(named === undefined ? {} : { changed: named }),
            },
          }),
      ...(batch === undefined ? {} : { batch: { ...batch, updateOrderParamsList: updates } }),
    }
    return { ...whole, updates, intent: { ...whole.intent, terms: changed } }
  }
}

const key: Rule = () => ({
  signed: asItIs,
  harmful: { 'another order': update({ key: otherKey }), none: update({ key: ZERO_HASH }) },
})

const priceOfEdit: Rule = (scene) => {
  const { acceptablePrice, triggerPrice } = updateIn(scene)
  const { direction, orderType } = scene.facts
  const set = (value: bigint) => update({ acceptablePrice: value })
  const buys = (direction === 'long') === (orderType === 'limit' || orderType === 'stop-market')
  const far = buys ? acceptablePrice * 2n : acceptablePrice / 2n
  if (orderType === 'stop-market' || orderType === 'stop-loss') {
    return {
      signed: {
        ...asItIs,
        ...(buys ? { 'any, divided by the unit of the token': set(MAX / 10n ** 18n) } : {}),
      },
      harmful: {
        'any of the other side': set(buys ? 0n : MAX),
        'the trigger': set(triggerPrice),
        ...(buys ? { 'any, divided by another unit': set(MAX / 10n ** 8n) } : {}),
      },
    }
  }
  const { tolerance, bad, good } = reachOf(scene)
  const one = 10_000n
  const [lowest, highest] = buys
    ? [
        (triggerPrice * (one - tolerance - good)) / one,
        (triggerPrice * (one + tolerance) * (one + bad) * 10_100n) / one ** 3n,
      ]
    : [
        (triggerPrice * (9_900n - tolerance - bad)) / one,
        (triggerPrice * (one + tolerance) * (one + good)) / one ** 2n,
      ]
  // As stored, it may lie anywhere; asked for by name, it is that alone.
  const stored = asked({ acceptablePrice: far }, ['size', 'trigger'])
  const named = asked({}, ['size', 'trigger', 'acceptable'])
  return {
    signed: {
      ...asItIs,
      'as stored': stored,
      'asked by name': asked({ acceptablePrice: far }, ['acceptable']),
      'the lowest around its trigger': set(lowest - 1n),
      'the highest around its trigger': set(highest + 1n),
    },
    moved: {
      'one lower': set(lowest - 2n),
      'one higher': set(highest + 2n),
      'a fifth off': set((triggerPrice * 4n) / 5n),
    },
    harmful: {
      'more than a fifth off': set((triggerPrice * 4n) / 5n - 1n),
      any: set(buys ? MAX : 0n),
      'one more than named': (whole) => set(acceptablePrice + 1n)(named(whole)),
    },
  }
}

const priceOfOwnUpdate: Rule = (scene) => {
  const { acceptablePrice } = updateIn(scene)
  const set = (value: bigint) => update({ acceptablePrice: value })
  return {
    signed: asItIs,
    harmful: {
      'another price': set(acceptablePrice === MAX ? MAX - 1n : acceptablePrice + 1n),
      'the other side': set(acceptablePrice === 0n ? MAX : 0n),
    },
  }
}

/** The highest of what adds risk is in any case allowed, ten times that of what takes it away in none. */
const feeOfUpdate: Rule = () => ({
  signed: {
    ...asItIs,
    none: asked({ executionFeeIncrease: 0n }),
    'the highest, asked for': asked({ executionFeeIncrease: 10n ** 15n }),
  },
  moved: { 'more than the highest, asked for': asked({ executionFeeIncrease: 5n * 10n ** 15n + 1n }) },
  harmful: { 'far more than was asked': update({ executionFeeIncrease: 5n * 10n ** 16n + 1n }) },
})

const ofUpdate =
  (name: 'sizeDeltaUsd' | 'triggerPrice' | 'minOutputAmount' | 'validFromTime'): Rule =>
  (scene) =>
    exactly(updateIn(scene)[name], (value) => update({ [name]: value }))

/** By field and by what a row names. */
export const changeRules: Readonly<Record<string, Rule>> = {
  'updateOrderParamsList[].key | edit, own update': key,
  'updateOrderParamsList[].sizeDeltaUsd | edit, own update': ofUpdate('sizeDeltaUsd'),
  'updateOrderParamsList[].triggerPrice | edit, own update': ofUpdate('triggerPrice'),
  'updateOrderParamsList[].acceptablePrice | edit': priceOfEdit,
  'updateOrderParamsList[].acceptablePrice | own update': priceOfOwnUpdate,
  'updateOrderParamsList[].minOutputAmount | edit, own update': ofUpdate('minOutputAmount'),
  'updateOrderParamsList[].validFromTime | edit, own update': ofUpdate('validFromTime'),
  'updateOrderParamsList[].autoCancel | edit, own update': (scene) =>
    onlyFlag(updateIn(scene).autoCancel, (value) => update({ autoCancel: value })),
  'updateOrderParamsList[].executionFeeIncrease | edit, own update': feeOfUpdate,
}
