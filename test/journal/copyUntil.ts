/** A process that copies a journal and dies by SIGKILL in the middle: `node copyUntil.ts DIRECTION RECORDS OPTIONS`, once so many records were copied. */
import { Secret } from '../../src/base/secret.ts'
import { copyToDatabase, copyToFile } from '../../src/journal/service/copyJournal.ts'

const [direction, records, options = ''] = process.argv.slice(2)
const { url, ...rest } = JSON.parse(options)
await (direction === 'database' ? copyToDatabase : copyToFile)(
  { ...rest, clockNow: Date.now, postgres: { ...rest.postgres, url: new Secret(url) } },
  (done) => {
    if (done >= Number(records)) process.kill(process.pid, 'SIGKILL')
  },
)
