/** Answers whose payload no document shows: read in the likeliest form, and kept as they came in any other. */
import { Malformed } from './decode.ts'

/** A payload that is not documented. */
export interface Undocumented<T> {
  /** Decoded value when the payload has the likeliest form. Undefined for any other form, which is never an empty response. */
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
