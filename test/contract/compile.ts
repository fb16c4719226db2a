/** Compiles `Venue.sol` with the compiler from the registry. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'
import type { Abi } from 'viem'

/** A compiled contract. */
export interface Compiled {
  readonly abi: Abi
  /** Code that deploys it, hex without 0x; constructor arguments follow it. */
  readonly creation: string
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly abi: Abi; readonly evm: { readonly bytecode: { object: string } } }>>
    >
  >
}

let compiled: Readonly<Record<string, Compiled>> | undefined

/** The contracts of `Venue.sol` by name, compiled once a process. Throws with the compiler's words. */
export function compileVenue(): Readonly<Record<string, Compiled>> {
  compiled ??= compile()
  return compiled
}

function compile(): Readonly<Record<string, Compiled>> {
  const file = 'Venue.sol'
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(import.meta.dirname, file), 'utf8') } },
    settings: {
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.fromEntries(
    Object.entries(output.contracts[file] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, creation: evm.bytecode.object },
    ]),
  )
}
