/** Our decoder of the emitter's events against viem's, and against bytes that are none. */
import fc from 'fast-check'
import { encodeAbiParameters, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { decodeEventData } from '../../src/chain/logs/decodeEventData.ts'
import { emitterAbi } from '../paper/chainSupport.ts'

const event = emitterAbi.find((one) => one.name === 'EventLog1')
const inputs = (event?.inputs ?? []).filter((input) => !('indexed' in input && input.indexed))

const hexOf = (bytes: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => `0x${Buffer.from(value).toString('hex')}` as Hex)
const text = fc.string({ maxLength: 40, unit: 'grapheme' })

/** Items of one kind with different keys, and lists beside them that the decoder passes over. */
function items<T>(value: fc.Arbitrary<T>) {
  return fc.record({
    items: fc.uniqueArray(fc.record({ key: text, value }), { maxLength: 5, selector: ({ key }) => key }),
    arrayItems: fc.array(fc.record({ key: text, value: fc.array(value, { maxLength: 3 }) }), {
      maxLength: 2,
    }),
  })
}

const eventData = fc.record({
  addressItems: items(hexOf(20)),
  uintItems: items(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  intItems: items(fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })),
  boolItems: items(fc.boolean()),
  bytes32Items: items(hexOf(32)),
  bytesItems: items(fc.nat(70).chain(hexOf)),
  stringItems: items(text),
})

const encoded = (name: string, data: unknown): Hex =>
  encodeAbiParameters(inputs as never, ['0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A', name, data] as never)

const pairs = (map: ReadonlyMap<string, unknown>) => [...map].map(([key, value]) => ({ key, value }))

test('every event that viem can encode is read back, item by item', () => {
  fc.assert(
    fc.property(text, eventData, (name, data) => {
      const read = decodeEventData(encoded(name, data))
      expect(read.eventName).toBe(name)
      expect(pairs(read.addresses)).toEqual(data.addressItems.items)
      expect(pairs(read.uints)).toEqual(data.uintItems.items)
      expect(pairs(read.ints)).toEqual(data.intItems.items)
      expect(pairs(read.bools)).toEqual(data.boolItems.items)
      expect(pairs(read.words)).toEqual(data.bytes32Items.items)
      expect(pairs(read.bytes)).toEqual(data.bytesItems.items)
      expect(pairs(read.strings)).toEqual(data.stringItems.items)
    }),
    { numRuns: 300 },
  )
})

test('bytes that are no event are refused in one way, whatever was done to them', () => {
  const name = 'OrderCreated'
  fc.assert(
    fc.property(
      eventData,
      fc.array(fc.tuple(fc.nat(), hexOf(32)), { maxLength: 3 }),
      fc.nat(2000),
      (data, changes, cut) => {
        let digits = encoded(name, data).slice(2)
        for (const [at, word] of changes) {
          const place = (at % (digits.length / 64)) * 64
          digits = digits.slice(0, place) + word.slice(2) + digits.slice(place + 64)
        }
        try {
          decodeEventData(`0x${digits.slice(0, digits.length - cut)}`)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      },
    ),
    { numRuns: 1000 },
  )
  expect(() => decodeEventData('0x')).toThrow(RangeError)
  expect(() => decodeEventData(`0x${'ff'.repeat(32 * 20)}`)).toThrow(RangeError)
})

test('an item that comes twice, a bool that is two and an address of 32 bytes are refused', () => {
  const none = { items: [], arrayItems: [] }
  const empty = {
    addressItems: none,
    uintItems: none,
    intItems: none,
    boolItems: none,
    bytes32Items: none,
    bytesItems: none,
    stringItems: none,
  }
  const twice = {
    items: [
      { key: 'a', value: 1n },
      { key: 'a', value: 2n },
    ],
    arrayItems: [],
  }
  expect(() => decodeEventData(encoded('E', { ...empty, uintItems: twice }))).toThrow(/twice/)
  const one = encoded('E', { ...empty, boolItems: { items: [{ key: 'b', value: true }], arrayItems: [] } })
  // Tried at every word that is 1: lengths and offsets fail otherwise, and one of them is the value.
  const words: readonly string[] = one.slice(2).match(/.{64}/g) ?? []
  const isRefused = words.map((word, at) => {
    if (BigInt(`0x${word}`) !== 1n) return false
    const changed = words.with(at, '2'.padStart(64, '0')).join('')
    try {
      decodeEventData(`0x${changed}`)
      return false
    } catch (error) {
      return error instanceof RangeError && /bool/.test(error.message)
    }
  })
  expect(isRefused).toContain(true)
})
