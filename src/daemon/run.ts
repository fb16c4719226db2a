/**
 * The daemon: it wires all the parts (the trader in `connectTrader.ts`), starts them in the order that recovery needs, and
 * stops them on signals: the first drains, the second leaves at once. Both are safe, because the journal is written
 * before everything that leaves.
 */

import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { createNodeFetch } from '../api/transport/nodeFetch.ts'
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { exitCodes } from '../config/exit.ts'
import type { RunDesk } from '../control/console/runDesk.ts'
import type { ConsoleSettings } from '../control/console/webConsole.ts'
import type { ControlServer } from '../control/server.ts'
import { type Emit, emitTo } from '../domain/event.ts'
import { openJournal } from '../journal/service/open.ts'
import { guardedSigner } from '../keys/signingGuard.ts'
import { createHealth } from '../monitor/health.ts'
import { createHostBook } from '../monitor/hostFigures.ts'
import { createLastDecisions } from '../monitor/lastDecisions.ts'
import type { Log } from '../monitor/log/log.ts'
import type { LogRing } from '../monitor/log/logRing.ts'
import { createMetrics } from '../monitor/metrics/metrics.ts'
import type { Heartbeat } from '../notify/heartbeat.ts'
import type { Notifier } from '../notify/notifier.ts'
import { closeStrategies } from '../strategy/files/load.ts'
import { announce, refuseForeign } from './announce.ts'
import { strategyWarnings } from './checkStrategies.ts'
import { connectTrader, type OpenedParts, type Reached, type ReadAnew } from './connectTrader.ts'
import { leaveAddress } from './controlAddress.ts'
import { equityFile } from './controlPort/equityFile.ts'
import { journalAnswers } from './controlPort/journalAnswers.ts'
import { openControl } from './controlPort/openControl.ts'
import type { StartedVenue } from './embeddedVenue.ts'
import { fatalStop } from './fatalStop.ts'
import { besideJournal, journalOptions } from './journalFile.ts'
import { changeLog } from './logging/changeLog.ts'
import { loggedEngineApi } from './logging/loggedEngineApi.ts'
import type { LogOutput } from './logging/logOutput.ts'
import { type Reading, tellReading } from './logging/tellReading.ts'
import { traceHeaders } from './logging/traceHeaders.ts'
import { approvalStore, noticeStore } from './notices/noticeStores.ts'
import { crashNotice, openNotifier } from './notices/notifySinks.ts'
import { beatOf, openHeartbeat } from './notices/openHeartbeat.ts'
import { priorIncidents } from './notices/priorIncidents.ts'
import { tellPeople } from './notices/tellPeople.ts'
import { watchReplication } from './notices/watchReplication.ts'
import { openService, serviceStatus } from './openService.ts'
import { openTokens } from './ownFiles/controlTokens.ts'
import { copyNotes, ownCopies } from './ownFiles/ownCopies.ts'
import { openSignals, signalWarnings } from './ownFiles/signalSecrets.ts'
import { refuseUnwritable } from './ownFiles/statePlaces.ts'
import { readAgain, readStrategies } from './readStrategies.ts'
import { openSigningGuard } from './runSettings.ts'
import { type CarriedOut, listenForSignals } from './signals.ts'
import type { KeySources } from './signers/keySources.ts'
import { openSigner } from './signers/openSigner.ts'
import { createStandbyPort, metricsOf, portSettings, type StandbyPort } from './standbyPort.ts'
import type { Trader } from './trader.ts'
import { nextStart } from './waitingSettings.ts'
import { watchStrategies } from './watchStrategies.ts'

/** Options of a daemon's run, in addition to its configuration. */
export interface RunOptions extends ReadAnew {
  /** The newest lines of the log, in memory. */
  readonly kept: LogRing
  /** Standard output, as the log writes it. */
  readonly output: LogOutput
  /** Things the operator should know before the first order. */
  readonly notes: readonly string[]
  readonly keys: KeySources
  /** Makes backtests for the console. */
  readonly runDesk?: RunDesk
  /** Writes a line to the operator's terminal and nowhere else; absent where what is written is kept, or read by a program. */
  readonly terminal?: (text: string) => void
  /** Shows whoever sits at a terminal how far the journal is read, while it is. */
  readonly whileReading: <T>(work: (progress: Reading) => Promise<T>) => Promise<T>
}

