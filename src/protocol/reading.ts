/** A value that was read, and when. */
import type { MissingRow } from './missing.ts'

/** A value with the moment (Unix ms) it was true at, as well as we know: the venue's own stamp, else when we read it. */
export interface Reading<T> {
  readonly value: T
  readonly atMs: number
  /** Of a list: rows that could not be read. That something is not in it shows nothing then. Absent: the list is whole. */
  readonly missing?: readonly MissingRow[]
}
