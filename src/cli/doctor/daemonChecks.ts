/** Checks of what runs here: the daemon, its port, its journal, its strategy files. */
import { createServer } from 'node:net'
import { CLOCK_STEP_MS, isoTime } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { isThere } from '../../base/isThere.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { LoadedConfig } from '../../config/loadConfig.ts'
import type { StatusBody } from '../../control/routes.ts'
import { addressFileOf, readAddress, readLeft } from '../../daemon/controlAddress.ts'
import { postgresOf } from '../../daemon/journalFile.ts'
import { readStrategyFiles } from '../../daemon/readStrategies.ts'
import { type PostgresJournal, postgresName } from '../../journal/postgres/postgresPlace.ts'
import { lookAtJournal } from '../../journal/sqlite/lookAtJournal.ts'
import { counted, span } from '../../monitor/text.ts'
import { closeStrategies } from '../../strategy/files/load.ts'
import { queryStatus, StandbyWaits } from '../call/daemonClient.ts'
import { type Finding, fail, faultFinding, pass, warn } from './finding.ts'

/** A daemon, as far as one shows. */
export interface SeenDaemon {
  /** Status that the daemon reports; undefined when none answers. */
  readonly status: StatusBody | undefined
  readonly findings: readonly Finding[]
}

/** Asks whether the daemon of this configuration runs, and whether it is as it should be. */
export async function lookForDaemon(loaded: LoadedConfig): Promise<SeenDaemon> {
  try {
    const status = await queryStatus(loaded)
    const age = span(status.nowMs - status.startedAtMs)
    const text = `running for ${age}: ${status.version}, profile ${status.profile}, trading ${status.tradingState}`
    const why = status.notReady.join('; ')
    return {
      status,
      findings: [
        why === '' ? pass('daemon', text) : warn('daemon', `${text}; not ready: ${why}`, 'perpd status'),
      ],
    }
  } catch (error) {
    if (error instanceof StandbyWaits) {
      const { code, reason } = error.standby
      const isWell = code === 'JOURNAL_LOCKED'
      return {
        status: undefined,
        findings: [isWell ? pass('daemon', reason) : warn('daemon', reason, 'perpd status')],
      }
    }
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning)
      return { status: undefined, findings: [absence(loaded.config)] }
    return { status: undefined, findings: [faultFinding('daemon', error, 'perpd status')] }
  }
}

/** Reports that no daemon is running, and leftovers of an unclean exit. */
function absence(config: Config): Finding {
  const file = addressFileOf(config)
  if (!isThere(file)) return pass('daemon', 'not running: perpd run starts it')
  const { pid } = readLeft(config)
  return warn(
    'daemon',
    `no answer, though ${file} names one${pid === undefined ? '' : ` (pid ${pid})`}: it did not shut down cleanly`,
    'perpd run restarts from the journal and replaces the file.',
  )
}

/** Reports whether the control port is free for a daemon to start, or served by the running one. */
export async function checkPort(config: Config, status: StatusBody | undefined): Promise<readonly Finding[]> {
  const { host, port } = config.control
  if (status !== undefined) return [servedPort(config)]
  if (port === 0) return [pass('port', 'a start takes a free port (control.port 0)')]
  const code = await bindingFault(host, port)
  if (code === undefined) return [pass('port', `${host}:${port} is free`)]
  return [
    warn(
      'port',
      `${host}:${port} cannot be opened: ${code === 'EADDRINUSE' ? 'another program listens there' : code}; perpd would take a free port`,
      `Stop that program, or choose another port: --control.port ${port + 1}`,
    ),
  ]
}

/** Where the daemon serves; that it is not where the settings have it. */
function servedPort(config: Config): Finding {
  const address = readAddress(config) ?? config.control.host
  const { wantedPort } = readLeft(config)
  const isMoved = wantedPort !== undefined && wantedPort !== 0 && !address.endsWith(`:${wantedPort}`)
  const text = `the daemon serves ${address}`
  if (!isMoved) return pass('port', text)
  return warn(
    'port',
    `${text}: the configured port ${wantedPort} was taken when it started`,
    'Free the port, then restart perpd.',
  )
}

function bindingFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Reports whether there is a journal that this perpd can read, and who wrote it last. */
export async function checkJournal(
  config: Config,
  status: StatusBody | undefined,
): Promise<readonly Finding[]> {
  const postgres = postgresOf(config)
  if (postgres !== undefined) return await checkPostgres(postgres)
  const { path: location } = config.journal
  if (location === 'memory:')
    return [
      warn(
        'journal',
        'kept in memory: a restart forgets every order',
        'Set journal.path to a file to keep them.',
      ),
    ]
  const path = location.replace(/^sqlite:/, '')
  if (!isThere(path)) return [pass('journal', `none at ${path} yet: the first start creates it`)]
  try {
    const { version, readable, records, openIntents, lease, newestAtMs } = lookAtJournal(path)
    const schema =
      version === readable
        ? `schema ${version}`
        : `schema ${version}, raised to ${readable} at the next start`
    const held =
      lease === undefined
        ? 'never written'
        : `lease ${lease.epoch} of ${lease.holder}, opened ${isoTime(lease.openedAtMs)}`
    const text = `${counted(records, 'record')}, ${counted(openIntents, 'open order')}, ${schema}, ${held}`
    const clock = journalClock(newestAtMs, systemClock.now())
    if (status === undefined && openIntents > 0)
      return [
        ...clock,
        warn('journal', text, 'Orders are open, and no daemon follows them: start one with perpd run.'),
      ]
    return [...clock, pass('journal', text)]
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return [faultFinding('journal', error, 'perpd journal verify')]
  }
}

/** Connects to the database of the journal and holds what it is against what perpd demands; changes nothing. */
async function checkPostgres(postgres: PostgresJournal): Promise<readonly Finding[]> {
  const { lookAtPostgres } = await import('../../journal/postgres/openPostgres.ts')
  try {
    const { version, synchronousStandbys, isEncrypted } = await lookAtPostgres(postgres)
    const name = postgresName(postgres)
    const standbys = synchronousStandbys.trim() === '' ? 'none' : synchronousStandbys
    const text = `${name}: PostgreSQL ${Math.floor(version / 10_000)}, synchronous standbys ${standbys}`
    const open = isEncrypted
      ? []
      : [
          warn(
            'journal',
            `the connection to ${name} is not encrypted`,
            'If it leaves this machine, end journal.url with ?sslmode=verify-full',
          ),
        ]
    return [pass('journal', text), ...open]
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return [faultFinding('journal', error, 'Check journal.url, the server and the network.')]
  }
}

/** Warns where the newest record of a journal is of a time that this machine's clock has not reached. */
export function journalClock(newestAtMs: number | undefined, nowMs: number): readonly Finding[] {
  const aheadMs = (newestAtMs ?? nowMs) - nowMs
  if (aheadMs < CLOCK_STEP_MS) return []
  return [
    warn(
      'clock',
      `this machine's clock is ${span(aheadMs)} behind the journal's newest record (${isoTime(nowMs + aheadMs)}): it was fast then, or is slow now`,
      'Compare it with the hosts above, and check its time server: timedatectl',
    ),
  ]
}

/** Reports whether the files that the paper venue starts from can be read. */
export async function checkVenueFiles(config: Config): Promise<readonly Finding[]> {
  if (!config.embedsVenue) return []
  const { venueFileProblems } = await import('../../daemon/ownFiles/venueFiles.ts')
  return (await venueFileProblems(config)).map((each) =>
    fail('venue files', each, 'docs/reference/paper-venue.md'),
  )
}

/** Reports whether the strategy files would start. */
export async function checkStrategyFiles(config: Config): Promise<readonly Finding[]> {
  const { strategies, disabled, problems } = await readStrategyFiles(config)
  await closeStrategies(strategies)
  const remedy = 'perpd check has the details; perpd init writes the shipped files.'
  if (problems.length > 0)
    return problems.map((each) =>
      fail('strategies', each.shortMessage, [each.details, remedy].filter(Boolean).join('; ')),
    )
  const names = strategies.map(({ name }) => name)
  const off = disabled.length === 0 ? '' : `; off: ${disabled.join(', ')}`
  return names.length === 0
    ? [warn('strategies', `no strategy would run${off}`, 'perpd strategies new KIND writes one.')]
    : [pass('strategies', `${names.join(', ')}${off}`)]
}
