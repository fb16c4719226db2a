import { createDecipheriv, scryptSync } from 'node:crypto'
import { keccak256 } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import {
  agreedAddressOf,
  decryptKeystore,
  encryptKey,
  KeystoreError,
  parseKeystore,
} from '../../src/keys/keystore.ts'
import { nobleCurve } from '../../src/protocol/crypto/secp256k1.ts'

const password = new Secret('testpassword')
/** Cheap, so that tests are quick; the standard is used once. */
const cheap = { n: 2, r: 8, p: 1 }

// The two vectors of the Web3 Secret Storage Definition, both of the same key.
const published = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const pbkdf2Vector = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const scryptVector = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

const parse = (document: unknown) => parseKeystore(new Secret(JSON.stringify(document)), 'FILE')

async function faultOf(work: () => unknown): Promise<KeystoreError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof KeystoreError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('the published vectors open: pbkdf2 and scrypt', async () => {
  for (const vector of [pbkdf2Vector, scryptVector]) {
    expect((await decryptKeystore(parse(vector), password)).reveal()).toBe(published)
  }
})

test('a wrong password is one clear refusal that repeats neither password nor key', async () => {
  const wrong = await faultOf(() => decryptKeystore(parse(pbkdf2Vector), new Secret('testpassworD')))
  expect(wrong.message).toBe(
    [
      'The password does not open the keystore.',
      '  path: FILE',
      '  Nothing was signed. Enter the password that encrypted it; a damaged file gives the same error.',
    ].join('\n'),
  )
})

test('a new keystore costs N 2^18, r 8, p 1, and another implementation opens it', async () => {
  const key = new Secret(`0x${'4c'.repeat(32)}`)
  const text = (await encryptKey(key, password)).reveal()
  const { address, version, crypto } = JSON.parse(text)
  expect(version).toBe(3)
  expect(`0x${address}`).toBe(privateKeyToAddress(`0x${'4c'.repeat(32)}`).toLowerCase())
  expect(crypto.kdfparams).toMatchObject({ n: 262144, r: 8, p: 1, dklen: 32 })
  const { n: N, r, p, salt } = crypto.kdfparams
  const derived = scryptSync('testpassword', Buffer.from(salt, 'hex'), 32, { N, r, p, maxmem: 2 ** 29 })
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  expect(keccak256(Buffer.concat([derived.subarray(16), ciphertext]))).toBe(`0x${crypto.mac}`)
  const decipher = createDecipheriv(
    'aes-128-ctr',
    derived.subarray(0, 16),
    Buffer.from(crypto.cipherparams.iv, 'hex'),
  )
  expect(decipher.update(ciphertext, undefined, 'hex')).toBe('4c'.repeat(32))
})

test('a keystore is different each time and holds nothing of its key or password', async () => {
  const key = new Secret(`0x${'4c'.repeat(32)}`)
  const [one, other] = await Promise.all([encryptKey(key, password, cheap), encryptKey(key, password, cheap)])
  const [a, b] = [JSON.parse(one.reveal()), JSON.parse(other.reveal())]
  for (const pick of [
    (x: typeof a) => x.id,
    (x: typeof a) => x.crypto.mac,
    (x: typeof a) => x.crypto.ciphertext,
    (x: typeof a) => x.crypto.cipherparams.iv,
    (x: typeof a) => x.crypto.kdfparams.salt,
  ]) {
    expect(pick(a)).not.toBe(pick(b))
  }
  expect(one.reveal()).not.toMatch(/4c4c4c4c|testpassword/)
})

test('every byte of what the mac guards is guarded', async () => {
  const text = (await encryptKey(new Secret(published), password, cheap)).reveal()
  const document = JSON.parse(text)
  const flipped = (digits: string, at: number) => {
    const bytes = Buffer.from(digits, 'hex')
    bytes[at] = (bytes[at] ?? 0) ^ 1
    return bytes.toString('hex')
  }
  for (let at = 0; at < 32; at++) {
    for (const field of ['ciphertext', 'mac'] as const) {
      const changed = structuredClone(document)
      changed.crypto[field] = flipped(changed.crypto[field], at)
      expect((await faultOf(() => decryptKeystore(parse(changed), password))).code).toBe('KEYSTORE_PASSWORD')
    }
  }
})

test('what the mac does not guard, the initial vector, is caught by the address', async () => {
  const document = JSON.parse((await encryptKey(new Secret(published), password, cheap)).reveal())
  document.crypto.cipherparams.iv = '00'.repeat(16)
  const fault = await faultOf(() => decryptKeystore(parse(document), password))
  expect([fault.code, fault.facts.says]).toEqual([
    'KEYSTORE_ADDRESS',
    '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b',
  ])
})

test('a keystore that names another address is refused, one that names none is opened', async () => {
  const document = JSON.parse((await encryptKey(new Secret(published), password, cheap)).reveal())
  const stranger = { ...document, address: '19'.repeat(20) }
  expect((await faultOf(() => decryptKeystore(parse(stranger), password))).code).toBe('KEYSTORE_ADDRESS')
  const { address: _, ...silent } = document
  expect((await decryptKeystore(parse(silent), password)).reveal()).toBe(published)
  const prefixed = { ...document, address: `0x${document.address.toUpperCase()}` }
  expect((await decryptKeystore(parse(prefixed), password)).reveal()).toBe(published)
})

