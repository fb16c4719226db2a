/** Orders by hand, as the running engine answers them over the paper venue: what is refused with which words, and what a quote says. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { positionFeesOf } from '../../src/market/marketFees.ts'
import type { OpenCommand } from '../../src/operator/commands/openPosition.ts'
import { quoteOf } from '../../src/operator/quotes/manualQuote.ts'
import { unknownMarketText } from '../../src/operator/unknownMarket.ts'
import { absOf, priceOfContractPrice, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { guard } from '../../src/strategy/kinds/guard.ts'
import { defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
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
  strategies: readonly LoadedStrategy[] = [],
  isByChain = false,
): Promise<(command: Partial<OpenCommand>) => ReturnType<Engine['operate']>> {
  bench = await kindsBench({ isByChain })
  const { engine } = engineOver(bench, { account, strategies })
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
      'the limit maxOrderSizeUsd allows a smaller order only, and perpd places a manual order whole or not at all (asked: $5,000.00; allowed: at most $2,000.00)',
  })
})

test('leverage below 1 is refused with what it is, why, and what to give', async () => {
  const ask = await previews()
  expect(await ask({ leverage: '0.05' })).toEqual({
    ok: false,
    code: 'MIN_LEVERAGE',
    reason:
      'leverage 0.05x would need more collateral than the position is worth; give --leverage 1 or more, and a smaller --size for less risk',
  })
  expect(await ask({ leverage: '1' })).toMatchObject({ ok: true })
})

test('leverage above that of the venue names the venue', async () => {
  const ask = await previews()
  expect(await ask({ leverage: '5000' })).toMatchObject({
    code: 'MAX_LEVERAGE',
    reason: expect.stringMatching(/^leverage 5000x; the venue allows \d+x$/),
  })
})

/** A strategy as its file would be loaded. */
function loaded(strategy: Strategy, name: string, params: unknown = {}): LoadedStrategy {
  return {
    ...{ name, path: `${name}.yaml`, strategy, params, symbols: [], symbolPlaces: [], limits: {} },
    ...{ onRemove: 'keep' as const, written: {} },
    ...{ cadenceMs: 3_600_000, needs: { symbols: [] }, instance: { name, symbols: [] } },
  }
}
const shippedGuard = (maxLeverage?: number) =>
  loaded(guard as Strategy, 'guard', {
    ...{ minDistanceBps: 800, closeDistanceBps: 300, reduceShareBps: 5_000 },
    ...(maxLeverage === undefined ? {} : { maxLeverage }),
  })

test('an order that a running guard would reduce at once says so before it is confirmed', async () => {
  const ask = await previews({}, [shippedGuard()])
  const warned = async (leverage: string) => {
    const answer = await ask({ leverage })
    return answer.ok && 'quote' in answer ? answer.quote?.guardWarnings : answer
  }
  expect(await warned('2')).toEqual([])
  expect(await warned('9')).toEqual([])
  expect(await warned('12')).toEqual([
    expect.stringMatching(
      /^guard would reduce it at once: its liquidation would be about 7\.\d+% away, but guard keeps it 8% away; take less leverage$/,
    ),
  ])
  expect(await warned('30')).toEqual([expect.stringMatching(/^guard would close it at once: /)])
})

test('a guard that keeps a leverage warns of what lies above it', async () => {
  const ask = await previews({}, [shippedGuard(50_000)])
  expect(await ask({ leverage: '6' })).toMatchObject({
    quote: {
      guardWarnings: [expect.stringContaining('its leverage would be about 6.0x, but guard keeps it at 5x')],
    },
  })
  expect(await ask({ leverage: '3' })).toMatchObject({ quote: { guardWarnings: [] } })
})

