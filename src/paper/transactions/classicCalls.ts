/** Calldata of the exchange router and of the simulation router, decoded. */
import type { Hex } from 'viem'
import { decodeFunctionData } from 'viem/utils'
import { emptyRevert } from './callFrame.ts'
import type { SimulatedPrices } from './classicSimulate.ts'
import { exchangeRouterAbi, simulationRouterAbi } from './exchangeRouterAbi.ts'

/** One call of the exchange router. */
export type RouterCall = ReturnType<typeof decodeFunctionData<typeof exchangeRouterAbi>>

/** Selector of `multicall(bytes[])`. */
export const MULTICALL = '0xac9650d8'

/** Calldata of a call that makes external ones; longer is refused, because its list may name the same bytes many times. */
const MAX_EXTERNAL_CALLS_LENGTH = 2 + 16_384 * 2
const MAKE_EXTERNAL_CALLS = '0xd59922b0'

function decoded<T>(decode: () => T): T {
  try {
    return decode()
  } catch {
    throw emptyRevert()
  }
}

/** Decodes one call. Throws ProtocolRevert without data for what the router does not know. */
function readCall(data: Hex): RouterCall {
  if (data.startsWith(MAKE_EXTERNAL_CALLS) && data.length > MAX_EXTERNAL_CALLS_LENGTH) throw emptyRevert()
  return decoded(() => decodeFunctionData({ abi: exchangeRouterAbi, data }))
}

/**
 * The calls inside a `multicall`, by hand: a list may name the same bytes many times, and a general decoder would copy them as
 * often. Together they are never longer than the calldata.
 */
function innerCalls(data: Hex): Hex[] {
  const body = data.slice(10)
  const word = (at: number): number => {
    const digits = body.slice(at * 2, at * 2 + 64)
    const value = digits.length === 64 ? Number(`0x${digits}`) : Number.NaN
    if (!(value <= body.length)) throw emptyRevert()
    return value
  }
  const start = word(0)
  const count = word(start)
  const first = start + 32
  if (count * 64 > body.length) throw emptyRevert()
  const calls: Hex[] = []
  let total = 0
  for (let i = 0; i < count; i += 1) {
    const at = first + word(first + i * 32)
    const length = word(at)
    const digits = body.slice((at + 32) * 2, (at + 32 + length) * 2)
    total += digits.length
    if (digits.length !== length * 2 || total > body.length) throw emptyRevert()
    calls.push(`0x${digits}`)
  }
  return calls
}

/** The calls of the router in calldata, in order: those inside a multicall, or the one there is. Throws ProtocolRevert. */
export function routerCalls(data: Hex): RouterCall[] {
  return (data.startsWith(MULTICALL) ? innerCalls(data) : [data]).map(readCall)
}

/** Prices of a `simulateExecuteLatestOrder` of the simulation router. Throws ProtocolRevert. */
export function readSimulation(data: Hex): SimulatedPrices {
  return decoded(() => decodeFunctionData({ abi: simulationRouterAbi, data })).args[0]
}