test('encrypted bytes that are no key are refused', async () => {
  const document = JSON.parse((await encryptKey(new Secret(published), password, cheap)).reveal())
  const salt = Buffer.from(document.crypto.kdfparams.salt, 'hex')
  const derived = scryptSync('testpassword', salt, 32, { N: cheap.n, r: cheap.r, p: cheap.p })
  const iv = Buffer.from(document.crypto.cipherparams.iv, 'hex')
  const ciphertext = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv).update(Buffer.alloc(32))
  document.crypto.ciphertext = ciphertext.toString('hex')
  document.crypto.mac = keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2)
  const fault = await faultOf(() => decryptKeystore(parse(document), password))
  expect([fault.code, fault.facts.field]).toEqual(['KEYSTORE_CONTENT', 'the encrypted bytes'])
})

test('a file that would cost too much, or is no keystore, is refused before anything is computed', async () => {
  const scrypt = (params: object) => ({
    ...scryptVector,
    crypto: { ...scryptVector.crypto, kdfparams: { ...scryptVector.crypto.kdfparams, ...params } },
  })
  const pbkdf2 = (params: object) => ({
    ...pbkdf2Vector,
    crypto: { ...pbkdf2Vector.crypto, kdfparams: { ...pbkdf2Vector.crypto.kdfparams, ...params } },
  })
  const withCrypto = (fields: object) => ({ ...scryptVector, crypto: { ...scryptVector.crypto, ...fields } })
  const bad: readonly (readonly [field: string, document: unknown])[] = [
    ['crypto.kdfparams', scrypt({ n: 2 ** 22, r: 8, p: 1 })],
    ['crypto.kdfparams', scrypt({ n: 2, r: 2 ** 22, p: 2 })],
    ['crypto.kdfparams', scrypt({ n: 2 ** 18, r: 8, p: 5 })],
    ['crypto.kdfparams.n', scrypt({ n: 2 ** 40 })],
    ['crypto.kdfparams.n', scrypt({ n: 1000 })],
    ['crypto.kdfparams.n', scrypt({ n: 1 })],
    ['crypto.kdfparams.n', scrypt({ n: '262144' })],
    ['crypto.kdfparams.n', scrypt({ n: -2 })],
    ['crypto.kdfparams.r', scrypt({ r: 0 })],
    ['crypto.kdfparams.p', scrypt({ p: 1.5 })],
    ['crypto.kdfparams.dklen', scrypt({ dklen: 1_000_000_000 })],
    ['crypto.kdfparams.salt', scrypt({ salt: '' })],
    ['crypto.kdfparams.salt', scrypt({ salt: 'zz' })],
    ['crypto.kdfparams.salt', scrypt({ salt: 'ab'.repeat(129) })],
    ['crypto.kdfparams.c', pbkdf2({ c: 1e12 })],
    ['crypto.kdfparams.c', pbkdf2({ c: 0 })],
    ['crypto.kdfparams.prf', pbkdf2({ prf: 'hmac-md5' })],
    ['crypto.kdf', withCrypto({ kdf: 'none' })],
    ['crypto.cipher', withCrypto({ cipher: 'aes-128-cbc' })],
    ['crypto.ciphertext', withCrypto({ ciphertext: 'ab'.repeat(31) })],
    ['crypto.mac', withCrypto({ mac: '' })],
    ['crypto.cipherparams', withCrypto({ cipherparams: [] })],
    ['crypto.cipherparams.iv', withCrypto({ cipherparams: { iv: '00' } })],
    ['crypto', { version: 3 }],
    ['version', { ...scryptVector, version: 1 }],
    ['address', { ...scryptVector, address: 'me' }],
    ['it', []],
    ['it', null],
  ]
  for (const [field, document] of bad) {
    const fault = await faultOf(() => parse(document))
    expect([fault.code, fault.facts.field]).toEqual(['KEYSTORE_CONTENT', field])
  }
})

test('a bare key or other text in the place of a keystore is refused without repeating it', async () => {
  const bare = await faultOf(() => parseKeystore(new Secret(`${published}\n`), 'FILE'))
  expect(bare.facts.expected).toBe('an encrypted keystore; this is a bare key: perpd keys import --from FILE')
  const other = await faultOf(() => parseKeystore(new Secret('correct horse'), 'FILE'))
  for (const fault of [bare, other]) expect(fault.message).not.toMatch(/7a28|horse/)
  expect(other.cause).toBeUndefined()
})

test('an empty password makes no keystore', async () => {
  await expect(encryptKey(new Secret(published), new Secret(''), cheap)).rejects.toThrow(RangeError)
  await expect(encryptKey(new Secret('0x12'), password, cheap)).rejects.toThrow(RangeError)
})

test('an address on which two packages do not agree is written into no keystore', () => {
  const key = published
  expect(agreedAddressOf(key)).toBe(privateKeyToAddress(key))
  const wrong = { ...nobleCurve, publicKey: () => nobleCurve.publicKey(Buffer.alloc(32, 0x22)) }
  expect(() => agreedAddressOf(key, wrong)).toThrow('Two packages compute different addresses')
  expect(() => agreedAddressOf(key, wrong)).not.toThrow(key)
})
