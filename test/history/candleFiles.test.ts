/** Files of candles as exchanges and data frames write them, in any order and format; and what is no candle, named by its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, expect, test } from 'vitest'
import { type CandleFileOptions, readCandleFile } from '../../src/base/candles/candleFile.ts'
import { columnsOf } from '../../src/history/columns.ts'
import { parquetOfCandles } from '../../src/history/parquetCandles.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { loadReplay } from '../../src/paper/catalog/replayFile.ts'
import { usd } from '../../src/protocol/units.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-candle-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FIRST = 1_735_689_600
const read = async (content: string | Uint8Array, options: CandleFileOptions = {}) => {
  const path = join(folder, 'file')
  writeFileSync(path, content)
  return await readCandleFile(path, { isAnyOrder: true, ...options })
}
const prices = { open: usd(2000), high: usd(2001), low: usd(1999), close: usd('2000.5') }
const whole = { startSeconds: FIRST, ...prices }

const forms: readonly (readonly [form: string, text: string, options?: CandleFileOptions])[] = [
  [
    'klines without a head, quoted, CRLF, a mark before them',
    '\ufeff"1735689600000","2000.0","2001.00","1999","2000.50000000","7"\r\n"1735689660000","1","1","1","1","0"\r\n',
  ],
  ['10-digit times and an exponent', '1735689600,2e3,2.001E+3,1999,20005e-1\n1735689660,1,1,1,1\n'],
  ['13 digits and a fraction', 'open_time,open,high,low,close\n1735689600000.0,2000,2001,1999,2000.5\n'],
  ['a zone of an hour', 'time,open,high,low,close\n2025-01-01T01:00:00.000+01:00,2000,2001,1999,2000.5\n'],
  ['a zone without its colon', 'time,open,high,low,close\n2024-12-31 19:00:00-0500,2000,2001,1999,2000.5\n'],
  [
    'a quote with a comma and a line break in a column that is not read',
    'note,time,open,high,low,close\n"a ""fine"", day\nindeed",1735689600,2000,2001,1999,2000.5\n',
  ],
  [
    'tabs, and columns in another order',
    'close\tlow\thigh\topen\ttime\n2000.5\t1999\t2001\t2000\t1735689600\n',
  ],
  ['a list in a cell', ',0\n0,"[1735689600000, ""2000"", ""2001"", ""1999"", ""2000.5"", ""7""]"\n'],
  [
    'a list of Python in a cell, without a head',
    `"[1735689600000, '2000', '2001', '1999', '2000.5']"\n"[1735689660000, '1', '1', '1', '1']"\n`,
  ],
  [
    'a list for each column, as charts are served',
    '{"s":"ok","t":[1735689600],"o":[2000],"h":[2001],"l":[1999],"c":[2000.5],"v":[1]}',
  ],
  [
    'a data frame as JSON',
    '{"open":{"0":2000},"high":{"0":2001},"low":{"0":1999},"close":{"0":2000.5},"timestamp":{"0":1735689600000}}',
  ],
  [
    'columns of other names',
    'Zeit;Erster;Hoch;Tief;Letzter\n2025-01-01 00:00;2000;2001;1999;2000.5\n',
    { map: { timestamp: 'Zeit', open: 'Erster', high: 'Hoch', low: 'Tief', close: 'Letzter' } },
  ],
  [
    'the same row twice, and the newest first',
    'time,open,high,low,close\n1735689660,1,1,1,1\n1735689600,2000,2001,1999,2000.5\n1735689600,2000.0,2001,1999,2000.5\n',
  ],
]

test.each(forms.map(([form, text, options = {}]) => ({ form, text, options })))(
  'candles are read as they are written: $form',
  async ({ text, options }) => {
    const { series } = await read(text, options)
    expect([...series.values()].flat()[0]).toEqual(whole)
  },
)

const parquets: readonly (readonly [
  form: string,
  columns: Parameters<typeof parquetWriteBuffer>[0]['columnData'],
])[] = [
  [
    'milliseconds and floats, as DuckDB and pandas have them',
    [
      { name: 'time', data: [new Date(FIRST * 1_000)], type: 'TIMESTAMP' },
      ...Object.entries({ open: 2000, high: 2001, low: 1999, close: 2000.5, volume: 3 }).map(
        ([name, value]) => ({ name, data: [value], type: 'DOUBLE' as const }),
      ),
    ],
  ],
  [
    'nanoseconds as numbers, and prices as text',
    [
      { name: 'open_time', data: [BigInt(FIRST) * 10n ** 9n], type: 'INT64' },
      ...Object.entries({ Open: '2000', High: '2001', Low: '1999', Close: '2000.5' }).map(
        ([name, value]) => ({ name, data: [value], type: 'STRING' as const }),
      ),
    ],
  ],
]
test.each(parquets)('Parquet is read too: %s', async (_form, columnData) => {
  const { series } = await read(new Uint8Array(parquetWriteBuffer({ columnData })))
  expect([...series.values()].flat()).toEqual([whole])
})

test('decimals of Parquet keep every digit, in 64 bits and in bytes', async () => {
  const decimal = {
    converted_type: 'DECIMAL',
    repetition_type: 'REQUIRED',
    scale: 15,
    precision: 18,
  } as const
  const unscaled = 123_456_789_012_345_678n
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setBigInt64(8, unscaled)
  const columns = [
    { name: 'root', num_children: 5 },
    { name: 'time', type: 'INT64', repetition_type: 'REQUIRED' } as const,
    ...['open', 'high', 'low'].map((name) => ({ name, type: 'INT64', ...decimal }) as const),
    { name: 'close', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...decimal } as const,
  ]
  const buffer = parquetWriteBuffer({
    schema: columns,
    columnData: [
      { name: 'time', data: [BigInt(FIRST)] },
      ...['open', 'high', 'low', 'close'].map((name) => ({ name, data: [unscaled] })),
    ],
  })
  const { series } = await read(new Uint8Array(buffer))
  const price = usd('123.456789012345678')
  expect([...series.values()].flat()).toEqual([
    { startSeconds: FIRST, open: price, high: price, low: price, close: price },
  ])
})

test('rows of several symbols are taken apart; what is out of order and what is repeated is counted', async () => {
  const { series, outOfOrder, repeated } = await read(
    [
      'symbol,time,open,high,low,close',
      'ETH,1735689600,1,1,1,1',
      'BTC,1735689600,9,9,9,9',
      'ETH,1735689720,3,3,3,3',
      'ETH,1735689660,2,2,2,2',
      'ETH,1735689720,3,3,3,3',
    ].join('\n'),
  )
  expect([...series].map(([symbol, candles]) => [symbol, candles.length])).toEqual([
    ['ETH', 3],
    ['BTC', 1],
  ])
  expect([outOfOrder, repeated]).toEqual([1, 1])
})

const bad: readonly (readonly [kind: string, text: string, said: string])[] = [
  [
    'two candles of one time with other prices',
    'time,open,high,low,close\n1735689600,1,1,1,1\n1735689660,1,1,1,1\n1735689600,2,2,2,2\n',
    'row 4, column timestamp: 1735689600 is that of row 2 too, with other prices; keep only the right one',
  ],
  [
    'a quote without its end',
    'time,open,high,low,close\n"1735689600,1,1,1,1\n',
    'row 2: a quote around a cell has no end',
  ],
  ['a price of zero', '1735689600,0,1,0,1\n1735689660,1,1,1,1', 'row 1, column open: "0" is no price'],
  ['a price that is not a number', '1735689600,1,NaN,1,1\n', 'row 1, column high: "NaN" is no price'],
  [
    'a comma for the point',
    'time;open;high;low;close\n1735689600;1,5;2;1;1',
    'row 2, column open: "1,5" is no price',
  ],
  [
    'a time of day alone',
    '12:30,1,1,1,1\n',
    'row 1, column timestamp: "12:30" is no time; expected Unix seconds',
  ],
  ['columns of two lengths', '{"t":[1735689600],"o":[1],"h":[1],"l":[1],"c":[]}', 'have different lengths'],
  ['a compressed file', '', 'it is not text in UTF-8'],
]
test.each(bad)('a bad file is refused by place, column, value and form: %s', async (kind, text, said) => {
  const content = kind === 'a compressed file' ? gzipSync('1735689600,1,1,1,1') : text
  await expect(read(content)).rejects.toMatchObject({
    code: 'CANDLES_UNREADABLE',
    message: expect.stringContaining(said),
  })
})

test('a mapped column that the file lacks is named with those that it has', async () => {
  await expect(
    read('Zeit,open,high,low,close\n1735689600,1,1,1,1\n', { map: { timestamp: 'Datum' } }),
  ).rejects.toThrow('the head has no column Datum, which --map names; it is Zeit,open,high,low,close')
})

test('a damaged Parquet file is refused', async () => {
  const buffer = new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: 'time', data: [1n], type: 'INT64' }] }),
  )
  await expect(read(buffer.slice(0, buffer.length - 12))).rejects.toMatchObject({
    code: 'CANDLES_UNREADABLE',
  })
  await expect(read(buffer)).rejects.toThrow('the head has no column open, high, low, close')
})

test('the paper venue replays the Parquet that history exports', async () => {
  const path = join(folder, 'eth-usd.parquet')
  writeFileSync(path, parquetOfCandles(columnsOf([whole]).columns, { asset: 'ETH' }))
  const { series } = await loadReplay(path, 1, loadCatalog('arbitrum').tokens)
  expect([...series]).toEqual([['ETH', [whole]]])
})
