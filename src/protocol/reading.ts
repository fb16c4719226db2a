/** A value that was read, and when. */
import type { MissingRow } from './missing.ts'

/** Rows that were read, of a list that may have more. */
export interface Rows<T> {
  readonly value: T
  /** Rows of a list that could not be read; then the absence of a row from it proves nothing. Absent: the list is whole. */
  readonly missing?: readonly MissingRow[]
}

/** A value with the moment (Unix ms) it was true at, as well as we know: the venue's own stamp, else when we read it. */
export interface Reading<T> extends Rows<T> {
  readonly atMs: number
}
