/** A holder whose server was replaced while it could not renew its right: another may have had the right meanwhile, and be lost with the server. */
import { expect, test } from 'vitest'
import type { SignEntry } from '../../src/domain/guardTable.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { openSharedStore } from '../../src/journal/fenced/openShared.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { ModelServer } from './sharedModel.ts'
import { hexOf, storyOf } from './story.ts'

/** Machines of one model server, and their clock, ms. */
function world() {
  const server = new ModelServer()
  /** The monotonic one stands still while the machine sleeps. */
  const clock = { nowMs: 0, sleptMs: 0 }
  const parted = new Set<string>()
  /** Requests on their way wait for it. */
  const road: { isOpen: Promise<void> } = { isOpen: Promise.resolve() }
  const open = async (name: string): Promise<Journal> => {
    const connect = () =>
      server.connect({
        fate: () => (parted.has(name) ? 'lost' : 'goes'),
        travel: () => (name === 'one' ? road.isOpen : Promise.resolve()),
        later: () => {},
      })
    const lines: SignEntry[] = []
    const opened = await openSharedStore({
      connections: { writer: connect(), beats: connect(), reader: connect() },
      clock: {
        now: () => 1_800_000_000_000 + clock.nowMs + clock.sleptMs,
        monotonicMs: () => clock.nowMs,
        sleep: async (ms) => {
          clock.nowMs += ms
        },
      },
      later: () => () => {},
      times: defaultLeaseTimes,
      holder: `${name}/1 ${name}`,
      openLocalGuard: () => ({
        path: name,
        entries: [...lines],
        append: async (entry) => void lines.push(entry),
        close: () => {},
      }),
      release: () => {},
      settleMs: 6_000,
    })
    return createJournal({ ...opened, soon: (commit) => void setImmediate(commit) })
  }
  return { server, clock, parted, road, open }
}

/** One opens, is parted, and another one takes the right, and signs; then a server takes over that is behind the taking. */
async function takenAndLost() {
  const { server, clock, parted, open } = world()
  const one = await open('one')
  await one.append(storyOf(1).accepted())
  const before = server.state
  parted.add('one')
  const other = await open('other')
  expect(clock.nowMs).toBeGreaterThanOrEqual(defaultLeaseTimes.standStillMs)
  await other.append(storyOf(1).preparing())
  await other.append(
    storyOf(1).armed(1, { digest: hexOf('signed by the other'), deadlineSeconds: 2_000_000_000 }),
  )
  parted.add('other')
  server.goBackTo(before)
  parted.delete('one')
  return { server, one }
}

test('a holder that could not renew its right ends where the server was replaced, and signs nothing again that a lost record may have signed', async () => {
  const { one } = await takenAndLost()
  expect(one.lease.lost()).toMatchObject({ code: 'JOURNAL_LEASE_STALE' })
  await expect(one.lease.renew()).rejects.toMatchObject({ code: 'JOURNAL_SERVER_REPLACED' })
  expect(one.lease.lost()).toMatchObject({ code: 'JOURNAL_SERVER_REPLACED' })
})

test('it writes nothing either, so that its next opening finds the doubt', async () => {
  const { server, one } = await takenAndLost()
  await expect(one.append(storyOf(1).preparing())).rejects.toMatchObject({ code: 'JOURNAL_SERVER_REPLACED' })
  expect(server.state.head.mayMissRecords).toBe(true)
})

test('the same where the server went back behind its own taking', async () => {
  const { server, clock, open } = world()
  const before = server.state
  const one = await open('one')
  await one.append(storyOf(1).accepted())
  clock.nowMs += defaultLeaseTimes.standStillMs
  server.goBackTo(before)
  await expect(one.lease.renew()).rejects.toMatchObject({ code: 'JOURNAL_SERVER_REPLACED' })
})

test('a holder that renewed its right a moment ago goes on after a failover, and puts its records back', async () => {
  const { server, clock, open } = world()
  const one = await open('one')
  const before = server.state
  await one.append(storyOf(1).accepted())
  clock.nowMs += defaultLeaseTimes.staleMs - 1
  server.goBackTo(before)
  await one.append(storyOf(1).preparing())
  expect(server.state.records).toHaveLength(2)
  expect(one.lease.lost()).toBeUndefined()
})

test('a machine that slept does not take its monotonic clock for proof that nobody else had the right', async () => {
  const { server, clock, open } = world()
  const one = await open('one')
  await one.append(storyOf(1).accepted())
  const before = server.state
  clock.sleptMs = 60_000
  server.goBackTo(before)
  expect(one.lease.lost()).toBeUndefined()
  await expect(one.append(storyOf(1).preparing())).rejects.toMatchObject({ code: 'JOURNAL_SERVER_REPLACED' })
})

test('a holder that found the doubt at its opening notes it, however long that took', async () => {
  const { server, clock, open } = world()
  const one = await open('one')
  const before = server.state
  await one.append(storyOf(1).accepted())
  server.goBackTo(before)
  const other = await open('other')
  clock.nowMs += 2 * defaultLeaseTimes.standStillMs
  await other.append(storyOf(2).accepted())
  expect(server.state.head).toMatchObject({ holder: 'other/1 other', seq: 1 })
})

test('a record that was on its way while another took the right is not written, whatever the chain ends with', async () => {
  const { server, road, open } = world()
  const one = await open('one')
  const { promise, resolve } = Promise.withResolvers<void>()
  road.isOpen = promise
  const late = one.append(storyOf(1).accepted())
  await new Promise(setImmediate)
  await open('other')
  resolve()
  await expect(late).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
  expect(server.state.records).toEqual([])
})
