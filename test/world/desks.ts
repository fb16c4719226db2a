/** Several processes that hold several accounts over one database: real daemons, each with a folder of its own, on one paper venue. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../src/base/secret.ts'
import type { JournalReader } from '../../src/journal/journal.ts'
import { openPostgresReader } from '../../src/journal/postgres/openPostgres.ts'
import { ownKind, writeStrategies } from './killRun.ts'
import { daemonFlags, type PaperHosts, perpd, type Running, until } from './processes.ts'

/** The accounts that they share. */
export interface SharedDesk {
  readonly hosts: PaperHosts
  readonly url: string
  readonly names: readonly string[]
  /** Folder of the accounts' keys, made by whoever comes first. */
  readonly keys: string
  /** Settings of each, as flags. */
  readonly flags?: readonly string[]
}

/** Settings of a process in the file `perpd.json` of its folder; `names` are the accounts that it knows, all where absent. */
export function writeDesk(folder: string, shared: SharedDesk, names: readonly string[] = shared.names): void {
  const strategies = writeStrategies(folder, ownKind, 1)
  writeFileSync(
    join(folder, 'perpd.json'),
    JSON.stringify({
      accounts: Object.fromEntries(names.map((name) => [name, { strategies: { paths: strategies } }])),
    }),
  )
}

/** Starts the process whose files are in `folder`. `program` is that of another checkout, this one's where absent. */
export function startDesk(
  folder: string,
  { hosts, url, keys, flags = [] }: SharedDesk,
  program?: string,
): Running {
  const kept = daemonFlags(folder, hosts).filter(
    (flag) => !/^--(strategies\.paths|paper\.keyFile)/.test(flag),
  )
  return perpd(
    [
      ...['run', ...kept, `--paper.keyFile=${join(keys, 'key')}`, `--journal.url=${url}`],
      ...['--journal.standby=true', '--risk.maxOrdersPerHour=100000', '--risk.attemptsPerCause=10000'],
      ...['--risk.executionFeesPerDay=1000', '--risk.relayFeesPerDayUsd=100000', '--risk.maxDailyLossUsd=0'],
      // A run of an hour opens and closes more than an honest strategy would.
      ...['--signing.exposureCapUsd=100000000', ...flags],
    ],
    { cwd: folder, ...(program === undefined ? {} : { program }) },
  )
}

/** Runs one command in a process's folder to its end. */
export async function atDesk(folder: string, ...args: readonly string[]) {
  const running = perpd([...args, `--control.tokenFile=${join(folder, 'control.token')}`], { cwd: folder })
  return { code: await running.ended, out: running.stdout(), said: running.said() }
}

/** Opens an account's journal for reading. */
function readDesk(url: string, name: string): JournalReader {
  return openPostgresReader({
    url: new Secret(url),
    ...{ account: `paper.${name}`, needsStandby: false, signatureLivesMs: 60_000 },
  })
}

/** Counts an account's intents. */
export async function countIntents(url: string, name: string): Promise<number> {
  const journal = readDesk(url, name)
  try {
    return (await journal.summary()).intents
  } finally {
    await journal.close()
  }
}

/** Accounts of which a process logged this event, in its lines after the first `from`. */
export function saidOf(desk: Running, event: string, from = 0): ReadonlySet<unknown> {
  const found = desk
    .stdout()
    .split('\n')
    .slice(from)
    .flatMap((line) => {
      if (!line.includes(`"event":"${event}"`)) return []
      return [(JSON.parse(line) as Readonly<Record<string, unknown>>).account]
    })
  return new Set(found)
}

/** Lines that a process has logged: its text ends with the end of a line. */
export function linesOf(desk: Running): number {
  return desk.stdout().split('\n').length - 1
}

/** Waits until accounts have an intent more than now. */
export async function trade(desk: Running, url: string, names: readonly string[]): Promise<void> {
  const before = await Promise.all(names.map((name) => countIntents(url, name)))
  for (const [at, name] of names.entries())
    await until(
      `${name} trades`,
      async () => (await countIntents(url, name)) > (before[at] ?? 0) || undefined,
      { seen: desk.said },
    )
}

/** Holds the journals of all accounts against the venue's own record. */
export async function judgeDesk(url: string, names: readonly string[], control: string) {
  const armed: string[] = []
  const open: string[] = []
  for (const name of names) {
    const journal = readDesk(url, name)
    try {
      const states = await journal.intents()
      armed.push(
        ...states.flatMap(({ attempts }) =>
          attempts.flatMap(({ armed }) => armed?.signature.toLowerCase() ?? []),
        ),
      )
      open.push(...states.filter(({ closing }) => closing === undefined).map(({ intent }) => intent.intentId))
    } finally {
      await journal.close()
    }
  }
  const rows = (await (await fetch(`${control}/record`)).json()) as readonly {
    readonly signature: string | null
    readonly digest: string | null
  }[]
  const received = rows.flatMap(({ signature, digest }) => (signature ?? digest)?.toLowerCase() ?? [])
  const known = new Set(armed)
  return {
    received: received.length,
    armedTwice: armed.filter((name, index) => armed.indexOf(name) !== index),
    receivedTwice: received.filter((name, index) => received.indexOf(name) !== index),
    lost: received.filter((name) => !known.has(name)),
    open,
  }
}
