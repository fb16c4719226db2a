/** A folder for each test of a file, as tests of real processes begin and end. */
import { afterEach, beforeEach } from 'vitest'
import { killLeftOver, scratch } from './processes.ts'

/** Gives each test of this file a folder of its own. It is gone when the test has ended, after every process that was left running. */
export function folderOfEachTest(): { readonly path: string } {
  let folder: ReturnType<typeof scratch>
  beforeEach(() => {
    folder = scratch()
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
