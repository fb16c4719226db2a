/** What the account has, part by part: the parts add up to the equity also while an order holds money. */

import { afterEach, expect, test } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { resultOf } from '../../src/books/figures.ts'
import { balanceText } from '../../src/cli/verbs/balance.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { absOf, usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('what an order that rests holds is a part of its own, and the parts add up to the equity', async () => {
  bench = await kindsBench()
  await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'short',
    sizeDeltaUsd: usd(300),
    leverageBps: 20_000,
    collateralToken: usdc,
    orderType: 'limit',
    triggerPrice: usd(90_000),
    reason: 'by hand',
  })
  for (let at = 0; at < 60; at += 5) await bench.clock.advance(5_000)
  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  await bench.clock.advance(60_000)
  const { equity, nowMs } = engine.status()
  const report = await engine.balance()
  expect(report.payingOrders).toBe(1)
  expect(absOf(report.ordersUsd - usd(150))).toBeLessThan(usd(1))
  // Without an endpoint of the chain nobody tells the native coin: it is not known, and not nothing.
  expect(report.gasCoinUsd).toBeNull()
  expect(report.sumUsd).toBe(report.walletUsd + report.ordersUsd + report.positionsUsd)
  // Prices move between two readings.
  expect(absOf(report.sumUsd - (equity?.equityUsd ?? 0n))).toBeLessThan(usd(1))

  const status = toPlain({ equity, nowMs })
  const shown = balanceText(toPlain(report), status as never, 80)
  expect(shown).toMatch(/^orders {5}\$1(49|50)\.\d\d held by 1 open order$/m)
  expect(shown).toMatch(/^equity {5}\$[\d,.]+, the sum of these$/m)
  expect(shown).toContain('execution fees in open orders, not part of the equity')
  expect(shown.replaceAll(/\s+/g, ' ')).toContain(
    'gas coin unknown without a chain endpoint; not part of the equity',
  )
  expect(shown.replaceAll(/\s+/g, ' ')).toContain(
    'WETH the relay returns the unused part of its fee in it; part of the equity',
  )
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)

  const settling = balanceText(
    toPlain(report),
    { nowMs, equity: { ...status.equity, isEquitySettling: true } } as never,
    80,
  )
  expect(settling).toMatch(/^sum {8}\$[\d,.]+, from lists that may be of different instants$/m)
  expect(settling).toMatch(/^equity {5}\$[\d,.]+ \(.* old: lists are settling\)$/m)
})

test('with a chain endpoint the native coin is a row of the balance, and grows by what the keeper did not use', async () => {
  bench = await kindsBench({ isByChain: true })
  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  const before = await engine.balance()
  const coinOf = ({ tokens }: typeof before) => tokens.find(({ isNative }) => isNative)
  const intent = await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  await bench.clock.advance(60_000)
  const after = await engine.balance()
  const [attempt] = bench.story(intent.intentId).attempts
  const returned =
    (attempt?.armed?.executionFee ?? 0n) - (attempt?.children[0]?.settlement?.executionFeePaid ?? 0n)
  expect(returned).toBeGreaterThan(0n)
  expect((coinOf(after)?.amount ?? 0n) - (coinOf(before)?.amount ?? 0n)).toBe(returned)
  expect(after.gasCoinUsd).toBe(coinOf(after)?.worthUsd)
  // It is in the wallet, and in no equity.
  expect(after.sumUsd).toBe(after.walletUsd - (after.gasCoinUsd ?? 0n) + after.ordersUsd + after.positionsUsd)
  const { equity, nowMs } = engine.status()
  const shown = balanceText(toPlain(after), toPlain({ equity, nowMs }) as never, 80)
  expect(shown).toMatch(/^ETH \(gas\) +50\.\d+ /m)
  expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
    /gas coin 50\.\d+ ETH \(\$[\d,.]+\), not part of the equity; keepers return unused execution fees in it/,
  )
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
})

