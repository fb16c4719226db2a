/** Figures of a quote: prices moved by slippage, routes of fees, metadata. */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { findSwapPath } from '../pools/swaps.ts'
import type { VenueState } from '../state/venueState.ts'

/** The nearest price that a uint256 holds: an impact beyond the size leaves no price to insist on. */
export function asUint256(price: bigint): bigint {
  if (price < 0n) return 0n
  return price > MAX_UINT256 ? MAX_UINT256 : price
}

/** Price moved against the trader by bps; rounding is against the trader's bound by less than one unit. */
export function moveAgainst(price: bigint, basisPoints: bigint, buying: boolean): bigint {
  return asUint256((price * (10_000n + (buying ? basisPoints : -basisPoints))) / 10_000n)
}

const feePaths = new WeakMap<VenueState, Map<string, readonly Address[]>>()

/** Route from a fee token to the wrapped native token; kept, because it does not change. Undefined when none. */
export function feeSwapPathOf(
  venueState: VenueState,
  feeToken: Address,
  seconds: number,
): readonly Address[] | undefined {
  let paths = feePaths.get(venueState)
  if (paths === undefined) {
    paths = new Map()
    feePaths.set(venueState, paths)
  }
  const known = paths.get(hexKey(feeToken))
  if (known !== undefined) return known
  const found = findSwapPath(venueState, feeToken, venueState.chain.contracts.wrappedNative, seconds)
  if (found !== undefined) paths.set(hexKey(feeToken), found)
  return found
}

/** App metadata of an order: ASCII `gmxo:1:<parts>:<twapId>:01:<jit>:<express>` padded to 32 bytes. */
export function metadataOf(parts: number, twapId: string, isExpress: boolean): Hex {
  const text = `gmxo:1:${parts}:${twapId}:01:0:${isExpress ? 1 : 0}`
  return `0x${Buffer.from(text, 'ascii').toString('hex').padEnd(64, '0')}`
}

/** A referral code as bytes32: given so, or up to 20 ASCII characters. Undefined when it is neither. */
export function referralCodeOf(text: string | undefined): Hex | undefined {
  if (text === undefined) return `0x${'00'.repeat(32)}`
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text as Hex
  if (!/^[\x21-\x7e]{1,20}$/.test(text)) return undefined
  return `0x${Buffer.from(text, 'ascii').toString('hex').padEnd(64, '0')}`
}
