/** Reads of parts that may be missing. */
import { BaseError } from './errors.ts'

/** Returns what was read; undefined where it could not be. Rejects with mistakes of ours alone. */
export async function tolerate<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof BaseError) return undefined
    throw error
  }
}
