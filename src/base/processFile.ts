/** A file that names the process which has something to itself. It outlives its process only when that one is killed: whoever finds it looks for the process. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

/** Writes the file for this process. Returns the id of the process that holds it already, and undefined where it is now this one's. */
export function takeProcessFile(path: string): number | undefined {
  for (;;) {
    try {
      const handle = openSync(path, 'wx')
      writeSync(handle, String(process.pid))
      closeSync(handle)
      return undefined
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
      const pid = processOf(path)
      if (pid !== undefined && pid !== process.pid) return pid
      rmSync(path, { force: true })
    }
  }
}

/** Returns the id of the running process, of whatever user, that a file names; undefined where there is no file, or its process is gone. */
export function processOf(path: string): number | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const pid = Number(text)
  if (!Number.isInteger(pid) || pid < 1) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    return hasCode(error, 'EPERM') ? pid : undefined
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
