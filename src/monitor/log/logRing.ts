/** The newest lines of the log, kept in memory: what `perpd logs` reads. Secrets are out of them before they come here. */
import type { LineName } from './eventRegister.ts'
import type { Level } from './line.ts'

/** A line as it was written. */
export interface KeptLine {
  /** Counts up from 1 in this run of the daemon. */
  readonly seq: number
  /** Unix ms. */
  readonly atMs: number
  readonly level: Level
  /** What it is about, one word. */
  readonly word: string
  readonly text: string
  /** Name of the event, stable. */
  readonly event: LineName
}

/** Lines of a ring, oldest first. */
export interface KeptLines {
  /** This run of the daemon: numbers of another run say nothing here. */
  readonly runId: string
  readonly lines: readonly KeptLine[]
  /** Number of the newest line of all. */
  readonly newest: number
}

/** The ring. */
export interface LogRing {
  keep(line: Omit<KeptLine, 'seq'>): void
  /** The newest `limit` lines after the number `after` that are at least of this level. */
  read(query: { readonly after: number; readonly limit: number; readonly level: Level }): KeptLines
}

/** How much each level matters. */
const levelRanks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** Lines kept; the oldest goes first. */
const KEPT_LINES = 2_000

/** An empty ring. `most`: lines kept. */
export function createLogRing(runId: string, most: number = KEPT_LINES): LogRing {
  const lines: KeptLine[] = []
  let newest = 0
  return {
    keep(line) {
      newest += 1
      lines.push({ seq: newest, ...line })
      // In blocks: moving all for each line would cost more than writing it.
      if (lines.length >= 2 * most) lines.splice(0, lines.length - most)
    },
    read({ after, limit, level }) {
      const found = lines
        .slice(-most)
        .filter((line) => line.seq > after && levelRanks[line.level] >= levelRanks[level])
      return { runId, lines: found.slice(-limit), newest }
    },
  }
}
