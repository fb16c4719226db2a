/**
 * The names under which processes of this machine opened a journal on a server, in a file beside the machine's lock. Whoever wrote a name and let go of
 * the lock is dead. An opening that ends before it has the right leaves the names before it: the head may still have one of them.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The names of one opening's predecessors. */
export interface OwnHolders {
  /** Tells whether a holder is an earlier process of this machine. */
  isDead(holder: string): boolean
  /** Forgets the predecessors, once the head has this opening's own name. */
  haveRight(): void
}

/** Adds a name to the file, which the caller's lock guards. Throws what the file system throws. */
export function openOwnHolders(path: string, holder: string): OwnHolders {
  const dead = new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [])
  appendFileSync(path, `${holder}\n`, { mode: 0o600 })
  return {
    isDead: (other) => dead.has(other),
    haveRight: () => writeFileSync(path, `${holder}\n`, { mode: 0o600 }),
  }
}
