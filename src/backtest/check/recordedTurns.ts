/** The views that a run showed to its kinds and what each returned, in memory and compressed: candles repeat from turn to turn. */
import { deserialize, serialize } from 'node:v8'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Scene } from '../../strategy/files/hosted.ts'
import { decisionsIn } from '../../strategy/kindMemory.ts'
import { canonical } from './difference.ts'

/** A view as it was shown; `remembered`: the memory of a kind that is shipped with perpd, as it was handed to it. */
export interface ShownScene extends Scene {
  readonly remembered?: unknown
  /** Settings of the file at that turn; absent: those of the file today. */
  readonly params?: unknown
  readonly instance?: unknown
}

/** One turn of a run. */
export interface RecordedTurn {
  readonly strategy: string
  readonly atMs: number
  /** Canonical text of what the kind returned. */
  readonly answer: string
  /** True where it decided something. */
  readonly hasDecided: boolean
  /** The view, compressed: the same bytes are the same view. */
  readonly bytes: Buffer
  scene(): ShownScene
}

/** Takes one turn: the name of the instance, its view, and what its kind returned. */
export type RecordTurn = (strategy: string, scene: ShownScene, returned: unknown) => void

/** Most turns that are recorded of a run; later ones are not checked. */
export const MOST_RECORDED = 20_000

/** Makes a recorder. */
export function createTurnRecorder(): {
  readonly turns: readonly RecordedTurn[]
  readonly record: RecordTurn
} {
  const turns: RecordedTurn[] = []
  return {
    turns,
    record(strategy, scene, returned) {
      if (turns.length >= MOST_RECORDED) return
      const bytes = zstdCompressSync(serialize(scene), {
        params: { [constants.ZSTD_c_compressionLevel]: 1 },
      })
      turns.push({
        strategy,
        atMs: scene.snapshot.atMs,
        answer: canonical(returned),
        hasDecided: decisionsIn(returned).length > 0,
        bytes,
        scene: () => deserialize(zstdDecompressSync(bytes)) as ShownScene,
      })
    },
  }
}

/** Chooses at most `most` turns: those that decided something first, then quiet ones, each evenly spread over the run; ascending. */
export function chosenTurns(turns: readonly RecordedTurn[], most: number): readonly RecordedTurn[] {
  const spread = (rows: readonly RecordedTurn[], count: number): readonly RecordedTurn[] =>
    rows.length <= count
      ? rows
      : Array.from({ length: count }, (_, at) => rows[Math.floor((at * rows.length) / count)] as RecordedTurn)
  const loud = spread(
    turns.filter(({ hasDecided }) => hasDecided),
    Math.ceil(most / 2),
  )
  const quiet = spread(
    turns.filter(({ hasDecided }) => !hasDecided),
    most - loud.length,
  )
  return [...loud, ...quiet].toSorted((one, other) => one.atMs - other.atMs)
}
