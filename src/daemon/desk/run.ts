/**
 * The daemon: one account, or several over shared connections. It wires all the parts (the trader of an account in `connectTrader.ts`), starts them in the
 * order that recovery needs, and stops them on signals: the first drains, the second leaves at once. Both are safe, because the journal is written before
 * everything that leaves.
 */

import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { RunDesk } from '../../control/console/runDesk.ts'
import type { ControlServer } from '../../control/server.ts'
import { createHostBook, type HostBook } from '../../monitor/hostFigures.ts'
import type { Log } from '../../monitor/log/log.ts'
import { createMetrics } from '../../monitor/metrics/metrics.ts'
import type { Heartbeat } from '../../notify/heartbeat.ts'
import { connectVenue, hostsOf, type VenueConnection, type VenueHosts } from '../connectVenue.ts'
import { leaveAddress } from '../controlAddress.ts'
import type { StartedVenue } from '../embeddedVenue.ts'
import { fleetPortOf, steer } from '../fleet/openFleet.ts'
import { changeLog } from '../logging/changeLog.ts'
import type { LogOutput } from '../logging/logOutput.ts'
import { openHeartbeat } from '../notices/openHeartbeat.ts'
import { takeChats } from '../notices/takeChats.ts'
import { openService } from '../openService.ts'
import { openTokens } from '../ownFiles/controlTokens.ts'
import { refuseUnwritable } from '../ownFiles/statePlaces.ts'
import { type CarriedOut, listenForSignals, type SignalledEngine } from '../signals.ts'
import type { KeySources } from '../signers/keySources.ts'
import { createStandbyPort, metricsOf, portSettings } from '../standbyPort.ts'
import type { AccountStart } from './accountStart.ts'
import { type AccountTaker, closeAll, createTaker } from './accountTaker.ts'
import {
  accountStates,
  allTraders,
  areAlive,
  beatOfAll,
  chatAccounts,
  fixedSeats,
  type Seat,
  statusOfAll,
} from './allAccounts.ts'
import { type ClosedStart, createClosedAccount } from './closedAccount.ts'
import { type DeskDealer, dealerOf, deskEars, runDealer } from './dealDesk.ts'
import { consoleOf, sayConsole, servePort } from './deskPort.ts'
import { type HeardAccount, hearAccount } from './hearAccount.ts'
import {
  type Closers,
  guardAccount,
  type JournaledAccount,
  type JournalWait,
  journalAccount,
  type KeyedAccount,
  keyAccount,
  type OpenAccount,
  readAccount,
  refuseSharedKeys,
} from './openAccount.ts'
import { beginAccount, connectAccount, type RunningAccount, servedAccount } from './runningAccount.ts'
import { ofOnlyAccount, ofSeveralAccounts, type SharedEvents } from './sharedEvents.ts'
import { type FailedAccount, ofAccount, orClosed, orFailed } from './startFaults.ts'

/** Options of a daemon's run, in addition to its configuration. */
export interface RunOptions {
  /** The accounts to run: one without a name, or several with names. */
  readonly accounts: readonly AccountStart[]
  /** The log of the process. */
  readonly log: Log
  /** Standard output, as the log writes it. */
  readonly output: LogOutput
  /** Things the operator should know before the first order. */
  readonly notes: readonly string[]
  readonly keys: KeySources
  /** Makes backtests for the console. */
  readonly runDesk?: RunDesk
  /** Writes a line to the operator's terminal and nowhere else; absent where what is written is kept, or read by a program. */
  readonly terminal?: (text: string) => void
  /** Shows whoever sits at a terminal how far a journal is read, while it is. */
  readonly whileReading: JournalWait['whileReading']
}

/** Told that a fault ended an account, with which exit code, and why. */
type AccountStopped = (name: string | undefined, code: number, reason: string) => void

/** Runs until a signal or a fault ends it; resolves with the exit code. Throws CommandError or BaseError when it cannot start. */
export async function run(config: Config, options: RunOptions): Promise<number> {
  const { log, accounts } = options
  for (const { config } of accounts) refuseUnwritable(config)
  const closers: Closers = []
  let code: number | undefined
  try {
    code = await opened(config, options, closers)
  } finally {
    if (!(await closeAll(closers, log)) && code === exitCodes.ok) code = exitCodes.error
  }
  return code
}

