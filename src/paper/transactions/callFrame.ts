/** Shared state of one call's work: its caller, time, transaction and gas. */
import type { Address } from '../../protocol/address.ts'
import type { ChainTransaction } from '../blocks/blockChain.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import type { Purse } from '../state/purse.ts'
import type { VenueState } from '../state/venueState.ts'

/** Gas of the work that is served, beside calldata and logs; of the size that it has on the chain. */
export const workGas = {
  approve: 26_000,
  transfer: 30_000,
  multicall: 8_000,
  sendWnt: 45_000,
  sendTokens: 60_000,
  createOrder: 850_000,
  updateOrder: 300_000,
  cancelOrder: 350_000,
  claim: 40_000,
  claimEach: 55_000,
  makeExternalCalls: 40_000,
  simulate: 1_500_000,
} as const

/** The gas of a transaction was used up before its work was done. */
export class OutOfGas extends Error {
  constructor() {
    super('out of gas')
    this.name = 'OutOfGas'
  }
}

/** Counts the gas of a call. */
export interface GasMeter {
  readonly limit: number
  used: number
}

/** A call while it runs. */
export interface CallFrame {
  readonly venueState: VenueState
  /** `msg.sender`. */
  readonly from: Address
  /** Moment of the block, Unix ms. */
  readonly nowMs: number
  /** Holds the logs. */
  readonly transaction: ChainTransaction
  readonly meter: GasMeter
  readonly purse: Purse
}

/** Uses gas up. Throws OutOfGas. */
export function spendGas({ meter }: CallFrame, gas: number): void {
  meter.used += gas
  if (meter.used <= meter.limit) return
  meter.used = meter.limit
  throw new OutOfGas()
}

/** A revert without data: a function that is not there, calldata that does not decode, or a value that nobody takes. */
export function emptyRevert(): ProtocolRevert {
  return new ProtocolRevert('no data')
}

/** `Error(string)` of a token or a library. */
export function textRevert(reason: string): ProtocolRevert {
  return new ProtocolRevert('Error', [reason])
}

/** A revert of a call to another contract, as ExternalHandler passes it on: `ExternalCallFailed(bytes)`. */
export function passedOn(revert: ProtocolRevert): ProtocolRevert {
  return new ProtocolRevert('ExternalCallFailed', [revertBytes(revert)])
}

/** Returns the reason in a revert's message: the text of an `Error(string)`; undefined for others. */
export function reasonOf(revert: ProtocolRevert): string | undefined {
  return revert.errorName === 'Error' ? String(revert.args[0]) : undefined
}
