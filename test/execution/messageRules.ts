/** The rules of changes, of the message around its orders, and of a host's answer, as docs/orders.md says them, in cases. */

import { arbitrum } from '../../src/chains/arbitrum.ts'
import { batchTypes } from '../../src/chains/batchTypes.ts'
import type { RelayParams } from '../../src/chains/relayRouter.ts'
import { hashSubaccountApproval, type SubaccountApproval } from '../../src/chains/subaccountApproval.ts'
import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/address.ts'
import type { UpdateOrderParams } from '../../src/domain/batch.ts'
import type { EditTerms } from '../../src/domain/intent.ts'
import { approvalOf } from '../../src/execution/verifyApproval.ts'
import { editedKey, MAX, nowSeconds, stranger, wordOf } from '../support/honestOrders.ts'
import { account, ethMarket, router, usdc, weth } from '../support/intents.ts'
import {
  asItIs,
  type Change,
  exactly,
  onlyFlag,
  type Rule,
  type RuleCases,
  update,
  updateIn,
  upTo,
} from '../support/ruleCases.ts'
import { batchOf, btcMarket, secondEthMarket, type Whole, wbtc } from '../support/wholeMessage.ts'
import { adds } from './orderRules.ts'

const otherKey: Hex = `0x${'0b'.repeat(32)}`

// --- changes of orders ---

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
  const tolerance = adds(scene) ? 100n : 200n
  const [lowest, highest] = buys
    ? [
        (triggerPrice * (10_000n - tolerance)) / 10_000n,
        (triggerPrice * (10_000n + tolerance) * 10_100n) / 10n ** 8n,
      ]
    : [(triggerPrice * (9_900n - tolerance)) / 10_000n, (triggerPrice * (10_000n + tolerance)) / 10_000n]
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

// --- the message ---

const creates: Rule = ({ orders, name }) => {
  const more =
    (...added: Whole['orders']): Change =>
    (whole) => ({ ...whole, orders: [...whole.orders, ...added] })
  const [first] = orders
  if (first === undefined) return { signed: asItIs }
  const reordered: Change = (whole) => {
    const [main, ...exits] = whole.orders
    return main === undefined ? whole : { ...whole, orders: [main, ...exits.reverse()] }
  }
  return {
    signed: { ...asItIs, ...(name.endsWith('exit') ? { 'exits the other way round': reordered } : {}) },
    harmful: {
      'one twice': more(first),
      'one less': (whole) => ({ ...whole, orders: whole.orders.slice(0, -1) }),
      none: (whole) => ({ ...whole, orders: [] }),
      ...(name.endsWith('exit')
        ? {
            'one exit twice': (whole: Whole) => ({
              ...whole,
              orders: [...whole.orders.slice(0, -1), ...whole.orders.slice(1, 2)],
            }),
            'an exit first': (whole: Whole) => ({ ...whole, orders: [...whole.orders.slice(1), first] }),
          }
        : {}),
    },
  }
}

const updates: Rule = (scene) => {
  const [own] = scene.updates
  const extra: UpdateOrderParams = {
    key: otherKey,
    sizeDeltaUsd: 1n,
    acceptablePrice: 0n,
    triggerPrice: 1n,
    minOutputAmount: 0n,
    validFromTime: 0n,
    autoCancel: false,
    executionFeeIncrease: 0n,
  }
  return {
    signed: asItIs,
    harmful: {
      'one more': (whole) => ({ ...whole, updates: [...whole.updates, extra] }),
      ...(own === undefined ? {} : { none: (whole: Whole) => ({ ...whole, updates: [] }) }),
    },
  }
}

const cancels: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'one more': (whole) => ({ ...whole, cancels: [...whole.cancels, otherKey] }),
    ...(scene.cancels.length === 0
      ? {}
      : {
          'one less': (whole: Whole) => ({ ...whole, cancels: whole.cancels.slice(1) }),
          another: (whole: Whole) => ({ ...whole, cancels: [otherKey, ...whole.cancels.slice(1)] }),
          'one twice': (whole: Whole) => ({ ...whole, cancels: [editedKey, editedKey] }),
        }),
  },
})

/** An approval that goes with messages of a session key. */
const approval: SubaccountApproval = {
  ...approvalOf(arbitrum, {
    subaccount: stranger,
    expiresAtSeconds: nowSeconds + 86_400,
    maxAllowedCount: 90n,
    nonce: 3n,
  }),
  signature: `0x${'51'.repeat(65)}`,
}
const subaccountRouter = arbitrum.contracts.subaccountGelatoRelayRouter