/** Opens keys, journals, the venue and the guards, in this order, and runs over them. */
async function opened(config: Config, options: RunOptions, closers: Closers): Promise<number> {
  const { log, keys, whileReading } = options
  const keyed: KeyedAccount[] = []
  const closed: ClosedStart[] = []
  for (const start of options.accounts) {
    const files = await ofAccount(start.name, () => readAccount(start, closers))
    const key = () => keyAccount(start, files, keys, closers)
    const account =
      config.cluster.name === undefined
        ? await ofAccount(start.name, key)
        : await orClosed({ start, openAgain: openAgain(start, keys) }, closed, key)
    if (account !== undefined) keyed.push(account)
  }
  refuseSharedKeys(keyed)
  const standby = createStandbyPort(config, log)
  closers.push(standby.close)
  const { opened: waited, hear, hasWaited } = standby
  const hooks = { closers, closeStandby: standby.close }
  if (isTaking(config, options)) {
    const venue = config.embedsVenue ? await embedVenue(config, log) : undefined
    if (venue) closers.push(() => venue.close())
    const opened = { open: [], failed: [], venue, takes: keyed, closed }
    return await live(config, options, opened, { ...hooks, connected: () => undefined })
  }
  const waiting = config.journal.standby ? hear : undefined
  const journaled: JournaledAccount[] = []
  const failed: FailedAccount[] = []
  for (const account of keyed) {
    const wait = { whileReading, opened: waited, waiting, hasWaited }
    const journal = await orFailed(account.start, failed, () => journalAccount(account, wait, closers))
    if (journal === 'failed') continue
    if (journal === undefined) return exitCodes.ok
    journaled.push(journal)
  }
  const venue = config.embedsVenue && journaled.length > 0 ? await embedVenue(config, log) : undefined
  if (venue) closers.push(() => venue.close())
  let connection: VenueConnection | undefined
  const aheadMs = () => connection?.hostsSkewMs()
  const open: OpenAccount[] = []
  for (const account of journaled) {
    const guarded = await orFailed(account.start, failed, () =>
      guardAccount(account, venue, aheadMs, closers),
    )
    if (guarded !== 'failed') open.push(guarded)
  }
  if (open.length === 0) {
    throw new CommandError(
      `No account could be opened.\n${failed.map(({ name, reason }) => `  ${name}: ${reason}`).join('\n')}`,
      exitCodes.error,
    )
  }
  return await live(
    config,
    options,
    { open, failed, venue, takes: [], closed },
    {
      ...hooks,
      connected: (made) => {
        connection = made
      },
    },
  )
}

/** Returns what opens an account's key another time; nobody sits at a terminal then. */
function openAgain(start: AccountStart, keys: KeySources): ClosedStart['openAgain'] {
  return async (closers) =>
    keyAccount(start, await readAccount(start, closers), { ...keys, ask: undefined }, closers)
}

/** Tells whether each account waits for its lease by itself. */
function isTaking(config: Config, { accounts }: RunOptions): boolean {
  return config.journal.standby && accounts.some(({ name }) => name !== undefined)
}

/** Starts the venue inside this process. A daemon that trades elsewhere does not even load it. */
async function embedVenue(config: Config, log: Log): Promise<StartedVenue> {
  const { startVenue } = await import('../embeddedVenue.ts')
  return await startVenue(config, log)
}

/** The opened parts of a run. */
interface Opened {
  readonly open: readonly OpenAccount[]
  readonly failed: readonly FailedAccount[]
  readonly venue: StartedVenue | undefined
  /** Accounts that are opened whenever their lease is free, while the process runs. */
  readonly takes: readonly KeyedAccount[]
  /** Accounts of a fleet whose key other nodes have. */
  readonly closed: readonly ClosedStart[]
}

/** Hooks of a run. */
interface RunHooks {
  readonly closers: Closers
  /** Closes the port that answered while another perpd had the journal. */
  readonly closeStandby: () => Promise<void>
  readonly connected: (connection: VenueConnection) => void
}

async function live(
  config: Config,
  options: RunOptions,
  { open, failed, venue, takes, closed }: Opened,
  { closers, closeStandby, connected }: RunHooks,
): Promise<number> {
  const { log } = options
  const hosts = hostsOf(config, venue)
  const clock = venue?.clock ?? systemClock
  const seats: Seat[] = []
  const ended = Promise.withResolvers<number>()
  const faults = new Map(failed.map(({ name, reason }) => [name, reason]))
  const hostBook = createHostBook(systemClock.now)
  const names = options.accounts.flatMap(({ name }) => name ?? [])
  const metrics = createMetrics({
    ...metricsOf(config),
    accounts: () => accountStates(seats),
  })
  const shared =
    names.length === 0
      ? ofOnlyAccount()
      : await ofSeveralAccounts(config, { log, metrics, also: [hostBook.listen], closers })
  let heartbeat: Heartbeat | undefined
  const stopped: AccountStopped = (name, code, reason) => {
    faults.set(name, reason)
    heartbeat?.fail()
    if (options.accounts.every((each) => faults.has(each.name))) ended.resolve(code)
  }
  const dealing = dealerOf(config, names)
  for (const { name = '' } of failed) dealing?.failed(name)
  const heard = await hearAll(open, shared, { hosts, hostBook, dealing, closers }, stopped)
  options.output.report(shared.emit)
  const fetch = createNodeFetch()
  closers.push(() => fetch.close())
  const connection = await connectVenue(config, {
    ...{ hosts, fetch: fetch.fetch, venue, clock, emit: shared.emit, closers },
  })
  connected(connection)
  const tokens = openTokens(config)
  const running: RunningAccount[] = []
  for (const account of heard)
    running.push(await connectAccount(account, { connection, tokens, dealing, closers }))
  let statusUrl = ''
  const take = (account: KeyedAccount): AccountTaker =>
    createTaker(account, {
      ...{ connection, tokens, dealing, shared, venue, notes: options.notes, statusUrl: () => statusUrl },
      failed: (code, reason) => stopped(account.start.name, code, reason),
    })
  const keyed = [...takes]
  const admit = (account: KeyedAccount): void => {
    refuseSharedKeys([...keyed, account])
    keyed.push(account)
  }
  const takers = [...takes.map(take), ...closed.map((each) => createClosedAccount(each, { admit, take }))]
  seats.push(...(takers.length > 0 ? takers : fixedSeats(options.accounts, running, faults)))
  await closeStandby()
  const fleet = fleetPortOf(config, log.note)
  if (fleet !== undefined) closers.push(fleet.close)
  const place = {
    ...portSettings(config),
    tokens,
    ...defined({ runDesk: options.runDesk, fleet }),
    ...consoleOf(config),
  }
  const control = await servePort(shared.emit, place, seats, {
    metrics,
    served: (one) => servedAccount(one, hostBook),
  })
  statusUrl = control.url
  closers.push(() => control.close(), leaveAddress(config, control.localUrl, log))
  closers.push(async () => {
    await Promise.all(takers.map((taker) => taker.stop('the end of perpd')))
  })
  heartbeat = openHeartbeat(config, shared.emit, () => beatOfAll(seats))
  closers.push(heartbeat.stop)
  return await work(config, options, {
    ...{ shared, connection, control, seats, running, takers, dealing },
    ended,
  })
}