test('after a close by hand only strategies that open are named as those who may open it again', async () => {
  const opener = defineStrategy({
    kind: 'opener',
    description: 'Might open.',
    params: z.object({}),
    needs: () => ({ symbols: [] }),
    decide: () => [],
  }) as Strategy
  const by = { by: 'ann', via: 'control' } as const
  for (const [strategies, note] of [
    [[shippedGuard()], undefined],
    [
      [shippedGuard(), loaded(opener, 'opener')],
      '; opener trades this market and may open it again (perpd trading halted --scope opener prevents that)',
    ],
  ] as const) {
    const ask = await previews({}, strategies)
    expect(await ask({ isPreview: false, leverage: '2' })).toMatchObject({ ok: true })
    await bench?.clock.advance(60_000)
    const close = {
      type: 'close',
      id: 'two',
      market: ethSymbol,
      direction: 'long',
      shareBps: 10_000,
    } as const
    const answer = await running?.operate(close, by)
    expect(answer).toMatchObject({ ok: true })
    const [, told] = /is accepted as order \w+(; .*)?$/.exec(answer?.ok ? answer.statement : '') ?? []
    expect(told).toBe(note)
    running?.abort()
    await bench?.close()
    bench = undefined
  }
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
  const fees = positionFeesOf(undefined)
  const quote = quoteOf(intent, { policy: bench.context.signingPolicy(), feeTokenDecimals: 6, fees })
  expect(quote).toMatchObject({ venueFeeBps100: 1_000, venueFeesUsd: usd(1).toString() })
})

/** How far apart two amounts are, bps of the second. */
const apartBps = (one: bigint, other: bigint): number => Number((absOf(one - other) * 10_000n) / absOf(other))

test.each([
  ['by hosts', false],
  ['by the chain', true],
])(
  'a preview names the price that is signed and what the order costs then, of an open and of its close: %s',
  async (_how, isByChain) => {
    const ask = await previews({}, [], isByChain)
    if (bench === undefined || running === undefined) throw new Error('no bench')
    const { journal, clock } = bench
    const asked = await ask({ stopLoss: '1500' })
    const opening = asked.ok && 'quote' in asked ? asked.quote : undefined
    if (opening === undefined) throw new Error(JSON.stringify(asked))
    expect(opening).toMatchObject({
      slippageBps: 100,
      heldUsd: '0',
      exits: [{ type: 'stop-loss', triggerPrice: usd(1_500).toString(), sizeUsd: usd(1_000).toString() }],
    })
    // What perpd's own check lets pass is wider than what the venue puts into the message.
    expect(BigInt(opening.boundPrice ?? 0)).toBeGreaterThan(BigInt(opening.signedPrice ?? 0))

    const settled = async (answer: Awaited<ReturnType<typeof ask>>) => {
      await clock.advance(60_000)
      const intentId = answer.ok && 'intentId' in answer ? (answer.intentId ?? '') : ''
      const attempt = (await journal.intent(intentId))?.attempts.at(-1)
      const main = attempt?.children.find(({ role }) => role === 'main')
      return {
        signedUsd: priceOfContractPrice(attempt?.armed?.acceptableContractPrice ?? 0n, 18),
        sentUsd: (attempt?.armed?.relayFeeAmount ?? 0n) * 10n ** 24n,
        feesUsd: main?.settlement?.feesUsd ?? 0n,
      }
    }
    const opened = await settled(await ask({ isPreview: false, stopLoss: '1500' }))
    expect(apartBps(BigInt(opening.signedPrice ?? 0), opened.signedUsd)).toBeLessThan(20)
    expect(apartBps(BigInt(opening.expected.positionFeeUsd), opened.feesUsd)).toBeLessThan(100)
    if (isByChain)
      expect(apartBps(BigInt(opening.expected.sendingUsd ?? 0), opened.sentUsd)).toBeLessThan(1_500)
    expect(opening.expected.sendingBy).toBe(isByChain ? 'chain' : 'usual')
    expect(opening.expected.priceImpactUsd).not.toBeNull()

    const more = await ask({ id: 'more', size: '200', leverage: '2', stopLoss: '1500' })
    expect(more).toMatchObject({
      quote: { heldUsd: usd(1_000).toString(), exits: [{ sizeUsd: usd(200).toString() }] },
    })
    const by = { by: 'ann', via: 'control' } as const
    const half = { type: 'close', id: 'half', market: ethSymbol, direction: 'long', shareBps: 5_000 } as const
    const records = journal.summary().records
    const preview = await running.operate({ ...half, isPreview: true }, by)
    expect(journal.summary().records).toBe(records)
    const closing = preview.ok && 'closing' in preview ? preview.closing : undefined
    if (closing === undefined) throw new Error(JSON.stringify(preview))
    expect([closing.sizeUsd, closing.heldUsd]).toEqual([usd(500).toString(), usd(1_000).toString()])
    expect(BigInt(closing.netPnlUsd)).toBe(BigInt(closing.pnlUsd) - BigInt(closing.expected.totalUsd))
    expect(BigInt(closing.boundPrice ?? 0)).toBeLessThan(BigInt(closing.signedPrice ?? 0))
    const closed = await settled(await running.operate(half, by))
    expect(apartBps(BigInt(closing.signedPrice ?? 0), closed.signedUsd)).toBeLessThan(20)
    // The fill settles pending funding and borrowing too.
    expect(apartBps(BigInt(closing.expected.positionFeeUsd), closed.feesUsd)).toBeLessThan(500)
  },
)

