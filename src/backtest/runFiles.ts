/**
 * The files of a backtest's folder: their names, their types, and their lines. The run writes them and a report reads them; both go by this
 * file alone. Amounts are whole numbers in base units: USD has 30 decimals, a token its own. JSON has them as decimal texts. Times are Unix seconds, UTC.
 */
import { createHash } from 'node:crypto'
import type { Direction } from '../protocol/market.ts'
import type { TokenAmount, Usd } from '../protocol/units.ts'

/** Names of the files of a run's folder. The journal is one of perpd's own: `perpd orders --journal.path FOLDER/journal.db` reads it. */
export const runFileNames = {
  /** `RunManifest` as JSON: written first, before any turn. */
  manifest: 'manifest.json',
  /** `RunFill`, a line each, in the order of execution, under a head. */
  fills: 'fills.csv',
  /** `EquityPoint`, a line each, in the order of time, under a head. */
  equity: 'equity.csv',
  /** `RunCandle`, a line each, of the markets that were traded, under a head. */
  candles: 'candles.csv',
  /** `RunResult` as JSON: written last; a folder without it holds a run that was stopped. */
  result: 'result.json',
  /** The sentence that is read first, of a run that `perpd backtest` made. */
  sentence: 'sentence.txt',
  journal: 'journal.db',
  /** Id of the process that makes the run, for as long as it does. */
  process: 'process.pid',
} as const

/** The form that this version writes; a reader refuses another one. */
export const RUN_FORMAT = 'perpd-run/1'

/** The ways inside a candle that a run may assume. */
export const candlePaths = ['stop first', 'nearer first'] as const

/** One of them. */
export type CandlePath = (typeof candlePaths)[number]

/** The levels at which a run may know pools and open interest, the best one first. */
export const impactLevels = ['recorded', 'frozen', 'none'] as const

/** One of them. */
export type ImpactLevel = (typeof impactLevels)[number]

/** A market's candles as a run read them. */
export interface RunInput extends TradingTimes {
  /** Length of a candle, seconds. */
  readonly periodSeconds: number
  /** Where the candles came from: a file's path, or the store's source. */
  readonly source: string
  /** SHA-256 of the bytes that were read, hex; one for each file. */
  readonly sha256: readonly string[]
  readonly fromSeconds: number
  /** End of the last candle. */
  readonly toSeconds: number
  readonly candles: number
  /** Spans of the run without a candle; nothing is filled in. */
  readonly gaps: readonly RunGap[]
}

/** Times in which a market of a run trades. */
export interface TradingTimes {
  /** Full symbol of the market, or the asset where the file names no market. */
  readonly market: string
  /** Unix seconds at which the market was listed, by the shipped catalogue; absent: not known. */
  readonly listedSeconds?: number
  /** Hours of trading from Monday to Friday, UTC, as `13:30-20:00`; absent: always. */
  readonly hours?: string
}

/** Recorded pools, open interest and rates of a market as a run read them. */
export interface RunRecorded {
  /** Full symbol of the market. */
  readonly market: string
  /** Moments at which they moved. */
  readonly rows: number
  /** SHA-256 of all of it, hex. */
  readonly sha256: string
  /** Spans without a row, over which the last figures stand. */
  readonly gaps: readonly RunGap[]
  /** Absent: a recording. */
  readonly source?: 'chain'
}

/** Daily means of a market's rates as a run read them. */
export interface RunRates {
  /** Full symbol of the market. */
  readonly market: string
  /** SHA-256 of their file, hex. */
  readonly sha256: string
  /** Time that a rate is for, as recorded rates told it. */
  readonly unit: string
}

/** A span without a price, `toSeconds` not included. */
export interface RunGap {
  readonly fromSeconds: number
  readonly toSeconds: number
}

/** A strategy file of a run. */
export interface RunStrategy {
  readonly name: string
  readonly kind: string
  readonly path: string
  /** The whole text of the file, and its SHA-256, hex. */
  readonly text: string
  readonly sha256: string
  readonly markets: readonly string[]
  /** Time between two turns in this run, seconds. */
  readonly turnSeconds: number
}

/** Everything that a run assumes and history does not tell. Printed first. */
export interface RunModel {
  /** Least and most time from a signed order to its execution, ms. */
  readonly delayMs: { readonly least: number; readonly most: number }
  /** Delays of a recorded session, ms, a twentieth of its orders each; absent: evenly spread between least and most. */
  readonly delaysMs?: readonly number[]
  /** The way of the price within a candle: first to the extreme that hurts what is held when it begins, or always to the nearer one. */
  readonly path: CandlePath
  /**
   * `recorded`: pools and open interest as the history's recording has them in time. `frozen`: those of the shipped catalogue, with the stated skew.
   * `none`: no price impact, and no result.
   */
  readonly impact: ImpactLevel
  /** Initial excess of the longs over the shorts, bps of the open interest; negative: of the shorts. */
  readonly skewBps: number
  /** Gas price, gwei as decimal text; `0`: the chain's own walk. */
  readonly gasPriceGwei: string
  /** The gas price that nine of ten messages stay below, gwei as decimal text; `gasPriceGwei` is then the median. */
  readonly gasPriceP90Gwei?: string
  /** `simulated`: funding and borrowing by the venue's formulas over that open interest. `recorded`: at the recorded rates. `history`: at daily means. */
  readonly funding: 'simulated' | 'recorded' | 'history'
  /** True: markets trade before they were listed too, on older prices of their assets. */
  readonly ignoresListing?: true
  /** The same as sentences for people, in the order in which they are printed. */
  readonly sentences: readonly string[]
}

