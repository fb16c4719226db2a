/**
 * A process that opens a journal once: `node act.ts writer|reader|kill <path>`. As `writer` or `reader` it first gives up
 * the rights of root and says what it found; as `kill` it appends one intent and dies without closing.
 */
import { writeSync } from 'node:fs'
import { BaseError } from '../../src/base/errors.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf } from './story.ts'

const NOBODY = 65_534
const [role = '', path = ''] = process.argv.slice(2)

if (role === 'kill') {
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'act' })
  await journal.append(storyOf(journal.summary().intents + 1).accepted())
  process.kill(process.pid, 'SIGKILL')
}
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY)
  process.setuid?.(NOBODY)
}
try {
  const journal =
    role === 'writer'
      ? createSqliteJournal({ path, clockNow: Date.now, holder: 'act' })
      : openSqliteReader(path)
  writeSync(1, JSON.stringify(await journal.summary()))
  await journal.close()
} catch (error) {
  writeSync(1, error instanceof BaseError ? `${error.code}\n${error.message}` : String(error))
}
