/** A host's answer around the message, as docs/reference/messages.md says it, in cases. */

import type { OrderInputs } from '../../../src/api/orders/batchCopy.ts'
import { type Hex, sameHex, ZERO_ADDRESS } from '../../../src/protocol/address.ts'
import type { CreateOrderParams } from '../../../src/protocol/batch.ts'
import { batchTypes } from '../../../src/protocol/signing/batchTypes.ts'
import { MAX, nowSeconds, stranger, wordOf } from '../../support/honestOrders.ts'
import { router, weth } from '../../support/intents.ts'
import type { Scene } from '../../support/messageScenes.ts'
import { asItIs, type Change, type Rule } from '../../support/ruleCases.ts'
import { bySession, subaccountRouter } from '../../support/session.ts'
import { batchOf, type Whole } from '../../support/wholeMessage.ts'

const otherKey: Hex = `0x${'0b'.repeat(32)}`

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
            'no metadata yet': copy((batch) => ({
              ...batch,
              createOrderParamsList: batch.createOrderParamsList.map((each) => ({ ...each, dataList: [] })),
            })),
          }),
      'cancels in another order': copy((batch) => ({
        ...batch,
        cancelOrderKeys: [...batch.cancelOrderKeys].reverse(),
      })),
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

/** What the venue's builder shows that it made an order from. */
function orderParamsOf({ intent }: Scene, order: CreateOrderParams): OrderInputs['params'] {
  const { terms } = intent
  const { addresses, numbers, orderType } = order
  const isSwap = orderType < 2n
  const pays = isSwap || [2n, 3n, 8n].includes(orderType)
  const scale = 10n ** BigInt(terms.indexToken.decimals)
  return {
    chainId: 42161n,
    receiver: addresses.receiver,
    executionFeeAmount: numbers.executionFee,
    validFromTime: numbers.validFromTime,
    swapPath: [...addresses.swapPath],
    orderType,
    autoCancel: order.autoCancel,
    ...(pays
      ? {
          payTokenAddress: addresses.initialCollateralToken,
          payTokenAmount: numbers.initialCollateralDeltaAmount,
        }
      : { receiveTokenAddress: terms.collateralToken.address }),
    ...(isSwap
      ? terms.swap && { receiveTokenAddress: terms.swap.receiveToken.address }
      : {
          marketAddress: addresses.market,
          indexTokenAddress: terms.indexToken.address,
          collateralTokenAddress: terms.collateralToken.address,
          isLong: order.isLong,
          sizeDeltaUsd: numbers.sizeDeltaUsd,
          decreasePositionSwapType: order.decreasePositionSwapType,
          triggerPrice: numbers.triggerPrice === MAX ? MAX : numbers.triggerPrice * scale + scale - 1n,
        }),
  }
}

/** What a wallet would send for an order. */
function transfersOf(
  _scene: Scene,
  { addresses, numbers, orderType, shouldUnwrapNativeToken }: CreateOrderParams,
): OrderInputs['tokenTransfersParams'] {
  const pays = [0n, 1n, 2n, 3n, 8n].includes(orderType)
  const paid = pays ? numbers.initialCollateralDeltaAmount : 0n
  const payTokenAddress = pays ? addresses.initialCollateralToken : ZERO_ADDRESS
  return {
    isNativePayment: false,
    isNativeReceive: shouldUnwrapNativeToken,
    initialCollateralTokenAddress: addresses.initialCollateralToken,
    initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount,
    ...(pays ? { payTokenAddress } : {}),
    payTokenAmount: paid,
    swapPath: [...addresses.swapPath],
    value: numbers.executionFee,
    tokenTransfers: [
      { tokenAddress: ZERO_ADDRESS, amount: numbers.executionFee },
      ...(paid === 0n ? [] : [{ tokenAddress: payTokenAddress, amount: paid }]),
    ],
  }
}

/** Another value of the same kind, far enough from it that no rounding explains it. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'bigint') return value > MAX / 2n ? value - 10n ** 40n : value + 10n ** 40n
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return typeof value[0] === 'object' ? value.slice(1) : [...value, stranger]
  return typeof value === 'string' && value.length === 66 ? otherKey : stranger
}

/** All that is shown agrees, parts of it, the native token by its other name; and each field alone says something else. */
const inputRule =
  (of: (scene: Scene, order: CreateOrderParams) => object, name: keyof OrderInputs): Rule =>
  (scene) => {
    const none: OrderInputs = { params: {}, tokenTransfersParams: {} }
    const shown =
      (change: (fields: object) => object): Change =>
      (whole) => {
        const batch = batchOf(whole)
        const orderInputs = batch.createOrderParamsList.map((order, index) => {
          const fields = of(scene, order)
          return { ...none, [name]: index === 0 ? change(fields) : fields }
        })
        return prepared({ copy: { ...batch, orderInputs } })(whole)
      }
    const [first] = scene.orders
    const fields = first === undefined ? {} : of(scene, first)
    const native = Object.fromEntries(
      Object.entries(fields).filter(([, value]) => typeof value === 'string' && sameHex(value, weth)),
    )
    const natives = Object.fromEntries(Object.keys(native).map((each) => [each, ZERO_ADDRESS]))
    return {
      signed: {
        ...asItIs,
        'all of it': shown((given) => given),
        nothing: shown(() => ({})),
        'the native token by the zero address': shown((given) => ({ ...given, ...natives })),
      },
      harmful: Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [
          field,
          shown((given) => ({ ...given, [field]: otherThan(value) })),
        ]),
      ),
    }
  }

const updateInputRule: Rule = (scene) => {
  const scale = 10n ** BigInt(scene.intent.terms.indexToken?.decimals ?? 18)
  const [update] = scene.updates
  const fields =
    update === undefined
      ? {}
      : {
          chainId: 42161n,
          indexTokenAddress: scene.intent.terms.indexToken.address,
          orderKey: update.key,
          sizeDeltaUsd: update.sizeDeltaUsd,
          triggerPrice: update.triggerPrice * scale,
          minOutputAmount: update.minOutputAmount,
          validFromTime: update.validFromTime,
          autoCancel: update.autoCancel,
          executionFeeTopUp: update.executionFeeIncrease,
        }
  const shown =
    (params: object): Change =>
    (whole) =>
      prepared({ copy: { ...batchOf(whole), updateInputs: [{ params }] } })(whole)
  return {
    signed: { ...asItIs, 'all of it': shown(fields), nothing: shown({}) },
    harmful: Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        shown({ ...fields, [field]: otherThan(value) }),
      ]),
    ),
  }
}

/** By field and by what a row names. */
export const answerRules: Readonly<Record<string, Rule>> = {
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
  'payload.batchParams.createOrderParams[].params | every prepare answer': inputRule(orderParamsOf, 'params'),
  'payload.batchParams.createOrderParams[].tokenTransfersParams | every prepare answer': inputRule(
    transfersOf,
    'tokenTransfersParams',
  ),
  'payload.batchParams.updateOrderParams[].params | every prepare answer': updateInputRule,
}