/** Longest time that an ending daemon waits for its notifications to be sent, ms. */
const LAST_WORDS_MS = 3_000

/** Runs until a signal or a fault ends it; resolves with the exit code. Throws CommandError or BaseError when it cannot start. */
export async function run(config: Config, options: RunOptions): Promise<number> {
  const { log } = options
  refuseUnwritable(config)
  let files = await readStrategies(config)
  const closers: Reached['closers'] = [() => closeStrategies(files.strategies)]
  /** Closes everything, the last opened first; false when something could not be closed in good order. */
  const close = async (): Promise<boolean> => {
    let isClean = true
    for (const closer of closers.splice(0).reverse()) {
      try {
        await closer()
      } catch (error) {
        isClean = false
        log.note('daemon.closeFailed', 'error', `could not close cleanly: ${reasonOf(error)}`)
      }
    }
    return isClean
  }
  let code: number | undefined
  try {
    const { signer, warning, close: closeSigner } = await openSigner(config, options.keys)
    closers.push(closeSigner)
    if (warning !== undefined) log.note('key.warned', 'warn', warning)
    const openingMs = systemClock.monotonicMs()
    const tell = tellReading(log.note, systemClock.monotonicMs)
    const standby = createStandbyPort(config, log)
    closers.push(standby.close)
    const journal = await options.whileReading((show) =>
      standby.opened(
        openJournal(config.journal.path, {
          ...journalOptions(config, signer.address),
          inThread: true,
          ...defined({ waiting: config.journal.standby ? standby.hear : undefined }),
          progress: (done, total) => {
            tell(done, total)
            show(done, total)
          },
        }),
      ),
    )
    if (journal === undefined) {
      code = exitCodes.ok
      return code
    }
    closers.push(() => journal.close())
    if (standby.hasWaited()) files = await readAgain(config, files, log.note)
    const { strategies, disabled } = files
    const openedMs = systemClock.monotonicMs() - openingMs
    refuseForeign(journal, config.account.owner ?? signer.address, config)
    const venue = config.embedsVenue ? await embedVenue(config, log) : undefined
    if (venue) closers.push(() => venue.close())
    const clock = venue?.clock ?? systemClock
    let hostsAheadMs: () => number | undefined = () => undefined
    const guard = await openSigningGuard(config, journal, clock, () => hostsAheadMs())
    closers.push(() => guard.close())
    const hearHosts: Parts['hearHosts'] = (aheadMs) => {
      hostsAheadMs = aheadMs
    }
    const guarded = guardedSigner(signer, guard)
    const opened = { strategies, disabled, signer: guarded, journal, openedMs, venue, clock, hearHosts }
    code = await live(config, options, { ...opened, standby }, closers)
  } finally {
    if (!(await close()) && code === exitCodes.ok) code = exitCodes.error
  }
  return code
}

/** Starts the venue inside this process. A daemon that trades elsewhere does not even load it. */
async function embedVenue(config: Config, log: Log): Promise<StartedVenue> {
  const { startVenue } = await import('./embeddedVenue.ts')
  return await startVenue(config, log)
}

interface Parts extends OpenedParts {
  /** Names of files with `enabled: false`. */
  readonly disabled: readonly string[]
  /** Time that opening and folding the journal took, ms. */
  readonly openedMs: number
  /** The port that answered while another perpd had the journal. */
  readonly standby: StandbyPort
}

