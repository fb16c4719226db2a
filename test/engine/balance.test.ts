/** What the account has, part by part: the parts add up to the equity also while an order holds money. */
import { afterEach, expect, test } from 'vitest'
import { balanceText } from '../../src/cli/commands/balance.ts'
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
  expect(report.sumUsd).toBe(report.walletUsd - report.gasCoinUsd + report.ordersUsd + report.positionsUsd)
  // Prices move between two readings.
  expect(absOf(report.sumUsd - (equity?.equityUsd ?? 0n))).toBeLessThan(usd(1))

  const status = toPlain({ equity, nowMs })
  const shown = balanceText(toPlain(report), status as never, 80)
  expect(shown).toMatch(/^orders {5}\$1(49|50)\.\d\d held by 1 open order$/m)
  expect(shown).toMatch(/^equity {5}\$[\d,.]+, the sum of these$/m)
  expect(shown).toContain('execution fees inside open orders, no part of the equity')
  expect(shown).toMatch(/^WETH {7}what sending an order did not use of its fees comes back in it$/m)
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)

  const settling = balanceText(
    toPlain(report),
    { nowMs, equity: { ...status.equity, isEquitySettling: true } } as never,
    80,
  )
  expect(settling).toMatch(/^sum {8}\$[\d,.]+, by lists that may be of different instants$/m)
  expect(settling).toMatch(/^equity {5}\$[\d,.]+ \(.* old: lists are settling\)$/m)
})