/** The way in which a run lives through its turns. */
export type RunMode = 'exact' | 'fast'

/** Everything that decides what a run is. */
export interface RunManifest {
  readonly format: typeof RUN_FORMAT
  /** `exact`: the daemon takes each turn. `fast`: it takes those at which anything may happen. Both come to the same fills. */
  readonly mode: RunMode
  readonly perpd: string
  /** Version of Node, as `v24.1.0`: floats of another one may differ in the last digit. */
  readonly node: string
  readonly chain: string
  readonly account: string
  readonly fromSeconds: number
  readonly toSeconds: number
  readonly seed: number
  /** After so much of its time the run begins anew from its journal, as a daemon that is started again does; a stopped run resumes there. Seconds. */
  readonly segmentSeconds: number
  /** Whole tokens as decimal text, by symbol. */
  readonly balances: Readonly<Record<string, string>>
  readonly strategies: readonly RunStrategy[]
  /** Every setting, by dotted key. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly inputs: readonly RunInput[]
  /** Absent: nothing recorded was read. */
  readonly recorded?: readonly RunRecorded[]
  /** Absent: no means of rates were read. */
  readonly rates?: readonly RunRates[]
  readonly model: RunModel
}

/** One executed order, as the venue executed it. USD is signed as said. */
export interface RunFill {
  readonly second: number
  /** Full symbol. */
  readonly market: string
  readonly side: Direction
  readonly action: 'increase' | 'decrease' | 'liquidation'
  /** Positive of an increase, negative of a decrease. */
  readonly sizeDeltaUsd: Usd
  /** USD per whole index token. */
  readonly price: Usd
  /** Negative at the account's cost. */
  readonly impactUsd: Usd
  readonly positionFeeUsd: Usd
  readonly borrowingFeeUsd: Usd
  readonly fundingFeeUsd: Usd
  readonly liquidationFeeUsd: Usd
  /** Fees and impact of swaps on the way. */
  readonly swapFeeUsd: Usd
  /** Cost of sending its message: fees of relay and keeper as they were signed, less refunds before this line was written. */
  readonly sendingFeeUsd: Usd
  /** Symbol of the collateral token. */
  readonly collateral: string
  /** Paid in, positive; paid out to the account, negative; base units. */
  readonly collateralDelta: TokenAmount
  /** PnL of a decrease from the price alone, before impact and fees. */
  readonly pnlUsd: Usd
  /** True when stop and target were both within the candle that filled it, so that the path decided. */
  readonly isAmbiguous: boolean
  /** Name of the instance; empty for what no intent of perpd asked for, as a liquidation. */
  readonly strategy: string
  readonly intentId: string
}

/** Worth of the account at a moment. */
export interface EquityPoint {
  readonly second: number
  /** Wallet, positions after all fees due, and claimable amounts, at the prices of the moment. */
  readonly equityUsd: Usd
  /** The same if the equity of the beginning had been held in the index assets, in equal parts and without costs. */
  readonly holdUsd: Usd
  /** Open positions, by size. */
  readonly longUsd: Usd
  readonly shortUsd: Usd
}

/** A candle of a market that was traded; prices in USD per whole index token. */
export interface RunCandle {
  readonly market: string
  readonly second: number
  readonly open: Usd
  readonly high: Usd
  readonly low: Usd
  readonly close: Usd
}

/** Costs of a run by kind; positive is a cost. */
export interface RunCosts {
  readonly positionFeesUsd: Usd
  readonly borrowingUsd: Usd
  /** Paid less received: negative where more was received. */
  readonly fundingUsd: Usd
  readonly impactUsd: Usd
  readonly liquidationUsd: Usd
  readonly swapUsd: Usd
  readonly sendingUsd: Usd
}

