/** Addresses of metadata services and links are refused however they are written, and whatever name leads to them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkedLookup, isForbiddenAddress, type ResolveAll } from '../../src/base/networkAddress.ts'

test.each([
  '169.254.169.254',
  '169.254.0.1',
  '100.100.100.200',
  '168.63.129.16',
  'fe80::1',
  'FEBF::1',
  'fe80::1%eth0',
  '[fe80::1]',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:0254',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
])('%s is refused', (address) => {
  expect(isForbiddenAddress(address)).toBe(true)
})

test.each([
  '127.0.0.1',
  '10.0.0.7',
  '169.253.1.1',
  '::1',
  '2001:db8::1',
  'fec0::1',
  '::ffff:10.0.0.7',
  '::',
  'fe80.example',
  'a:b',
])('%s is not', (address) => {
  expect(isForbiddenAddress(address)).toBe(false)
})

test('every way that a URL writes an address of the link is the same address', () => {
  fc.assert(
    fc.property(fc.nat(255), fc.nat(255), fc.constantFrom(0, 1, 2, 3), (third, fourth, form) => {
      const whole = 169 * 2 ** 24 + 254 * 2 ** 16 + third * 256 + fourth
      const hex = (value: number) => value.toString(16).padStart(4, '0')
      const host = [
        String(whole),
        `0x${whole.toString(16)}`,
        `0251.0376.0${third.toString(8)}.0x${fourth.toString(16)}`,
        `[::ffff:a9fe:${hex(third * 256 + fourth)}]`,
      ][form]
      expect(isForbiddenAddress(new URL(`https://${host}/`).hostname)).toBe(true)
    }),
    { seed: 4, numRuns: 300 },
  )
})

test('a name is refused when any of its addresses is, and given as it was asked for when none is', () => {
  const resolve =
    (...addresses: string[]): ResolveAll =>
    (_name, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  const given = (addresses: string[], all: boolean): unknown => {
    let answer: unknown
    checkedLookup(resolve(...addresses))('host.example', { all }, (error, address, family) => {
      answer = error?.message ?? [address, family]
    })
    return answer
  }
  expect(given(['10.0.0.1', '169.254.169.254'], true)).toBe(
    'host.example (169.254.169.254) is a link-local or metadata address; perpd connects to none',
  )
  expect(given(['fe80::1'], false)).toContain('fe80::1')
  expect(given(['10.0.0.1', '::1'], false)).toEqual(['10.0.0.1', 4])
  expect(given(['::1'], true)).toEqual([[{ address: '::1', family: 6 }], undefined])
  expect(given([], false)).toBe('host.example has no address')
})
