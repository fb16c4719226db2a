/** The shipped facts: whole, named by their tokens, and what the paper venue trades. */
import { expect, test } from 'vitest'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { hexKey } from '../../src/protocol/address.ts'
import {
  isSwapOnly,
  marketContradiction,
  marketSymbolOf,
  tokenContradiction,
  tokensOfMarket,
} from '../../src/protocol/catalogue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { shippedFacts } from '../../src/protocol/chains/pins.ts'

const all = Object.values(chains)

test.each(all)('what is shipped for $name is what its paper venue has', ({ name, facts }) => {
  const catalog = loadCatalog(name)
  expect([...facts.tokens.keys()].sort()).toEqual(catalog.tokens.map(({ address }) => hexKey(address)).sort())
  expect([...facts.markets.keys()].sort()).toEqual(
    catalog.markets.map(({ marketToken }) => hexKey(marketToken)).sort(),
  )
  for (const token of catalog.tokens) {
    const known = facts.tokens.get(hexKey(token.address))
    expect(known).toMatchObject({
      decimals: token.decimals,
      symbol: token.symbol,
      isStable: token.isStable,
      isNative: token.isNative,
      isWrapped: token.isWrapped,
      isSynthetic: token.isSynthetic,
    })
    if (known !== undefined) expect(tokenContradiction(token, known)).toBeUndefined()
  }
  for (const market of catalog.markets) {
    const known = facts.markets.get(hexKey(market.marketToken))
    if (known === undefined) throw new Error(market.symbol)
    expect(marketContradiction(market, known, facts.tokens)).toBeUndefined()
    expect(isSwapOnly(known)).toBe(market.isSpotOnly)
    expect(known.symbol).toBe(market.symbol)
  }
})

test.each(all)('the fee token, the wrapped native token and the fee path of $name are shipped', (chain) => {
  const { facts, feeToken, contracts, feeSwapPath, gasPaymentTokens } = chain
  expect(facts.tokens.get(hexKey(feeToken.address))).toMatchObject({
    symbol: feeToken.symbol,
    decimals: feeToken.decimals,
    isStable: true,
  })
  expect(facts.tokens.get(hexKey(contracts.wrappedNative))).toMatchObject({ isWrapped: true, decimals: 18 })
  for (const market of feeSwapPath) expect(facts.markets.has(hexKey(market))).toBe(true)
  for (const token of gasPaymentTokens) expect(facts.tokens.has(hexKey(token))).toBe(true)
})

test.each(all)('every market of $name is named by its tokens, and no two have one name', ({ facts }) => {
  const symbols = [...facts.markets.values()].map((market) => {
    const own = tokensOfMarket(market, facts.tokens)
    if (own === undefined) throw new Error(market.symbol)
    expect(marketSymbolOf(own)).toBe(market.symbol)
    return market.symbol.toLowerCase()
  })
  expect(new Set(symbols).size).toBe(symbols.length)
  expect(facts.printedOn).toMatch(/^20\d\d-\d\d-\d\d$/)
})

const token = { symbol: 'FOO', address: '0x01', decimals: 6 }
const market = {
  symbol: 'FOO/USD [FOO-FOO]',
  marketToken: '0x02',
  indexToken: '0x01',
  longToken: '0x01',
  shortToken: '0x01',
}
const file = { about: '', printedOn: '2026-11-22', tokens: [token], markets: [market] }

test.each([
  ['a token is missing', { ...file, tokens: [] }],
  ['a market is misnamed', { ...file, markets: [{ ...market, symbol: 'BAR/USD [FOO-FOO]' }] }],
  ['two rows are of one token', { ...file, tokens: [token, token] }],
  ['two markets have one name', { ...file, markets: [market, { ...market, marketToken: '0x03' }] }],
])('a file of pins in which %s is a mistake of ours', (_what, pins) => {
  expect(shippedFacts(file).markets.size).toBe(1)
  expect(() => shippedFacts(pins)).toThrow(TypeError)
})
