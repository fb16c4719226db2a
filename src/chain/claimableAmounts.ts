/**
 * Reads an account's claimable amounts by market and token from the chain (DataStore, `Keys.claimableFundingAmountKey` and
 * `Keys.affiliateRewardKey`), in each endpoint's newest block.
 */
import { BaseError } from '../base/errors.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import { addressWord, uintWord } from '../protocol/crypto/abiWords.ts'
import { keccakOfBytes, keccakOfWords } from '../protocol/crypto/keccak.ts'
import { type ClaimKind, type ClaimPair, claimKinds } from '../protocol/signing/claimCall.ts'
import { minOf, type TokenAmount } from '../protocol/units.ts'
import { readWords, wordCalls } from './node/wordCalls.ts'
import { type RpcClient, refusedBy, unreadable } from './wire/jsonRpc.ts'

/** An amount that may be claimed now. */
export interface Claimable extends ClaimPair {
  readonly kind: ClaimKind
  /** Base units of the token, above 0. */
  readonly amount: TokenAmount
}

/** keccak256(abi.encode(name)), of the protocol's Keys library. */
const seedOf = (name: string): string =>
  keccakOfWords([
    uintWord(32n),
    uintWord(BigInt(name.length)),
    Buffer.from(name).toString('hex').padEnd(64, '0'),
  ])

const seeds: Readonly<Record<ClaimKind, string>> = {
  funding: seedOf('CLAIMABLE_FUNDING_AMOUNT'),
  rebates: seedOf('AFFILIATE_REWARD'),
}

/** DataStore key of what an account may claim of a kind, in a token of a market. */
export function claimableKey(
  kind: ClaimKind,
  { marketToken, token }: ClaimPair,
  account: Address,
): `0x${string}` {
  return `0x${keccakOfWords([seeds[kind], addressWord(marketToken), addressWord(token), addressWord(account)])}`
}

const getUint = keccakOfBytes(Buffer.from('getUint(bytes32)')).slice(0, 10)

/**
 * Reads what may be claimed from every endpoint. Of each amount the least that one of them shows; an endpoint that does not answer shows
 * nothing, and what is 0 is left out.
 *
 * @throws BaseError RPC_UNANSWERED, RPC_UNREADABLE or RPC_REFUSED of one of them when none answered
 */
export async function readClaimable(
  clients: readonly RpcClient[],
  chain: Chain,
  account: Address,
  pairs: readonly ClaimPair[],
  signal: AbortSignal,
): Promise<readonly Claimable[]> {
  const asked = claimKinds.flatMap((kind) => pairs.map((pair) => ({ kind, ...pair })))
  const answers: (readonly bigint[])[] = []
  const faults: BaseError[] = []
  await Promise.all(
    clients.map(async (client) => {
      try {
        answers.push(await readFrom(client, chain, account, asked, signal))
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
        faults.push(error)
      }
    }),
  )
  const [first, ...others] = answers
  if (first === undefined && faults[0] !== undefined) throw faults[0]
  return asked.flatMap((each, index) => {
    const amount = others.reduce((least, there) => minOf(least, there[index] ?? 0n), first?.[index] ?? 0n)
    return amount > 0n ? [{ ...each, amount }] : []
  })
}

async function readFrom(
  client: RpcClient,
  { chainId, contracts }: Chain,
  account: Address,
  asked: readonly (ClaimPair & { readonly kind: ClaimKind })[],
  signal: AbortSignal,
): Promise<readonly bigint[]> {
  const calls = wordCalls(
    asked.map(({ kind, ...pair }) => ({
      target: contracts.dataStore,
      selector: getUint,
      word: claimableKey(kind, pair, account),
    })),
    contracts.multicall,
    'latest',
  )
  const answers = await client.request([{ method: 'eth_chainId', params: [] }, ...calls], signal)
  const [id, ...returned] = answers.map((answer, at) => {
    const method = at === 0 ? 'eth_chainId' : 'eth_call'
    if ('refused' in answer) throw refusedBy(client.name, method, answer.refused.code, answer.refused.message)
    if (typeof answer.result === 'string' && /^0x[0-9a-f]+$/i.test(answer.result))
      return hexKey(answer.result) as `0x${string}`
    throw unreadable(client.name, `${method} gave no number`)
  })
  if (id === undefined || BigInt(id) !== BigInt(chainId))
    throw unreadable(client.name, `it serves chain ${id}, not ${chainId}`)
  try {
    return readWords(returned, asked.length).map(BigInt)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw unreadable(client.name, error.message)
  }
}
