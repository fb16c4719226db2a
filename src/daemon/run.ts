/**
 * The daemon: the one file that knows all the parts. It wires them, starts them in the order that recovery needs, and
 * stops them on signals: the first drains, the second leaves at once. Both are safe, because the journal is written
 * before everything that leaves.
 */
import { createNodeFetch } from '../api/transport/nodeFetch.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { systemClock } from '../base/systemClock.ts'
import { readMarket } from '../chain/marketProof.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import type { LoadedConfig } from '../config/loadConfig.ts'
import { version } from '../config/version.ts'
import { createControlServer } from '../control/server.ts'
import { type Emit, emitTo } from '../domain/event.ts'
import type { Signer } from '../domain/signer.ts'
import { OPERATOR } from '../engine/account/tradingHalts.ts'
import type { ConfiguredLimits } from '../engine/context/liveLimits.ts'
import type { EngineApi } from '../engine/engineStatus.ts'
import { type Journal, JournalFaultError } from '../journal/journal.ts'
import { openJournal } from '../journal/service/open.ts'
import { guardedSigner } from '../keys/signingGuard.ts'
import { createHealth } from '../monitor/health.ts'
import { createLastDecisions } from '../monitor/lastDecisions.ts'
import type { Log } from '../monitor/log/log.ts'
import type { LogRing } from '../monitor/log/logRing.ts'
import { createMetrics } from '../monitor/metrics.ts'
import {
  checkMarkets,
  closeStrategies,
  type LoadedStrategy,
  type LoadResult,
} from '../strategy/files/load.ts'
import type { KeySources } from './account/keySources.ts'
import { openSigner } from './account/openSigner.ts'
import { readApprovalFile } from './account/subaccountFile.ts'
import { announce, refuseForeign } from './announce.ts'
import { connect } from './chain/connectChain.ts'
import { chooseEvidence } from './chain/evidenceSource.ts'
import { checkRouterCode } from './chain/routerCode.ts'
import { rpcClients } from './chain/rpcClients.ts'
import { strategyWarnings } from './checkStrategies.ts'
import { writeAddress } from './controlAddress.ts'
import { openTokens } from './controlTokens.ts'
import type { StartedVenue } from './embeddedVenue.ts'
import { journalOptions } from './journalFile.ts'
import { readStrategyFiles } from './readStrategies.ts'
import { apiLimitsOf, limitsOf, openSigningGuard, traderSettingsOf } from './runSettings.ts'
import { listenForSignals } from './signals.ts'
import { createTrader, type Trader } from './trader.ts'
import { createVenueClient } from './venueClient.ts'
import { type WholeConfiguration, waitingChanges } from './waitingChanges.ts'
import { keepWatchdog } from './watchdog.ts'

/** What a run of the daemon needs besides its configuration. */
export interface RunOptions {
  readonly log: Log
  /** The newest lines of it. */
  readonly kept: LogRing
  /** The configuration's values as they were read, by dotted key. */
  readonly values: LoadedConfig['values']
  /** Things the operator should know before the first order. */
  readonly notes: readonly string[]
  /** Reads the configuration anew, from where it was read. Throws ConfigError. */
  readonly reload: () => LoadedConfig
  readonly keys: KeySources
}

