/** The decisions of a live or paper session, as its daemon recorded them with the views that they were made on (`history.record`). */
import { decodeExact } from '../../domain/records.ts'
import { readRecording } from '../../history/recording.ts'
import { recordedFiles } from '../../history/recordingFile.ts'
import { createTurnRecorder, type RecordedTurn, type ShownScene } from './recordedTurns.ts'

/** A turn as the recording of a daemon has it. */
interface SessionTurn {
  readonly params: unknown
  readonly instance: unknown
  readonly scene: ShownScene
  readonly returned: unknown
}

/** Reads the recorded turns of a span, Unix ms, from a history's folder; `isWanted` picks instances. Throws what the file system throws. */
export async function sessionTurns(
  folder: string,
  isWanted: (strategy: string) => boolean,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly RecordedTurn[]> {
  const { turns, record } = createTurnRecorder()
  for (const { path } of recordedFiles(folder, fromMs, toMs))
    for await (const step of readRecording(path, (kind, key) => kind === 'turn' && isWanted(key))) {
      if (!('turn' in step) || step.atMs < fromMs || step.atMs >= toMs) continue
      const { params, instance, scene, returned } = decodeExact(step.turn) as SessionTurn
      record(step.strategy, { ...scene, params, instance }, returned)
    }
  return turns
}
