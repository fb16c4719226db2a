/**
 * A process that writes a journal until it is stopped: `node writer.ts <path> <in flight>`. It says `ready <epoch>` once it
 * has the journal, `<seq>` for every record that was acknowledged, and `fault <json>` when the journal fails.
 */
import { writeSync } from 'node:fs'
import { BaseError } from '../../src/base/errors.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { wholeStory } from './story.ts'

const [path = '', inFlight = '0'] = process.argv.slice(2)
/** With a thread the pipe to the reader does not block: a line that finds it full waits for the reader. */
const say = (line: string): void => {
  for (;;) {
    try {
      writeSync(1, `${line}\n`)
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'writer', inThread: true })
say(`ready ${journal.lease.epoch}`)
let next = journal.summary().intents

async function work(): Promise<void> {
  for (;;) {
    next += 1
    for (const record of wholeStory(next)) say(String((await journal.append(record)).seq))
  }
}

async function faultOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => ({}),
    (error: unknown) =>
      error instanceof BaseError ? { code: error.code, text: error.message } : { text: String(error) },
  )
}

if (inFlight === '0') setInterval(() => undefined, 1000)
else {
  const first = await faultOf(Promise.all(Array.from({ length: Number(inFlight) }, work)))
  const later = await faultOf(journal.append(wholeStory(next + 1)[0] as Parameters<typeof journal.append>[0]))
  say(`fault ${JSON.stringify({ first, later })}`)
  await journal.close()
}
