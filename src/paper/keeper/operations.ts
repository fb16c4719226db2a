/**
 * Signed batches on the road from a relay to the chain: taken in, landed after the relay's delay, or what a fault makes of
 * them. A relay's last word ends the operation, not the signature: until its deadline anybody may still land it.
 */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Batch, RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { Sender } from '../blocks/blockChain.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import type { ProtocolRevert } from '../math/protocolRevert.ts'
import { hashText, unit } from '../math/random.ts'
import { givenError } from '../state/givenError.ts'
import type { Operation, SubaccountUse } from '../state/venueRecords.ts'
import { madeHash, schedule, type VenueState } from '../state/venueState.ts'
import { type Landing, runBatch } from './relayBatch.ts'
import { useUpDigest } from './thirdParty.ts'

/** Takes an operation in; it lands after the relay's delay. The signature has been checked by the caller. */
export function acceptOperation(
  venueState: VenueState,
  options: {
    readonly account: Address
    readonly requestId: string | null
    readonly batch: Batch
    readonly relayParams: RelayParams
    readonly subaccount?: SubaccountUse | undefined
    readonly removes?: Address | undefined
    readonly digest: Hex
    readonly signature?: Hex
    readonly calldata?: Hex
    readonly nowMs: number
  },
): Operation {
  venueState.counters.task += 1
  const operation: Operation = {
    taskId: madeHash(venueState, 'task', venueState.counters.task),
    account: options.account,
    requestId: options.requestId,
    batch: options.batch,
    relayParams: options.relayParams,
    ...defined({ subaccount: options.subaccount, removes: options.removes }),
    digest: options.digest,
    ...defined({ signature: options.signature, calldata: options.calldata }),
    acceptedAtMs: options.nowMs,
    landsAtMs: options.nowMs + venueState.settings.relayDelayMs,
    status: 'pending',
    orderKeys: [],
    updatedAtMs: options.nowMs,
  }
  venueState.operations.set(operation.taskId, operation)
  schedule(venueState, { atMs: operation.landsAtMs, kind: 'land', taskId: operation.taskId })
  return operation
}

/** Tells whether the relay's faults hit an operation: drawn from the seed, `relayPercent` of all. */
function isHit(venueState: VenueState, { taskId }: Operation): boolean {
  const { relayPercent } = venueState.dataFaults
  return unit(hashText(`${venueState.seed}:relay-fault:${taskId}`), 0) * 100 < relayPercent
}

/** The relay sends an operation: its transaction is mined, unless a fault says otherwise. */
export function landOperation(venueState: VenueState, taskId: string, nowMs: number): void {
  const operation = venueState.operations.get(taskId)
  if (operation === undefined || operation.status !== 'pending') return
  const { dataFaults } = venueState
  const hit = isHit(venueState, operation)
  const relay = hit ? dataFaults.relay : 'none'
  if (relay === 'never-lands') {
    operation.fault = relay
    // Once the block time is past the deadline the router would refuse it, and the relay says so.
    const tooLateMs = (Number(operation.relayParams.deadline) + 1) * 1000
    schedule(venueState, { atMs: Math.max(nowMs, tooLateMs), kind: 'give-up', taskId: operation.taskId })
    return
  }
  if (relay === 'fails' || relay === 'lands-late') {
    operation.fault = relay
    giveUp(operation, nowMs, 'The relay gave up; nothing was sent')
    if (relay === 'lands-late') {
      schedule(venueState, {
        atMs: nowMs + dataFaults.relayLateMs,
        kind: 'send-again',
        taskId: operation.taskId,
      })
    }
    return
  }
  if (hit && dataFaults.foreignDigest === 'before-landing' && useUpDigest(venueState, operation, nowMs)) {
    operation.fault = 'foreign-digest'
  }
  const wanted = hit ? dataFaults.relayReverts : ''
  if (wanted !== '') operation.fault = 'reverts'
  const landing = runBatch(venueState, operation, {
    sender: 'relayer',
    nowMs,
    ...defined({ mustRevert: wanted === '' ? undefined : givenError(wanted) }),
  })
  operation.updatedAtMs = nowMs
  operation.txHash = landing.txHash
  operation.orderKeys = landing.orderKeys
  operation.status = landing.revert === undefined ? 'executed' : 'reverted'
  if (landing.revert === undefined) return
  operation.error = errorOf(landing.revert)
  if (hit && dataFaults.replayMs > 0) {
    operation.fault = `${operation.fault ?? 'reverts'}, replayed`
    schedule(venueState, { atMs: nowMs + dataFaults.replayMs, kind: 'replay', taskId: operation.taskId })
  }
}

function errorOf(revert: ProtocolRevert): NonNullable<Operation['error']> {
  return { code: revert.errorName, message: revert.message, data: revertBytes(revert) }
}

function giveUp(operation: Operation, nowMs: number, message: string): void {
  operation.status = 'failed'
  operation.updatedAtMs = nowMs
  operation.error = { code: 'RELAY_FAILED', message, data: '0x' }
}

/** The relay stops trying: the deadline of an operation that never landed has passed. */
export function giveUpOperation(venueState: VenueState, taskId: string, nowMs: number): void {
  const operation = venueState.operations.get(taskId)
  if (operation?.status !== 'pending') return
  giveUp(operation, nowMs, 'The relay gave up: the deadline has passed and nothing was sent')
}

/**
 * Lands an operation that has had its last word: late by the relay itself, or by somebody else who read its calldata in a
 * reverted transaction. What the relay and the order status say stays as it was.
 */
export function sendAgain(venueState: VenueState, taskId: string, sender: Sender, nowMs: number): void {
  const operation = venueState.operations.get(taskId)
  if (operation === undefined || operation.status === 'pending' || operation.status === 'executed') return
  const landing: Landing = runBatch(venueState, operation, { sender, nowMs })
  operation.afterwards = { txHash: landing.txHash, orderKeys: landing.orderKeys }
}
