/** Loaded before each file of tests: a test that reached for what is a user's own fails, even where the code under test made nothing of it. */
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { guardUsersOwn } from './usersOwn.ts'

const reached: string[] = []
guardUsersOwn((what) => reached.push(what))

afterEach(() => {
  const found = reached.splice(0)
  if (found.length > 0)
    throw new Error(`this test ${found.join(', and it ')}: use a port, a folder and a profile of its own`)
})

// What commands print has whole sentences, so that a test finds them; one about screens says its own width.
process.env.COLUMNS = '1000'

// Real processes that tests start find their modules compiled: most of what a short command takes is reading them.
process.env.NODE_COMPILE_CACHE ??= join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '.cache',
  'perpd-tests',
)
