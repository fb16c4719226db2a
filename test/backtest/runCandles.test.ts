/** Candles of a run from the store: the finest that are there from its beginning on. */
import { expect, test } from 'vitest'
import { readRunCandles } from '../../src/backtest/runCandles.ts'
import { openStore } from '../../src/history/store.ts'
import { type CandlePeriod, periodSeconds } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import { market, startSeconds, testFolder } from './runKit.ts'

test('without a period a run reads the finest candles that begin with it, so that they judge what happened inside coarser ones', async () => {
  const folder = testFolder()
  const store = openStore(folder)
  const write = async (period: CandlePeriod, fromSeconds: number, count: number) => {
    const price = usd(2000)
    const candles = Array.from({ length: count }, (_, at) => ({
      ...{ startSeconds: fromSeconds + at * periodSeconds[period], open: price, high: price },
      ...{ low: price, close: price },
    }))
    await store.write({ asset: 'ETH', period, source: 'oracle' }, candles, 'made')
  }
  await write('1h', startSeconds, 48)
  await write('1m', startSeconds + 86_400, 600)
  const read = async (fromSeconds: number, period?: CandlePeriod) => {
    const range = { fromSeconds, toSeconds: startSeconds + 2 * 86_400 }
    const asked = period === undefined ? {} : { period }
    const run = await readRunCandles({
      chain: 'arbitrum',
      markets: [market],
      storeFolder: folder,
      range,
      ...asked,
    })
    return run.inputs[0]?.periodSeconds
  }
  expect(await read(startSeconds + 3_600)).toBe(3_600)
  expect(await read(startSeconds + 90_000)).toBe(60)
  expect(await read(startSeconds + 90_000, '1h')).toBe(3_600)
})
