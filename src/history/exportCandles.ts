/** Candles of the store as a file for other programs: CSV with exact prices, or Parquet. */
import { isoTime } from '../base/clock.ts'
import { formatUnits } from '../protocol/units.ts'
import { priceColumns } from './columns.ts'
import { parquetOfCandles } from './parquetCandles.ts'
import type { CandleRange } from './store.ts'

/** CSV: the time in UTC, then open, high, low and close in USD, without a digit lost. */
export function csvOfCandles({ columns }: CandleRange): string {
  const lines = ['time,open,high,low,close']
  for (let at = 0; at < columns.length; at++) {
    const prices = priceColumns.map((name) => formatUnits(columns[name][at] ?? 0n, columns.decimals))
    const time = isoTime((columns.startSeconds[at] ?? 0) * 1_000).replace('.000Z', 'Z')
    lines.push([time, ...prices].join(','))
  }
  return `${lines.join('\n')}\n`
}

/** Parquet as the store has it. */
export function parquetOfRange({ columns, series: { asset, period, source } }: CandleRange): Uint8Array {
  return parquetOfCandles(columns, { asset, period, source })
}
