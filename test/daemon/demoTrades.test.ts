/** The strategy that `npm start` runs, along the paper venue's own candles: it enters at once, and turns seldom, for a round trip costs two dollars. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { CandlePeriod } from '../../src/protocol/market.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { atr, ema, secondsOfPeriod } from '../../src/strategy/indicators.ts'
import { venueBench } from '../support/venue.ts'

interface TrendParams {
  readonly period: CandlePeriod
  readonly fastCandles: number
  readonly slowCandles: number
  readonly atrCandles: number
  readonly entryStrength: number
  readonly exitStrength: number
  readonly maxExtension: number
}

/** The parameters of the shipped file as they are read. */
async function shippedParams(): Promise<TrendParams> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-demo-'))
  const shipped = resolve(import.meta.dirname, '../../strategies/eth-trend.yaml')
  writeFileSync(join(folder, 'eth-trend.yaml'), readFileSync(shipped))
  const { strategies } = await loadStrategies([folder])
  rmSync(folder, { recursive: true })
  return strategies[0]?.params as TrendParams
}

test('the first strategy enters in the first minute of a paper world, and turns at most once in four hours of its prices', async () => {
  const { period, fastCandles, slowCandles, atrCandles, ...params } = await shippedParams()
  const { api } = venueBench()
  const { value: candles } = await api.getCandles({ tokenSymbol: 'ETH', period, limit: 1000 })
  const warm = slowCandles * 4 + atrCandles + 1
  const signalAt = (end: number) => {
    const seen = candles.slice(end - warm, end)
    const [fast = 0, slow = 0, range = 1] = [
      ema(seen, fastCandles),
      ema(seen, slowCandles),
      atr(seen, atrCandles),
    ]
    const price = seen.at(-1)?.close ?? 0
    return { strength: (fast - slow) / range, extension: (price - fast) / range }
  }
  const now = signalAt(candles.length)
  const extension = now.extension * Math.sign(now.strength)
  expect(Math.abs(now.strength)).toBeGreaterThan(params.entryStrength)
  expect(extension).toBeLessThan(params.maxExtension)
  expect(extension).toBeGreaterThan(-params.maxExtension / 2)

  let held = 0
  let turns = 0
  for (let end = warm; end <= candles.length; end += 1) {
    const { strength } = signalAt(end)
    if (held !== 0 && strength * held <= -params.exitStrength) {
      held = 0
      turns += 1
    } else if (held === 0 && Math.abs(strength) >= params.entryStrength) {
      held = Math.sign(strength)
    }
  }
  const hours = ((candles.length - warm) * secondsOfPeriod(period)) / 3_600
  expect(hours).toBeGreaterThan(24)
  expect(turns / hours).toBeLessThanOrEqual(1 / 4)
})
