/** Integer arithmetic of the contracts: rounding by name, and their power function (contracts `Calc` and `Precision`). */
import { ProtocolRevert } from './protocolRevert.ts'

/** 1.0 of a factor, one US dollar. */
export const ONE = 10n ** 30n

/** floor(value * factor / 10^30) for a non-negative value; truncation toward zero for a negative one. */
export function fac(value: bigint, factor: bigint): bigint {
  return (value * factor) / ONE
}

/** ceil(a / b) for a >= 0 and b > 0. */
export function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}

/** a / b rounded away from zero, b > 0. */
export function divAwayFromZero(a: bigint, b: bigint): bigint {
  return a < 0n ? -ceilDiv(-a, b) : ceilDiv(a, b)
}

/** Magnitude. */
export function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** The smaller. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** The larger. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

const WAD = 10n ** 18n
const WAD_PER_ONE = 10n ** 12n

function integerSqrt(value: bigint): bigint {
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

/** round(2^64 * 2^(2^-k)) for k = 1..64: the factors of the binary digits of an exponent. */
const exp2Factors: readonly bigint[] = (() => {
  const scale = 1n << 256n
  const factors: bigint[] = []
  let root = 2n * scale
  for (let k = 1; k <= 64; k += 1) {
    root = integerSqrt(root * scale)
    factors.push((root + (1n << 191n)) >> 192n)
  }
  return factors
})()

/** Binary logarithm with 18 decimals of a value >= 1.0 with 18 decimals. */
function log2Wad(value: bigint): bigint {
  const whole = BigInt((value / WAD).toString(2).length - 1)
  let result = whole * WAD
  let rest = value >> whole
  if (rest === WAD) return result
  for (let digit = WAD / 2n; digit > 0n; digit >>= 1n) {
    rest = (rest * rest) / WAD
    if (rest >= 2n * WAD) {
      result += digit
      rest >>= 1n
    }
  }
  return result
}

/** 2 to a power with 18 decimals, result with 18 decimals. Reverts from 2^192 on, as the contract does. */
function exp2Wad(power: bigint): bigint {
  if (power >= 192n * WAD) throw new ProtocolRevert('PRBMath_UD60x18_Exp2_InputTooBig', [power])
  const z = (power << 64n) / WAD
  let result = 1n << 191n
  for (let k = 1n; k <= 64n; k += 1n) {
    if ((z >> (64n - k)) & 1n) result = (result * (exp2Factors[Number(k) - 1] ?? 0n)) >> 64n
  }
  return (result * WAD) >> (191n - (z >> 64n))
}

/** Powers that were taken last: one row of a position takes the same ones several times. */
const lastPowers: { readonly x: bigint; readonly exponent: bigint; readonly power: bigint }[] = []
const POWERS_KEPT = 8
let oldestPower = 0

/**
 * x to the power e, all with 30 decimals, to the last unit as the contracts compute it; 0 below 1.0
 * (contract `Precision`, `applyExponentFactor`). Throws ProtocolRevert when the result does not fit.
 */
export function pow30(x: bigint, exponent: bigint): bigint {
  if (x < ONE) return 0n
  if (exponent === ONE) return x
  for (const known of lastPowers) if (known.x === x && known.exponent === exponent) return known.power
  const product = log2Wad(x / WAD_PER_ONE) * (exponent / WAD_PER_ONE)
  const power = exp2Wad((product + WAD / 2n) / WAD) * WAD_PER_ONE
  lastPowers[oldestPower] = { x, exponent, power }
  oldestPower = (oldestPower + 1) % POWERS_KEPT
  return power
}