/** The lowest prices of the oracle, contract prices: it spreads a replayed price by one in 10,000. Those of USDC make a dollar of one unit. */
const nativePrice = 19_998n * 10n ** 11n
const usdcPrice = 10n ** 24n
const standing = (price: bigint): FileCandle[] => [
  { startSeconds: 0, open: price, close: price, high: price, low: price },
]
const replay = {
  series: new Map([
    ['ETH', standing(usd(2_000))],
    ['USDC', standing(usd('1.000100010001000100010001'))],
  ]),
  speed: 1,
}

/** The tokens that orders move, by the venue's own books; base units. */
async function holdings(engine: ReturnType<typeof engineOver>['engine']) {
  const { tokens } = await engine.balance()
  const of = (isMeant: (row: (typeof tokens)[number]) => boolean) => tokens.find(isMeant)?.amount ?? 0n
  return {
    usdc: of(({ symbol }) => symbol === 'USDC'),
    native: of(({ isNative }) => isNative === true),
    wrapped: of(({ symbol }) => symbol === 'WETH'),
  }
}

test.each(['order-chain', 'relay'] as const)(
  'in the lane %s the books hold what orders brought to the unit: the balance of before and after',
  async (lane) => {
    bench = await kindsBench({ isByChain: true, lane, settings: { replay } })
    const { engine } = engineOver(bench, { lane })
    running = engine
    await engine.start()
    const before = await holdings(engine)
    const marketToken = await bench.marketToken(ethSymbol)
    const base = { marketToken, direction: 'long', collateralToken: usdc, reason: 'by hand' } as const
    const more = { kind: 'increase', leverageBps: 20_000 } as const
    const tpsl = [
      { type: 'take-profit', triggerPrice: usd(2_500) },
      { type: 'stop-loss', triggerPrice: usd(1_600) },
    ] as const
    await bench.accept({ ...base, ...more, sizeDeltaUsd: usd(500), tpsl })
    await bench.clock.advance(60_000)
    await bench.accept({ ...base, ...more, sizeDeltaUsd: usd(300) })
    await bench.clock.advance(60_000)
    await bench.accept({ ...base, kind: 'decrease', sizeDeltaUsd: usd(200), keepLeverage: true })
    await bench.clock.advance(60_000)
    await bench.accept({ ...base, kind: 'close' })
    await bench.clock.advance(120_000)
    const after = await holdings(engine)
    const books = bench.journal.books().all()
    const broughtUsd = books.reduce((sum, { figures }) => sum + resultOf(figures), 0n)
    const children = bench.journal
      .recentIntents()
      .flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.children))
    expect(children.map(({ phase }) => phase).sort()).toEqual([
      'CANCELLED',
      'CANCELLED',
      ...Array.from({ length: 4 }, () => 'EXECUTED'),
    ])
    const claimableUsd = children.reduce(
      (sum, { settlement }) => sum + (settlement?.fundingReceivedUsd ?? 0n),
      0n,
    )
    const worthUsd =
      (after.usdc - before.usdc) * usdcPrice +
      (after.native - before.native + after.wrapped - before.wrapped) * nativePrice +
      claimableUsd
    expect(after.native).toBeGreaterThan(before.native)
    expect(after.wrapped).toBeGreaterThan(before.wrapped)
    // Each of four orders may leave a fraction of a unit of its collateral token: the venue pays in whole ones.
    expect(absOf(broughtUsd - worthUsd)).toBeLessThan(4n * usdcPrice)
    // The fills say the same as the books of the side: the fees of exits that ended with the position came back to its close.
    const fills = children.flatMap(({ orderKey }) => bench?.journal.books().fillOf(orderKey) ?? [])
    expect(fills).toHaveLength(4)
    expect(fills.reduce((sum, fill) => sum + fill.sendingUsd + fill.cancellingUsd, 0n)).toBe(
      books.reduce((sum, { figures }) => sum + figures.relayFeesUsd, 0n),
    )
  },
)
