/** Tells in the log how far a long reading of the journal is: nobody sits at a terminal when a service starts. */
import type { Log } from '../../monitor/log/log.ts'
import { span } from '../../monitor/text.ts'

/** A start that takes less says nothing, and from then on a line comes as often, ms. */
const everyMs = 5_000
/** The clock is looked at once in so many records, a power of 2. */
const recordsPerLook = 1_024

/** Is told how many records are read, of how many. */
export type Reading = (done: number, total: number) => void

/** Returns a function that reports the progress of reading in the log. */
export function tellReading(note: Log['note'], monotonicMs: () => number): Reading {
  let begun: { readonly atMs: number; readonly done: number } | undefined
  let toldMs = 0
  return (done, total) => {
    if ((done & (recordsPerLook - 1)) !== 0) return
    const nowMs = monotonicMs()
    if (begun === undefined) {
      begun = { atMs: nowMs, done }
      toldMs = nowMs
    }
    if (nowMs - toldMs < everyMs) return
    toldMs = nowMs
    const leftMs = Math.round(((nowMs - begun.atMs) * (total - done)) / Math.max(1, done - begun.done))
    note(
      'journal.reading',
      'info',
      `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} records of the journal are read, about ${span(leftMs)} left`,
      { records: done, of: total, left_ms: leftMs },
    )
  }
}