test('a limit is signed at its trigger with the impact that it asks for, and a stop at any price', async () => {
  const ask = await previews()
  const quoted = async (command: Partial<OpenCommand>) => {
    const answer = await ask(command)
    return answer.ok && 'quote' in answer ? answer.quote : undefined
  }
  const limit = await quoted({ limit: '1500', far: true })
  expect(Number(BigInt(limit?.signedPrice ?? 0) / 10n ** 26n) / 10_000).toBeCloseTo(1_500 * 1.003, 0)
  expect(await quoted({ stopEntry: '90000' })).toMatchObject({
    signedPrice: null,
    boundPrice: null,
    worstCostUsd: null,
  })
})

test('a market that was delisted is told as that, and not as another with a near name', async () => {
  const ask = await previews()
  expect(await ask({ market: 'om' })).toEqual({
    ok: false,
    code: 'MARKET_NOT_LISTED',
    reason: expect.stringMatching(
      /^OM\/USD \[.*\] is delisted: you can close positions there, but not open any$/,
    ),
  })
  const close = { type: 'close', id: 'om', market: 'OM/USD', direction: 'long', shareBps: 10_000 } as const
  expect(await running?.operate(close, { by: 'ann', via: 'control' })).toMatchObject({
    code: 'POSITION_NOT_FOUND',
    reason: expect.stringMatching(
      /^there is no long position on OM\/USD \(OM\/USD \[.*\] is delisted\); no position is open$/,
    ),
  })
})

test('a market that is not listed is refused with the one that was meant', async () => {
  const ask = await previews()
  expect(await ask({ market: 'ETHH/USD' })).toEqual({
    ok: false,
    code: 'MARKET_UNKNOWN',
    reason: 'the venue lists no market ETHH/USD; did you mean ETH/USD?',
  })
  expect(await ask({ market: 'zzzzz' })).toMatchObject({
    reason: 'the venue lists no market zzzzz; search with perpd markets --search WORD',
  })
  const symbols = [ethSymbol, 'BTC/USD [BTC-USDC]', 'SOL/USD [SOL-USDC]']
  const near = (name: string) => /did you mean (.*)\?/.exec(unknownMarketText(symbols, name))?.[1]
  expect(near('btcc')).toBe('BTC/USD')
  expect(near('SOL/USDT')).toBe('SOL/USD')
  expect(near('ETH/USD [ETH-USDC]')).toBe(ethSymbol)
  expect(near('XAU/USD')).toBeUndefined()
})
