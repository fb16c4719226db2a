/** The watch over the standbys of the journal's server. */
import { expect, test } from 'vitest'
import { watchReplication } from '../../src/daemon/notices/watchReplication.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Replication } from '../../src/domain/journalServer.ts'

async function reports(looks: readonly (Replication | undefined)[]): Promise<readonly Event[]> {
  const events: Event[] = []
  const ending = new AbortController()
  const left = [...looks]
  await watchReplication({
    journal: {
      server() {
        const replication = left.shift()
        if (left.length === 0) ending.abort()
        const server = { isHeld: true, epoch: 1, holder: 'one/7' }
        return replication === undefined ? server : { ...server, replication }
      },
    },
    clock: { sleep: () => Promise.resolve() },
    emit: (event) => void events.push(event),
    signal: ending.signal,
  })
  return events
}

const none = { standbys: 0, isSynchronous: false }
const asynchronous = { standbys: 1, isSynchronous: false }
const synchronous = { standbys: 1, isSynchronous: true }

test('asynchronous standbys are reported once, and their end once', async () => {
  expect(await reports([synchronous, asynchronous, undefined, asynchronous, synchronous])).toEqual([
    { type: 'journal.replication', isSynchronous: false, standbys: 1 },
    { type: 'journal.replication', isSynchronous: true, standbys: 1 },
  ])
})

test('a server without any standby cannot fail over, and is not reported', async () => {
  expect(await reports([none, undefined, none])).toEqual([])
})
