/** What the engine tells the road: the size that a warned increase may have now, and the fees of what landed before. */
import { afterEach, expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { createEngine, type Engine } from '../../src/daemon/engine.ts'
import type { IncreaseDecision } from '../../src/domain/order/decision.ts'
import { createFees } from '../../src/execution/context/feeEstimates.ts'
import { createMarketData } from '../../src/market/marketData.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, priceAt } from '../support/kinds.ts'
import { engineSettings, noLimits } from '../support/trader.ts'

let at: KindsBench
let engine: Engine

afterEach(async () => {
  engine.abort()
  await at.close()
})

test('an order gets the room that is left by others, less headroom, and never more than it has', async () => {
  at = await kindsBench({ settings: { startBalances: { USDC: '900000000', ETH: '50', WETH: '10' } } })
  engine = engineOver(at, {
    account: { capacityHeadroomBps: 1_000 },
    limits: { test: { minOrderSizeUsd: usd(500) } },
  }).engine
  const marketToken = await at.marketToken(ethSymbol)
  const wish: IncreaseDecision = {
    kind: 'increase',
    marketToken,
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
    orderType: 'limit',
    triggerPrice: priceAt(await at.snapshot(), marketToken, -1_000),
    sizeDeltaUsd: usd(1_000_000_000),
    leverageBps: 300_000,
  }
  // It stays where a warning finds it: accepted, and asked to be prepared.
  at.venue.faults.prepare = 'unavailable'
  at.venue.faults.times = -1
  const admitted = await at.judge(wish)
  if (admitted.kind === 'denial') throw new Error(admitted.denial.code)
  const { intent } = admitted
  await engine.orders.accept(intent)
  const { availableLiquidity } = (
    await at.api.getTradingCapacity({ symbol: ethSymbol, direction: 'long' }, { isFresh: true })
  ).value
  const room = availableLiquidity - (availableLiquidity + 9n) / 10n
  const { sizeDeltaUsd } = intent.terms
  expect(sizeDeltaUsd).toBeGreaterThan(room)
  expect(await engine.resize(intent, sizeDeltaUsd)).toBe(room)
  expect(await engine.resize(intent, usd(1_000))).toBe(usd(900))
  expect(await engine.resize(intent, usd(500))).toMatchObject({ code: 'ORDER_TOO_SMALL' })
})

test('an engine begins with the fees of what landed before', async () => {
  at = await kindsBench({ settings: { gasPriceWei: 80_000_000n } })
  const { intentId } = await at.accept({
    kind: 'increase',
    marketToken: await at.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
    sizeDeltaUsd: usd(300),
    leverageBps: 30_000,
  })
  await at.clock.advance(5_000)
  const { chain, clock } = at.context
  const { executionFee = 0n, relayFeeAmount = 0n } = at.story(intentId).attempts[0]?.armed ?? {}
  const usual = { executionFee: executionFee / 4n, relayFee: relayFeeAmount / 4n, factor: 5 }
  const fees = createFees({ chain, clock, usual })
  const trading = createTrading({ accountJournal: createAccountJournal(at.context), emit: at.context.emit })
  engine = createEngine({
    execution: { ...at.context, fees },
    market: createMarketData(at.context),
    trading,
    strategies: [],
    limits: noLimits,
    engineSettings,
    labels: { version: 'test', profile: 'paper', journalPath: 'memory:', evidence: 'the venue' },
  })
  expect(fees.estimateFor({ kind: 'increase', reservationUsd: 1n })).toMatchObject({
    source: 'landed',
    // What was asked and not shown to be paid counts for twice what is usual.
    executionFee: 2n * (executionFee / 4n),
    relayFee: 2n * (relayFeeAmount / 4n),
    factor: 5n,
  })
})
