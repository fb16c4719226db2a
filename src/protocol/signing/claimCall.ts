/** Calls by which an account claims what the venue put aside for it: `claimFundingFees` and `claimAffiliateRewards` of the ExchangeRouter. */
import type { Address, Hex } from '../address.ts'
import { addressWord, uintWord } from '../crypto/abiWords.ts'
import { keccakOfBytes } from '../crypto/keccak.ts'

/** Kinds of claims: funding that positions earned, and the rebates of a referrer. */
export const claimKinds = ['funding', 'rebates'] as const

/** One of them. */
export type ClaimKind = (typeof claimKinds)[number]

/** A token of a market in which something is due. */
export interface ClaimPair {
  readonly marketToken: Address
  readonly token: Address
}

const functions: Readonly<Record<ClaimKind, string>> = {
  funding: 'claimFundingFees(address[],address[],address)',
  rebates: 'claimAffiliateRewards(address[],address[],address)',
}

/** Calldata that claims all that is due in these pairs at the time that it is executed, for `receiver`. It costs gas and pays no value. */
export function claimCalldata(kind: ClaimKind, pairs: readonly ClaimPair[], receiver: Address): Hex {
  const selector = keccakOfBytes(Buffer.from(functions[kind])).slice(0, 10)
  const list = (addresses: readonly Address[]) => [
    uintWord(BigInt(addresses.length)),
    ...addresses.map(addressWord),
  ]
  const markets = list(pairs.map(({ marketToken }) => marketToken))
  const tokens = list(pairs.map(({ token }) => token))
  // Where each list begins, after the three words of the head.
  const places = [uintWord(96n), uintWord(96n + 32n * BigInt(markets.length)), addressWord(receiver)]
  return `${selector as Hex}${[...places, ...markets, ...tokens].join('')}`
}
