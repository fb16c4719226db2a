/** Everything that was ever handed to the key, as the signing guard records it: a table of the journal's store, or a file next to it. */
import { BaseError } from '../base/errors.ts'
import type { Hex } from '../protocol/address.ts'
import type { SignClaim } from './signer.ts'

/** A signature that the guard does not allow, or a table that cannot be used. */
export class GuardError extends BaseError {}

/** One line: a message handed to the key. */
export interface SignEntry extends SignClaim {
  /** Lower case. */
  readonly digest: Hex
  /** Unix seconds of the claim; 0 in lines of releases that did not write it. */
  readonly atSeconds: number
}

/** The open table. */
export interface GuardTable {
  /** Path of the table, for messages. */
  readonly path: string
  /** Entries of the table when it was opened. */
  readonly entries: readonly SignEntry[]
  /**
   * Appends a line; resolves when it is durable. After a write that failed every later one fails too. `kept` gives the lines that must stay, asked
   * where the table drops others.
   */
  append(entry: SignEntry, kept: () => readonly SignEntry[]): Promise<void>
  close(): void
}

/** Lines above which a table drops those that nobody needs. */
export const COMPACT_AFTER = 4_096
