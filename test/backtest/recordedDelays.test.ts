/** Delays from decision to execution as a recorded session had them, and the price of gas at two points of its spread. */
import { expect, test } from 'vitest'
import { delaysOf, distributionOf } from '../../src/backtest/recordedDelays.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { usd } from '../../src/protocol/units.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

/** In and out, an order a minute. */
function flips(view: StrategyView): readonly Decision[] {
  const row = view.market(market)
  if (row === undefined || view.isBusy()) return []
  const { marketToken, shortToken } = row.market
  const base = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'test' } as const
  return view.ownPositions(market).length > 0
    ? [{ kind: 'close', ...base }]
    : [{ kind: 'increase', ...base, sizeDeltaUsd: usd(500), leverageBps: 20_000 } as Decision]
}

test('a run has the delays of the session that its journal recorded, and the result at the ninetieth percentile of gas', {
  timeout: 300_000,
}, async () => {
  const folder = testFolder()
  const data = writeMinutes(folder, 30, () => 2000)
  const session = await runFor(folder, data, 26, [await strategyOf(folder, 'flips', flips)], {
    out: 'session',
    model: { ...usualModel, delayMs: { least: 9_000, most: 20_000 } },
  })
  const delays = delaysOf(session.tally.intents)
  expect(delays.length).toBeGreaterThanOrEqual(20)
  expect([Math.min(...delays) >= 8_000, Math.max(...delays) <= 21_000]).toEqual([true, true])
  const delaysMs = distributionOf(delays) ?? []
  const model = { ...usualModel, delaysMs, gasPriceGwei: '0.02', gasPriceP90Gwei: '0.05' }
  const { fills, result, manifest } = await runFor(
    folder,
    data,
    6,
    [await strategyOf(folder, 'flips', flips)],
    { model },
  )
  const seconds = fills.map(({ second }) => (second - startSeconds) % 60)
  expect(seconds.length).toBeGreaterThanOrEqual(4)
  for (const each of seconds) expect(each >= 8 && each <= 22, String(each)).toBe(true)
  expect(manifest.model.sentences.join(' ')).toContain('as a recorded session had it')
  expect(result.costs.sendingUsd).toBeGreaterThan(0n)
  expect(result.madeAtP90GasUsd).toBe(result.madeUsd - (result.costs.sendingUsd * 3n) / 2n)
})

test('a few executions make no distribution, and many one of twenty steps', () => {
  expect(distributionOf([1, 2, 3])).toBeUndefined()
  const many = Array.from({ length: 200 }, (_, at) => 1_000 + at)
  expect(distributionOf(many)).toEqual(Array.from({ length: 20 }, (_, step) => 1_005 + step * 10))
})
