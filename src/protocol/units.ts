/**
 * Money, in the venue's fixed point.
 *
 * USD amounts, USD prices and factors are bigints with 30 decimals; token amounts are bigints in the token's own
 * smallest unit. Human input and ratios pass through decimal.js; a JavaScript float never holds an amount or a price.
 *
 * Two price scales exist on the wire and both are bigints: the USD price of one whole token with 30 decimals
 * (`...Price`, what the domain uses everywhere), and the contract price, USD x 10^(30 - tokenDecimals), which orders,
 * trades, events and signed messages carry (`...ContractPrice`).
 */
import { Decimal } from 'decimal.js'

/** USD with 30 decimals. May be negative where a field says so (PnL, price impact). */
export type Usd = bigint

/** A token amount in the token's smallest unit. */
export type TokenAmount = bigint

/** Decimals of every chain's native token here. */
export const NATIVE_DECIMALS = 18

/** Decimals of every USD amount, USD price and factor (docs/reference/api-coverage.md A8). */
export const USD_DECIMALS = 30

/** One US dollar; also the factor 1.0. */
export const ONE_USD: Usd = 10n ** 30n

/** Powers of ten up to that of the widest amount: one is asked for with every amount, and to reckon it costs more than the rest. */
const powersOfTen: readonly bigint[] = Array.from({ length: 79 }, (_, exponent) => 10n ** BigInt(exponent))

/** 10 to the power of a number of decimals, an integer from 0. Throws RangeError on anything else. */
export function tenTo(decimals: number): bigint {
  return powersOfTen[decimals] ?? 10n ** BigInt(decimals)
}

const HALF_CENT: Usd = ONE_USD / 200n

/** Basis points of a whole: 10000 bps = 100 % = 1x leverage. */
export const BPS_ONE = 10_000

/** The largest uint256; the protocol's "any price" for orders that must fill upwards. */
export const MAX_UINT256 = 2n ** 256n - 1n

// Amounts have up to 78 digits: Decimal's default of 20 significant digits would round them.
const Wide = Decimal.clone({ precision: 120, toExpNeg: -200, toExpPos: 200 })

/** Decimal with enough digits for any uint256; the one constructor to use for amounts and ratios. */
export { Wide as WideDecimal }

/**
 * Reads a decimal text ("12.5") as a fixed-point bigint with `decimals` decimals.
 *
 * @throws RangeError when the text is not a plain decimal number, or has more decimals than fit.
 */
export function parseUnits(text: string, decimals: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) throw new RangeError(`not a decimal number: ${JSON.stringify(text)}`)
  const [, sign = '', whole = '', fraction = ''] = match
  if (fraction.length > decimals) {
    throw new RangeError(`more than ${decimals} decimals: ${JSON.stringify(text)}`)
  }
  const magnitude = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign === '-' ? -magnitude : magnitude
}

/** USD from a decimal text or an integer count of dollars: `usd('12.5')`, `usd(100)`. Throws RangeError. */
export function usd(value: string | number): Usd {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(
      `usd(${value}): a number with decimals is inexact; pass it as text, usd('12.5') or usd(value.toFixed(6))`,
    )
  }
  return parseUnits(String(value), USD_DECIMALS)
}

const widePowers = new Map<number, Decimal>()

function widePowerOfTen(exponent: number): Decimal {
  const known = widePowers.get(exponent)
  if (known !== undefined) return known
  const made = new Wide(10).pow(exponent)
  widePowers.set(exponent, made)
  return made
}

/** Fixed-point bigint to a Decimal, exact. */
export function toDecimal(amount: bigint, decimals: number): Decimal {
  return new Wide(amount.toString()).div(widePowerOfTen(decimals))
}

/** Decimal to a fixed-point bigint, truncated toward zero. Throws RangeError on NaN or infinity. */
export function fromDecimal(value: Decimal, decimals: number): bigint {
  if (!value.isFinite()) throw new RangeError(`not a finite amount: ${value.toString()}`)
  return BigInt(new Wide(value).mul(widePowerOfTen(decimals)).toFixed(0, Decimal.ROUND_DOWN))
}

