/** The backtests of this machine, as the console lists, starts and shows them. Whoever starts the daemon hands in what does it. */

/** Figures of a run that is over; USD as decimal texts with 30 decimals. */
export interface RunFigures {
  /** False: price impact was left out, and nothing is a result. */
  readonly isResult: boolean
  readonly madeUsd: string
  readonly holdMadeUsd: string
  readonly maxDrawdownBps: number
  readonly trades: number
  readonly wins: number
}

/** A run's folder. */
export interface RunRow {
  /** Name of the folder. */
  readonly name: string
  readonly strategies: readonly string[]
  /** Unix seconds. */
  readonly fromSeconds: number
  readonly toSeconds: number
  /** Absent: it was stopped before its end, or is being made. */
  readonly figures?: RunFigures
  /** True: a process is making it, of this daemon or of an earlier one, or a person's. */
  readonly isBeingMade?: true
  /** The sentence that is read first; absent where the run did not write it. */
  readonly sentence?: string
}

/** The run that is being made, or the last one that was. */
export interface RunJob {
  readonly name: string
  readonly strategy: string
  /** Unix ms. */
  readonly startedAtMs: number
  readonly state: 'running' | 'over' | 'cancelled' | 'failed'
  /** Share of its time that the run has lived through, from 0 to 100. */
  readonly percent: number
  /** The program's own words, of one that failed. */
  readonly problem?: string
}

/** Answer of `GET /api/runs`. */
export interface RunsReport {
  readonly job?: RunJob
  /** Newest first, `MOST_RUNS` at most. */
  readonly runs: readonly RunRow[]
  /** Runs that are older than these. */
  readonly more: number
}

/** Runs in one answer. */
export const MOST_RUNS = 100

/** Terms of a run that is started from the console. Dates are UTC days as `2026-11-02`. */
export interface RunOrder {
  /** The account whose settings it takes; absent: the only one has no name. */
  readonly account?: string
  readonly strategy: string
  /** Path of the strategy's file. */
  readonly path: string
  readonly mode: 'fast' | 'exact'
  readonly from?: string
  readonly to?: string
  /** Whole units of the stable coin. */
  readonly balance?: string
  /** Source of the candles, where the history has several. */
  readonly source?: string
}

/** Makes and reads runs, one at a time. */
export interface RunDesk {
  list(): Promise<RunsReport>
  /** Starts one; undefined while another one is being made. */
  start(order: RunOrder): RunJob | undefined
  /** Resumes a run that was stopped; `running` while another one is being made, `none` where no run of this name was stopped. */
  resume(name: string, account?: string): Promise<RunJob | 'running' | 'none'>
  /** Ends the one that is being made; false when there is none. */
  cancel(): boolean
  /** The report page of a run that is over; undefined when there is no such run. Throws BaseError when it cannot be made. */
  page(name: string): Promise<string | undefined>
  /** Ends what it started; resolves when that is gone. */
  close(): Promise<void>
}
