/**
 * A call that an account makes of the paper chain, in a transaction or only to see what would happen: a transfer of the native
 * coin, a token's `approve` and `transfer`, the exchange router, the simulation router. All of it happens, or nothing.
 */
import type { Hex } from 'viem'
import { encodeFunctionResult } from 'viem/utils'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { ChainTransaction } from '../blocks/blockChain.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import { topicsOf } from '../blocks/encodeEventData.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { isContract, tokenAt } from '../state/contracts.ts'
import { rememberHoldings } from '../state/pastHoldings.ts'
import { createPurse, nativeAddress } from '../state/purse.ts'
import { rememberFor } from '../state/rollback.ts'
import type { VenueState } from '../state/venueState.ts'
import { type CallFrame, emptyRevert, type GasMeter, OutOfGas, spendGas, workGas } from './callFrame.ts'
import { MULTICALL, type RouterCall, readSimulation, routerCalls } from './classicCalls.ts'
import { runRouter, simulateLatest } from './classicRouter.ts'
import { exchangeRouterAbi } from './exchangeRouterAbi.ts'
import { changesToken, ownerIn, runToken } from './tokenCalls.ts'

/** A call. */
export interface WorkCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** Wei. */
  readonly value: bigint
}

/** Result of a call. */
export interface Ran {
  readonly gasUsed: number
  readonly output: Hex
  /** Present when nothing happened. */
  readonly failure?: { readonly revert?: ProtocolRevert; readonly data: Hex }
}

/** Hash that the logs of a call that is only tried are kept under while it runs. */
const TRIED: Hex = `0x${'dc'.repeat(32)}`

/** Tells whether a call changes something here: rpcCall.ts answers reads. */
export function isWork(venueState: VenueState, to: string, data: Hex): boolean {
  const { exchangeRouter, simulationRouter } = venueState.chain.contracts
  if (sameHex(to, exchangeRouter) || sameHex(to, simulationRouter)) return true
  const token = tokenAt(venueState, to)
  return token !== undefined && changesToken(token, data)
}

/** Orders that calls update or cancel. */
function namedBy(calls: readonly RouterCall[]): Hex[] {
  return calls.flatMap((call) =>
    call.functionName === 'updateOrder' || call.functionName === 'cancelOrder' ? [call.args[0]] : [],
  )
}

function runTarget(frame: CallFrame, call: WorkCall, calls: readonly RouterCall[]): Hex {
  const { venueState } = frame
  const { exchangeRouter, simulationRouter } = venueState.chain.contracts
  const token = tokenAt(venueState, call.to)
  if (token !== undefined) return runToken(frame, token, call.data, call.value)
  if (sameHex(call.to, exchangeRouter)) {
    if (call.data.startsWith(MULTICALL)) spendGas(frame, workGas.multicall)
    const results = runRouter(frame, calls)
    return call.data.startsWith(MULTICALL)
      ? encodeFunctionResult({ abi: exchangeRouterAbi, functionName: 'multicall', result: results })
      : (results[0] ?? '0x')
  }
  if (sameHex(call.to, simulationRouter)) {
    return simulateLatest(frame, readSimulation(call.data), simulationRouter)
  }
  if (isContract(venueState, call.to)) throw emptyRevert()
  return '0x'
}

/**
 * Runs a call in a transaction that is on the chain. After a revert, and when its gas was not enough, the venue is as before.
 *
 * @param gas limit, and what was used before the call: the transaction's own
 */
export function runInTransaction(
  venueState: VenueState,
  call: WorkCall,
  options: { readonly transaction: ChainTransaction; readonly gas: GasMeter; readonly nowMs: number },
): Ran {
  return run(venueState, call, { ...options, isTried: false })
}

/** Tries a call: what would happen, without anything happening. */
export function tryCall(
  venueState: VenueState,
  call: WorkCall,
  options: { readonly gas: GasMeter; readonly nowMs: number },
): Ran {
  const { byHash } = venueState.blockChain
  const transaction: ChainTransaction = {
    hash: TRIED,
    sender: 'account',
    to: call.to,
    nonce: 0,
    input: call.data,
    logs: [],
    inclusions: [],
  }
  byHash.set(hexKey(TRIED), transaction)
  try {
    return run(venueState, call, { ...options, transaction, isTried: true })
  } finally {
    byHash.delete(hexKey(TRIED))
  }
}

function run(
  venueState: VenueState,
  call: WorkCall,
  options: {
    readonly transaction: ChainTransaction
    readonly gas: GasMeter
    readonly nowMs: number
    readonly isTried: boolean
  },
): Ran {
  const { transaction, gas: meter, nowMs, isTried } = options
  let undo = (): void => undefined
  try {
    const calls = sameHex(call.to, venueState.chain.contracts.exchangeRouter) ? routerCalls(call.data) : []
    const owner = tokenAt(venueState, call.to) === undefined ? undefined : ownerIn(call.data)
    const putBacks = [call.from, ...(owner === undefined ? [] : [owner])].map((address) =>
      rememberFor(venueState, address, namedBy(calls)),
    )
    const purse = createPurse(venueState, (address) => {
      if (!isTried) rememberHoldings(venueState, address, nowMs)
    })
    undo = () => {
      purse.undo()
      for (const putBack of putBacks.reverse()) putBack()
    }
    const frame: CallFrame = { venueState, from: call.from, nowMs, transaction, meter, purse }
    if (!purse.take(call.from, nativeAddress(venueState), call.value)) throw emptyRevert()
    purse.give(call.to, nativeAddress(venueState), call.value)
    const output = runTarget(frame, call, calls)
    for (const log of transaction.logs) spendGas(frame, 375 * (topicsOf(log).length + 1) + 8 * 2048)
    if (isTried) undo()
    return { gasUsed: meter.used, output }
  } catch (error) {
    const revert = error instanceof ProtocolRevert ? error : undefined
    if (revert === undefined && !(error instanceof OutOfGas)) throw error
    undo()
    transaction.logs = []
    const data = revert === undefined ? '0x' : revertBytes(revert)
    return { gasUsed: meter.used, output: '0x', failure: revert === undefined ? { data } : { revert, data } }
  }
}
