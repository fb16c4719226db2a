/** The newest lines of the log, kept in memory: what `perpd logs` reads. Secrets are out of them before they come here. */
import type { LineName } from '../events/eventRegister.ts'
import type { Level } from '../events/eventRow.ts'

/** A line as it was written. */
export interface KeptLine {
  /** Counts up from 1 in this run of the daemon. */
  readonly seq: number
  /** Unix ms. */
  readonly atMs: number
  readonly level: Level
  /** Subject of the line, one word. */
  readonly word: string
  readonly text: string
  /** Name of the event, stable. */
  readonly event: LineName
  /** The strategy that it is about; absent: it names none. */
  readonly strategy?: string
  /** The order that it is about; absent: it names none. */
  readonly intentId?: string
}

/** Lines of a ring, oldest first. */
export interface KeptLines {
  /** This run of the daemon: numbers of another run say nothing here. */
  readonly runId: string
  readonly lines: readonly KeptLine[]
  /** Number of the newest line of all. */
  readonly newest: number
}

/** Which lines of a ring are asked for; what is absent asks for all. */
export interface LineQuery {
  /** Only lines after this number. */
  readonly after: number
  /** At most so many, the newest. */
  readonly limit: number
  /** Only lines that are at least of this level. */
  readonly level: Level
  /** Only lines about this strategy. */
  readonly strategy?: string
  /** Only lines about orders whose id begins so; in small letters, `0x` left off or not. */
  readonly intentId?: string
}

/** The ring. */
export interface LogRing {
  keep(line: Omit<KeptLine, 'seq'>): void
  /** The newest `limit` lines that the query asks for. */
  read(query: LineQuery): KeptLines
}

/** Rank of each level by importance. */
const levelRanks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** Lines kept; the oldest goes first. */
const KEPT_LINES = 2_000

/** Makes an empty ring. `most`: lines that it holds. */
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
    read({ after, limit, level, strategy, intentId }) {
      const begins = intentId?.replace(/^0x/, '')
      const found = lines
        .slice(-most)
        .filter(
          (line) =>
            line.seq > after &&
            levelRanks[line.level] >= levelRanks[level] &&
            (strategy === undefined || line.strategy === strategy) &&
            (begins === undefined || line.intentId?.replace(/^0x/, '').startsWith(begins) === true),
        )
      return { runId, lines: found.slice(-limit), newest }
    },
  }
}
