import fc from 'fast-check'
import { type Address, type Hex, recoverAddress } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  addressOfKey,
  type CurvePackage,
  contractSignature,
  curveSource,
  isPrivateKey,
  loadCurve,
  nobleCurve,
  recoverSigner,
  signDigest,
} from '../../src/protocol/crypto/secp256k1.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const GENERATOR_X = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n

const seeded = (numRuns: number) => ({ seed: 20260801, numRuns })
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const asHex = (value: bigint): Hex => `0x${word(value)}`
const anyKey = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(asHex)
const anyDigest = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(asHex)

const key: Hex = `0x${'11'.repeat(32)}`
const digest: Hex = '0x0b3e949ed2b86ef6c9e650faa8d536d7853caf9aea0a5dcc83355cc990afca8d'
const signer: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const r = '039bd55c95e6a7d570b326f59b75701456acec11fcca9987ec9dee1f3a17d2f2'
const s = '28440cdaf72118a3b7300f1776c97502c3e2e04478bd0501d7c469cb0b2e59ab'
const signature: Hex = `0x${r}${s}1b`

/** What viem makes of a signature: an address, or undefined for a refusal. */
const viemSigner = (hash: Hex, signed: Hex): Promise<Address | undefined> =>
  recoverAddress({ hash, signature: signed }).catch(() => undefined)

/** The same of ours, by the fastest curve and by viem's own. */
function ourSigners(hash: Hex, signed: Hex): (Address | undefined)[] {
  return [undefined, nobleCurve].map((curve) => {
    try {
      return recoverSigner(hash, signed, curve)
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError)
      return undefined
    }
  })
}

test('a signature is byte for byte what viem signs, on both curves', async () => {
  await fc.assert(
    fc.asyncProperty(anyKey, anyDigest, async (privateKey, hash) => {
      const expected = await privateKeyToAccount(privateKey).sign({ hash })
      expect(signDigest(privateKey, hash)).toBe(expected)
    }),
    seeded(2000),
  )
  fc.assert(
    fc.property(anyKey, anyDigest, (privateKey, hash) => {
      expect(signDigest(privateKey, hash, nobleCurve)).toBe(signDigest(privateKey, hash))
    }),
    seeded(100),
  )
}, 60_000)

test('a key has the address that viem gives it, on both curves, and stays as it is', () => {
  fc.assert(
    fc.property(anyKey, (privateKey) => {
      const bytes = Buffer.from(privateKey.slice(2), 'hex')
      const expected = privateKeyToAddress(privateKey)
      expect([addressOfKey(privateKey), addressOfKey(bytes)]).toEqual([expected, expected])
      expect(addressOfKey(privateKey, nobleCurve)).toBe(expected)
      expect(`0x${bytes.toString('hex')}`).toBe(privateKey)
    }),
    seeded(200),
  )
  for (const edge of [1n, 2n, ORDER - 1n].map(asHex))
    expect(addressOfKey(edge)).toBe(privateKeyToAddress(edge))
  for (const none of [asHex(0n), asHex(ORDER), '0x11' as Hex]) {
    expect(() => addressOfKey(none)).toThrow('not a private key')
    expect(() => addressOfKey(none)).not.toThrow(none)
  }
})

test('a signature gives back its signer, checksummed, as viem gives it, on both curves', async () => {
  await fc.assert(
    fc.asyncProperty(anyKey, anyDigest, async (privateKey, hash) => {
      const signed = signDigest(privateKey, hash)
      const expected = privateKeyToAddress(privateKey)
      expect(await viemSigner(hash, signed)).toBe(expected)
      expect(ourSigners(hash, signed)).toEqual([expected, expected])
    }),
    seeded(300),
  )
}, 60_000)

test('numbers that nobody signed have the signer that viem finds, or none', async () => {
  const anyNumber = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(word)
  const anyV = fc.constantFrom('00', '01', '1b', '1c')
  let found = 0
  await fc.assert(
    fc.asyncProperty(anyDigest, anyNumber, anyNumber, anyV, async (hash, anyR, anyS, v) => {
      const signed: Hex = `0x${anyR}${anyS}${v}`
      const expected = await viemSigner(hash, signed)
      if (expected !== undefined) found += 1
      expect(ourSigners(hash, signed)).toEqual([expected, expected])
    }),
    seeded(300),
  )
  // About half of all r are the x of a point: both outcomes were met.
  expect(found).toBeGreaterThan(50)
  expect(found).toBeLessThan(250)
}, 60_000)

