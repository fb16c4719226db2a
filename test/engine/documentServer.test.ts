/**
 * A server made of the two API documents alone: only the fields and words that they show, a task id alone from the relay. The
 * engine trades at it in both lanes, by its own facts where the server says less, and never by the legacy liquidity.
 */
import { afterEach, expect, test } from 'vitest'
import { documentedRoutes } from '../../scripts/documentedRoutes.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { usd } from '../../src/protocol/units.ts'
import { asDocumented, rowOf, shownRows } from '../support/documentServer.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench?.close()
})

test('each route of the documents has a row in the table of what is shown, and no other has', () => {
  expect([...shownRows].sort()).toEqual(documentedRoutes.map(rowOf).sort())
})

test('the client reads every resource that the documents show', async () => {
  bench = await kindsBench({ lie: asDocumented })
  const { api, clock } = bench
  const account = signer.address
  const [config] = (await api.getMarketsConfig()).value
  const [values] = (await api.getMarketsValues()).value
  const [info] = (await api.getMarketsInfo()).value
  expect([config?.maxCollateralSumLongTokenLong, config?.indexToken]).toEqual([expect.any(BigInt), undefined])
  expect([values?.virtualInventoryForPositionsInTokens, values?.longPoolAmount]).toEqual([
    expect.any(BigInt),
    undefined,
  ])
  expect(info).toMatchObject({ marketToken: config?.marketToken, updatedAtMs: expect.any(Number) })
  const capacity = (await api.getTradingCapacity({ symbol: ethSymbol, direction: 'long' }, { isFresh: true }))
    .value
  expect(capacity).toMatchObject({
    jitDataStatus: 'available',
    marketDataStatus: 'fresh',
    limitingFactor: undefined,
  })
  expect((await api.getOracleTokens()).value[0]).toMatchObject({
    symbol: expect.any(String),
    decimals: undefined,
  })
  expect((await api.getSignedPrices()).value.length).toBeGreaterThan(0)
  const [pool] = (await api.getGmPools({ period: '7d' })).value
  expect(pool?.window).toEqual({ endTimestampSeconds: expect.any(Number) })
  expect((await api.getGmUserEarnings({ account })).value).toMatchObject({ windowDays: 7 })
  expect((await api.getStatsSources()).value[0]).toMatchObject({ health: 'fresh' })
  const days = (await api.getStatsTimeseries({ metric: 'volume.total' })).value
  expect(days.series[0]?.points[0]).toMatchObject({ isProvisional: expect.any(Boolean) })
  const nowSeconds = Math.floor(clock.now() / 1000)
  const history = { period: '1h', fromSeconds: nowSeconds - 86_400, toSeconds: nowSeconds } as const
  expect((await api.getJitHistory(history)).value).toBeInstanceOf(Array)
})

const by = { by: 'ann', via: 'control' } as const

test.each<readonly [LaneName, string, boolean]>([
  ['order-chain', 'endpoints', true],
  ['order-chain', 'the hosts alone', false],
  ['relay', 'endpoints', true],
])(
  'opens, protects, closes and is killed in the lane %s with %s by what the documents show',
  { timeout: 60_000 },
  async (lane, _evidence, isByChain) => {
    const asked = new Set<string>()
    bench = await kindsBench({
      isByChain,
      lane,
      lie(url, text) {
        const shown = asDocumented(url, text)
        const [, path = ''] = /\/v1(\/[^?]*)/.exec(url) ?? []
        if (path !== '') asked.add(path)
        // There is room for $1,000; whoever used the legacy liquidity would find any size fit.
        return shown
          .replaceAll(/("availableLiquidity(?:Long|Short)":")\d+/g, `$1${usd(10 ** 12)}`)
          .replaceAll(/("(?:baseA|a)vailableLiquidity":")\d+/g, `$1${usd(1_000)}`)
      },
    })
    const { clock, api } = bench
    const { engine, codes } = engineOver(bench, { lane })
    running = engine
    await engine.start()
    const held = async () => (await api.getPositions({ account: signer.address }, { isFresh: true })).value
    const resting = async () => (await api.getOrders({ account: signer.address }, { isFresh: true })).value
    const priceUsd = async () => {
      const [ticker] = (await api.getMarketTickers({ symbols: [ethSymbol] }, { isFresh: true })).value
      return Number((ticker?.markPrice ?? 0n) / 10n ** 28n) / 100
    }
    const price = await priceUsd()
    const side = { market: ethSymbol, direction: 'long', collateral: 'short' } as const
    const beyond = await engine.operate(
      { type: 'open', id: 'big', ...side, size: '2000', leverage: '2', isPreview: false },
      by,
    )
    expect(beyond).toMatchObject({ ok: false, code: 'SIZE_NOT_WHOLE' })
    const opened = await engine.operate(
      {
        type: 'open',
        id: 'one',
        ...side,
        size: '500',
        leverage: '2',
        stopLoss: (price * 0.9).toFixed(2),
        takeProfit: (price * 1.1).toFixed(2),
        isPreview: false,
      },
      by,
    )
    expect(opened).toMatchObject({ ok: true })
    await clock.advance(20_000)
    expect(codes()).toEqual(['SIZE_NOT_WHOLE'])
    expect(await held()).toMatchObject([{ direction: 'long', sizeInUsd: usd(500) }])
    expect((await resting()).map(({ orderType }) => orderType).sort()).toEqual([5, 6])

    expect(await engine.operate({ type: 'close', id: 'two', ...side, shareBps: 5_000 }, by)).toMatchObject({
      ok: true,
    })
    await clock.advance(20_000)
    expect(await held()).toMatchObject([{ sizeInUsd: usd(250) }])

    expect(await engine.operate({ type: 'kill', close: true }, by)).toMatchObject({ ok: true })
    await clock.advance(60_000)
    expect(engine.status().kill).toMatchObject({
      outcome: 'done',
      left: { orders: 0, positions: 0, inFlight: 0 },
    })
    expect([await held(), await resting()]).toEqual([[], []])
    const lanes = bench.journal.recentIntents({ strategy: '@operator' }).map(({ intent }) => intent.lane)
    // Where the chain is read a whole close prefers the lane whose deadline is ours.
    expect(new Set(lanes)).toEqual(new Set(isByChain ? [lane, 'relay'] : [lane]))
    const sent =
      lane === 'relay' ? ['/relay/submit', '/relay/status'] : ['/orders/txns/prepare', '/orders/txns/submit']
    for (const path of sent) expect(asked).toContain(path)
  },
)
