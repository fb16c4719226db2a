/** One writer at a time in a folder of history: a file that names the process, which outlives it only when it is killed. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
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
  takeLock(path)
  try {
    return await run()
  } finally {
    rmSync(path, { force: true })
  }
}

function takeLock(path: string, isSecond = false): void {
  try {
    const handle = openSync(path, 'wx')
    writeSync(handle, String(process.pid))
    closeSync(handle)
  } catch (cause) {
    if (!isExisting(cause) || isSecond) throw cause
    const pid = Number(readFileSync(path, 'utf8'))
    if (pid !== process.pid && isRunning(pid)) {
      throw new HistoryError('Another process writes into the history.', {
        code: 'HISTORY_IN_USE',
        facts: { pid, path },
        details:
          'Nothing was written. Wait until it ends and retry; if no such process of perpd runs, remove the file.',
        cause,
      })
    }
    rmSync(path, { force: true })
    takeLock(path, true)
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

/** Says if a process of that id is there, of whatever user. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