test('hostile signatures are treated as viem treats them', async () => {
  const highS = word(ORDER - BigInt(`0x${s}`))
  const cases: [name: string, signed: string, expected: Address | undefined][] = [
    ['as signed', `0x${r}${s}1b`, signer],
    ['v 0 for 27', `0x${r}${s}00`, signer],
    ['upper case', `0x${r}${s}1b`.toUpperCase().replace('0X', '0x'), signer],
    ['high s, v turned', `0x${r}${highS}1c`, signer],
    ['v 2', `0x${r}${s}02`, undefined],
    ['v 26', `0x${r}${s}1a`, undefined],
    ['v 29', `0x${r}${s}1d`, undefined],
    ['v 255', `0x${r}${s}ff`, undefined],
    ['r zero', `0x${word(0n)}${s}1b`, undefined],
    ['s zero', `0x${r}${word(0n)}1b`, undefined],
    ['r the order', `0x${word(ORDER)}${s}1b`, undefined],
    ['s the order', `0x${r}${word(ORDER)}1b`, undefined],
    ['r all ones', `0x${'ff'.repeat(32)}${s}1b`, undefined],
    ['s all ones', `0x${r}${'ff'.repeat(32)}1b`, undefined],
    ['r is no point', `0x${word(5n)}${s}1b`, undefined],
    // r of the generator and s of the digest make the point at infinity, which is nobody's key.
    ['infinity', `0x${word(GENERATOR_X)}${digest.slice(2)}1b`, undefined],
    ['64 bytes', `0x${r}${s}`, undefined],
    ['66 bytes', `0x${r}${s}1b00`, undefined],
    ['not hex', `0x${r.slice(2)}zz${s}1b`, undefined],
    ['nothing', '0x', undefined],
    ['empty', '', undefined],
  ]
  for (const [name, signed, expected] of cases) {
    expect([name, await viemSigner(digest, signed as Hex)]).toEqual([name, expected])
    expect([name, ...ourSigners(digest, signed as Hex)]).toEqual([name, expected, expected])
  }
  // The other v is the other signer of the same numbers, not a refusal.
  const other = await viemSigner(digest, `0x${r}${s}1c`)
  expect(other).not.toBe(signer)
  expect(ourSigners(digest, `0x${r}${s}1c`)).toEqual([other, other])
  // Stricter than viem in one thing: viem reads a last half byte as v, and here bytes are whole.
  expect(ourSigners(digest, `0x${r}${s}1`)).toEqual([undefined, undefined])
})

test('a digest at or over the order of the group is signed and recovered as viem does it', async () => {
  for (const hash of [ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n, 0n].map(asHex)) {
    const expected = await privateKeyToAccount(key).sign({ hash })
    expect(signDigest(key, hash)).toBe(expected)
    expect(signDigest(key, hash, nobleCurve)).toBe(expected)
    expect(ourSigners(hash, expected)).toEqual([signer, signer])
  }
})

test('the smallest and the largest key sign; what lies outside is no key', async () => {
  for (const privateKey of [1n, ORDER - 1n].map(asHex)) {
    expect(signDigest(privateKey, digest)).toBe(await privateKeyToAccount(privateKey).sign({ hash: digest }))
    expect(isPrivateKey(privateKey)).toBe(true)
  }
  for (const wrong of [asHex(0n), asHex(ORDER), asHex(2n ** 256n - 1n), '0x11', `0x${'zz'.repeat(32)}`]) {
    expect(isPrivateKey(wrong)).toBe(false)
    // The message is the same for all: a key, even a wrong one, is never repeated.
    expect(() => signDigest(wrong as Hex, digest)).toThrow(
      new RangeError('not a private key: 32 bytes, 1 to the order of the group less 1, are expected'),
    )
  }
  expect(() => signDigest(new Uint8Array(31).fill(1), digest)).toThrow(RangeError)
})