/** Runs until a signal or a fault ends it; resolves with the exit code. Throws CommandError or BaseError when it cannot start. */
export async function run(config: Config, options: RunOptions): Promise<number> {
  const { log } = options
  const { strategies, disabled } = await readStrategies(config)
  const closers: (() => Promise<void> | void)[] = [() => closeStrategies(strategies)]
  /** Closes everything, the last opened first; false when something could not be closed in good order. */
  const close = async (): Promise<boolean> => {
    let isClean = true
    for (const closer of closers.splice(0).reverse()) {
      try {
        await closer()
      } catch (error) {
        isClean = false
        log.note('error', `not closed in good order: ${reasonOf(error)}`)
      }
    }
    return isClean
  }
  let code: number | undefined
  try {
    const { signer, warning, close: closeSigner } = await openSigner(config, options.keys)
    closers.push(closeSigner)
    if (warning !== undefined) log.note('warn', warning)
    const openingMs = systemClock.monotonicMs()
    const journal = await openJournal(config.journal.path, journalOptions(config, signer.address))
    closers.push(() => journal.close())
    const openedMs = systemClock.monotonicMs() - openingMs
    refuseForeign(journal, config.account.owner ?? signer.address, config)
    const guard = openSigningGuard(config, journal)
    closers.push(() => guard.close())
    const venue = config.embedsVenue ? await embedVenue(config, log) : undefined
    if (venue) closers.push(() => venue.close())
    const parts = { strategies, disabled, signer: guardedSigner(signer, guard), journal, openedMs, venue }
    code = await live(config, options, parts, closers)
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

interface Parts {
  readonly strategies: readonly LoadedStrategy[]
  /** Names of files with `enabled: false`. */
  readonly disabled: readonly string[]
  readonly signer: Signer
  readonly journal: Journal
  /** How long opening and folding the journal took, ms. */
  readonly openedMs: number
  readonly venue: StartedVenue | undefined
}

async function live(
  config: Config,
  { log, kept, notes, values, reload }: RunOptions,
  { strategies, disabled, signer, journal, openedMs, venue }: Parts,
  closers: (() => Promise<void> | void)[],
): Promise<number> {
  const { chain } = config.venue
  const hosts = {
    api: venue?.hosts.api ?? config.venue.apiHosts,
    oracle: venue?.hosts.oracle ?? config.venue.oracleHosts,
  }
  const metrics = createMetrics({ version, profile: config.profile, chain: chain.name })
  const health = createHealth()
  const named = [...strategies.map(({ name }) => name), ...disabled, OPERATOR]
  const newest = await Promise.all(named.map((strategy) => journal.intents({ strategy, limit: 1 })))
  const decisions = createLastDecisions(
    systemClock.now,
    newest.flat().map(({ intent }) => intent),
  )
  const ended = Promise.withResolvers<number>()
  const stopped = fatalStop(log, ended.resolve)
  // Once it was said that perpd stops, what falls over because of that is not said too.
  const tell: Emit = (event) => (stopped.isOver() ? undefined : log.listen(event))
  const emit = emitTo([tell, metrics.listen, health.listen, decisions.listen], (error) =>
    log.note('error', `a listener failed: ${reasonOf(error)}`),
  )

  const fetch = createNodeFetch()
  closers.push(() => fetch.close())
  const api = createVenueClient({
    chain,
    hosts,
    fetch: fetch.fetch,
    clock: systemClock,
    random: Math.random,
    limits: apiLimitsOf(config, venue !== undefined),
    emit,
  })
  const evidence = chooseEvidence(config, venue?.chains[chain.name])
  const chainReader = await connect(config, evidence, { emit, fetch: fetch.fetch }, closers)
  // The venue inside this process has no code worth a pin, unless one was asked for.
  const isChecked = venue === undefined || config.rpc.routerCodeHash !== undefined
  const code = isChecked ? await checkRouterCode(config, evidence, fetch.fetch) : undefined
  if (code !== undefined) log.note(code.isWeak ? 'warn' : 'info', code.text)
  const clients = rpcClients(evidence, config.rpc.timeoutMs, fetch.fetch)
  const { owner } = config.account
  const trader = createTrader({
    chain,
    api,
    clock: systemClock,
    journal,
    signer,
    ...(owner === undefined
      ? {}
      : {
          owner: {
            account: owner,
            readApproval: () => readApprovalFile(config.account.approvalFile, chain, owner, signer.address),
            settings: config.account,
          },
        }),
    ...(chainReader === undefined ? {} : { chainReader }),
    ...(clients.length === 0
      ? {}
      : {
          proveMarket: (marketToken) => readMarket(clients, chain, marketToken, new AbortController().signal),
        }),
    strategies,
    limits: limitsOf(config, strategies),
    readLimits: () => readLimits(reload(), { values, strategies }),
    settings: traderSettingsOf(config, strategies, evidence.source),
    labels: { version, profile: config.profile, journalPath: config.journal.path, evidence: evidence.text },
    onMarkets: (markets) => {
      const problems = checkMarkets(
        strategies,
        markets.filter(({ isListed, isSpotOnly }) => isListed && !isSpotOnly).map(({ symbol }) => symbol),
      )
      if (problems.length > 0) throw strategyProblems(problems)
    },
    emit,
    fatal: stopped.fatal,
  })
  const fail = (error: unknown): void => {
    trader.abort()
    stopped.fatal(error)
  }
  const control = await createControlServer({
    host: config.control.host,
    port: config.control.port,
    hostNames: config.control.hostNames,
    tokens: openTokens(config),
    isMetricsOpen: config.control.isMetricsOpen,
    isHealthOpen: config.control.isHealthOpen,
    requestsPerSecond: config.control.requestsPerSecond,
    engine: loggedEngineApi(trader, log, fail),
    metrics,
    health,
    recent: { log: kept, decisions },
  })
  closers.push(() => control.close())
  closers.push(writeAddress(config, control.localUrl))

  announce(config, emit, {
    strategies,
    signer,
    journal,
    openedMs,
    hosts,
    statusUrl: control.url,
    evidence,
    notes,
  })
  for (const warning of strategyWarnings(strategies, disabled, config.limits, config.marketLimits)) {
    log.note('warn', warning)
  }
  const watchdog = keepWatchdog(process.env, () => health.live(trader.status()).ok)
  if (watchdog.problem !== undefined) log.note('error', watchdog.problem)
  const stopListening = listenForSignals(trader, log, fail, ended.resolve)
  try {
    trader.start().catch(fail)
    return await ended.promise
  } finally {
    stopListening()
    watchdog.stop()
  }
}

async function readStrategies(config: Config): Promise<LoadResult> {
  const found = await readStrategyFiles(config)
  const { strategies, problems } = found
  if (problems.length === 0) return found
  await closeStrategies(strategies)
  throw strategyProblems(problems)
}

/** What is configured of limits now. Throws a BaseError, which a running daemon outlives, for what cannot be used. */
async function readLimits(
  { config, values }: LoadedConfig,
  running: WholeConfiguration,
): Promise<ConfiguredLimits & { readonly waiting: readonly string[] }> {
  const { strategies, problems } = await readStrategyFiles(config)
  await closeStrategies(strategies)
  const [problem] = problems
  if (problem !== undefined) throw problem
  return { ...limitsOf(config, strategies), waiting: waitingChanges(running, { values, strategies }) }
}

/** The trader's door, with what the log should say of commands: a change of limits, and a journal that cannot be written, which ends the daemon. */
function loggedEngineApi(trader: Trader, log: Log, fail: (error: unknown) => void): EngineApi {
  return {
    ...trader,
    async operate(command, commander) {
      try {
        const answer = await trader.operate(command, commander)
        if (command.type === 'limits') {
          const text = answer.ok ? answer.statement : answer.reason
          log.note(answer.ok ? 'info' : 'warn', `limits were read anew, asked by ${commander.by}: ${text}`)
        }
        return answer
      } catch (error) {
        if (!(error instanceof JournalFaultError)) throw error
        // Told to whoever commands first: what comes after has no door any more.
        setImmediate(fail, error)
        return { ok: false, code: error.code, reason: `the command was not carried out. ${error.message}` }
      }
    },
  }
}

function strategyProblems(problems: readonly BaseError[]): CommandError {
  return new CommandError(problems.map((problem) => problem.message).join('\n'), exitCodes.configuration)
}

/** One clear line, then the end: an order is never made without its journal, and a mistake of ours is never lived with. */
function fatalStop(
  log: Log,
  end: (code: number) => void,
): { readonly fatal: (error: unknown) => void; readonly isOver: () => boolean } {
  let isOver = false
  const fatal = (error: unknown): void => {
    if (isOver) return
    isOver = true
    if (error instanceof CommandError) {
      log.note('error', error.message)
      end(error.exitCode)
      return
    }
    const text =
      error instanceof BaseError
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error)
    log.note('error', `perpd stops: ${text}`)
    end(exitCodes.error)
  }
  return { fatal, isOver: () => isOver }
}
