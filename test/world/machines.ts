/** Several machines that trade one account over one database: real daemons, each with a folder of its own, on one paper venue. */
import { join } from 'node:path'
import { Secret } from '../../src/base/secret.ts'
import type { JournalReader } from '../../src/journal/journal.ts'
import { openPostgresReader } from '../../src/journal/postgres/openPostgres.ts'
import { ownKind, writeStrategies } from './killRun.ts'
import { daemonFlags, type PaperHosts, perpd, type Running, until } from './processes.ts'

/** The account that they share. */
export interface Shared {
  readonly hosts: PaperHosts
  /** The database, by its one address or its hosts. */
  readonly url: string
  /** The key, made by whoever comes first. */
  readonly keyFile: string
  /** Files of strategies that trade without end; 3 when absent. */
  readonly strategies?: number
  /** Settings of their own, as flags. */
  readonly flags?: readonly string[]
  /** A program to run in the place of this checkout's source. */
  readonly program?: string
}

const account = 'pair'

/** Starts the machine whose files are in `folder`. It waits while another one trades. */
export function startMachine(folder: string, shared: Shared): Running {
  const { hosts, url, keyFile, strategies = 3, flags = [], program } = shared
  const kept = daemonFlags(folder, hosts).filter(
    (flag) => !/^--(strategies\.paths|paper\.keyFile)/.test(flag),
  )
  const paths = writeStrategies(folder, ownKind, strategies).map((path) => `--strategies.paths=${path}`)
  return perpd(
    [
      ...['run', ...kept, ...paths, `--paper.keyFile=${keyFile}`],
      ...[`--journal.url=${url}`, `--journal.account=${account}`, '--journal.standby=true'],
      ...[
        '--risk.maxOrdersPerHour=100000',
        '--risk.attemptsPerCause=10000',
        '--risk.executionFeesPerDay=1000',
        '--risk.relayFeesPerDayUsd=100000',
      ],
      ...flags,
    ],
    program === undefined ? {} : { program },
  )
}

/** Opens their journal for reading, at a database or its hosts. */
export function readMachines(url: string): JournalReader {
  return openPostgresReader({
    url: new Secret(url),
    ...{ account, needsStandby: false, signatureLivesMs: 60_000 },
  })
}

/** Reads something of their journal. */
export async function ofJournal<T>(url: string, read: (journal: JournalReader) => Promise<T>): Promise<T> {
  const journal = readMachines(url)
  try {
    return await read(journal)
  } finally {
    await journal.close()
  }
}

/** Waits until a machine has said an event. */
export async function said(machine: Running, event: string): Promise<void> {
  const text = `"event":"${event}"`
  await until(event, () => machine.stdout().includes(text) || undefined, { seen: machine.said })
}

/** Waits until a machine trades and two orders more are in the journal. */
export async function trades(machine: Running, url: string): Promise<void> {
  await said(machine, 'daemon.ready')
  const count = () => ofJournal(url, async (journal) => (await journal.summary()).intents)
  const before = await count()
  await until('new orders', async () => (await count()) > before + 1 || undefined, { seen: machine.said })
}

/** What `perpd status --json` says of the machine whose files are in `folder`. */
export async function statusOf(folder: string) {
  const asked = perpd(['status', '--json', `--control.tokenFile=${join(folder, 'control.token')}`])
  if ((await asked.ended) !== 0) throw new Error(`no status\n${asked.said()}`)
  return JSON.parse(asked.stdout())
}
