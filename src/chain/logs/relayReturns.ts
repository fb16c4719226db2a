/** The part of a message's fee that the relay gave back, by the logs of the transaction that used the message's digest. */
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import type { LogRow } from '../node/blockRows.ts'
import { decodeEventData } from './decodeEventData.ts'
import { EVENT_LOG_1, priceTopic } from './executionLogs.ts'

/** `Transfer(address,address,uint256)` of ERC-20. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Contracts and the account of a message. */
export interface RelayParties {
  readonly emitter: Address
  readonly wrappedNative: Address
  /** The relay router that was signed for: it swaps the fee, pays the relay, and sends the rest to the account. */
  readonly router: Address
  readonly account: Address
}

/**
 * The wrapped native token that the router sent to the account, USD at the lowest price that the oracle set for it in the same
 * transaction (contract `BaseGelatoRelayRouter`: the fee is swapped at these prices). Undefined where the transaction shows no transfer,
 * several (a relay may bundle messages: nobody knows whose each is), or no price.
 */
export function relayReturnedUsd(logs: readonly LogRow[], parties: RelayParties): bigint | undefined {
  const [from, to] = [parties.router, parties.account].map(wordOf)
  const transfers = logs.filter(
    ({ address, topics }) =>
      sameHex(address, parties.wrappedNative) &&
      topics[0] === TRANSFER &&
      topics[1] === from &&
      topics[2] === to,
  )
  const [transfer, ...others] = transfers
  if (transfer === undefined || others.length > 0 || transfer.data.length !== 66) return undefined
  const returnedUsd = BigInt(transfer.data) * (nativePriceIn(logs, parties) ?? 0n)
  return returnedUsd > 0n ? returnedUsd : undefined
}

/**
 * The lowest price that a transaction's logs set for the wrapped native token, contract price: a message's fee is swapped at it. Undefined: none,
 * or one that does not decode.
 */
export function nativePriceIn(
  logs: readonly LogRow[],
  { emitter, wrappedNative }: { readonly emitter: Address; readonly wrappedNative: Address },
): bigint | undefined {
  let lowest: bigint | undefined
  for (const { address, topics, data } of logs) {
    const [kind, name, token] = topics
    if (!sameHex(address, emitter) || kind !== EVENT_LOG_1 || name !== priceTopic) continue
    if (token !== wordOf(wrappedNative)) continue
    try {
      const price = decodeEventData(data).uints.get('minPrice')
      if (price !== undefined && (lowest === undefined || price < lowest)) lowest = price
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return undefined
    }
  }
  return lowest
}

/** An address as an indexed word. */
function wordOf(address: Address): Hex {
  return `0x${hexKey(address).slice(2).padStart(64, '0')}`
}