async function live(
  config: Config,
  options: RunOptions,
  parts: Parts,
  closers: Reached['closers'],
): Promise<number> {
  const { log, kept, notes } = options
  const { strategies, signer, journal, venue } = parts
  const hosts = hostsOf(config, venue)
  const ended = Promise.withResolvers<number>()
  const notifier = await openNotifier(config, (event) => emit(event), { stories: noticeStore(journal) })
  const stopped = fatalStop(log, ended.resolve, (reason) => {
    notifier.tell(crashNotice(reason))
    heartbeat?.fail()
  })
  let heartbeat: Heartbeat | undefined
  const heard = await listen(config, log, parts, notifier, { isOver: stopped.isOver, closers })
  const { emit, recordTurn, metrics, health, decisions, hostBook } = heard
  options.output.report(emit)
  const told = config.account.owner === undefined ? undefined : approvalStore(journal, signer.address)
  const approval = { subaccount: signer.address, ...told?.read() }
  notifier.recall(priorIncidents(journal, { hosts: [...hosts.api, ...hosts.oracle], approval }))
  // Closed last of all that tells: its end is told too.
  closers.push(() => notifier.close(LAST_WORDS_MS))
  const fetch = createNodeFetch()
  closers.push(() => fetch.close())
  const { trader, evidence } = await connectTrader(config, options, parts, {
    hosts,
    fetch: fetch.fetch,
    emit,
    fatal: stopped.fatal,
    told,
    recordTurn,
    closers,
  })
  const fail = (error: unknown): void => {
    trader.abort()
    stopped.fatal(error)
  }
  const tokens = openTokens(config)
  const signals = openSignals(config, tokens, { account: config.account.owner ?? signer.address, emit })
  const engine = loggedEngineApi(trader, options, fail)
  await parts.standby.close()
  const control = await openControl(emit, {
    ...portSettings(config),
    tokens,
    ...defined({ signals }),
    engine,
    metrics,
    health,
    nextStart: () => nextStart({ config, values: options.values }, options.reload),
    ...journalAnswers(config, journal),
    recent: { log: kept, levels: log.levels, decisions, hosts: hostBook, incidents: notifier.incidents },
    ...defined({ runDesk: options.runDesk }),
    ...consoleOf(config, log, config.account.owner ?? signer.address),
  })
  closers.push(() => control.close(), leaveAddress(config, control.localUrl, log))

  const service = openService(
    () => serviceStatus(trader.status()),
    () => health.live(trader.status()).ok,
    log,
  )
  // Before it is said to have started: who hears that may signal at once.
  const carriedOut: CarriedOut = (command, by) => changeLog(command, by, options)
  const stopListening = listenForSignals(trader, log, fail, ended.resolve, carriedOut, service)
  heartbeat = openHeartbeat(config, emit, () => {
    const status = trader.status()
    return beatOf(health.live(status).ok, status.halts)
  })
  closers.push(heartbeat.stop)
  const endTelling = tellPeople(config, { notifier, engine, journal, emit, fail })
  const watching = new AbortController()
  try {
    announce(config, emit, {
      strategies,
      signer,
      journal,
      openedMs: parts.openedMs,
      hosts,
      statusUrl: control.url,
      evidence,
      notes,
    })
    sayConsole(config, control, options)
    warn(config, log, parts, signalWarnings(strategies, signals))
    // In a turn of its own: a command that waits for a record gets its answer first.
    void journal.failed.then((error) => setImmediate(fail, error))
    trader.start().catch(fail)
    service.ready()
    watchFiles(config, trader, log, watching.signal).catch(fail)
    watchReplication({ journal, clock: systemClock, emit, signal: watching.signal }).catch(fail)
    return await ended.promise
  } finally {
    stopListening()
    endTelling()
    watching.abort()
    service.close()
  }
}

/** The hosts that are asked: those of the embedded venue, or the configured ones. */
function hostsOf({ venue: { apiHosts, oracleHosts } }: Config, venue: Parts['venue']) {
  return { api: venue?.hosts.api ?? apiHosts, oracle: venue?.hosts.oracle ?? oracleHosts }
}

/** Logs warnings before the first order: about strategy files, and about the secrets of signals. */
function warn(config: Config, log: Log, { strategies, disabled }: Parts, ofSignals: readonly string[]): void {
  for (const warning of strategyWarnings(strategies, disabled, config.limits, config.marketLimits)) {
    log.note('strategy.warned', 'warn', warning)
  }
  for (const copy of copyNotes(config, strategies)) log.note('strategy.copied', 'info', copy)
  for (const warning of ofSignals) log.note('signal.warned', 'warn', warning)
}

/**
 * Says where the console is. The log may be kept for years and by others: it names the address alone. The link to it goes to the
 * terminal of whoever started the daemon, who may read its tokens as well.
 */
function sayConsole(
  config: Config,
  { console, localUrl }: ControlServer,
  { log, terminal }: RunOptions,
): void {
  if (console === undefined) return
  log.note(
    'console.served',
    'info',
    `console at ${config.control.consoleUrl ?? localUrl}/console/; for a link: perpd console`,
  )
  terminal?.(`console link, valid once within ten minutes: ${console.link('operate').url}`)
}

