/** The chain that every record of a sqlite journal is linked into. */
import { hash } from 'node:crypto'

/** Where the chain of records ends. */
export interface Tail {
  readonly seq: number
  readonly hash: string
}

/** Hash before the first record. */
export const GENESIS_HASH = ''

/** The hash of a record: SHA-256 over the hash before it and its text, so that no record can change or vanish unseen. */
export function hashOf(previousHash: string, seq: number, body: string): string {
  return hash('sha256', `${previousHash}\n${seq}\n${body}`)
}