/** Parts of a process that is about to trade. */
interface ReadyParts {
  readonly shared: SharedEvents
  readonly connection: VenueConnection
  readonly control: ControlServer
  readonly seats: readonly Seat[]
  /** Accounts that were opened once. */
  readonly running: readonly RunningAccount[]
  readonly takers: readonly AccountTaker[]
  readonly dealing: DeskDealer | undefined
  readonly ended: PromiseWithResolvers<number>
}

/** Listens for signals and chats, and trades until the end; resolves with the exit code. */
async function work(
  config: Config,
  options: RunOptions,
  { shared, connection, control, seats, running, takers, dealing, ended }: ReadyParts,
): Promise<number> {
  const { log } = options
  const fail = (error: unknown): void => {
    for (const each of seats) each.running()?.fail(error)
  }
  const service = openService(
    () => statusOfAll(seats),
    () => areAlive(seats),
    log,
  )
  // Before it is said to have started: who hears that may signal at once.
  const [first] = options.accounts
  const carriedOut: CarriedOut = (command, by) =>
    first === undefined ? undefined : changeLog(command, by, { log, reload: first.reload })
  const traders = allTraders(seats)
  const stopped: SignalledEngine = {
    operate: (command, commander) => traders.operate(command, commander),
    abort: () => traders.abort(),
    stop(signal) {
      if (process.stderr.isTTY === true) options.output.lastLinesTo(process.stderr)
      return traders.stop(signal)
    },
  }
  const stopListening = listenForSignals(stopped, log, fail, ended.resolve, carriedOut, service)
  const begun = running.map((account) =>
    beginAccount(account, { connection, statusUrl: control.url, notes: options.notes }),
  )
  const endChats = takeChats(config, shared.notifier().sinks, {
    accounts: () => chatAccounts(seats),
    ...{ emit: shared.emit, fail, redact: shared.notifier().redact },
  })
  const dealingOver = new AbortController()
  let endSteering = (): Promise<void> => Promise.resolve()
  try {
    for (const { announce } of begun) announce()
    sayConsole(config, control, options)
    for (const { trade } of begun) trade()
    endSteering = steer(config, takers, log, fail)
    if (dealing !== undefined) runDealer(dealing, systemClock, dealingOver.signal).catch(fail)
    service.ready()
    return await ended.promise
  } finally {
    dealingOver.abort()
    await endSteering()
    stopListening()
    endChats()
    for (const { end } of begun) end()
    service.close()
  }
}

/** Creates the listeners of each account. `ended` receives which account a fault ended, with which code, and why. */
async function hearAll(
  open: readonly OpenAccount[],
  shared: SharedEvents,
  {
    hosts,
    hostBook,
    dealing,
    closers,
  }: {
    readonly hosts: VenueHosts
    readonly hostBook: HostBook
    readonly dealing: DeskDealer | undefined
    readonly closers: Closers
  },
  ended: AccountStopped,
): Promise<readonly HeardAccount[]> {
  const heard: HeardAccount[] = []
  for (const account of open) {
    const { name } = account.start
    const own = await hearAccount(account, {
      hosts,
      ended: (code, reason) => ended(name, code, reason),
      also: name === undefined ? [hostBook.listen] : [shared.hear, ...deskEars(dealing, name)],
      closers,
    })
    heard.push(own)
    shared.add(own)
  }
  return heard
}
