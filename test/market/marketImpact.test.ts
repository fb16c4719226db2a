/** Price impacts as the daemon estimates them from what the venue serves, over real sockets, held to what prepare answers. */
import { afterEach, expect, test } from 'vitest'
import { createKnown } from '../../src/market/knownVenue.ts'
import { impactReadings } from '../../src/market/marketImpact.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { impactBpsOf } from '../../src/risk/checks/impactCheck.ts'
import { ethMarket } from '../support/intents.ts'
import { type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
afterEach(() => bench.close())

test('the estimate of an increase is what prepare puts into the price, to a basis point', async () => {
  bench = await kindsBench()
  const { api } = bench
  const view = (await bench.snapshot()).markets.get(hexKey(ethMarket))
  if (view?.oraclePrice === undefined) throw new Error('the venue serves the market')
  expect(view.impact?.value.longInterest).toBeGreaterThan(0n)
  const [market] = (await api.getMarketsConfig()).value.filter(
    (row) => hexKey(row.marketToken) === hexKey(ethMarket),
  )
  expect(view.impact?.value.positionImpactFactorNegative).toBe(market?.positionImpactFactorNegative)
  const { minPrice, maxPrice } = view.oraclePrice.value
  const found: number[] = []
  for (const direction of ['long', 'short'] as const) {
    const sizeDeltaUsd = usd(4_000_000)
    const price = direction === 'long' ? maxPrice : minPrice
    const estimateBps =
      impactBpsOf({ direction, action: 'increase', sizeDeltaUsd, price }, view) ?? Number.NaN
    const { value: prepared } = await api.prepareOrder({
      kind: 'increase',
      orderType: 'market',
      mode: 'express',
      from: signer.address,
      symbol: view.market.symbol,
      direction,
      sizeDeltaUsd,
      collateralToken: 'USDC',
      collateralToPay: { amount: 900_000_000_000n, token: 'USDC' },
      // A slippage of 0 leaves the impact alone in the price.
      slippageBps: 0,
    } as never)
    const acceptable = prepared.typedData.batch.createOrderParamsList[0]?.numbers.acceptablePrice ?? 0n
    const worse = (acceptable * 10n ** 18n - price) * (direction === 'long' ? 1n : -1n)
    const theirs = -Number((worse * 1_000_000n) / price) / 100
    expect(Math.abs(estimateBps - theirs), `${direction}: ${estimateBps} for ${theirs}`).toBeLessThan(1.1)
    found.push(estimateBps)
  }
  // One of the two sides is the one that outweighs.
  expect(Math.min(...found)).toBeLessThan(-2)
})

test('the estimate is of the newest settings and of the newest values, whichever of them was read last', async () => {
  bench = await kindsBench()
  const { api } = bench
  const known = createKnown()
  const [config, values] = [await api.getMarketsConfig(), await api.getMarketsValues()]
  const impact = () => impactReadings(known)(ethMarket)
  expect(impact()).toBeUndefined()
  known.config = config
  known.values = values
  expect(impact()?.atMs).toBe(values.readAtMs)
  const raised = config.value.map((row) => ({ ...row, positionImpactFactorNegative: 7n }))
  known.config = { ...config, value: raised }
  expect(impact()?.value.positionImpactFactorNegative).toBe(7n)
  const grown = values.value.map((row) => ({ ...row, longInterestUsd: 8n, longInterestInTokens: 8n }))
  known.values = { ...values, value: grown, readAtMs: values.readAtMs + 1 }
  expect(impact()).toMatchObject({
    atMs: values.readAtMs + 1,
    value: { positionImpactFactorNegative: 7n, longInterest: 8n },
  })
})
