/**
 * keccak256, synchronous and fast: WebAssembly from `hash-wasm` where that optional package is installed and gives the
 * right answers, viem's JavaScript otherwise. Both give the same hashes; a 1,248-byte hash costs a tenth in WebAssembly.
 */
import type { Hex } from 'viem'
import { keccak256 } from 'viem/utils'

/** One implementation of keccak256. */
export interface Keccak {
  /** The package that computes. */
  readonly source: 'hash-wasm' | 'viem'
  /** Hashes bytes; gives 64 lower-case hex digits without 0x. */
  readonly digitsOf: (bytes: Uint8Array) => string
}

/** viem's keccak256: always there, and what the faster one is held against. */
export const viemKeccak: Keccak = {
  source: 'viem',
  digitsOf: (bytes) => keccak256(bytes).slice(2),
}

/** The part of `hash-wasm` that is used. */
export interface KeccakPackage {
  createKeccak(bits: 256): Promise<{
    init(): unknown
    update(bytes: Uint8Array): unknown
    digest(outputType: 'hex'): string
  }>
}

/** keccak256 of no bytes, without 0x: what an empty list or string hashes to. */
export const EMPTY_DIGITS = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

// keccak256 of the bytes 0, 1, 2 and so on, this many: one block of input, and ten.
const KNOWN: readonly (readonly [byteLength: number, digits: string])[] = [
  [0, EMPTY_DIGITS],
  [1248, 'c4d200ed236ddad196660d142eaa874fdee2637b482764fab4e835046e7e6aec'],
]

/**
 * The fastest keccak256 there is: the package's when it loads and hashes known inputs rightly, else viem's.
 *
 * @param load imports the package; handed in so that a missing or broken package can be tried.
 */
export async function loadKeccak(load: () => Promise<KeccakPackage>): Promise<Keccak> {
  try {
    const { createKeccak } = await load()
    const hasher = await createKeccak(256)
    // One hasher serves all: nothing can come between the three calls, for they are synchronous.
    const digitsOf = (bytes: Uint8Array): string => {
      hasher.init()
      hasher.update(bytes)
      return hasher.digest('hex')
    }
    const right = KNOWN.every(
      ([byteLength, digits]) =>
        digitsOf(Uint8Array.from({ length: byteLength }, (_, index) => index)) === digits,
    )
    return right ? { source: 'hash-wasm', digitsOf } : viemKeccak
  } catch {
    // Not installed, or not loadable here: slower, never wrong.
    return viemKeccak
  }
}

/** The file of the package with this hash alone: the whole package is 284 kB of text, which every command would read and the daemon keep. */
const OWN_FILE: string = 'hash-wasm/dist/keccak.umd.min.js'

const keccak = await loadKeccak(async () => ((await import(OWN_FILE)) as { default: KeccakPackage }).default)

/** The package that hashes in this process. */
export const keccakSource = keccak.source

/**
 * keccak256 of hex digits, as hex digits, both without 0x.
 *
 * @throws RangeError when the digits are not hex or not whole bytes.
 */
export function keccakOfDigits(digits: string): string {
  const bytes = Buffer.from(digits, 'hex')
  // Buffer stops at the first byte that is none.
  if (bytes.length * 2 !== digits.length) {
    throw new RangeError(`not whole bytes of hex: ${digits.length} characters, wrong at ${bytes.length * 2}`)
  }
  return keccak.digitsOf(bytes)
}

/**
 * keccak256 of hex digits that come in pieces, without 0x, as digits. Cheaper than adding the pieces up: a string that was
 * joined is flat, one that was added is a tree.
 *
 * @throws RangeError when the digits are not hex or not whole bytes.
 */
export function keccakOfWords(words: readonly string[]): string {
  return keccakOfDigits(words.join(''))
}

/**
 * keccak256 of 0x-prefixed hex.
 *
 * @throws RangeError when the value is not 0x and the hex digits of whole bytes.
 */
export function keccakOfHex(value: Hex): Hex {
  if (!value.startsWith('0x')) throw new RangeError('not hex: it does not begin with 0x')
  return `0x${keccakOfDigits(value.slice(2))}`
}

/** keccak256 of bytes. */
export function keccakOfBytes(bytes: Uint8Array): Hex {
  return `0x${keccak.digitsOf(bytes)}`
}