/** Settings of the console, where it is served. */
function consoleOf(config: Config, log: Log, account: string): { readonly console?: ConsoleSettings } {
  const { console: isServed, consoleUrl } = config.control
  if (!isServed) return {}
  const path = besideJournal(config, 'equity')
  const warn = (text: string) => log.note('console.curveLost', 'warn', text)
  return {
    console: {
      clock: systemClock,
      ...defined({ publicUrl: consoleUrl }),
      ...defined({ equityStore: path === undefined ? undefined : equityFile(path, account, warn) }),
    },
  }
}

/** Takes over strategy files that changed, or says what would be taken over, as the setting has it. */
async function watchFiles(config: Config, trader: Trader, log: Log, signal: AbortSignal): Promise<void> {
  const { watch } = config.strategies
  const paths = [...config.strategies.paths, ownCopies(config).folder]
  if (watch === 'off') return
  const isPreview = watch === 'report'
  const changed = async (): Promise<boolean> => {
    const preview = defined({ isPreview: isPreview || undefined })
    const asked = { type: 'reload', isConfirmed: false, ...preview } as const
    const answer = await trader.operate(asked, { by: 'perpd', via: 'files' })
    if (!answer.ok && (answer.code === 'NOT_READY' || answer.code === 'STOPPING')) return false
    // As at the first look, which finds what was read at the start.
    const isSame =
      answer.ok && 'strategies' in answer && answer.strategies?.length === 0 && answer.waiting?.length === 0
    if (isSame) return true
    const how = isPreview && answer.ok ? '. To apply: perpd strategies reload' : ''
    const text = answer.ok ? answer.statement : answer.reason
    log.note('files.changed', answer.ok ? 'warn' : 'error', `strategy files changed: ${text}${how}`)
    return true
  }
  await watchStrategies({ paths, clock: systemClock, changed, signal })
}

/** Creates the listeners of every event: log, metrics, health, the newest decisions, and the response figures of hosts. */
async function listen(
  config: Config,
  log: Log,
  { strategies, disabled, journal, venue }: Parts,
  notifier: Notifier,
  { isOver, closers }: { readonly isOver: () => boolean; readonly closers: Reached['closers'] },
) {
  const metrics = createMetrics(metricsOf(config))
  const health = createHealth()
  const named = [...strategies.map(({ name }) => name), ...disabled, OPERATOR]
  const newest = await Promise.all(named.map((strategy) => journal.intents({ strategy, limit: 1 })))
  const decisions = createLastDecisions(
    systemClock.now,
    newest.flat().map(({ intent }) => intent),
  )
  const hostBook = createHostBook(systemClock.now)
  // Once it was said that perpd stops, what falls over because of that is not said too.
  const tell: Emit = (event) => (isOver() ? undefined : log.listen(event))
  const traces = await tracesOf(config, log)
  if (traces !== undefined) closers.push(traces.close)
  const recording = await recordingOf(config, venue, log)
  if (recording !== undefined) closers.push(recording.close)
  const also = [traces, recording].flatMap((each) => (each === undefined ? [] : [each.listen]))
  const listeners = [
    tell,
    metrics.listen,
    health.listen,
    decisions.listen,
    hostBook.listen,
    notifier.listen,
    ...also,
  ]
  const emit = emitTo(listeners, (error) =>
    log.note('listener.failed', 'error', `a listener failed: ${reasonOf(error)}`),
  )
  return { metrics, health, decisions, hostBook, emit, recordTurn: recording?.recordTurn }
}

/** The recording of what the venue shows; a daemon that is not asked to loads nothing of it. */
async function recordingOf(config: Config, venue: Parts['venue'], log: Log) {
  if (!config.history.record) return undefined
  const { openRecording } = await import('./ownFiles/openRecording.ts')
  return openRecording(config, hostsOf(config, venue), log)
}

/** Where the roads of orders are traced to; a daemon that is not asked to loads nothing of it. */
async function tracesOf({ otel: { endpoint, headersFile }, profile, venue, isPaper }: Config, log: Log) {
  if (endpoint === undefined) return undefined
  const { openTraces } = await import('./logging/openTraces.ts')
  return await openTraces({
    endpoint,
    ...defined({ headers: headersFile === undefined ? undefined : traceHeaders(headersFile, !isPaper) }),
    profile,
    chain: venue.chain.name,
    now: systemClock.now,
    failed: (reason) => log.note('trace.unsent', 'warn', reason),
  })
}
