/** A power that is asked for again is the one that is computed anew, whatever was asked for in between. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { pow30 } from '../../src/paper/math/integer.ts'

const ONE = 10n ** 30n

/** The power by a module that has taken none before. */
async function anew(x: bigint, exponent: bigint): Promise<bigint> {
  vi.resetModules()
  const fresh = await import('../../src/paper/math/integer.ts')
  expect(fresh.pow30).not.toBe(pow30)
  return fresh.pow30(x, exponent)
}

test('a power that is asked for again is the one that is computed anew', async () => {
  const xs = fc.constantFrom(...[1n, 2n, 777n, 123_456_789n].map((dollars) => dollars * ONE + 12_345n))
  const exponents = fc.constantFrom(ONE, 2n * ONE, (17n * ONE) / 10n, ONE / 2n)
  const asked = fc.sample(fc.tuple(xs, exponents), { numRuns: 80, seed: 20_261_125 })
  const known = new Map<string, bigint>()
  for (const [x, exponent] of asked) {
    const name = `${x} ${exponent}`
    if (!known.has(name)) known.set(name, await anew(x, exponent))
    expect(pow30(x, exponent), name).toBe(known.get(name))
  }
  expect(known.size).toBeGreaterThan(10)
})
