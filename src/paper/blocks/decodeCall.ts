/** Takes a contract call apart as viem does, but hashes the functions of an ABI once and not at every call. */
import type { Abi, AbiFunction, Hex } from 'viem'
import { decodeAbiParameters, type decodeFunctionData, toFunctionSelector } from 'viem/utils'

const selectors = new WeakMap<Abi, ReadonlyMap<string, AbiFunction>>()

function functionsOf(abi: Abi): ReadonlyMap<string, AbiFunction> {
  let known = selectors.get(abi)
  if (known === undefined) {
    const functions = abi.filter((item): item is AbiFunction => item.type === 'function')
    known = new Map(functions.map((item) => [toFunctionSelector(item), item]))
    selectors.set(abi, known)
  }
  return known
}

/** The function of an ABI that data calls, with its arguments. Throws for data of another function, or that does not decode. */
export function decodeCall<const abi extends Abi>(
  abi: abi,
  data: Hex,
): ReturnType<typeof decodeFunctionData<abi>> {
  const item = functionsOf(abi).get(data.slice(0, 10).toLowerCase())
  if (item === undefined) throw new RangeError(`no function of the ABI has the selector ${data.slice(0, 10)}`)
  const args = item.inputs.length === 0 ? undefined : decodeAbiParameters(item.inputs, `0x${data.slice(10)}`)
  return { functionName: item.name, args } as ReturnType<typeof decodeFunctionData<abi>>
}
