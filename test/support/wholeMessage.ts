/** A message whole: what was meant, what a host sends, and what may be signed; parts of it changed, all else agreeing. */
import type { Prepared } from '../../src/api/orders/expressOrders.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { type SigningPolicy, signingDomainOf } from '../../src/execution/context/policy.ts'
import { swapMarketsOf } from '../../src/execution/context/swapPath.ts'
import { type Rejection, type Verified, verify, verifyBatch } from '../../src/execution/verify/verify.ts'
import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { batchTypes } from '../../src/protocol/signing/batchTypes.ts'
import {
  type Batch,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'
import { nowSeconds, relayParamsFor } from './honestOrders.ts'
import { ethMarket, router, usdc, weth } from './intents.ts'
import type { Scene } from './messageScenes.ts'

/** WBTC, and markets of it and of LINK, for paths that end elsewhere. */
export const wbtc = '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f'
export const btcMarket = '0x47c031236e19d024b42f8AE6780E44A573170703'
export const secondEthMarket = '0x6853EA96FF216fAb11D2d930CE3C508556A4bdc4'

/** The bounds that messages are held to here: of what adds risk, and wider ones of what takes it away. */
const policy: SigningPolicy = {
  minDeadlineSeconds: 20,
  maxDeadlineSeconds: 3700,
  maxExecutionFee: 10n ** 15n,
  maxRelayFee: 2_500_000n,
  priceToleranceBps: 100,
  maxPriceImpactBps: 150,
  reducing: {
    maxExecutionFee: 5n * 10n ** 15n,
    maxRelayFee: 20_000_000n,
    priceToleranceBps: 200,
    maxPriceImpactBps: 1_000,
  },
  swapMarkets: swapMarketsOf([
    { marketToken: ethMarket, indexToken: weth, longToken: weth, shortToken: usdc },
    { marketToken: secondEthMarket, indexToken: wbtc, longToken: weth, shortToken: usdc },
    { marketToken: btcMarket, indexToken: wbtc, longToken: wbtc, shortToken: usdc },
  ]),
}

/** See the head of the file. */
export interface Whole {
  readonly intent: Intent
  readonly policy: SigningPolicy
  readonly orders: readonly CreateOrderParams[]
  readonly updates: readonly UpdateOrderParams[]
  readonly cancels: readonly Hex[]
  readonly relayParams: RelayParams
  /** Instead of what follows from the rest. */
  readonly batch: Partial<Batch>
  readonly prepared: Partial<Prepared>
  readonly typedData: Partial<Prepared['typedData']>
}

/** The honest message of a scene. */
export function wholeOf({ intent, orders, updates, cancels }: Scene): Whole {
  const relayParams = relayParamsFor(orders.length)
  return { intent, policy, orders, updates, cancels, relayParams, batch: {}, prepared: {}, typedData: {} }
}

/** The message that a signature would cover. */
export function batchOf(whole: Whole): Batch {
  return {
    account: ZERO_ADDRESS,
    createOrderParamsList: whole.orders,
    updateOrderParamsList: whole.updates,
    cancelOrderKeys: whole.cancels,
    relayParams: hashRelayParams(whole.relayParams),
    subaccountApproval: ZERO_HASH,
    ...whole.batch,
  }
}

/** The host's answer. */
function preparedOf(whole: Whole): Prepared {
  const batch = batchOf(whole)
  return {
    host: 'http://127.0.0.1:1/v1',
    requestId: 'req-1',
    mode: 'express',
    typedData: {
      domain: relayRouterDomain(42161, router),
      primaryType: 'Batch',
      types: batchTypes,
      batch,
      ...whole.typedData,
    },
    relayParams: whole.relayParams,
    copy: batch,
    echo: { batchParams: {}, relayParams: {} },
    relayRouterAddress: signingDomainOf(arbitrum, whole.intent.account, whole.policy).router,
    estimates: {},
    validationWarnings: [],
    ...whole.prepared,
  }
}

/** What verification says of the host's answer. */
export function judgePrepared(whole: Whole): Verified | Rejection {
  return verify(arbitrum, whole.intent, preparedOf(whole), whole.policy, nowSeconds)
}

/** What verification says of the message alone, as the relay lane builds it. */
export function judgeBatch(whole: Whole): Verified | Rejection {
  const proposal = { batch: batchOf(whole), relayParams: whole.relayParams }
  return verifyBatch(arbitrum, whole.intent, proposal, whole.policy, nowSeconds)
}

/** `signed`, or the code of the refusal. */
export function codeOf(result: Verified | Rejection): string {
  return 'kind' in result ? result.code : 'signed'
}
