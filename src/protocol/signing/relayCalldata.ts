/**
 * Calldata of the relay routers' `batch`, signed by the account or by its subaccount, and of `removeSubaccount`: what the
 * generic relay is handed, and what anybody could send until the deadline
 * (docs/reference/api-coverage.md POST /relay/submit; contract `GelatoRelayRouter`, `batch`; contract `RelayUtils`).
 *
 * The digest covers every field of it but, when the account signs, the account, which the router finds by the signature. Enums are uint8 here and
 * uint256 in the signed message.
 */
import type { Address, Hex } from 'viem'
import type { CreateOrderAddresses, CreateOrderNumbers, CreateOrderParams } from '../batch.ts'
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
} from '../crypto/abiWords.ts'
import { type Batch, type RelayParams, relayParamsTuple, updateOrderWords } from './relayRouter.ts'
import { approvalPart, type SubaccountApproval } from './subaccountApproval.ts'

/** Selector of `batch(relayParams, account, params)` of the own-wallet relay router. */
export const batchSelector: Hex = '0x0427ef5f'

/** Selector of `batch(relayParams, subaccountApproval, account, subaccount, params)` of the subaccount router. */
export const subaccountBatchSelector: Hex = '0x412a08b7'

/** Selector of `removeSubaccount(relayParams, account, subaccount)` of the subaccount router (SubaccountGelatoRelayRouter). */
export const removeSubaccountSelector: Hex = '0xf6f2900e'

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

/** Input of the encoding: a signed batch with all that surrounds it. */
export interface BatchCall {
  /** Whose orders they are. */
  readonly account: Address
  /** The approval that the batch carries when a subaccount signed; absent when the account did. */
  readonly subaccountApproval?: SubaccountApproval
  readonly relayParams: RelayParams
  /** 65 bytes over the digest of the batch. */
  readonly signature: Hex
  readonly batch: Pick<Batch, 'createOrderParamsList' | 'updateOrderParamsList' | 'cancelOrderKeys'>
}

/** The calldata, for the router of who signed. Throws RangeError for a value that does not fit its type. */
export function encodeBatchCall(call: BatchCall): Hex {
  const { account, relayParams, signature, batch, subaccountApproval } = call
  const relay: Part = { tail: relayParamsTuple(relayParams, signature) }
  const actions: Part = {
    tail: encodeTuple([
      encodeDynamicList(batch.createOrderParamsList, createOrderPart),
      encodeList(batch.updateOrderParamsList, updateOrderWords),
      encodeList(batch.cancelOrderKeys, bytes32Word),
    ]),
  }
  if (subaccountApproval === undefined) {
    return `${batchSelector}${encodeTuple([relay, addressWord(account), actions])}`
  }
  const { subaccount } = subaccountApproval
  const owners = [addressWord(account), addressWord(subaccount)]
  return `${subaccountBatchSelector}${encodeTuple([relay, approvalPart(subaccountApproval), ...owners, actions])}`
}

/** Input of the encoding: an owner's signed removal of a delegated key. */
export interface RemovalCall {
  /** Whose key it was. */
  readonly account: Address
  readonly subaccount: Address
  readonly relayParams: RelayParams
  /** 65 bytes over the digest of the removal. */
  readonly signature: Hex
}

/** The calldata, for the subaccount router. Throws RangeError for a value that does not fit its type. */
export function encodeRemovalCall({ account, subaccount, relayParams, signature }: RemovalCall): Hex {
  const relay: Part = { tail: relayParamsTuple(relayParams, signature) }
  return `${removeSubaccountSelector}${encodeTuple([relay, addressWord(account), addressWord(subaccount)])}`
}
