/**
 * Downloads the events of a market's amounts from the chain, stretch by stretch of blocks, into the history. What was saved is not asked for again: a
 * download that was killed resumes where it was last saved.
 */
import type { Clock } from '../base/clock.ts'
import { BaseError } from '../base/errors.ts'
import type { TimeRange } from './gaps.ts'
import { FILE_BLOCKS, type LoggedChange, logsOf, readLogs, stretchOf, writeLogs } from './logsFile.ts'
import type { Covered, LogsEntry, LogsMarket } from './manifest.ts'

/** A block and its time. */
export interface TimedBlock {
  readonly number: number
  readonly seconds: number
}

/** Chain as one or several endpoints show it. All reject with BaseError; RPC_REFUSED where a range is too wide. */
export interface LogSource {
  /** The newest block that is final. */
  newest(): Promise<TimedBlock>
  block(number: number): Promise<TimedBlock>
  /** The changes of the blocks `from` to `to`, both included, in the chain's order. */
  changes(from: number, to: number): Promise<readonly LoggedChange[]>
}

/** Outcome for one market. */
export interface LogsOutcome {
  readonly requests: number
  readonly added: number
  /** The part of the wanted stretch that is there now, Unix seconds; undefined where nothing is. */
  readonly covered: TimeRange | undefined
}

/** Options of a download. */
export interface LogsWish extends TimeRange {
  readonly market: LogsMarket
  /** Most blocks of one request. */
  readonly maxSpan: number
  readonly clock: { readonly sleep: Clock['sleep'] }
}

/** Requests between two savings: what a kill loses. */
const SAVED_EVERY = 20
/** Rest between two requests, ms: some 10 a second at most. */
const REST_MS = 100
/** Waits before a request that was not answered is repeated, ms. */
const WAITS_MS = [1_000, 4_000, 16_000] as const

/**
 * Gets what is not there yet.
 *
 * @param progress hears of blocks that were read, of those that are wanted in all
 * @throws BaseError of the endpoints, and HistoryError; what was saved before is kept
 */
export async function getLogs(
  source: LogSource,
  folder: string,
  { market, maxSpan, clock, ...range }: LogsWish,
  progress: (done: number, total: number) => void = () => {},
): Promise<LogsOutcome> {
  const newest = await source.newest()
  const first = await blockBy(source, newest, range.fromSeconds)
  const last = await blockBy(source, newest, range.toSeconds)
  const counts = { requests: 0, added: 0 }
  let span = maxSpan
  const total = last.number - first.number + 1
  let done = 0

  async function ask(from: number, to: number): Promise<readonly LoggedChange[] | undefined> {
    for (const wait of [...WAITS_MS, undefined]) {
      await clock.sleep(REST_MS)
      counts.requests += 1
      try {
        return await source.changes(from, to)
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
        if ((error.code === 'RPC_REFUSED' || error.code === 'RPC_UNREADABLE') && to > from) {
          // Endpoints limit ranges, results and answers, each in its own words: a narrower question may be answered.
          span = Math.ceil((to - from + 1) / 2)
          return undefined
        }
        if (error.code !== 'RPC_UNANSWERED' || wait === undefined) throw error
        await clock.sleep(wait)
      }
    }
    return undefined
  }

  /** Reads a stretch of one file, away from what is there of it, and saves it piece by piece. */
  async function fill(
    entry: LogsEntry | undefined,
    from: number,
    to: number,
    isDown: boolean,
  ): Promise<void> {
    let held = entry === undefined ? [] : await readLogs(folder, entry)
    let covered: Covered | undefined = entry
    let [low, high] = [from, to]
    let unsaved = 0
    while (low <= high) {
      const piece = isDown
        ? { from: Math.max(low, high - span + 1), to: high }
        : { from: low, to: Math.min(high, low + span - 1) }
      const fresh = await ask(piece.from, piece.to)
      if (fresh === undefined) continue
      held = isDown ? [...fresh, ...held] : [...held, ...fresh]
      counts.added += fresh.length
      done += piece.to - piece.from + 1
      if (isDown) high = piece.from - 1
      else low = piece.to + 1
      unsaved += 1
      if (low <= high && unsaved < SAVED_EVERY) continue
      covered = await grown(source, covered, isDown ? piece.from : from, isDown ? to : piece.to)
      await writeLogs(folder, market, covered, held)
      unsaved = 0
      progress(Math.min(done, total), total)
    }
  }

  for (
    let stretch = Math.floor(first.number / FILE_BLOCKS);
    stretch * FILE_BLOCKS <= last.number;
    stretch += 1
  ) {
    const from = Math.max(first.number, stretch * FILE_BLOCKS)
    const to = Math.min(last.number, (stretch + 1) * FILE_BLOCKS - 1)
    const there = (): LogsEntry | undefined =>
      logsOf(folder, market).find((each) => stretchOf(each) === stretch)
    const entry = there()
    if (entry === undefined) await fill(undefined, from, to, false)
    else {
      done += Math.max(0, Math.min(to, entry.toBlock) - Math.max(from, entry.fromBlock) + 1)
      if (to > entry.toBlock) await fill(entry, entry.toBlock + 1, to, false)
      if (from < entry.fromBlock) await fill(there(), from, entry.fromBlock - 1, true)
    }
    progress(Math.min(done, total), total)
  }
  const entries = logsOf(folder, market).filter(
    ({ fromBlock, toBlock }) => toBlock >= first.number && fromBlock <= last.number,
  )
  const [oldest, latest] = [entries[0], entries.at(-1)]
  const covered =
    oldest === undefined || latest === undefined
      ? undefined
      : { fromSeconds: oldest.fromSeconds, toSeconds: latest.toSeconds }
  return { ...counts, covered }
}

/** Covers a stretch that touches the covered one, too. */
async function grown(
  source: LogSource,
  covered: Covered | undefined,
  from: number,
  to: number,
): Promise<Covered> {
  const fromBlock = Math.min(covered?.fromBlock ?? from, from)
  const toBlock = Math.max(covered?.toBlock ?? to, to)
  return {
    ...{ fromBlock, toBlock },
    fromSeconds: (await source.block(fromBlock)).seconds,
    toSeconds: (await source.block(toBlock)).seconds,
  }
}

/** The newest block that is not later than a second: by halving, from the newest backwards. */
async function blockBy(source: LogSource, newest: TimedBlock, seconds: number): Promise<TimedBlock> {
  if (newest.seconds <= seconds) return newest
  let late = newest
  let early = newest
  for (let step = 1_000; early.seconds > seconds && early.number > 0; step *= 4) {
    late = early
    early = await source.block(Math.max(0, newest.number - step))
  }
  while (late.number - early.number > 1) {
    const middle = await source.block(Math.floor((early.number + late.number) / 2))
    if (middle.seconds <= seconds) early = middle
    else late = middle
  }
  return early
}
