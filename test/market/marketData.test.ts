/** Market data of a chain are made once: traders of several accounts share them, and nothing of an account is in them. */
import { expect, test } from 'vitest'
import { readSnapshot } from '../../src/engine/snapshotReader.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { createMarketData } from '../../src/market/marketData.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { ethMarket, usdc } from '../support/intents.ts'
import { testTrader } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const needs = { symbols: ['ETH/USD [WETH-USDC]'] }
const signers = ['11', '22'].map((byte) => createLocalSigner(`0x${byte.repeat(32)}`))

function shared() {
  const { api, clock } = venueBench()
  const journal = createMemoryJournal()
  const fatal = (error: unknown): never => {
    throw error
  }
  const market = createMarketData({ chain: arbitrum, api, clock, journal, emit: () => undefined, fatal })
  return { api, clock, journal, market }
}

test('two accounts read one list of markets and prices, each with its own positions and orders', async () => {
  const { clock, market } = shared()
  const [one, other] = await Promise.all(
    signers.map(({ address }) =>
      readSnapshot({ ...market, clock, account: address, onFeed: () => undefined }, needs),
    ),
  )
  expect([one?.account, other?.account]).toEqual(signers.map(({ address }) => address))
  const [eth, sameEth] = [one, other].map((snapshot) => snapshot?.markets.get(ethMarket.toLowerCase()))
  expect(eth?.market).toBeDefined()
  expect(sameEth?.market).toBe(eth?.market)
  expect(sameEth?.oraclePrice?.value).toBe(eth?.oraclePrice?.value)
})

test('a contradiction closes a market for the traders of all accounts, and is written once', async () => {
  const { api, clock, journal, market } = shared()
  const traders = signers.map((signer) => testTrader({ api, market, clock, signer }))
  const apart = testTrader({ api, clock })
  market.catalogue.judge('one', { tokens: [{ address: usdc, decimals: 8, symbol: 'USDC' }] })
  await settle()
  for (const { trader, journal: own } of traders) {
    expect(trader.status().contradictions).toMatchObject([{ host: 'one' }])
    expect(own.account().markets).toBeUndefined()
  }
  expect(journal.account().markets?.open.size).toBe(1)
  expect(apart.trader.status().contradictions).toEqual([])
  for (const { trader } of [...traders, apart]) trader.abort()
})
