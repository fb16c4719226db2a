/** The message around its orders, and the relay parameters behind its hash, as docs/reference/messages.md says them, in cases. */

import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../../src/protocol/address.ts'
import type { UpdateOrderParams } from '../../../src/protocol/batch.ts'
import { arbitrum } from '../../../src/protocol/chains/arbitrum.ts'
import type { RelayParams } from '../../../src/protocol/signing/relayRouter.ts'
import { hashSubaccountApproval } from '../../../src/protocol/signing/subaccountApproval.ts'
import { editedKey, MAX, nowSeconds, stranger } from '../../support/honestOrders.ts'
import { account, ethMarket, usdc, weth } from '../../support/intents.ts'
import { asItIs, type Change, type Rule, upTo } from '../../support/ruleCases.ts'
import { approval, bySession } from '../../support/session.ts'
import { batchOf, btcMarket, secondEthMarket, type Whole, wbtc } from '../../support/wholeMessage.ts'
import { adds } from './sides.ts'

const otherKey: Hex = `0x${'0b'.repeat(32)}`

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
  signed: {
    ...asItIs,
    'in another order': (whole) => ({ ...whole, cancels: [...whole.cancels].reverse() }),
  },
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

/** By field and by what a row names. */
export const messageRules: Readonly<Record<string, Rule>> = {
  'createOrderParamsList | every message': creates,
  'updateOrderParamsList | every message': updates,
  'cancelOrderKeys | every message': cancels,
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
  'relayParams.userNonce | every message': () => ({
    signed: { none: relay({ userNonce: 0n }), 'the largest': relay({ userNonce: MAX }) },
  }),
  'relayParams.deadline | every message': deadline,
  'relayParams.desChainId | every message': () => ({
    signed: asItIs,
    harmful: { 'another chain': relay({ desChainId: 43114n }), none: relay({ desChainId: 0n }) },
  }),
}
