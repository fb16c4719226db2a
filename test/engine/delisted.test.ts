/** A market that leaves the venue's list while the account holds something there, over real sockets. */
import { afterEach, expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethMarket, usdc } from '../support/intents.ts'
import { type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench.close()
})

test('a position and an order in a market that left the list are shown, close, and are added to no more', async () => {
  bench = await kindsBench()
  const { api, clock } = bench
  const wish = {
    kind: 'increase',
    marketToken: ethMarket,
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 50_000,
    collateralToken: usdc,
    reason: 'the test wishes it',
  } as const
  await bench.accept(wish)
  await clock.advance(10_000)
  const price = (await bench.snapshot()).markets.get(ethMarket.toLowerCase())?.oraclePrice?.value.medianPrice
  await bench.accept({ ...wish, orderType: 'limit', triggerPrice: ((price ?? 0n) * 7n) / 10n })
  await clock.advance(10_000)
  expect((await api.getPositions({ account: signer.address })).value).toHaveLength(1)
  expect((await api.getOrders({ account: signer.address })).value).toHaveLength(1)

  bench.venue.faults.unlistedMarkets = [ethMarket]
  await clock.advance(61_000)
  expect((await api.getMarkets()).value.some(({ marketToken }) => marketToken === ethMarket)).toBe(false)
  expect(await bench.judge(wish)).toMatchObject({ denial: { code: 'MARKET_NOT_LISTED' } })

  await bench.orderManager.stop()
  const { engine, codes } = engineOver(bench, {})
  running = engine
  await engine.start()
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await clock.advance(40_000)
  expect(engine.status().kill).toMatchObject({
    outcome: 'done',
    left: { orders: 0, positions: 0, inFlight: 0 },
  })
  expect(codes()).not.toContain('MARKET_UNKNOWN')
  expect((await api.getPositions({ account: signer.address })).value).toEqual([])
})
