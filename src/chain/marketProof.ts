/**
 * Proves the facts of a market by the chain. `getMarket` of the protocol's Reader gives its tokens, as the DataStore has them. `decimals()` and
 * `symbol()` of the tokens give theirs (ERC-20). It asks every configured endpoint, and all must agree.
 */
import { BaseError, reasonOf } from '../base/errors.ts'
import { type Address, hexKey, sameHex, ZERO_ADDRESS } from '../protocol/address.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import { addressWord } from '../protocol/crypto/abiWords.ts'
import type { RpcAnswer, RpcClient } from './wire/jsonRpc.ts'

/** A market as the chain has it; or why nothing is proven, as a clause. */
export type ChainMarket =
  | {
      readonly market: {
        readonly marketToken: Address
        readonly indexToken: Address
        readonly longToken: Address
        readonly shortToken: Address
      }
      /** By lower-cased address; what has no contract that tells both is absent, as a synthetic index token. */
      readonly tokens: ReadonlyMap<string, { readonly decimals: number; readonly symbol: string }>
    }
  | { readonly unproven: string }

/** `getMarket(address,address)` of the Reader. */
const GET_MARKET = '0x714af34b'
const DECIMALS = '0x313ce567'
const SYMBOL = '0x95d89b41'
/** No token of the venue has more; a contract's uint8 may say 255. */
const MOST_DECIMALS = 36
const LONGEST_SYMBOL = 40

/** Reads a market from every endpoint. Never rejects for what a network does. */
export async function readMarket(
  clients: readonly RpcClient[],
  { contracts }: Pick<Chain, 'contracts'>,
  marketToken: Address,
  signal: AbortSignal,
): Promise<ChainMarket> {
  const data = `${GET_MARKET}${addressWord(contracts.dataStore)}${addressWord(marketToken)}`
  const read = await Promise.all(
    clients.map(async (client): Promise<ChainMarket> => {
      try {
        return await readFrom(client, contracts.reader, data, marketToken, signal)
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
        return { unproven: reasonOf(error) }
      }
    }),
  )
  const [first] = read
  if (first === undefined) return { unproven: 'no endpoint is configured' }
  const failed = read.find((each) => 'unproven' in each)
  if (failed !== undefined) return failed
  const differs = read.findIndex((each) => textOf(each) !== textOf(first))
  if (differs < 0) return first
  return {
    unproven: `the endpoints ${clients[0]?.name} and ${clients[differs]?.name} disagree on it`,
  }
}

async function readFrom(
  client: RpcClient,
  reader: Address,
  data: string,
  marketToken: Address,
  signal: AbortSignal,
): Promise<ChainMarket> {
  const call = (to: Address, input: string) => ({
    method: 'eth_call',
    params: [{ to, data: input }, 'latest'],
  })
  const [answer] = await client.request([call(reader, data)], signal)
  const [own, indexToken, longToken, shortToken] = addressesIn(resultOf(answer)) ?? []
  if (own === undefined || indexToken === undefined || longToken === undefined || shortToken === undefined)
    return { unproven: `the endpoint ${client.name} finds no market at that address` }
  if (!sameHex(own, marketToken)) return { unproven: 'the chain has no such market' }
  const sides = [...new Set([indexToken, longToken, shortToken].map(hexKey))].filter(
    (address) => address !== ZERO_ADDRESS,
  ) as Address[]
  const answers = await client.request(
    sides.flatMap((token) => [call(token, DECIMALS), call(token, SYMBOL)]),
    signal,
  )
  const tokens = new Map<string, { readonly decimals: number; readonly symbol: string }>()
  for (const [index, token] of sides.entries()) {
    const decimals = uintIn(resultOf(answers[2 * index]))
    const symbol = textIn(resultOf(answers[2 * index + 1]))
    if (decimals !== undefined && decimals <= MOST_DECIMALS && symbol !== undefined)
      tokens.set(token, { decimals, symbol })
  }
  return { market: { marketToken: own, indexToken, longToken, shortToken }, tokens }
}

/** One text for equal readings. */
function textOf(read: ChainMarket): string {
  if ('unproven' in read) return read.unproven
  const sides = Object.values(read.market).map(hexKey)
  return JSON.stringify([sides, [...read.tokens].toSorted(([one], [other]) => (one < other ? -1 : 1))])
}

/** Hex digits of a call's result, whole words; undefined for a refusal and for anything else. */
function resultOf(answer: RpcAnswer | undefined): string | undefined {
  if (answer === undefined || !('result' in answer)) return undefined
  const { result } = answer
  if (typeof result !== 'string' || !/^0x(?:[0-9a-f]{64}){1,64}$/i.test(result)) return undefined
  return result.slice(2).toLowerCase()
}

function addressesIn(digits: string | undefined): readonly Address[] | undefined {
  if (digits?.length !== 4 * 64) return undefined
  const words = digits.match(/.{64}/g) ?? []
  return words.every((word) => /^0{24}/.test(word))
    ? words.map((word) => `0x${word.slice(24)}` as const)
    : undefined
}

function uintIn(digits: string | undefined): number | undefined {
  if (digits?.length !== 64 || !/^0{60}/.test(digits)) return undefined
  return Number.parseInt(digits, 16)
}

/** A string as ABI encodes it: where it begins, its length, its bytes. */
function textIn(digits: string | undefined): string | undefined {
  if (digits === undefined || uintIn(digits.slice(0, 64)) !== 32) return undefined
  const length = uintIn(digits.slice(64, 128))
  if (length === undefined || length > LONGEST_SYMBOL || digits.length < 128 + 2 * length) return undefined
  const text = Buffer.from(digits.slice(128, 128 + 2 * length), 'hex').toString('utf8')
  return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) ? text : undefined
}
