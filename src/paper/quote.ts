/** Figures of a quote: acceptable prices, fees of keeper and relay, metadata (wire: application-api-orders; math: section 6). */
import { type Address, type Hex, hexKey } from '../domain/address.ts'
import { MAX_UINT256 } from '../domain/units.ts'
import type { CatalogToken } from './catalog.ts'
import type { RequestedOrderType } from './prepareShape.ts'
import { findSwapPath } from './swaps.ts'
import { tokenPrice, type World } from './world.ts'

/** Whether a better price for the trader is lower: increases of longs and decreases of shorts buy. */
export function isBuying(action: 'increase' | 'decrease', isLong: boolean): boolean {
  return (action === 'increase') === isLong
}

/** The nearest price that a uint256 holds: an impact beyond the size leaves no price to insist on. */
function asUint256(price: bigint): bigint {
  if (price < 0n) return 0n
  return price > MAX_UINT256 ? MAX_UINT256 : price
}

/** Price moved against the trader by bps; rounding is against the trader's bound by less than one unit. */
export function moveAgainst(price: bigint, basisPoints: bigint, buying: boolean): bigint {
  return asUint256((price * (10_000n + (buying ? basisPoints : -basisPoints))) / 10_000n)
}

/** Acceptable price of an order in contract precision, a uint256, before slippage; "any" for stops and twap parts. */
export function acceptablePriceOf(options: {
  readonly orderType: RequestedOrderType
  readonly buying: boolean
  /** Contract price on the executing side. */
  readonly markPrice: bigint
  readonly triggerPrice: bigint
  readonly sizeDeltaUsd: bigint
  readonly impactUsd: bigint
  readonly impactBps: bigint | undefined
}): { readonly price: bigint; readonly isAny: boolean } {
  const { orderType, buying, markPrice, triggerPrice, sizeDeltaUsd, impactUsd } = options
  if (orderType === 'stop-market' || orderType === 'stop-loss' || orderType === 'twap') {
    return { price: buying ? MAX_UINT256 : 0n, isAny: true }
  }
  if (orderType === 'market') {
    const signed = buying ? -impactUsd : impactUsd
    const price = asUint256((markPrice * (sizeDeltaUsd + signed)) / sizeDeltaUsd)
    return { price, isAny: price === MAX_UINT256 }
  }
  const own = impactUsd < 0n ? (-impactUsd * 10_000n) / sizeDeltaUsd : 0n
  const price = moveAgainst(triggerPrice, options.impactBps ?? own + 30n, buying)
  return { price, isAny: price === MAX_UINT256 }
}

/** Keeper's fee of one order in native units, with the buffer. */
export function executionFeeOf(world: World, bufferBps: number, seconds: number): bigint {
  const wrapped = world.catalog.tokenByAddress.get(hexKey(world.chain.contracts.wrappedNative))
  if (wrapped === undefined) throw new RangeError(`no wrapped native token on ${world.chain.name}`)
  const base = world.settings.executionFeeUsd / tokenPrice(world, wrapped, seconds).min
  return (base * BigInt(10_000 + bufferBps)) / 10_000n
}

/** Amount of the fee token that the relay takes: execution fees, its own cost, and 7 % (protocol constant). */
export function relayFeeOf(
  world: World,
  feeToken: CatalogToken,
  executionFees: bigint,
  seconds: number,
): bigint {
  const wrapped = world.catalog.tokenByAddress.get(hexKey(world.chain.contracts.wrappedNative))
  if (wrapped === undefined) throw new RangeError(`no wrapped native token on ${world.chain.name}`)
  const usd = executionFees * tokenPrice(world, wrapped, seconds).max + world.settings.relayFeeUsd
  return (usd * 107n) / 100n / tokenPrice(world, feeToken, seconds).min
}

const feePaths = new WeakMap<World, Map<string, readonly Address[]>>()

/** Route from a fee token to the wrapped native token; kept, because it does not change. Undefined when none. */
export function feeSwapPathOf(
  world: World,
  feeToken: Address,
  seconds: number,
): readonly Address[] | undefined {
  let paths = feePaths.get(world)
  if (paths === undefined) {
    paths = new Map()
    feePaths.set(world, paths)
  }
  const known = paths.get(hexKey(feeToken))
  if (known !== undefined) return known
  const found = findSwapPath(world, feeToken, world.chain.contracts.wrappedNative, seconds)
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
