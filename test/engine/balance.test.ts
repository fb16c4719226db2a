/** What the account has, part by part: the parts add up to the equity also while an order holds money. */

import { afterEach, expect, test } from 'vitest'
import { balanceText } from '../../src/cli/commands/balance.ts'
import { resultOf } from '../../src/domain/books/figures.ts'
import { toPlain } from '../../src/domain/views/orderView.ts'
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
  expect(shown).toContain('execution fees inside open orders, no part of the equity')
  expect(shown.replaceAll(/\s+/g, ' ')).toContain(
    'gas coin not known: no chain endpoint tells it; it is no part of the equity',
  )
  expect(shown.replaceAll(/\s+/g, ' ')).toContain(
    'WETH what the relay does not use of its fee comes back in it; part of the equity',
  )
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)

  const settling = balanceText(
    toPlain(report),
    { nowMs, equity: { ...status.equity, isEquitySettling: true } } as never,
    80,
  )
  expect(settling).toMatch(/^sum {8}\$[\d,.]+, by lists that may be of different instants$/m)
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
    /gas coin 50\.\d+ ETH \(\$[\d,.]+\), no part of the equity; what keepers do not use of execution fees comes back in it/,
  )
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
})

test('what the books say that orders brought is what the balance says, to the cent, but for what the relay gave back', async () => {
  bench = await kindsBench({ isByChain: true, path: [[0, 2_000]] })
  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  const balance = async () => {
    const { tokens } = await engine.balance()
    const of = (isMeant: (row: (typeof tokens)[number]) => boolean) => tokens.find(isMeant)
    return {
      usdc: of(({ symbol }) => symbol === 'USDC')?.amount ?? 0n,
      eth: of(({ isNative }) => isNative === true)?.amount ?? 0n,
      weth: of(({ symbol }) => symbol === 'WETH')?.amount ?? 0n,
    }
  }
  const before = await balance()
  const marketToken = await bench.marketToken(ethSymbol)
  const base = { marketToken, direction: 'long', collateralToken: usdc, reason: 'by hand' } as const
  const more = { kind: 'increase', leverageBps: 20_000 } as const
  await bench.accept({ ...base, ...more, sizeDeltaUsd: usd(500) })
  await bench.clock.advance(60_000)
  await bench.accept({ ...base, ...more, sizeDeltaUsd: usd(300) })
  await bench.clock.advance(60_000)
  await bench.accept({ ...base, kind: 'decrease', sizeDeltaUsd: usd(200), keepLeverage: true })
  await bench.clock.advance(60_000)
  await bench.accept({ ...base, kind: 'close' })
  await bench.clock.advance(3_600_000)
  const after = await balance()
  const books = bench.journal.books().all()
  const broughtUsd = books.reduce((sum, { figures }) => sum + resultOf(figures), 0n)
  const worthUsd = (after.usdc - before.usdc) * 10n ** 24n + (after.eth - before.eth) * 2_000n * 10n ** 12n
  expect(after.eth).toBeGreaterThan(before.eth)
  expect(absOf(broughtUsd - worthUsd)).toBeLessThan(usd('0.005'))
  // Each order's fills say the same as the books of the side, and nothing says how much of its own fee the relay gave back.
  const fills = bench.journal
    .recentIntents()
    .flatMap(({ attempts }) => attempts.flatMap(({ children }) => children))
    .map(({ orderKey }) => bench?.journal.books().fillOf(orderKey)?.sendingUsd ?? 0n)
  expect(fills).toHaveLength(4)
  expect(fills.reduce((sum, each) => sum + each, 0n)).toBe(
    books.reduce((sum, { figures }) => sum + figures.relayFeesUsd, 0n),
  )
  expect(after.weth).toBeGreaterThan(before.weth)
})
