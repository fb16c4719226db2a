/** Commands for who writes strategies: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

/** Describes kinds, and begins files. They need no daemon. */
export const authorCommands: readonly Command[] = [
  {
    name: 'strategies describe',
    summary: 'Describe a kind of strategy: parameters with units and ranges, what it reads, an example.',
    positional: {
      name: 'KIND',
      doc: 'a kind, as trend; without it all kinds are listed',
      isOptional: true,
    },
    flags: [json],
    examples: ['perpd strategies describe', 'perpd strategies describe trend'],
    run: async (call) => (await import('./strategies/describeCommand.ts')).describe(call),
  },
  {
    name: 'strategies new',
    summary: 'Write a commented strategy file to begin with; it is off until you turn it on.',
    details: 'It replaces an existing file only with --force.',
    positional: { name: 'KIND', doc: 'a kind, as trend, or a file of your own, as ./mine.ts' },
    stray: [{ flag: 'market' }],
    flags: [
      {
        name: 'market',
        value: 'MARKET',
        doc: 'its whole symbol, or ETH where one market has it; "ETH/USD [WETH-USDC]" when not given',
      },
      { name: 'out', value: 'FILE', doc: 'path of the file; strategies/MARKET-KIND.yaml when not given' },
      { name: 'force', doc: 'replace an existing file' },
    ],
    examples: [
      'perpd strategies new trend --market "BTC/USD [BTC-USDC]"',
      'perpd strategies new ./mine.ts --out strategies/mine.yaml',
    ],
    run: async (call) => (await import('./strategies/newCommand.ts')).writeNew(call),
  },
  {
    name: 'strategies test',
    summary: 'Try strategy files in made-up situations: their decisions, the refusals and the result.',
    details:
      'Trend up and down, chop, a gap, a crash, a squeeze, stale data, no capacity: 240 turns each, always the same. The daemon itself\ntakes the turns, on the paper venue within this process: nothing leaves the machine, and nothing is saved. A disabled file is tried too.\nExit code 1 when a kind throws or returns an invalid decision.',
    positional: {
      name: 'FILE',
      doc: 'a strategy file, as strategies/eth-trend.yaml, or several on one account',
      isMany: true,
    },
    stray: [{ flag: 'situation' }],
    flags: [
      {
        name: 'situation',
        value: 'NAME',
        doc: 'only this situation, with all its decisions: trend-up, crash, ...',
      },
      json,
    ],
    examples: [
      'perpd strategies test strategies/eth-trend.yaml',
      'perpd strategies test strategies/eth-trend.yaml --situation crash',
    ],
    run: async (call) => (await import('./strategies/testCommand.ts')).testStrategy(call),
  },
  {
    name: 'backtest',
    summary: 'Run strategy files over history with the daemon itself, and show the result after all costs.',
    details:
      'The same engine, limits, order machine and fees as a live run, on simulated time. The assumptions are printed first. A run leaves a folder with\nits manifest, fills, equity and journal. Equal runs give equal bytes; the same command resumes an interrupted run, and so does\n--resume with its folder.',
    positional: {
      name: 'FILE',
      doc: 'strategy files or folders of them, on one account; those of strategies.paths when not given',
      isOptional: true,
      isMany: true,
    },
    flags: [
      {
        name: 'from',
        value: 'TIME',
        doc: 'UTC date or time; the first candle when not given',
      },
      { name: 'to', value: 'TIME', doc: 'UTC date or time; the last candle when not given' },
      {
        name: 'data',
        value: 'CANDLES',
        doc: 'a file of candles, CSV or Parquet; the store of history when not given',
      },
      {
        name: 'period',
        value: 'PERIOD',
        doc: 'length of the candles read from the store; the finest there when not given',
      },
      { name: 'source', value: 'NAME', doc: 'source of the candles, where the store has several' },
      {
        name: 'balance',
        value: 'AMOUNTS',
        doc: 'initial balance, as 10000 or USDC=10000,ETH=0.5; 10000 when not given',
      },
      {
        name: 'turn-seconds',
        value: 'SECONDS',
        doc: 'time between two turns; the finest candle that a kind reads when not given',
      },
      {
        name: 'delay',
        value: 'SECONDS',
        doc: 'from a signed order to its execution, least to most; 2-5 when not given',
      },
      {
        name: 'delay-from',
        value: 'JOURNAL',
        doc: 'take the delay from the journal of a paper or live session',
      },
      {
        name: 'inside',
        value: 'WAY',
        doc: 'path of the price inside a candle, stop-first or nearer-first; stop-first when not given',
      },
      {
        name: 'impact',
        value: 'LEVEL',
        doc: 'recorded: pools and open interest as perpd record kept them; frozen: those of the shipped catalogue; none: without price impact, and without a result',
      },
      {
        name: 'rates',
        value: 'SOURCE',
        doc: 'formula: funding and borrowing by the contracts; history: by the daily means that perpd data get keeps; formula when not given',
      },
      {
        name: 'skew',
        value: 'PERCENT',
        doc: 'initial excess of longs over shorts, percent of the open interest; 3 when not given',
      },
      {
        name: 'fast',
        doc: 'skip turns at which nothing can happen: the same fills in less time',
      },
      {
        name: 'ignore-listing',
        doc: 'trade markets on candles from before they were listed too; every report of the run says so',
      },
      { name: 'band', doc: 'three runs: with the opposite skew, with none and with the skew' },
      {
        name: 'check',
        value: 'CHECK',
        doc: 'check the kinds on the views of the run instead of giving a result. lookahead: they must decide by complete data only; warmup: the window they ask for must suffice; recorded: the decisions that a daemon recorded must come out again',
      },
      {
        name: 'gas-gwei',
        value: 'GWEI',
        doc: "gas price, or its median and ninetieth percentile as 0.02-0.05; the chain's own walk when not given",
      },
      { name: 'seed', value: 'NUMBER', doc: 'seed of the delays within their range; 1 when not given' },
      {
        name: 'out',
        value: 'FOLDER',
        doc: 'folder of the run; a new one in runs/ next to the store when not given',
      },
      {
        name: 'export-params',
        value: 'RUN',
        doc: 'run nothing; show the params of that run, and write them into its strategy files once confirmed',
      },
      { name: 'yes', doc: 'write them without asking at the terminal' },
      { name: 'again', doc: 'repeat a finished run' },
      {
        name: 'resume',
        value: 'RUN',
        doc: 'resume the interrupted run in that folder, with its own files and flags; one over a file of candles needs --data again',
      },
      json,
    ],
    examples: [
      'perpd backtest strategies/eth-trend.yaml --from 2026-01-01 --to 2026-02-01',
      'perpd backtest strategies/btc-trend.yaml --data btc-usd-1m.csv --balance 5000',
    ],
    run: async (call) => (await import('./backtesting/backtestCommand.ts')).backtest(call),
  },
  {
    name: 'report',
    isOfJournal: true,
    summary:
      'Write a report page of a backtest, of several side by side, or of the journal: figures, trades, costs.',
    details:
      "It shows the assumptions, the result after costs against holding, and the worst drawdown. The page is one file that loads\nnothing else. Without a run it reports the account's journal; --journal.path names another one.",
    positional: {
      name: 'RUN',
      doc: 'the folder of a run, as perpd backtest printed it; several are compared',
      isOptional: true,
      isMany: true,
    },
    flags: [
      {
        name: 'out',
        value: 'FILE',
        doc: 'path of the page; report.html in the folder of the run, or in this folder for none or several runs',
      },
      {
        name: 'png',
        value: 'DIR',
        doc: 'write the charts as images into this folder instead; needs the optional package @resvg/resvg-js',
      },
      { name: 'csv', value: 'DIR', doc: 'write tables for a spreadsheet into DIR, and no page' },
      json,
    ],
    examples: [
      'perpd report runs/eth-trend-1a2b3c4d',
      'perpd report runs/eth-trend-1a2b3c4d runs/eth-trend-5e6f7a8b --out compared.html',
      'perpd report --journal.path var/paper/journal.db --csv tables',
    ],
    run: async (call) => (await import('./reporting/reportCommand.ts')).report(call),
  },
]
