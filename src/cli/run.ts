/**
 * The daemon: the one file that knows all the parts. It wires them, starts them in the order that recovery needs, and
 * stops them on signals: the first drains, the second leaves at once. Both are safe, because the journal is written
 * before everything that leaves.
 */
import { createApi } from '../api/client.ts'
import { createNodeFetch } from '../api/nodeFetch.ts'
import { systemClock } from '../api/systemClock.ts'
import { emptySubaccountApproval } from '../chains/approvalTypes.ts'
import { chainGas } from '../chains/gas.ts'
import { createControlServer } from '../control/server.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import { type Emit, emitTo } from '../domain/event.ts'
import type { Signer } from '../domain/signer.ts'
import { createAccountBook } from '../engine/accountBook.ts'
import { createCatalogue } from '../engine/catalogue.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { ConfiguredLimits } from '../engine/liveLimits.ts'
import { pinnedApi } from '../engine/pinnedApi.ts'
import { createSubaccountWatch } from '../engine/subaccountWatch.ts'
import { createTrading } from '../engine/trading.ts'
import { readMarket } from '../evm/marketProof.ts'
import type { ExecutionContext } from '../execution/context.ts'
import { createFees } from '../execution/fees.ts'
import { createGasWatch } from '../execution/gasWatch.ts'
import { createNativePrice } from '../execution/nativePrice.ts'
import { createShell } from '../execution/shell.ts'
import { type SwapMarkets, swapMarketsOf } from '../execution/swapPath.ts'
import { guardedSigner } from '../journal/guard.ts'
import { type Journal, JournalFaultError } from '../journal/journal.ts'
import { openJournal } from '../journal/open.ts'
import { createHealth } from '../monitor/health.ts'
import { createLastDecisions } from '../monitor/lastDecisions.ts'
import type { Log } from '../monitor/log.ts'
import type { LogRing } from '../monitor/logRing.ts'
import { createMetrics } from '../monitor/metrics.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy, type LoadResult } from '../strategy/load.ts'
import { announce, refuseForeign } from './announce.ts'
import { strategyWarnings } from './checkStrategies.ts'
import type { Config } from './config/types.ts'
import type { LoadedConfig } from './config.ts'
import { connect } from './connect.ts'
import { writeAddress } from './controlAddress.ts'
import { openTokens } from './controlTokens.ts'
import type { StartedVenue } from './embeddedVenue.ts'
import { chooseEvidence } from './evidence.ts'
import { CommandError, exitCodes } from './exit.ts'
import { journalOptions } from './journalFile.ts'
import type { KeySources } from './keySources.ts'
import { readStrategyFiles } from './readStrategies.ts'
import { checkRouterCode } from './routerCode.ts'
import { rpcClients } from './rpcClients.ts'
import {
  feeTokenAmount,
  limitsOf,
  openSigningGuard,
  signingPolicyOf,
  usualFeesOf,
  warningPoliciesOf,
} from './runSettings.ts'
import { listenForSignals } from './signals.ts'
import { openSigner } from './signer.ts'
import { readApprovalFile } from './subaccountFile.ts'
import { version } from './version.ts'
import { type WholeConfiguration, waitingChanges } from './waitingChanges.ts'
import { keepWatchdog } from './watchdog.ts'

