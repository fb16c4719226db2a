/** Commands of market history: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

const source = {
  name: 'source',
  value: 'NAME',
  doc: 'source of the candles; needed when several sources have the range',
} as const
const period = {
  name: 'period',
  value: 'PERIOD',
  doc: 'length of a candle: 1m, 5m, 15m, 1h, 4h or 1d',
} as const
const from = {
  name: 'from',
  value: 'TIME',
  doc: 'first moment, UTC: 2024-01-31, 2024-01-31T12:00, or 30d for 30 days ago',
} as const
const to = { name: 'to', value: 'TIME', doc: 'end, as --from; now when not given' } as const

/** History of markets for backtests. They need no daemon. */
export const dataCommands: readonly Command[] = [
  {
    name: 'data get',
    summary: 'Download missing candles and rates of markets from the venue; needs no key.',
    details:
      "The oracle gives its newest 10,000 candles; older ones come in pages, as far back as the venue has them. Candles in the store are not\nrequested again, and an interrupted download resumes. Requests keep to the limits of api.*. The output says where the venue's history begins.",
    positional: { name: 'MARKET', doc: 'a market or its index asset, as ETH', isMany: true },
    flags: [
      { ...period, doc: `${period.doc}; 1m when not given` },
      { ...from, doc: `${from.doc}; 30 days ago when not given` },
      to,
      {
        name: 'chain-logs',
        doc: 'also pools, open interest, impact pools, funding and borrowing, from the events of the chain by rpc.http',
      },
      json,
    ],
    examples: [
      'perpd data get ETH BTC --period 1m --from 2026-11-01 --profile arbitrum',
      'perpd data get "ETH/USD [WETH-USDC]" --period 1h --from 365d --profile arbitrum',
      'perpd data get ETH --from 7d --chain-logs --rpc.http https://... --profile arbitrum',
    ],
    run: async (call) => (await import('./data/getCommand.ts')).getData(call),
  },
  {
    name: 'record',
    summary: "Record the venue's prices, capacity, pools, rates and candles until a signal; needs no key.",
    details:
      'No route serves this data for the past: it exists only if you record it. With --history.record true the running daemon records it too,\nwith its decisions and the views that they were made on. It goes into history.folder; about 40 MB a day for 20 markets.',
    positional: {
      name: 'MARKET',
      doc: 'a market or its index asset; all when none is given',
      isMany: true,
      isOptional: true,
    },
    flags: [],
    examples: ['perpd record --profile arbitrum', 'perpd record ETH BTC --profile arbitrum'],
    run: async (call) => (await import('./data/recordCommand.ts')).recordData(call),
  },
  {
    name: 'data import',
    summary: 'Import candles from files: CSV, JSON or Parquet, as exchanges and data frames write them.',
    details:
      'Rows may come in any order, and repeat if they are equal. A row that cannot be read is reported with its line, column and value,\nand nothing of its file is imported. Where the history has oracle candles for the same times, the difference is measured.',
    positional: { name: 'FILE', doc: 'a file of candles', isMany: true },
    flags: [
      {
        name: 'market',
        value: 'MARKET',
        doc: "the market or its index asset, as ETH; without it the rows' symbol or the file's name decides",
      },
      { ...period, doc: `${period.doc}; without it the distance between rows decides` },
      {
        name: 'map',
        value: 'COLUMN=NAME,...',
        doc: "the file's column names for timestamp, open, high, low, close and symbol",
      },
      { name: 'source', value: 'NAME', doc: 'name of the source; import when not given' },
      {
        name: 'max-basis-bps',
        value: 'N',
        doc: "refuse the file when one price in a hundred differs more than this from the oracle's, basis points; 50 when not given",
      },
      json,
    ],
    examples: [
      'perpd data import ETHUSDT-1m-2024-01.csv ETHUSDT-1m-2024-02.csv --source binance',
      'perpd data import kurse.csv --market "ETH/USD [WETH-USDC]" --map timestamp=Zeit,close=Schluss',
    ],
    run: async (call) => (await import('./data/importCommand.ts')).importData(call),
  },
  {
    name: 'data list',
    summary: 'List the stored history: candles with what is missing, rates, events, recordings.',
    flags: [json],
    examples: ['perpd data list', 'perpd data list --json'],
    run: async (call) => (await import('./data/listCommand.ts')).listData(call),
  },
  {
    name: 'data check',
    summary: 'Check the history: gaps, ranges without a move, outliers, damaged files; nothing is changed.',
    details: 'Checks each file against its hash. Exit code 1 when one was changed.',
    positional: { name: 'MARKET', doc: 'only this market, as ETH', isOptional: true },
    flags: [json],
    examples: ['perpd data check', 'perpd data check ETH --json'],
    run: async (call) => (await import('./data/listCommand.ts')).checkData(call),
  },
  {
    name: 'data export',
    summary: 'Write candles of the history into a CSV or Parquet file, with exact prices.',
    positional: { name: 'MARKET', doc: 'a market or its index asset, as ETH' },
    flags: [
      { ...period, doc: `${period.doc}; 1m when not given` },
      { ...from, doc: `${from.doc}; the first candle when not given` },
      to,
      source,
      { name: 'out', value: 'FILE', doc: 'the file; its ending, .csv or .parquet, sets the format' },
    ],
    examples: [
      'perpd data export ETH --from 2024-01-01 --to 2024-02-01 --out eth.parquet',
      'perpd data export ETH --period 1h --source binance --out eth.csv',
    ],
    run: async (call) => (await import('./data/exportCommand.ts')).exportData(call),
  },
]
