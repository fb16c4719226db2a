/** What snapshots of many strategies derive from one answer is made once, and is what each would have made alone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameAgain } from '../../src/base/sameAgain.ts'
import { readSnapshot } from '../../src/engine/snapshotReader.ts'
import { createKnown } from '../../src/market/knownVenue.ts'
import { readPrices } from '../../src/market/marketViews.ts'
import { createSharedLists } from '../../src/market/sharedLists.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { account, usdc } from '../support/intents.ts'
import { venueBench } from '../support/venue.ts'

const needs = { symbols: ['ETH/USD [WETH-USDC]'] }

test('what is made of the same arguments is made once, and of others anew', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.nat(2))), (calls) => {
      let made = 0
      const sum = sameAgain((one: number, other: number) => {
        made += 1
        return { sum: one + other }
      })
      let changes = 0
      for (const [index, [one, other]] of calls.entries()) {
        const before = calls[index - 1]
        if (before === undefined || before[0] !== one || before[1] !== other) changes += 1
        expect(sum(one, other)).toEqual({ sum: one + other })
      }
      expect(made).toBe(changes)
    }),
  )
})

test('snapshots of one moment share prices and tokens, and are those that a reader of its own has', async () => {
  const { api, clock } = venueBench()
  const known = createKnown()
  const acceptedPrices = new Map<string, bigint>()
  const read = (own: ReturnType<typeof createKnown>) =>
    readSnapshot({ api, clock, account, known: own, acceptedPrices, onFeed: () => undefined }, needs)
  const [first, second, alone] = [await read(known), await read(known), await read(createKnown())]
  expect(second).toEqual(first)
  expect(second).toEqual(alone)
  const [one, other] = [first, second].map(({ markets }) => [...markets.values()][0])
  expect(other?.oraclePrice?.value).toBe(one?.oraclePrice?.value)
  expect(other?.market).toBe(one?.market)
})

test('a token has the prices of the newest answer, whoever read an older one', async () => {
  const { api, clock } = venueBench()
  const known = createKnown()
  const seen = new Set<bigint | undefined>()
  for (let round = 0; round < 12; round += 1) {
    const { markets } = await readSnapshot({ api, clock, account, known, onFeed: () => undefined }, needs)
    const [view] = [...markets.values()]
    const { prices } = await readPrices(api, known)
    const price = prices.value.find(({ tokenAddress }) => tokenAddress === view?.longToken.address)
    expect(view?.longToken.minPrice).toBe(price?.minPrice)
    seen.add(price?.minPrice)
    await clock.advance(400)
  }
  expect(seen.size).toBeGreaterThan(1)
})

test('one answer gives one list of prices to all who know the decimals alike, and another to who does not', async () => {
  const { api } = venueBench()
  const known = createKnown()
  const decimals = known.lists.decimals((await api.getOracleTokens()).value)
  const [one, other] = [await api.getPrices(decimals), await api.getPrices(decimals)]
  expect(other.value).toBe(one.value)
  const without = await api.getPrices((token) =>
    hexKey(token) === hexKey(usdc) ? undefined : decimals(token),
  )
  expect(without.value.map(({ tokenAddress }) => tokenAddress)).not.toContain(usdc)
  expect(without.value).toHaveLength(one.value.length - 1)
})

test('a market that the newest answer leaves out stays as no longer listed, one whose row cannot be read as it was', async () => {
  const { value } = await venueBench().api.getMarkets()
  const [gone, ...rest] = value
  if (gone === undefined) throw new Error('the venue lists nothing')
  const lists = createSharedLists(new Map(), new Map())
  expect(lists.markets(value, undefined).byToken.get(hexKey(gone.marketToken))).toBe(gone)
  expect(lists.markets(rest, undefined).byToken.get(hexKey(gone.marketToken))).toEqual({
    ...gone,
    isListed: false,
  })
  const missing = [{ marketToken: gone.marketToken, problem: 'cannot be read' }]
  expect(lists.markets(rest, missing).byToken.get(hexKey(gone.marketToken))).toBe(gone)
  const all = lists.markets(rest, missing)
  expect(lists.markets(rest, missing)).toBe(all)
  expect(all.all).toHaveLength(value.length)
})
