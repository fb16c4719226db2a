/**
 * The record by which protections judge a strategy: its result, its peak result, its latest exit from each market, and its losses by stops. Folded
 * over the postings of its books, so that it survives restarts. Pure.
 */

import { defined } from '../base/defined.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { hexKey } from '../protocol/address.ts'
import { maxOf, type Usd } from '../protocol/units.ts'
import { type Figures, resultOf } from './figures.ts'
import type { Posting } from './sideParts.ts'

/** A strategy's record, since an operator last resumed it or since its first fill. */
export interface TrackRecord {
  /** Start of the record, Unix ms: exits and stops before it do not count. 0: with the first fill. */
  readonly sinceMs: number
  /** Realized result so far after all costs, sending included, USD, signed. */
  readonly resultUsd: Usd
  /** The highest that this was; 0 or more above where it began. */
  readonly peakUsd: Usd
  /** Times of the latest exits of its books from each market, Unix ms, by lower-cased market token. */
  readonly exitsMs: ReadonlyMap<string, number>
  /** Time of the latest reduction of one of its books, Unix ms, by `sideKeyOf`: reports of fills may arrive in another order than the fills. */
  readonly reducedMs?: ReadonlyMap<string, number>
  /** Times when stop-losses and liquidations reduced its books, Unix ms, oldest first; the newest `MOST_STOPS`. */
  readonly stopsMs: readonly number[]
}

/** Most stops that are remembered, and so the most that a window may count. */
export const MOST_STOPS = 100

/** Before the first fill. */
export const noTrackRecord: TrackRecord = {
  sinceMs: 0,
  resultUsd: 0n,
  peakUsd: 0n,
  exitsMs: new Map(),
  stopsMs: [],
}

/** Returns the record with present costs or results. */
export function withFigures(record: TrackRecord, figures: Partial<Figures>): TrackRecord {
  const resultUsd = record.resultUsd + resultOf(figures)
  return { ...record, resultUsd, peakUsd: maxOf(record.peakUsd, resultUsd) }
}

/** Returns the record with a book's posting, and with its exit or stop. */
export function withPosting(before: TrackRecord, posting: Posting, side: PositionSide): TrackRecord {
  const { move, isFlat } = posting
  const record = withResult(before, posting, resultOf(posting.figures))
  if (!reduces(posting) || isBefore(record, posting)) return record
  const key = hexKey(side.marketToken)
  const sideKey = sideKeyOf(side)
  // The latest report need not be the latest event, and clocks that step back subtract nothing.
  const lastMs = Math.max(move.atMs, record.reducedMs?.get(sideKey) ?? 0)
  const exitMs = Math.max(lastMs, record.exitsMs.get(key) ?? 0)
  // One of unknown size may have left nothing: the cooldown holds until it is known.
  const isExit = isFlat || move.isUnsized === true
  const exitsMs = isExit ? new Map(record.exitsMs).set(key, exitMs) : record.exitsMs
  const stopsMs =
    move.isStop === true
      ? [...record.stopsMs, move.atMs].sort((one, other) => one - other).slice(-MOST_STOPS)
      : record.stopsMs
  const reducedMs = new Map(record.reducedMs).set(sideKey, lastMs)
  return { ...record, exitsMs, reducedMs, stopsMs }
}

/** Returns the record without a posting and its stop, because it is computed anew. The peak result and the exits stay. */
export function withoutPosting(record: TrackRecord, posting: Posting): TrackRecord {
  const { move, figures } = posting
  const { resultUsd, peakUsd } = withResult(record, posting, -resultOf(figures))
  const highest = defined({ peakUsd: isBefore(record, posting) ? peakUsd : undefined })
  const place = move.isStop === true && reduces(posting) ? record.stopsMs.lastIndexOf(move.atMs) : -1
  const stopsMs = place < 0 ? record.stopsMs : record.stopsMs.toSpliced(place, 1)
  return { ...record, resultUsd, ...highest, stopsMs }
}

/** Adds a posting to the result. A posting from before the record began moves its starting point: it is neither a gain nor a loss since. */
function withResult(record: TrackRecord, posting: Posting, broughtUsd: Usd): TrackRecord {
  const resultUsd = record.resultUsd + broughtUsd
  const peakUsd = isBefore(record, posting) ? record.peakUsd + broughtUsd : maxOf(record.peakUsd, resultUsd)
  return { ...record, resultUsd, peakUsd }
}

/** Tells whether a posting takes something off its book, or may do so. */
function reduces({ move, sizeDeltaUsd }: Posting): boolean {
  return sizeDeltaUsd < 0n || move.isUnsized === true
}

function isBefore({ sinceMs }: TrackRecord, { move }: Posting): boolean {
  return move.atMs <= sinceMs
}

/** Returns the record that starts over: the result stays, and is its own peak. */
export function begunAnew({ resultUsd }: TrackRecord, atMs: number): TrackRecord {
  return { ...noTrackRecord, sinceMs: atMs, resultUsd, peakUsd: resultUsd }
}