/** Result of a run. */
export interface RunResult {
  /** False: price impact was left out, and what is shown is no result. */
  readonly isResult: boolean
  readonly startUsd: Usd
  readonly endUsd: Usd
  /** End less beginning. */
  readonly madeUsd: Usd
  /** The same of holding the index assets. */
  readonly holdMadeUsd: Usd
  readonly maxDrawdownUsd: Usd
  readonly maxDrawdownBps: number
  readonly costs: RunCosts
  /** Made at half, once and twice the costs, with the fills as they were. */
  readonly atCosts: readonly { readonly multiple: '0.5' | '1' | '2'; readonly madeUsd: Usd }[]
  /** Made with every message at the ninetieth percentile of the gas price, with the fills as they were; absent where none was given. */
  readonly madeAtP90GasUsd?: Usd
  /** Multiple of the costs that would leave nothing, with two decimals; null where there is none. */
  readonly breakEvenMultiple: string | null
  readonly fills: number
  /** Closed trades, and those that brought more than all their costs: a strategy's part of a position from nothing to nothing. */
  readonly trades: number
  readonly wins: number
  readonly ambiguousFills: number
  /** Share of the equity points at which something was held, bps. */
  readonly heldBps: number
  readonly turns: number
  readonly decisions: number
  /** Decisions that were refused, by code. */
  readonly denied: Readonly<Record<string, number>>
  /** Messages that were admitted and ended otherwise than executed, by code; an entry that is cancelled on purpose is among them. */
  readonly unexecuted: Readonly<Record<string, number>>
  /** Start and end balance by token symbol, base units, of wallet and claimable amounts. */
  readonly balances: Readonly<Record<string, { readonly start: TokenAmount; readonly end: TokenAmount }>>
  /** SHA-256 of the bytes of `fills.csv` and `equity.csv`, hex. */
  readonly fillsSha256: string
  readonly equitySha256: string
}

type Row = Readonly<Record<string, string | number | bigint | boolean>>

const fillColumns = [
  'second',
  'market',
  'side',
  'action',
  'sizeDeltaUsd',
  'price',
  'impactUsd',
  'positionFeeUsd',
  'borrowingFeeUsd',
  'fundingFeeUsd',
  'liquidationFeeUsd',
  'swapFeeUsd',
  'sendingFeeUsd',
  'collateral',
  'collateralDelta',
  'pnlUsd',
  'isAmbiguous',
  'strategy',
  'intentId',
] as const satisfies readonly (keyof RunFill)[]

const equityColumns = [
  'second',
  'equityUsd',
  'holdUsd',
  'longUsd',
  'shortUsd',
] as const satisfies readonly (keyof EquityPoint)[]

const candleColumns = [
  'market',
  'second',
  'open',
  'high',
  'low',
  'close',
] as const satisfies readonly (keyof RunCandle)[]

/** Columns that hold texts; `second` is a number, `isAmbiguous` 0 or 1, and all others are whole numbers of any length. */
const textColumns: ReadonlySet<string> = new Set([
  'market',
  'side',
  'action',
  'collateral',
  'strategy',
  'intentId',
])

function lineOf(columns: readonly string[], row: Row): string {
  return columns.map((name) => (typeof row[name] === 'boolean' ? Number(row[name]) : row[name])).join(',')
}

function rowOf(columns: readonly string[], line: string): Row {
  const cells = line.split(',')
  return Object.fromEntries(
    columns.map((name, at) => {
      const cell = cells[at] ?? ''
      if (textColumns.has(name)) return [name, cell]
      if (name === 'second') return [name, Number(cell)]
      return [name, name === 'isAmbiguous' ? cell === '1' : BigInt(cell)]
    }),
  )
}

/** One table of a run: its head, a line of a row, and the rows of a whole text. Lines end with `\n`. */
export interface RunTable<T> {
  readonly head: string
  readonly line: (row: T) => string
  /** Throws RangeError for a text whose head is another one, SyntaxError for a cell that is no number. */
  readonly parse: (text: string) => readonly T[]
}

function tableOf<T>(columns: readonly (keyof T & string)[]): RunTable<T> {
  const head = columns.join(',')
  return {
    head,
    line: (row) => lineOf(columns, row as Row),
    parse(text) {
      const [first, ...lines] = text.split('\n')
      if (first !== head) throw new RangeError(`the head is ${first} instead of ${head}`)
      return lines.filter((line) => line !== '').map((line) => rowOf(columns, line) as T)
    },
  }
}

/** The tables of a run. */
export const runTables = {
  fills: tableOf<RunFill>(fillColumns),
  equity: tableOf<EquityPoint>(equityColumns),
  candles: tableOf<RunCandle>(candleColumns),
}

/** The SHA-256 of a text's bytes, hex. */
export function sha256Of(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

/** JSON of a manifest or a result: amounts as decimal texts, two spaces, one line break at the end. */
export function runJson(value: RunManifest | RunResult): string {
  const plain = (_name: string, each: unknown): unknown => (typeof each === 'bigint' ? String(each) : each)
  return `${JSON.stringify(value, plain, 2)}\n`
}

/** Reads what `runJson` wrote of a result; counts that an earlier version did not write are empty. Throws SyntaxError for a text that is no JSON. */
export function parseResult(text: string): RunResult {
  const result = JSON.parse(text, (name, value: unknown) =>
    typeof value === 'string' && (/Usd$/.test(name) || name === 'start' || name === 'end')
      ? BigInt(value)
      : value,
  ) as RunResult
  return { ...result, denied: result.denied ?? {}, unexecuted: result.unexecuted ?? {} }
}

/** Reads what `runJson` wrote of a manifest. Throws SyntaxError for no JSON, RangeError for a form of another version. */
export function parseManifest(text: string): RunManifest {
  const manifest = JSON.parse(text) as RunManifest
  if (manifest.format !== RUN_FORMAT)
    throw new RangeError(`the run has format ${manifest.format}; perpd reads format ${RUN_FORMAT}`)
  return manifest
}
