/** A journal on a server that several machines reach, for status, metrics and people: who may write it, and who would have it after a failover. */

/** Servers that follow the one of the journal. */
export interface Replication {
  /** Number of standbys that are connected. */
  readonly standbys: number
  /** True: a commit waits for one of them, so that a failover loses nothing that was acknowledged. */
  readonly isSynchronous: boolean
  /** Log that the nearest standby has not flushed, bytes; absent without one, or where this user may not see it. */
  readonly lagBytes?: number
}

/** The journal's server as a perpd saw it last. */
export interface AwaitedServer {
  /** True: this perpd has the right to write; false: it waits for another. */
  readonly isHeld: boolean
  /** Absent while nobody that waits knows it: the server does not answer, or its records cannot be read. */
  readonly epoch?: number
  /** `HOST/PROCESS` of the perpd that has the right; empty: nobody, or not known. */
  readonly holder: string
  /** When the right was given, by the server's clock, Unix ms; absent: not known. */
  readonly sinceMs?: number
  /** Absent: not read yet, or not read by whoever waits. */
  readonly replication?: Replication
}

/** The same as whoever has the right knows it. */
export interface JournalServer extends AwaitedServer {
  readonly epoch: number
}
