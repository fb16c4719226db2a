import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { type Hex, keccak256 } from 'viem'
import { expect, test } from 'vitest'
import {
  EMPTY_DIGITS,
  type KeccakPackage,
  keccakOfBytes,
  keccakOfDigits,
  keccakOfHex,
  keccakOfWords,
  keccakSource,
  loadKeccak,
  viemKeccak,
} from '../../src/protocol/crypto/keccak.ts'

const seeded = (numRuns: number) => ({ seed: 20260801, numRuns })
const anyBytes = fc.uint8Array({ maxLength: 700 })
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

/** A package that answers with what is handed in. */
const packageThatGives = (digits: string): KeccakPackage => ({
  createKeccak: async () => ({ init: () => {}, update: () => {}, digest: () => digits }),
})

test('bytes, digits and hex hash as viem hashes them', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const hex = hexOf(bytes)
      const expected = keccak256(bytes)
      expect(keccakOfBytes(bytes)).toBe(expected)
      expect(keccakOfHex(hex)).toBe(expected)
      expect(`0x${keccakOfDigits(hex.slice(2).toUpperCase())}`).toBe(expected)
    }),
    seeded(3000),
  )
})

test('every length around the blocks of the hash gives what viem gives', () => {
  const bytes = Uint8Array.from({ length: 600 }, (_, index) => index * 7)
  for (let length = 0; length <= bytes.length; length += 1) {
    expect(keccakOfBytes(bytes.subarray(0, length))).toBe(keccak256(bytes.subarray(0, length)))
  }
})

test('an input far larger than any order hashes as viem hashes it', () => {
  const bytes = Uint8Array.from({ length: 300_001 }, (_, index) => index * 31)
  expect(keccakOfBytes(bytes)).toBe(keccak256(bytes))
  expect(keccakOfHex(hexOf(bytes))).toBe(keccak256(bytes))
})

test('a view into a larger buffer hashes its own bytes alone', () => {
  const all = Buffer.from('00112233445566778899', 'hex')
  expect(keccakOfBytes(all.subarray(3, 7))).toBe(keccak256('0x33445566'))
})

test('a published vector and the hash of nothing are the known ones', () => {
  expect(keccakOfBytes(Buffer.from('testing'))).toBe(
    '0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02',
  )
  expect(keccakOfDigits('')).toBe(EMPTY_DIGITS)
  expect(`0x${EMPTY_DIGITS}`).toBe(keccak256('0x'))
})

test('what is not the hex of whole bytes is refused, never cut to fit', () => {
  expect(() => keccakOfDigits('abc')).toThrow(
    new RangeError('not whole bytes of hex: 3 characters, wrong at 2'),
  )
  expect(() => keccakOfDigits('00zz00')).toThrow(
    new RangeError('not whole bytes of hex: 6 characters, wrong at 2'),
  )
  expect(() => keccakOfDigits('0x00')).toThrow(
    new RangeError('not whole bytes of hex: 4 characters, wrong at 0'),
  )
  expect(() => keccakOfDigits('０a')).toThrow(RangeError)
  expect(() => keccakOfHex('00' as Hex)).toThrow(new RangeError('not hex: it does not begin with 0x'))
})

test('digits in pieces hash as the whole', () => {
  expect(keccakOfWords(['19', '01', 'ab'.repeat(32)])).toBe(keccakOfDigits(`1901${'ab'.repeat(32)}`))
  expect(keccakOfWords([])).toBe(EMPTY_DIGITS)
})

test('without the package viem hashes', async () => {
  const missing = await loadKeccak(() => Promise.reject(new Error("Cannot find package 'hash-wasm'")))
  expect(missing).toBe(viemKeccak)
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(`0x${missing.digitsOf(bytes)}`).toBe(keccak256(bytes))
      expect(keccakOfBytes(bytes)).toBe(`0x${missing.digitsOf(bytes)}`)
    }),
    seeded(1000),
  )
})

test('a package that hashes wrongly, rightly only once, or not at all is not used', async () => {
  expect(await loadKeccak(async () => packageThatGives('00'.repeat(32)))).toBe(viemKeccak)
  expect(await loadKeccak(async () => packageThatGives(EMPTY_DIGITS))).toBe(viemKeccak)
  expect(await loadKeccak(async () => ({ createKeccak: () => Promise.reject(new Error('no wasm')) }))).toBe(
    viemKeccak,
  )
  expect(await loadKeccak(async () => ({}) as KeccakPackage)).toBe(viemKeccak)
})

const installed = await import('hash-wasm').then(
  () => true,
  () => false,
)

test('the package is used exactly when it is installed', () => {
  expect(keccakSource).toBe(installed ? 'hash-wasm' : 'viem')
})

test.runIf(installed)('of the package a process loads the file of this hash alone', () => {
  const file = JSON.stringify(fileURLToPath(new URL('../../src/protocol/crypto/keccak.ts', import.meta.url)))
  const code = `import { createRequire } from 'node:module'; await import(${file});
    console.log(Object.keys(createRequire(${file}).cache).filter((each) => each.includes('hash-wasm')).join())`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  expect(said.trim()).toMatch(/^[^,]*dist.keccak\.umd\.min\.js$/)
})
