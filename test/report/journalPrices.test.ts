/** Candles beside a journal, and what holding its markets would have made. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { pricesOf, withHolding } from '../../src/cli/reporting/journalPrices.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { openStore } from '../../src/history/store.ts'
import { DAY, start, usd, worth } from './subjects.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-report-'))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const markets = ['ETH/USD [WETH-USDC]']
const range = { fromSeconds: start, toSeconds: start + 2 * DAY }

/** Hours of a price that rises by ten dollars each, in the history of the configuration. */
async function configOf(source: string, fromHour = -2) {
  const { config } = loadConfig({ argv: ['--profile=paper'], env: {}, cwd })
  const candles = Array.from({ length: 50 }, (_, at) => {
    const open = usd(2000 + (at + fromHour) * 10)
    const close = usd(2010 + (at + fromHour) * 10)
    return { startSeconds: start + (at + fromHour) * 3_600, open, high: close, low: open, close }
  })
  await openStore(config.history.folder).write({ asset: 'ETH', period: '1h', source }, candles, 'made')
  return config
}

test('candles of the venue of the journal are drawn, and holding is what the first worth in them would have made', async () => {
  const prices = await pricesOf(await configOf('paper'), markets, range)
  expect(prices.candles).toHaveLength(48)
  expect(prices.candles[0]).toMatchObject({ second: start, open: usd(2000) })
  const held = withHolding([worth(0, 1000), worth(1, 900), worth(2, 950)], markets, prices)
  // From 2000 to 2240 and 2480.
  expect(held.map(({ holdUsd }) => holdUsd)).toEqual([usd(1000), usd(1120), usd(1240)])
})

test('prices of another source, and candles that begin after the curve, give no holding', async () => {
  const foreign = await pricesOf(await configOf('binance'), markets, range)
  expect(foreign.candles).toEqual([])
  const late = await pricesOf(await configOf('paper', 3), markets, range)
  expect(late.candles.length).toBeGreaterThan(0)
  for (const prices of [foreign, late])
    expect(withHolding([worth(0, 1000), worth(1, 900)], markets, prices)[0]?.holdUsd).toBeNull()
})
