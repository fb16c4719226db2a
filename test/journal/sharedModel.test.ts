/** The store over the model of a server: the same demands as every other store. Its worlds with faults are in sharedWorlds.test.ts. */
import { systemClock } from '../../src/base/systemClock.ts'
import type { GuardTable, SignEntry } from '../../src/domain/guardTable.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { openSharedStore } from '../../src/journal/fenced/openShared.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import { journalConformance, type OpenedBackend } from './conformance.ts'
import { type Fate, ModelServer } from './sharedModel.ts'

journalConformance('model of a shared store', () => openOn(new ModelServer(), []))

let openings = 0

async function openOn(server: ModelServer, lines: SignEntry[]): Promise<OpenedBackend> {
  let next: Fate = 'goes'
  const fate = (request: string): Fate => {
    if (request !== 'append') return 'goes'
    const found = next
    next = 'goes'
    return found
  }
  const connect = () => server.connect({ fate, travel: async () => {}, later: setImmediate })
  openings += 1
  const opened = await openSharedStore({
    connections: { writer: connect(), beats: connect(), reader: connect() },
    clock: { ...systemClock, now: () => 1_800_000_000_000, sleep: async () => {} },
    later: () => () => {},
    times: { ...defaultLeaseTimes, standStillMs: 0 },
    holder: `model/1 ${openings}`,
    isOwnDead: () => true,
    openLocalGuard: () => tableOf(lines),
    release: () => {},
  })
  return {
    store: opened.store,
    journal: createJournal({ ...opened, soon: (commit) => void setImmediate(commit) }),
    takeOver: () => openOn(server, lines),
    faults: {
      loseAnswer: () => {
        next = 'unanswered'
      },
      loseRequest: () => {
        next = 'lost'
      },
      goBack: async (records) => server.goBackBy(records),
    },
  }
}

function tableOf(lines: SignEntry[]): GuardTable {
  return {
    path: 'model',
    entries: [...lines],
    append: async (entry) => void lines.push(entry),
    close: () => {},
  }
}
