/** Other programs read the history without knowing perpd: DuckDB sees the times and the exact prices that were written. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, expect, test } from 'vitest'
import { readCandleFile } from '../../src/base/candles/candleFile.ts'
import { writeRates } from '../../src/history/ratesFile.ts'
import { openStore } from '../../src/history/store.ts'
import { usd } from '../../src/protocol/units.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-duckdb-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function ask(sql: string) {
  const connection = await (await DuckDBInstance.create()).connect()
  const rows = await (await connection.run(sql)).getRowsJson()
  connection.closeSync()
  return rows
}

const START = Date.UTC(2025, 0, 31, 23, 59) / 1_000
const candles = ['2000.123456', '2001', '0.000000712', '98000.5'].map((price, at) => {
  const each = usd(price)
  return { startSeconds: START + at * 60, open: each, high: each, low: each, close: each }
})

test('DuckDB reads candles over files of several months, to the last digit', async () => {
  await openStore(folder).write({ asset: 'ETH', period: '1m', source: 'oracle' }, candles, 'test')
  const rows = await ask(
    `SELECT strftime(time, '%Y-%m-%dT%H:%M'), close::VARCHAR FROM '${folder}/candles/ETH/1m/oracle/*.parquet' ORDER BY time`,
  )
  expect(rows.map((row) => [row[0], Number(row[1])])).toEqual([
    ['2025-01-31T23:59', 2000.123456],
    ['2025-02-01T00:00', 2001],
    ['2025-02-01T00:01', 7.12e-7],
    ['2025-02-01T00:02', 98000.5],
  ])
})

test('DuckDB reads rates with all of their 30 decimals', async () => {
  const market = { chain: 'arbitrum', market: 'ETH', marketToken: '0xA', unit: 'u', origin: 'o' }
  const [one, less] = [123_456_789_012_345_678_901_234_567_890n, -1n]
  const factors = { netRateLong: one, netRateShort: less, fundingRateLong: 0n, fundingRateShort: 0n }
  const row = { timestampSeconds: 0, ...factors, borrowingRateLong: 0n, borrowingRateShort: 0n }
  const entry = await writeRates(folder, market, [row])
  expect(
    await ask(`SELECT netRateLong::VARCHAR, netRateShort::VARCHAR FROM '${join(folder, entry?.file ?? '')}'`),
  ).toEqual([['0.123456789012345678901234567890', '-0.000000000000000000000000000001']])
})

test('perpd imports the Parquet that DuckDB writes', async () => {
  const path = join(folder, 'ETH.parquet')
  await ask(
    `COPY (SELECT TIMESTAMP '2025-01-01 00:00:00' + INTERVAL (i) MINUTE AS open_time, 2000.25::DECIMAL(18,4) AS open, 2001::DOUBLE AS high, 1999.5::DECIMAL(38,10) AS low, 2000 AS close FROM range(3) t(i)) TO '${path}' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)`,
  )
  const { series } = await readCandleFile(path)
  expect(series.get('')).toHaveLength(3)
  expect(series.get('')?.[1]).toEqual({
    startSeconds: Date.UTC(2025, 0, 1, 0, 1) / 1_000,
    open: usd('2000.25'),
    high: usd(2001),
    low: usd('1999.5'),
    close: usd(2000),
  })
})
