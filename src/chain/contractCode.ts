/**
 * The code behind a contract that signatures are for, as each endpoint shows it (docs/security.md). The address is
 * pinned in code; what stands at it must be there, be the same at every endpoint, and be what was pinned.
 */
import { BaseError } from '../base/errors.ts'
import type { Address, Hex } from '../protocol/address.ts'
import { sameHex } from '../protocol/address.ts'
import { keccakOfBytes } from '../protocol/crypto/keccak.ts'
import type { RpcClient } from './wire/jsonRpc.ts'

/** The endpoints' reading of a contract's code. */
export interface CodeReading {
  /** keccak256 of it; undefined when no endpoint answered. */
  readonly hash: Hex | undefined
  /** Names of endpoints that did not show it. */
  readonly silent: readonly string[]
}

/**
 * Reads the code at `contract` from every endpoint. One that does not answer shows nothing, and is no fault.
 *
 * @throws BaseError CONTRACT_CODE_WRONG when there is none, when endpoints disagree, or when it is not `pinned`
 */
export async function readContractCode(
  clients: readonly RpcClient[],
  contract: Address,
  pinned: Hex | undefined,
  signal: AbortSignal,
): Promise<CodeReading> {
  const read = await Promise.all(
    clients.map(async (client) => ({ name: client.name, hash: await codeHashAt(client, contract, signal) })),
  )
  const shown = read.filter((each): each is { name: string; hash: Hex } => each.hash !== undefined)
  const [first] = shown
  const wanted = pinned ?? first?.hash
  for (const { name, hash } of shown) {
    if (wanted !== undefined && sameHex(hash, wanted)) continue
    throw wrong(name, contract, `its code has the hash ${hash} instead of ${wanted}`)
  }
  return { hash: first?.hash, silent: read.flatMap(({ name, hash }) => (hash === undefined ? [name] : [])) }
}

async function codeHashAt(
  client: RpcClient,
  contract: Address,
  signal: AbortSignal,
): Promise<Hex | undefined> {
  let result: unknown
  try {
    const [answer] = await client.request([{ method: 'eth_getCode', params: [contract, 'latest'] }], signal)
    result = answer !== undefined && 'result' in answer ? answer.result : undefined
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  }
  if (typeof result !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(result)) return undefined
  if (result === '0x') throw wrong(client.name, contract, 'the address has no code')
  return keccakOfBytes(Buffer.from(result.slice(2), 'hex'))
}

function wrong(endpoint: string, contract: Address, why: string): BaseError {
  return new BaseError(`The chain endpoint ${endpoint} shows another contract at ${contract}: ${why}.`, {
    code: 'CONTRACT_CODE_WRONG',
    facts: { endpoint, contract },
    details:
      'Signatures are for the contract at that address, so nothing was signed. Check with another endpoint; if the venue announced a new contract, set its hash in rpc.routerCodeHash.',
  })
}
