/** The folder of each test of a file that starts real processes. */
import { afterEach, beforeEach } from 'vitest'
import { killLeftOver, scratch } from './processes.ts'

/** Makes a folder before each test, and prepares it. After it, kills what the test left running and removes the folder. `path`: the one of now. */
export function folderEach(prepare?: (path: string) => unknown): { readonly path: string } {
  let folder: ReturnType<typeof scratch>
  beforeEach(async () => {
    folder = scratch()
    await prepare?.(folder.path)
  })
  afterEach(async () => {
    await killLeftOver()
    folder.remove()
  })
  return {
    get path() {
      return folder.path
    },
  }
}
