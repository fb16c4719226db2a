/**
 * Answers that are the same for everybody until a known time, kept as bytes: the hot reads leave without being made again.
 * Only whole bodies of GET requests without a query are kept; the venue forgets them when a fault is set.
 */

/** A kept answer. */
interface Kept {
  readonly untilMs: number
  readonly body: Buffer
}

/** Most answers kept. */
const MAX_KEPT = 64

/** Kept answers by path. */
export interface QuickReads {
  keep(path: string, text: string, untilMs: number): void
  /** The bytes of a path while they hold; undefined: they must be made. */
  at(path: string, nowMs: number): Buffer | undefined
  forget(): void
}

/** Makes an empty store. */
export function createQuickReads(): QuickReads {
  const kept = new Map<string, Kept>()
  return {
    keep: (path, text, untilMs) => {
      if (path.includes('?') || (kept.size >= MAX_KEPT && !kept.has(path))) return
      kept.set(path, { untilMs, body: Buffer.from(text) })
    },
    at: (path, nowMs) => {
      const one = kept.get(path)
      return one !== undefined && nowMs < one.untilMs ? one.body : undefined
    },
    forget: () => kept.clear(),
  }
}
