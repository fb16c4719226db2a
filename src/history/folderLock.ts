/** One writer at a time in a folder of history. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { takeProcessFile } from '../base/processFile.ts'
import { HistoryError } from './manifest.ts'

const NAME = 'writer.pid'

/**
 * Runs what writes, with the folder to itself.
 *
 * @throws HistoryError HISTORY_IN_USE where a process that runs holds it; one that died leaves it to the next
 */
export async function withLock<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const path = join(folder, NAME)
  mkdirSync(folder, { recursive: true })
  const pid = takeProcessFile(path)
  if (pid !== undefined)
    throw new HistoryError('Another process writes into the history.', {
      code: 'HISTORY_IN_USE',
      facts: { pid, path },
      details:
        'Nothing was written. Wait until it ends and retry; if no such process of perpd runs, remove the file.',
    })
  try {
    return await run()
  } finally {
    rmSync(path, { force: true })
  }
}
