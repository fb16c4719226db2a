/** Rates of funding and borrowing in the history: exact, each time once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readManifest } from '../../src/history/manifest.ts'
import { readRates, writeRates } from '../../src/history/ratesFile.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-rates-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('rates are kept to their last digit, each time once, also negative ones', async () => {
  const market = {
    chain: 'arbitrum',
    market: 'ETH/USD [WETH-USDC]',
    marketToken: '0xA',
    unit: 'u',
    origin: 'o',
  }
  const row = (timestampSeconds: number, value: bigint) => ({
    timestampSeconds,
    netRateLong: value,
    netRateShort: -value,
    fundingRateLong: -123_456_789_012_345_678_901_234_567_890n,
    fundingRateShort: 0n,
    borrowingRateLong: 1n,
    borrowingRateShort: -1n,
  })
  await writeRates(folder, market, [row(3600, 5n), row(0, 7n)])
  const entry = await writeRates(folder, market, [row(3600, 6n), row(7200, 1n)])
  expect(entry).toMatchObject({ rows: 3, firstSeconds: 0, lastSeconds: 7200 })
  if (entry === undefined) throw new Error('nothing was written')
  expect(await readRates(folder, entry)).toEqual([row(0, 7n), row(3600, 6n), row(7200, 1n)])
  expect(readManifest(folder).rates).toEqual([entry])
})
