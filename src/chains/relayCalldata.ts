/**
 * Calldata of the relay router's `batch` for an account that signs for itself: what the generic relay is handed, and what
 * anybody could send until the deadline (wire: eip712-and-chain, sections 2 to 4; application-api-orders, section 10).
 *
 * The digest covers every field of it but the account, which the router finds by the signature. Enums are uint8 here and
 * uint256 in the signed message.
 */
import type { Address, Hex } from 'viem'
import type { CreateOrderAddresses, CreateOrderNumbers, CreateOrderParams } from '../domain/batch.ts'
import {
  addressWord,
  boolWord,
  bytes32Word,
  encodeDynamicList,
  encodeList,
  encodeTuple,
  type Part,
  uint8Word,
  uintWord,
} from './abiWords.ts'
import { type Batch, type RelayParams, relayParamsTuple, updateOrderWords } from './relayRouter.ts'

/** Selector of `batch(relayParams, account, params)` of the own-wallet relay router. */
export const batchSelector: Hex = '0x0427ef5f'

function addressesPart(value: CreateOrderAddresses): Part {
  return {
    tail: encodeTuple([
      addressWord(value.receiver),
      addressWord(value.cancellationReceiver),
      addressWord(value.callbackContract),
      addressWord(value.uiFeeReceiver),
      addressWord(value.market),
      addressWord(value.initialCollateralToken),
      encodeList(value.swapPath, addressWord),
    ]),
  }
}

/** A static tuple: its words stand in the head of the order itself. */
function numbersWords(value: CreateOrderNumbers): string {
  return [
    uintWord(value.sizeDeltaUsd),
    uintWord(value.initialCollateralDeltaAmount),
    uintWord(value.triggerPrice),
    uintWord(value.acceptablePrice),
    uintWord(value.executionFee),
    uintWord(value.callbackGasLimit),
    uintWord(value.minOutputAmount),
    uintWord(value.validFromTime),
  ].join('')
}

function createOrderPart(value: CreateOrderParams): Part {
  return {
    tail: encodeTuple([
      addressesPart(value.addresses),
      numbersWords(value.numbers),
      uint8Word(value.orderType),
      uint8Word(value.decreasePositionSwapType),
      boolWord(value.isLong),
      boolWord(value.shouldUnwrapNativeToken),
      boolWord(value.autoCancel),
      bytes32Word(value.referralCode),
      encodeList(value.dataList, bytes32Word),
    ]),
  }
}

/** What is to be encoded: a signed batch with all that surrounds it. */
export interface BatchCall {
  /** Who signed. */
  readonly account: Address
  readonly relayParams: RelayParams
  /** 65 bytes over the digest of the batch. */
  readonly signature: Hex
  readonly batch: Pick<Batch, 'createOrderParamsList' | 'updateOrderParamsList' | 'cancelOrderKeys'>
}

/** The calldata. Throws RangeError for a value that does not fit its type. */
export function encodeBatchCall({ account, relayParams, signature, batch }: BatchCall): Hex {
  const args = encodeTuple([
    { tail: relayParamsTuple(relayParams, signature) },
    addressWord(account),
    {
      tail: encodeTuple([
        encodeDynamicList(batch.createOrderParamsList, createOrderPart),
        encodeList(batch.updateOrderParamsList, updateOrderWords),
        encodeList(batch.cancelOrderKeys, bytes32Word),
      ]),
    },
  ])
  return `${batchSelector}${args}`
}