/** The same, signed by a session key. */
const bySession: Change = (whole) => ({
  ...whole,
  policy: { ...whole.policy, mode: { kind: 'subaccount', approval } },
  batch: {
    account: whole.intent.account,
    subaccountApproval: hashSubaccountApproval(approval),
    ...whole.batch,
  },
  typedData: {
    domain: {
      name: 'GmxBaseGelatoRelayRouter',
      version: '1',
      chainId: 42161,
      verifyingContract: subaccountRouter,
    },
    ...whole.typedData,
  },
})
const batch =
  (fields: Whole['batch']): Change =>
  (whole) => ({ ...whole, batch: { ...whole.batch, ...fields } })

const signer: Rule = () => ({
  signed: { ...asItIs, 'with a session key': bySession },
  harmful: {
    'the account with its own key': batch({ account }),
    'a stranger': batch({ account: stranger }),
    'nobody with a session key': (whole) => bySession(batch({ account: ZERO_ADDRESS })(whole)),
    'a stranger with a session key': (whole) => bySession(batch({ account: stranger })(whole)),
  },
})

const approvalHash: Rule = () => {
  const longer = hashSubaccountApproval({ ...approval, expiresAt: approval.expiresAt + 1n })
  return {
    signed: { ...asItIs, 'with a session key': bySession },
    harmful: {
      'one with its own key': batch({ subaccountApproval: hashSubaccountApproval(approval) }),
      'none with a session key': (whole) => bySession(batch({ subaccountApproval: ZERO_HASH })(whole)),
      'a longer one': (whole) => bySession(batch({ subaccountApproval: longer })(whole)),
    },
  }
}

const relayHash: Rule = () => ({
  signed: asItIs,
  harmful: {
    'another hash': batch({ relayParams: `0x${'01'.repeat(32)}` }),
    'of another deadline': (whole) => ({
      ...whole,
      batch: { ...whole.batch, relayParams: batchOf(relay({ deadline: 1n })(whole)).relayParams },
    }),
  },
})

// --- relay parameters ---

const relay =
  (fields: Partial<RelayParams>): Change =>
  (whole) => ({ ...whole, relayParams: { ...whole.relayParams, ...fields } })
const relayFee =
  (fields: Partial<RelayParams['fee']>): Change =>
  (whole) =>
    relay({ fee: { ...whole.relayParams.fee, ...fields } })(whole)
const oracle =
  (fields: Partial<RelayParams['oracleParams']>): Change =>
  (whole) =>
    relay({ oracleParams: { ...whole.relayParams.oracleParams, ...fields } })(whole)

const externalCalls: Rule = () => {
  const calls =
    (fields: Partial<RelayParams['externalCalls']>): Change =>
    (whole) =>
      relay({ externalCalls: { ...whole.relayParams.externalCalls, ...fields } })(whole)
  return {
    signed: asItIs,
    harmful: {
      'tokens to send': calls({ sendTokens: [usdc] }),
      'amounts to send': calls({ sendAmounts: [1n] }),
      targets: calls({ externalCallTargets: [stranger] }),
      data: calls({ externalCallDataList: ['0x'] }),
      'tokens to refund': calls({ refundTokens: [usdc] }),
      'receivers of refunds': calls({ refundReceivers: [account] }),
    },
  }
}

const permits: Rule = () => {
  const permit = {
    owner: account,
    spender: stranger,
    value: 1n,
    deadline: 1n,
    v: 27,
    r: ZERO_HASH,
    s: ZERO_HASH,
    token: usdc,
  }
  return { signed: asItIs, harmful: { one: relay({ tokenPermits: [permit] }) } }
}

const provider = arbitrum.contracts.chainlinkPriceFeedProvider
const oracleParams: Rule = () => ({
  signed: {
    ...asItIs,
    none: oracle({ tokens: [], providers: [], data: [] }),
    'the other way round': oracle({ tokens: [weth, usdc] }),
  },
  harmful: {
    'a token of another market': oracle({ tokens: [usdc, wbtc] }),
    'a token twice': oracle({ tokens: [usdc, usdc] }),
    'another provider': oracle({ providers: [provider, stranger] }),
    'data of its own': oracle({ data: ['0x', '0x01'] }),
    'a provider less': oracle({ providers: [provider] }),
    'a token less': oracle({ tokens: [usdc] }),
  },
})

