/**
 * Loaded before each file of tests: a test that reached for what is a user's own fails, even where the code under test made nothing of it. The file's
 * processor time goes to the reporter.
 */
import { afterAll, afterEach } from 'vitest'
import { processorMs } from '../gate/processorTime.ts'
import { guardUsersOwn } from './usersOwn.ts'

const beganMs = processorMs()
// biome-ignore lint/correctness/noEmptyPattern: Vitest takes a pattern alone for the first parameter.
afterAll(({}, file) => {
  file.meta.processorMs = processorMs() - beganMs
})

/** What tests of this process reached for. One list for all its files: some share a process, which is guarded once. */
const shared = globalThis as typeof globalThis & { reachedByTests?: string[] }
const reached = shared.reachedByTests ?? []
if (shared.reachedByTests === undefined) guardUsersOwn((what) => reached.push(what))
shared.reachedByTests = reached

afterEach(() => {
  const found = reached.splice(0)
  if (found.length > 0)
    throw new Error(`this test ${found.join(', and it ')}: use a port, a folder and a profile of its own`)
})

// What commands print has whole sentences, so that a test finds them; one about screens says its own width.
process.env.COLUMNS = '1000'
