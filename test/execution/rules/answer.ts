/** A host's answer around the message, as docs/orders.md says it, in cases. */

import type { Hex } from '../../../src/protocol/address.ts'
import { batchTypes } from '../../../src/protocol/signing/batchTypes.ts'
import { MAX, nowSeconds, stranger, wordOf } from '../../support/honestOrders.ts'
import { router } from '../../support/intents.ts'
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
}