const watchMs = 5_000
const statusPollFloorMs = 50
const prepareRetryMs = 500
const poisonRestMs = 600_000

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
    const journal = openJournal(config.journal.path, journalOptions(config, signer.address))
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
  let engine: Engine | undefined
  const metrics = createMetrics({
    version,
    profile: config.profile,
    chain: chain.name,
    status: () => engine?.status(),
  })
  const health = createHealth(() => engine?.status())
  const decisions = createLastDecisions(systemClock.now)
  const ended = Promise.withResolvers<number>()
  const stopped = fatalStop(log, () => engine?.abort(), ended.resolve)
  const { fatal } = stopped
  // Once it was said that perpd stops, what falls over because of that is not said too.
  const tell: Emit = (event) => (stopped.isOver() ? undefined : log.listen(event))
  const emit = emitTo([tell, metrics.listen, health.listen, decisions.listen], (error) =>
    log.note('error', `a listener failed: ${reasonOf(error)}`),
  )

  const fetch = createNodeFetch()
  closers.push(() => fetch.close())
  const asListed = createApi({
    chain,
    hosts,
    fetch: fetch.fetch,
    clock: systemClock,
    random: Math.random,
    limits: {
      ...config.api,
      // An order may take the venue longer than a read.
      prepareTimeoutMs: 2 * config.api.timeoutMs,
      submitTimeoutMs: 2 * config.api.timeoutMs,
      ...(venue ? { requestsPerSecondPerHost: Number.POSITIVE_INFINITY } : {}),
    },
    onAttempt: (attempt) => emit({ type: 'host.attempt', ...attempt }),
    onRest: ({ host, restMs, reason }) => emit({ type: 'host.rested', host, restMs, reason }),
    onPrices: (prices) => emit({ type: 'host.prices', ...prices }),
    onMissing: (missing) => emit({ type: 'rows.missing', ...missing }),
    onForeign: (foreign) => emit({ type: 'rows.foreign', ...foreign }),
  })
  const evidence = chooseEvidence(config, venue?.chains[chain.name])
  const chainReader = await connect(config, evidence, { emit, fetch: fetch.fetch }, closers)
  // The venue inside this process has no code worth a pin, unless one was asked for.
  const isChecked = venue === undefined || config.rpc.routerCodeHash !== undefined
  const code = isChecked ? await checkRouterCode(config, evidence, fetch.fetch) : undefined
  if (code !== undefined) log.note(code.isWeak ? 'warn' : 'info', code.text)
  const book = createAccountBook({ journal, clock: systemClock })
  const trading = createTrading({ book, emit })
  const clients = rpcClients(evidence, config.rpc.timeoutMs, fetch.fetch)
  const catalogue = createCatalogue({
    shipped: chain.facts,
    book,
    clock: systemClock,
    emit,
    fatal,
    ...(clients.length === 0
      ? {}
      : { prove: (marketToken) => readMarket(clients, chain, marketToken, new AbortController().signal) }),
  })
  const api = pinnedApi(asListed, catalogue)
  const { owner } = config.account
  const subaccount =
    owner === undefined
      ? undefined
      : createSubaccountWatch({
          api,
          empty: emptySubaccountApproval(signer.address, chain.chainId),
          clock: systemClock,
          emit,
          account: owner,
          subaccount: signer.address,
          readApproval: () => readApprovalFile(config.account.approvalFile, chain, owner, signer.address),
          open: () => shell.open().map(({ state }) => state),
          settings: config.account,
        })
  const nativePrice = createNativePrice(api, chain, systemClock)
  const gasPrices = chainReader?.gasPrices
  const execution: ExecutionContext = {
    api,
    journal,
    signer,
    ...(subaccount === undefined ? {} : { delegation: subaccount }),
    chain,
    clock: systemClock,
    emit,
    ...(chainReader === undefined ? {} : { chainReader }),
    rules: {
      source: evidence.source,
      trustVenue: config.evidence.trustVenue,
      deadlineMarginMs: config.execution.deadlineMarginSeconds * 1000,
    },
    settings: {
      statusPollMs: Math.max(statusPollFloorMs, config.execution.statusPollMs),
      statusPollMaxMs: config.execution.statusPollMaxMs,
      prepareRetryMs,
      relayDeadlineSeconds: config.execution.relayDeadlineSeconds,
      relayFeePerOrder: feeTokenAmount(config, config.signing.relayFeeUsd),
      poisonRestMs,
    },
    signingPolicy: signingPolicyOf(config, () => listedMarkets, nativePrice.usd),
    warningPolicies: warningPoliciesOf(config, strategies),
    fees: createFees({
      chain,
      clock: systemClock,
      usual: usualFeesOf(config),
      nativePrice,
      isSubaccount: subaccount !== undefined,
      ...(gasPrices === undefined
        ? {}
        : { gas: createGasWatch(chainGas[chain.name], gasPrices, systemClock) }),
    }),
    sizeAnew: (intent, atMostUsd) => {
      if (engine === undefined)
        throw new TypeError('sizeAnew: no order is prepared before there is an engine')
      return engine.sizeAnew(intent, atMostUsd)
    },
    mayNotSign: (intent) =>
      trading.mayNotSign(intent) ?? catalogue.mayNotSign(intent) ?? subaccount?.mayNotSign(intent),
    fatal,
  }
  let listedMarkets: SwapMarkets = new Map()
  const shell = createShell(execution)
  engine = createEngine(
    {
      ...execution,
      shell,
      catalogue,
      strategies,
      limits: limitsOf(config, strategies),
      readLimits: () => readLimits(reload(), { values, strategies }),
      trading,
      ...(subaccount === undefined ? {} : { subaccount }),
      engineSettings: {
        lane: config.account.lane,
        intentExpiryMs: config.execution.intentExpirySeconds * 1000,
        drainMs: config.execution.drainSeconds * 1000,
        defaultSlippageBps: config.limits.maxSlippageBps,
        watchMs,
        maxMarketValuesAgeMs: config.maxMarketValuesAgeMs,
        heartbeatMs:
          config.log.heartbeatSeconds === 0 ? Number.POSITIVE_INFINITY : config.log.heartbeatSeconds * 1000,
        adoptInitial: config.account.adoptInitial,
        pauseAfterFailures: config.strategies.pauseAfterFailures,
      },
    },
    { version, profile: config.profile, journalPath: config.journal.path, evidence: evidence.text },
    (markets) => {
      listedMarkets = swapMarketsOf([...markets, ...catalogue.facts().markets.values()])
      const problems = checkMarkets(
        strategies,
        markets.filter(({ isListed, isSpotOnly }) => isListed && !isSpotOnly).map(({ symbol }) => symbol),
      )
      if (problems.length > 0) throw strategyProblems(problems)
    },
  )
  const control = await createControlServer({
    host: config.control.host,
    port: config.control.port,
    hostNames: config.control.hostNames,
    tokens: openTokens(config),
    isMetricsOpen: config.control.isMetricsOpen,
    isHealthOpen: config.control.isHealthOpen,
    requestsPerSecond: config.control.requestsPerSecond,
    door: loggedDoor(engine, log, fatal),
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
  const watchdog = keepWatchdog(process.env, () => health.live().ok)
  if (watchdog.problem !== undefined) log.note('error', watchdog.problem)
  const stopListening = listenForSignals(engine, log, fatal, ended.resolve)
  try {
    engine.start().catch((error: unknown) => fatal(error))
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

/** The engine's door, with what the log should say of commands: a change of limits, and a journal that cannot be written, which ends the daemon. */
function loggedDoor(engine: Engine, log: Log, fatal: (error: unknown) => void): Engine {
  return {
    ...engine,
    async operate(command, commander) {
      try {
        const answer = await engine.operate(command, commander)
        if (command.type === 'limits') {
          const text = answer.ok ? answer.statement : answer.reason
          log.note(answer.ok ? 'info' : 'warn', `limits were read anew, asked by ${commander.by}: ${text}`)
        }
        return answer
      } catch (error) {
        if (!(error instanceof JournalFaultError)) throw error
        // Told to whoever commands first: what comes after has no door any more.
        setImmediate(fatal, error)
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
  abort: () => void,
  end: (code: number) => void,
): { readonly fatal: (error: unknown) => void; readonly isOver: () => boolean } {
  let isOver = false
  const fatal = (error: unknown): void => {
    if (isOver) return
    isOver = true
    abort()
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