test('a key in bytes signs like its hex and is left as it was', () => {
  const bytes = new Uint8Array(32).fill(0x11)
  expect(signDigest(bytes, digest)).toBe(signature)
  expect(signDigest(key, digest)).toBe(signature)
  expect(bytes).toEqual(new Uint8Array(32).fill(0x11))
})

test('what is malformed is refused with the input that was', () => {
  expect(() => signDigest(key, '0x1234')).toThrow(new RangeError('not a digest of 32 bytes: 0x1234'))
  expect(() => recoverSigner('0x1234', signature)).toThrow(new RangeError('not a digest of 32 bytes: 0x1234'))
  expect(() => recoverSigner(digest, '0x1234')).toThrow(new RangeError('not a signature of 65 bytes: 0x1234'))
  expect(() => recoverSigner(digest, `0x${r}${s}02`)).toThrow(
    new RangeError('v of a signature is 0, 1, 27 or 28, not 2'),
  )
  expect(() => recoverSigner(digest, `0x${r}${word(0n)}1b`)).toThrow(
    new RangeError(`r and s are 1 to the order of the group less 1: 0x${r}${word(0n)}1b`),
  )
  expect(() => recoverSigner(digest, `0x${word(5n)}${s}1b`)).toThrow(
    new RangeError('the signature has no signer: its numbers are of no public key'),
  )
})

test('without the package, or with one that computes wrongly, viem signs', async () => {
  const missing = await loadCurve(() => Promise.reject(new Error("Cannot find package 'tiny-secp256k1'")))
  expect(missing).toBe(nobleCurve)

  const rs = Buffer.from(r + s, 'hex')
  const wrongSignature: CurvePackage = {
    signRecoverable: () => ({ signature: new Uint8Array(64).fill(1), recoveryId: 0 }),
    recover: () => null,
    pointFromScalar: () => null,
  }
  const rightSignatureOnly: CurvePackage = {
    signRecoverable: () => ({ signature: rs, recoveryId: 0 }),
    recover: () => new Uint8Array(65).fill(4),
    pointFromScalar: () => null,
  }
  const wrongAddress: CurvePackage = {
    signRecoverable: () => ({ signature: rs, recoveryId: 0 }),
    recover: () => nobleCurve.publicKey(Buffer.alloc(32, 0x11)),
    pointFromScalar: () => nobleCurve.publicKey(Buffer.alloc(32, 0x22)),
  }
  const throwing: CurvePackage = {
    signRecoverable: () => {
      throw new TypeError('Expected Private')
    },
    recover: () => null,
    pointFromScalar: () => null,
  }
  for (const wrong of [wrongSignature, rightSignatureOnly, wrongAddress, throwing]) {
    expect(await loadCurve(async () => wrong)).toBe(nobleCurve)
  }
})

const installed = await import('tiny-secp256k1').then(
  () => true,
  () => false,
)

test('the package is used exactly when it is installed', () => {
  expect(curveSource).toBe(installed ? 'tiny-secp256k1' : '@noble/curves')
})

test('a signature has one form that the contracts take; its twin with a high s has none', () => {
  fc.assert(
    fc.property(anyKey, anyDigest, (privateKey, hash) => {
      const signed = signDigest(privateKey, hash)
      const v = Number.parseInt(signed.slice(-2), 16)
      expect(contractSignature(signed)).toBe(signed)
      expect(contractSignature(`0x${signed.slice(2, 130).toUpperCase()}0${v - 27}`)).toBe(signed)
      const twin = `${signed.slice(0, 66)}${word(ORDER - BigInt(`0x${signed.slice(66, 130)}`))}${v === 27 ? '1c' : '1b'}`
      expect(recoverSigner(hash, twin as Hex)).toBe(recoverSigner(hash, signed))
      expect(() => contractSignature(twin)).toThrow('its s is in the upper half')
    }),
    seeded(100),
  )
  for (const odd of ['', '0x', signature.slice(2), `${signature}00`, signature.replace('0', 'g')])
    expect(() => contractSignature(odd)).toThrow('it is not 65 bytes of hex')
  for (const v of ['02', '1a', '1d', 'ff'])
    expect(() => contractSignature(signature.slice(0, 130) + v)).toThrow('v of a signature')
})
