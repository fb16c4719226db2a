/** The pool that a short symbol means, for an order by hand: by a rule that is shown, and never a guess. */
import { expect, test } from 'vitest'
import { chosenPool, type Pool } from '../../src/operator/namedMarket.ts'
import { usd } from '../../src/protocol/units.ts'

const pool = (symbol: string, free?: string, isHeld = false): Pool => ({
  symbol,
  isHeld,
  freeUsd: free === undefined ? undefined : usd(free),
})

test('the deepest pool is taken where the next has less than a third of it, and the rule is shown with the figures', () => {
  const taken = chosenPool([pool('a', '900000'), pool('b', '5100000'), pool('c', '10')])
  expect(taken?.symbol).toBe('b')
  expect(taken?.chosen).toBe('b, deepest of 3: $5,100,000.00 free, next $900,000.00')
})

test('two pools within a factor of three are never taken, and neither is one beside a pool of unknown capacity', () => {
  expect(chosenPool([pool('a', '300'), pool('b', '100')])).toBeUndefined()
  expect(chosenPool([pool('a', '300.01'), pool('b', '100')])?.symbol).toBe('a')
  expect(chosenPool([pool('a', '300'), pool('b')])).toBeUndefined()
  expect(chosenPool([pool('a', '0'), pool('b', '0')])).toBeUndefined()
})

test('the pool where the side is held by hand comes before the deepest; two of them are ambiguous', () => {
  expect(chosenPool([pool('a', '900'), pool('b', '1', true)])?.symbol).toBe('b')
  expect(chosenPool([pool('a', '900', true), pool('b', '1', true)])).toBeUndefined()
})