const feeAmount: Rule = (scene) => {
  const orders = BigInt(Math.max(1, scene.orders.length))
  const most = (adds(scene) ? 2_500_000n : 20_000_000n) * orders
  return upTo(most, (value) => relayFee({ feeAmount: value }), 10n * most)
}

const feePath: Rule = () => ({
  signed: {
    "the chain's own": relayFee({ feeSwapPath: [ethMarket] }),
    'another market of the two tokens': relayFee({ feeSwapPath: [secondEthMarket] }),
  },
  harmful: {
    none: relayFee({ feeSwapPath: [] }),
    'ends in another token': relayFee({ feeSwapPath: [btcMarket] }),
    'ends where it began': relayFee({ feeSwapPath: [ethMarket, secondEthMarket] }),
    'goes through one twice': relayFee({ feeSwapPath: [ethMarket, secondEthMarket, ethMarket] }),
    'is not listed': relayFee({ feeSwapPath: [stranger] }),
  },
})

const deadline: Rule = () => {
  const at = (seconds: number) => relay({ deadline: BigInt(nowSeconds + seconds) })
  return {
    signed: { 'the nearest': at(20), 'the furthest': at(3700) },
    harmful: { nearer: at(19), further: at(3701), over: at(-1), never: relay({ deadline: MAX }) },
  }
}

// --- a host's answer ---

const typedData =
  (fields: Partial<Whole['typedData']>): Change =>
  (whole) => ({ ...whole, typedData: { ...whole.typedData, ...fields } })
const prepared =
  (fields: Partial<Whole['prepared']>): Change =>
  (whole) => ({ ...whole, prepared: { ...whole.prepared, ...fields } })

const domain: Rule = () => {
  const good = { name: 'GmxBaseGelatoRelayRouter', version: '1', chainId: 42161, verifyingContract: router }
  const other = (fields: Partial<typeof good>) => typedData({ domain: { ...good, ...fields } })
  return {
    signed: { ...asItIs, 'in other case': other({ verifyingContract: router.toLowerCase() as Hex }) },
    harmful: {
      'another name': other({ name: 'Permit2' }),
      'another version': other({ version: '2' }),
      'another chain': other({ chainId: 43114 }),
      'another contract': other({ verifyingContract: stranger }),
      "the session keys' router": other({ verifyingContract: subaccountRouter }),
      "the owner's router with a session key": (whole) => bySession(other({})(whole)),
    },
  }
}

const types: Rule = () => {
  const { CreateOrderNumbers: fields } = batchTypes
  const [one, two, ...rest] = fields
  const { UpdateOrderParams: _gone, ...fewer } = batchTypes
  return {
    signed: {
      ...asItIs,
      "the domain's own type": typedData({
        types: { ...batchTypes, EIP712Domain: [{ name: 'name', type: 'string' }] },
      }),
    },
    harmful: {
      'two fields the other way round': typedData({
        types: { ...batchTypes, CreateOrderNumbers: [two, one, ...rest] },
      }),
      'a field of another type': typedData({
        types: { ...batchTypes, CreateOrderNumbers: [{ ...one, type: 'int256' }, two, ...rest] },
      }),
      'a field less': typedData({ types: { ...batchTypes, CreateOrderNumbers: rest } }),
      'a type more': typedData({ types: { ...batchTypes, Permit: [{ name: 'spender', type: 'address' }] } }),
      'a type less': typedData({ types: fewer }),
    },
  }
}

