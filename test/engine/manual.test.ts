/** Orders by hand, as the running engine answers them over the paper venue: what is refused with which words, and what a quote says. */
import { afterEach, expect, test } from 'vitest'
import type { Limits } from '../../src/domain/account/limits.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { OpenCommand } from '../../src/engine/operator/manualCommand.ts'
import { quoteOf } from '../../src/engine/operator/manualQuote.ts'
import { positionFeesOf } from '../../src/engine/operator/marketFees.ts'
import { unknownMarketText } from '../../src/engine/operator/unknownMarket.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

/** Asks a running engine for previews of orders. */
async function previews(
  account: Limits = {},
): Promise<(command: Partial<OpenCommand>) => ReturnType<Engine['operate']>> {
  bench = await kindsBench()
  const { engine } = engineOver(bench, { account })
  running = engine
  await engine.start()
  const given: OpenCommand = {
    type: 'open',
    id: 'one',
    market: ethSymbol,
    direction: 'long',
    size: '1000',
    leverage: '5',
    collateral: 'short',
    isPreview: true,
  }
  return (command) => engine.operate({ ...given, ...command }, { by: 'ann', via: 'control' })
}

test('an order by hand that the wallet cannot pay is refused before anything is signed; what it can pay goes through', async () => {
  // 50 ETH and no WETH.
  const ask = await previews()
  expect(await ask({ collateral: 'long', size: '300', leverage: '3' })).toMatchObject({
    ok: false,
    code: 'NO_BALANCE',
    reason: expect.stringMatching(
      /^The wallet holds less WETH than the order pays in \(asked: 0\.05\d+ WETH; allowed: 0 WETH\)/,
    ),
  })
  expect(await ask({ size: '300', leverage: '0.001' })).toMatchObject({ code: 'NO_BALANCE' })
  expect(await ask({ size: '300', leverage: '3' })).toMatchObject({ ok: true })
  expect(bench?.venue.record()).toEqual([])
})

test('leverage above the highest is refused as leverage, with the setting and both figures', async () => {
  const ask = await previews({ maxLeverageBps: 100_000, maxOrderSizeUsd: usd(2_000) })
  expect(await ask({ leverage: '50' })).toEqual({
    ok: false,
    code: 'MAX_LEVERAGE',
    reason: 'leverage 50x; risk.maxLeverage allows 10x',
  })
  // So little would be left of it that other rules would speak.
  expect(await ask({ leverage: '50', size: '20' })).toMatchObject({ code: 'MAX_LEVERAGE' })
  // With too much of both the leverage is what must be changed first.
  expect(await ask({ leverage: '10.5', size: '5000' })).toMatchObject({
    code: 'MAX_LEVERAGE',
    reason: 'leverage 10.5x; risk.maxLeverage allows 10x',
  })
  expect(await ask({ leverage: '10' })).toMatchObject({ ok: true })
  expect(await ask({ size: '5000' })).toMatchObject({
    code: 'SIZE_NOT_WHOLE',
    reason:
      'the limit maxOrderSizeUsd leaves room for less, and an order by hand is made whole or not at all (asked: $5,000.00; allowed: at most $2,000.00)',
  })
})

test('leverage above that of the venue names the venue', async () => {
  const ask = await previews()
  expect(await ask({ leverage: '5000' })).toMatchObject({
    code: 'MAX_LEVERAGE',
    reason: expect.stringMatching(/^leverage 5000x; the venue allows \d+x$/),
  })
})

test('a quote takes the higher fee of the market, and the highest of any where it is not known', async () => {
  const ask = await previews()
  expect(await ask({})).toMatchObject({
    ok: true,
    quote: { venueFeeBps100: 600, venueFeesUsd: usd('0.6').toString() },
  })
  if (bench === undefined) throw new Error('no bench')
  const intent = await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(1_000),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  const quote = quoteOf(intent, bench.context.signingPolicy(), 6, [], positionFeesOf(undefined))
  expect(quote).toMatchObject({ venueFeeBps100: 1_000, venueFeesUsd: usd(1).toString() })
})

test('a market that is not listed is refused with the one that was meant', async () => {
  const ask = await previews()
  expect(await ask({ market: 'ETHH/USD' })).toEqual({
    ok: false,
    code: 'MARKET_UNKNOWN',
    reason: 'the venue lists no market ETHH/USD; did you mean ETH/USD?',
  })
  expect(await ask({ market: 'zzzzz' })).toMatchObject({
    reason: 'the venue lists no market zzzzz; perpd markets --search WORD looks for one',
  })
  const symbols = [ethSymbol, 'BTC/USD [BTC-USDC]', 'SOL/USD [SOL-USDC]']
  const near = (name: string) => /did you mean (.*)\?/.exec(unknownMarketText(symbols, name))?.[1]
  expect(near('btcc')).toBe('BTC/USD')
  expect(near('SOL/USDT')).toBe('SOL/USD')
  expect(near('ETH/USD [ETH-USDC]')).toBe(ethSymbol)
  expect(near('XAU/USD')).toBeUndefined()
})