/** Fixed-point bigint as a plain decimal text, exact, without trailing zeros: `formatUnits(1500000n, 6)` is "1.5". */
export function formatUnits(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/**
 * An amount of settings and decisions for people: dollars with thousands separators and `digits` decimals, rounded half up; small
 * amounts get more digits so that they do not show as 0.00. For screens and logs, never to be parsed again.
 */
export function formatUsd(amount: Usd, digits = 2): string {
  const value = toDecimal(amount, USD_DECIMALS)
  const magnitude = value.abs()
  const small = !magnitude.isZero() && magnitude.lt(1)
  const text = small
    ? magnitude.toSignificantDigits(4).toFixed()
    : magnitude.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${value.isNegative() ? '-' : ''}$${text}`
}

/**
 * An amount of dollars for people, in whole cents, rounded half up; what is less than half of one shows two digits of what it is
 * (`-$0.0047`), and less than half a millionth is `$0.00`. Prices go through `formatPrice`.
 */
export function formatDollars(amount: Usd): string {
  const cents = (absOf(amount) + HALF_CENT) / (2n * HALF_CENT)
  const [value, places] = cents === 0n ? smallOf(absOf(amount)) : [cents, 2]
  if (value === 0n) return '$0.00'
  const [whole = '0', fraction = ''] = formatUnits(value, places).split('.')
  return `${amount < 0n ? '-' : ''}$${whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}.${fraction.padEnd(2, '0')}`
}

/** An amount below a cent in millionths of a dollar, rounded to two digits of it, with its decimal places. */
function smallOf(magnitude: Usd): readonly [value: bigint, places: number] {
  const millionth = 10n ** BigInt(USD_DECIMALS - 6)
  const millionths = (magnitude + millionth / 2n) / millionth
  const unit = 10n ** BigInt(Math.max(0, millionths.toString().length - 2))
  return [((millionths + unit / 2n) / unit) * unit, 6]
}

/** The most that something costs, for people: in whole cents, none left out. */
export function formatAtMost(amount: Usd): string {
  return formatDollars(mulDivUp(absOf(amount), 1n, 2n * HALF_CENT) * 2n * HALF_CENT)
}

/**
 * The size of an order for people. The largest uint256 means all of the position: the contracts cap the size of a limit or
 * stop decrease to what there is (`DecreasePositionUtils.decreasePosition`).
 */
export function formatSize(sizeDeltaUsd: Usd): string {
  return sizeDeltaUsd === MAX_UINT256 ? 'all of the position' : formatDollars(sizeDeltaUsd)
}

/** floor(a * b / c) for non-negative a, b and positive c. Throws RangeError on anything else. */
export function mulDiv(a: bigint, b: bigint, c: bigint): bigint {
  if (a < 0n || b < 0n || c <= 0n) throw new RangeError(`mulDiv(${a}, ${b}, ${c}): operands out of range`)
  return (a * b) / c
}

/** ceil(a * b / c) for non-negative a, b and positive c. Throws RangeError on anything else. */
export function mulDivUp(a: bigint, b: bigint, c: bigint): bigint {
  if (a < 0n || b < 0n || c <= 0n) throw new RangeError(`mulDivUp(${a}, ${b}, ${c}): operands out of range`)
  return (a * b + c - 1n) / c
}

/** `bps` basis points of an amount, truncated toward zero. `bps` is an integer, of either sign. */
export function bps(amount: bigint, basisPoints: number): bigint {
  return (amount * BigInt(basisPoints)) / BigInt(BPS_ONE)
}

/** The smallest of the arguments. */
export function minOf(first: bigint, ...rest: readonly bigint[]): bigint {
  return rest.reduce((least, value) => (value < least ? value : least), first)
}

/** The largest of the arguments. */
export function maxOf(first: bigint, ...rest: readonly bigint[]): bigint {
  return rest.reduce((most, value) => (value > most ? value : most), first)
}

/** Magnitude of a signed amount. */
export function absOf(value: bigint): bigint {
  return value < 0n ? -value : value
}

/**
 * USD price of one whole token, 30 decimals, from an oracle record
 * (docs/reference/api-coverage.md O1: USD = value / 10^(30 - tokenDecimals - oracleDecimals)).
 */
export function oraclePriceToUsd(value: bigint, tokenDecimals: number, oracleDecimals: number): Usd {
  return value * tenTo(tokenDecimals + oracleDecimals)
}

/** USD price (30 decimals) of one whole token from a contract price, exact. */
export function priceOfContractPrice(contractPrice: bigint, tokenDecimals: number): Usd {
  return contractPrice * tenTo(tokenDecimals)
}

/** Contract price from a USD price of one whole token, floored. */
export function contractPriceOf(price: Usd, tokenDecimals: number): bigint {
  return price / tenTo(tokenDecimals)
}

/** USD value of a token amount at a USD price per whole token, floored toward zero. */
export function usdOfAmount(amount: TokenAmount, price: Usd, tokenDecimals: number): Usd {
  return (amount * price) / tenTo(tokenDecimals)
}

/** Token amount that a USD value buys at a USD price per whole token, floored. `price` must be positive. */
export function amountOfUsd(value: Usd, price: Usd, tokenDecimals: number): TokenAmount {
  return mulDiv(value, tenTo(tokenDecimals), price)
}

/**
 * Splits an amount into shares by weight, which add up to it exactly. Each share is rounded toward zero. The remainder goes, unit by unit, to those
 * with the largest remainders; of equal ones to the first. `weights` are not negative; without any weight every share is 0.
 */
export function sharesOf(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const whole = weights.reduce((sum, each) => sum + each, 0n)
  if (whole <= 0n || amount === 0n) return weights.map(() => 0n)
  if (weights.length === 1) return [amount]
  const sign = amount < 0n ? -1n : 1n
  const size = amount * sign
  const shares = weights.map((weight) => (size * weight) / whole)
  const left = Number(size - shares.reduce((sum, each) => sum + each, 0n))
  const byRemainder = weights
    .map((weight, place) => ({ place, remainder: (size * weight) % whole }))
    .sort((one, other) =>
      one.remainder === other.remainder ? one.place - other.place : one.remainder > other.remainder ? -1 : 1,
    )
  const lucky = new Set(byRemainder.slice(0, left).map(({ place }) => place))
  return shares.map((share, place) => sign * (lucky.has(place) ? share + 1n : share))
}
