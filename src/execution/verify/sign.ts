/** Verified to Signed: the one place where the key is used for an order. */

import type { ValidationWarning } from '../../api/orders/orderPayload.ts'
import { defined } from '../../base/defined.ts'
import type { ArmedFacts, BlockRef, SignedOrder } from '../../domain/order/intent.ts'
import { kept, MOST_KEPT } from '../../domain/order/warning.ts'
import type { HeldSignature, Signer, SignRequest } from '../../domain/signer.ts'
import type { Hex } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/batch.ts'
import { isIncreaseOrder } from '../../protocol/position.ts'
import { batchTypes } from '../../protocol/signing/batchTypes.ts'
import { type Batch, relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import { maxOf, type Usd } from '../../protocol/units.ts'
import type { FeeEstimate } from '../context/policy.ts'
import type { Verified } from './verify.ts'

declare const signedBrand: unique symbol

/** A signature in memory. It may not leave the process before its J3 and the guard's line are durable. */
export interface Signed {
  readonly [signedBrand]: true
  readonly verified: Verified
  readonly signature: Hex
  /** Resolves when the guard's line is durable; rejects with GuardError when it never will be. */
  readonly recorded: Promise<void>
}

/** Signs a verified payload as attempt `attempt` of its intent. Rejects when the signer cannot or will not sign. */
export async function sign(signer: Signer, verified: Verified, attempt: number): Promise<Signed> {
  const { intent, deadlineSeconds } = verified
  const request: SignRequest = {
    digest: verified.digest,
    claim: { intentId: intent.intentId, attempt, deadlineSeconds, addsUsd: addsOf(verified) },
    typedData: {
      domain: relayRouterDomain(verified.chainId, verified.router),
      types: batchTypes,
      primaryType: 'Batch',
      message: { ...verified.batch },
    },
  }
  const held = await (signer.signHeld?.(request) ?? signedAlone(signer, request))
  return { verified, ...held } as Signed
}

/** A signature of a signer that gives none before the guard's line is durable. */
async function signedAlone(signer: Signer, request: SignRequest): Promise<HeldSignature> {
  return { signature: await signer.sign(request), recorded: Promise.resolve() }
}

/** Returns the size that the message can add: the sum of its own increases, or the admitted size where an edit enlarges an order. */
function addsOf({ batch, intent }: Verified): Usd {
  const createdUsd = batch.createOrderParamsList
    .filter(({ orderType }) => isIncreaseOrder({ orderType: Number(orderType) }))
    .reduce((sum, { numbers }) => sum + numbers.sizeDeltaUsd, 0n)
  return maxOf(createdUsd, intent.reservationUsd)
}

/** Facts of J3 besides the message itself. */
export interface Arming {
  /** Destination of the submit. */
  readonly host: string
  /** Warnings of the host's prepare; shown before. */
  readonly warnings: readonly ValidationWarning[]
  readonly leaseEpoch: number
  /** The newest block that a chain endpoint showed. */
  readonly block?: BlockRef
  /** Our own estimate of the message's fees. */
  readonly feeEstimate?: FeeEstimate
}

/** Returns the J3 facts of a signed payload. */
export function armedFactsOf(
  signed: Signed,
  { host, warnings, leaseEpoch, block, feeEstimate }: Arming,
): ArmedFacts {
  const { verified, signature } = signed
  const { prepared, batch, relayParams } = verified
  const order = batch.createOrderParamsList[0]
  return {
    host,
    ...defined({ requestId: prepared?.requestId, idempotencyKey: prepared?.idempotencyKey }),
    router: verified.router,
    digest: verified.digest,
    deadlineSeconds: verified.deadlineSeconds,
    userNonce: relayParams.userNonce,
    signature,
    creates: batch.createOrderParamsList.map(signedOrder),
    ...defined({
      updates: batch.updateOrderParamsList.length === 0 ? undefined : batch.updateOrderParamsList,
    }),
    acceptableContractPrice: order?.numbers.acceptablePrice ?? 0n,
    executionFee: executionFeesOf(batch),
    relayFeeToken: relayParams.fee.feeToken,
    relayFeeAmount: relayParams.fee.feeAmount,
    ...defined({
      feeEstimate:
        feeEstimate === undefined ? undefined : { source: feeEstimate.source, ...feeEstimate.whole },
    }),
    validationWarnings: warnings.slice(0, MOST_KEPT).map(kept),
    leaseEpoch,
    comparedFields: verified.comparedFields,
    ...defined({ armBlockNumber: block?.number }),
  }
}

function signedOrder({ orderType, isLong, autoCancel, addresses, numbers }: CreateOrderParams): SignedOrder {
  return {
    orderType: Number(orderType),
    sizeDeltaUsd: numbers.sizeDeltaUsd,
    collateralAmount: numbers.initialCollateralDeltaAmount,
    kept: {
      marketToken: addresses.market,
      direction: isLong ? 'long' : 'short',
      collateralToken: addresses.initialCollateralToken,
      triggerContractPrice: numbers.triggerPrice,
      acceptableContractPrice: numbers.acceptablePrice,
      minOutputAmount: numbers.minOutputAmount,
      autoCancel,
    },
  }
}

/** Sums the keeper's fees of all orders of a message, and the fee increases of its updates; native token, base units. */
function executionFeesOf({ createOrderParamsList, updateOrderParamsList }: Batch): bigint {
  const created = createOrderParamsList.reduce((sum, { numbers }) => sum + numbers.executionFee, 0n)
  return updateOrderParamsList.reduce((sum, { executionFeeIncrease }) => sum + executionFeeIncrease, created)
}
