/**
 * Sees what the product's own connection to a journal executes, without a change in the product: the simulation ends
 * processes between the statements of a commit, and asks the connection how durable its commits are.
 */
import { DatabaseSync } from 'node:sqlite'

/** Told of each `exec` of a connection, and of its `close`; it must call `run` once, which does what was asked. */
export type Around = (db: DatabaseSync, sql: string, run: () => void) => void

/** Listens to the connections of this thread until the returned function is called. */
export function tapSqlite(around: Around): () => void {
  const { prototype } = DatabaseSync
  const { exec, close } = prototype
  prototype.exec = function tapped(this: DatabaseSync, sql: string): void {
    around(this, sql, () => exec.call(this, sql))
  }
  prototype.close = function tapped(this: DatabaseSync): void {
    around(this, 'close', () => close.call(this))
  }
  return () => {
    prototype.exec = exec
    prototype.close = close
  }
}