/** Every place of the copy, one at a time. */
const copies: Rule = (scene) => {
  const copy =
    (change: (batch: ReturnType<typeof batchOf>) => ReturnType<typeof batchOf>): Change =>
    (whole) =>
      prepared({ copy: change(batchOf(whole)) })(whole)
  const [order] = scene.orders
  const [changed] = scene.updates
  const harmful: Record<string, Change> = {}
  const places = (value: object, put: (changed: object) => Change, at: string): void => {
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'object' && !Array.isArray(inner)) {
        places(inner, (deeper) => put({ ...value, [name]: deeper }), `${at}.${name}`)
        continue
      }
      const other = Array.isArray(inner)
        ? [...inner, name === 'dataList' ? otherKey : stranger]
        : typeof inner === 'boolean'
          ? !inner
          : typeof inner === 'bigint'
            ? inner + (inner === MAX ? -1n : 1n)
            : `0x${'12'.repeat((inner.length - 2) / 2)}`
      harmful[`${at}.${name}`] = put({ ...value, [name]: other })
    }
  }
  if (order !== undefined)
    places(
      order,
      (other) =>
        copy((batch) => ({
          ...batch,
          createOrderParamsList: [other as typeof order, ...batch.createOrderParamsList.slice(1)],
        })),
      'orders[0]',
    )
  if (changed !== undefined)
    places(
      changed,
      (other) => copy((batch) => ({ ...batch, updateOrderParamsList: [other as typeof changed] })),
      'updates[0]',
    )
  const unset = wordOf(
    order?.dataList[0] === wordOf() || order === undefined ? 0 : scene.facts.parts,
    scene.name.startsWith('twap') ? '1a2b' : '0000',
    '01:0:0',
  )
  return {
    signed: {
      ...asItIs,
      ...(order === undefined
        ? {}
        : {
            'the express flag not yet set': copy((batch) => ({
              ...batch,
              createOrderParamsList: batch.createOrderParamsList.map((each) => ({
                ...each,
                dataList: [unset],
              })),
            })),
          }),
    },
    harmful: {
      ...harmful,
      ...(order === undefined
        ? {}
        : {
            'an order more': copy((batch) => ({
              ...batch,
              createOrderParamsList: [
                ...batch.createOrderParamsList,
                ...batch.createOrderParamsList.slice(0, 1),
              ],
            })),
          }),
      'a cancel more': copy((batch) => ({ ...batch, cancelOrderKeys: [...batch.cancelOrderKeys, otherKey] })),
      ...(scene.cancels.length === 0
        ? {}
        : { 'a cancel less': copy((batch) => ({ ...batch, cancelOrderKeys: [] })) }),
    },
  }
}

const nothingHarms = (signed: RuleCases['signed'] = asItIs): RuleCases => ({ signed })

/** By field and by what a row names. */
export const messageRules: Readonly<Record<string, Rule>> = {
  'createOrderParamsList | every message': creates,
  'updateOrderParamsList | every message': updates,
  'cancelOrderKeys | every message': cancels,
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
  'message.account | every message': signer,
  'message.subaccountApproval | every message': approvalHash,
  'message.relayParams | every message': relayHash,
  'relayParams.externalCalls | every message': externalCalls,
  'relayParams.tokenPermits | every message': permits,
  'relayParams.oracleParams | every message': oracleParams,
  'relayParams.fee.feeToken | every message': () => ({
    signed: asItIs,
    harmful: {
      'the wrapped native one': relayFee({ feeToken: weth }),
      'a stranger': relayFee({ feeToken: stranger }),
    },
  }),
  'relayParams.fee.feeAmount | every message': feeAmount,
  'relayParams.fee.feeSwapPath | every message': feePath,
  'relayParams.userNonce | every message': () =>
    nothingHarms({ none: relay({ userNonce: 0n }), 'the largest': relay({ userNonce: MAX }) }),
  'relayParams.deadline | every message': deadline,
  'relayParams.desChainId | every message': () => ({
    signed: asItIs,
    harmful: { 'another chain': relay({ desChainId: 43114n }), none: relay({ desChainId: 0n }) },
  }),
  'mode | every prepare answer': () => ({
    signed: asItIs,
    harmful: { classic: prepared({ mode: 'classic' as 'express' }) },
  }),
  'typedData.domain | every prepare answer': domain,
  'typedData.primaryType | every prepare answer': () => ({
    signed: asItIs,
    harmful: { 'an approval': typedData({ primaryType: 'SubaccountApproval' }) },
  }),
  'typedData.types | every prepare answer': types,
  'relayRouterAddress | every prepare answer': () => ({
    signed: { ...asItIs, nothing: prepared({ relayRouterAddress: undefined } as object) },
    harmful: {
      'a stranger': prepared({ relayRouterAddress: stranger }),
      "the session keys'": prepared({ relayRouterAddress: subaccountRouter }),
    },
  }),
  'expiresAt | every prepare answer': () => ({
    signed: { ...asItIs, 'the nearest': prepared({ expiresAtSeconds: nowSeconds + 10 }) },
    moved: {
      nearer: prepared({ expiresAtSeconds: nowSeconds + 9 }),
      over: prepared({ expiresAtSeconds: nowSeconds - 600 }),
    },
  }),
  'payload.batchParams | every prepare answer': copies,
}
