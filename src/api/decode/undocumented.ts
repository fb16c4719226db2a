/** Answers whose payload no document shows: read in the likeliest form, and kept as they came in any other. */
import { Malformed } from './decode.ts'

/** A payload that is not documented. */
export interface Undocumented<T> {
  /** What it says if it has the likeliest form; undefined in any other, which is never an empty answer. */
  readonly known: T | undefined
  /** The JSON value as it came. */
  readonly raw: unknown
}

/** A decoder of the likeliest form that refuses no other. */
export function undocumented<T>(decode: (body: unknown) => T): (body: unknown) => Undocumented<T> {
  return (raw) => {
    try {
      return { known: decode(raw), raw }
    } catch (error) {
      if (error instanceof Malformed) return { known: undefined, raw }
      throw error
    }
  }
}
