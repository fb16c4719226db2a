/**
 * Reads the chain's record of a delegated key in an endpoint's newest block. It has the actions that the key has used (DataStore,
 * `Keys.subaccountActionCountKey`) and the owner's next approval nonce (SubaccountGelatoRelayRouter, `subaccountApprovalNonces`).
 */
import type { Address, Hex } from '../protocol/address.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import { addressWord, bytes32Word, uintWord } from '../protocol/crypto/abiWords.ts'
import { keccakOfBytes, keccakOfWords } from '../protocol/crypto/keccak.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../protocol/signing/approvalTypes.ts'
import { type RpcClient, refusedBy, unreadable } from './wire/jsonRpc.ts'

/** Counts of one endpoint. */
export interface ApprovalCounts {
  readonly usedActions: bigint
  readonly nonce: bigint
}

/** keccak256(abi.encode("SUBACCOUNT_ACTION_COUNT")), of the protocol's Keys library. */
const actionCountSeed = keccakOfWords([
  uintWord(32n),
  uintWord(23n),
  Buffer.from('SUBACCOUNT_ACTION_COUNT').toString('hex').padEnd(64, '0'),
])

/** DataStore key of the actions of orders that a delegated key used for an account. */
export function subaccountActionCountKey(account: Address, subaccount: Address): Hex {
  const words = [
    actionCountSeed,
    addressWord(account),
    addressWord(subaccount),
    bytes32Word(SUBACCOUNT_ORDER_ACTION),
  ]
  return `0x${keccakOfWords(words)}`
}

const selectorOf = (signature: string): string => keccakOfBytes(Buffer.from(signature)).slice(0, 10)
const getUint = selectorOf('getUint(bytes32)')
const approvalNonces = selectorOf('subaccountApprovalNonces(address)')

/**
 * Asks one endpoint.
 *
 * @throws BaseError RPC_UNANSWERED, RPC_UNREADABLE or RPC_REFUSED; RPC_UNREADABLE for another chain's, too
 */
export async function readApprovalCounts(
  client: RpcClient,
  { chainId, contracts }: Chain,
  { owner, subaccount }: { readonly owner: Address; readonly subaccount: Address },
  signal: AbortSignal,
): Promise<ApprovalCounts> {
  const calls = [
    { to: contracts.dataStore, data: `${getUint}${subaccountActionCountKey(owner, subaccount).slice(2)}` },
    { to: contracts.subaccountGelatoRelayRouter, data: `${approvalNonces}${addressWord(owner)}` },
  ].map((call) => ({ method: 'eth_call', params: [call, 'latest'] }))
  const answers = await client.request([{ method: 'eth_chainId', params: [] }, ...calls], signal)
  const [id, usedActions, nonce] = answers.map((answer, at) => {
    const method = at === 0 ? 'eth_chainId' : 'eth_call'
    if ('refused' in answer) throw refusedBy(client.name, method, answer.refused.code, answer.refused.message)
    const form = at === 0 ? /^0x[0-9a-f]{1,16}$/i : /^0x[0-9a-f]{64}$/i
    if (typeof answer.result === 'string' && form.test(answer.result)) return BigInt(answer.result)
    throw unreadable(client.name, `${method} gave no number`)
  })
  if (id !== BigInt(chainId)) throw unreadable(client.name, `it serves chain ${id}, not ${chainId}`)
  if (usedActions === undefined || nonce === undefined) throw unreadable(client.name, 'an answer is missing')
  return { usedActions, nonce }
}
