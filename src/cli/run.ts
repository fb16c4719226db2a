/**
 * The daemon: the one file that knows all the parts. It wires them, starts them in the order that recovery needs, and
 * stops them on signals: the first drains, the second leaves at once. Both are safe, because the journal is written
 * before everything that leaves.
 */
import { createApi } from '../api/client.ts'
import { createNodeFetch } from '../api/nodeFetch.ts'
import type { Fetch } from '../api/route.ts'
import { systemClock } from '../api/systemClock.ts'
import { emptySubaccountApproval } from '../chains/approvalTypes.ts'
import { createControlServer } from '../control/server.ts'
import { type Address, sameHex } from '../domain/address.ts'
import type { ChainReader } from '../domain/chainReader.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import { type Emit, emitTo } from '../domain/event.ts'
import { isUnresolved } from '../domain/intent.ts'
import type { Signer } from '../domain/signer.ts'
import { fromDecimal, type TokenAmount, toDecimal, USD_DECIMALS, type Usd } from '../domain/units.ts'
import { createAccountBook } from '../engine/accountBook.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { LimitSet } from '../engine/liveLimits.ts'
import type { OperatorCommand } from '../engine/operator.ts'
import { createSubaccountWatch } from '../engine/subaccountWatch.ts'
import { createTrading } from '../engine/trading.ts'
import { connectChain } from '../evm/connect.ts'
import type { ExecutionContext } from '../execution/context.ts'
import type { SigningPolicy } from '../execution/policy.ts'
import { createShell } from '../execution/shell.ts'
import { guardedSigner, openGuard, type SigningGuard } from '../journal/guard.ts'
import type { Journal } from '../journal/journal.ts'
import { openJournal } from '../journal/open.ts'
import { createHealth } from '../monitor/health.ts'
import type { Log } from '../monitor/log.ts'
import { createMetrics } from '../monitor/metrics.ts'
import type { BreakerSettings } from '../risk/breakers.ts'
import { checkMarkets, type LoadedStrategy, loadStrategies } from '../strategy/load.ts'
import type { Config } from './config/types.ts'
import type { LoadedConfig } from './config.ts'
import { openTokens } from './controlTokens.ts'
import { chooseEvidence, type EvidenceChoice } from './evidence.ts'
import { CommandError, exitCodes } from './exit.ts'
import { processProblems } from './hardening.ts'
import { journalOptions } from './journalFile.ts'
import type { KeySources } from './keySources.ts'
import { type StartedVenue, startVenue } from './paper.ts'
import { openSigner } from './signer.ts'
import { readApprovalFile } from './subaccountFile.ts'
import { version } from './version.ts'

const heartbeatMs = 60_000
const watchMs = 5_000
const statusPollFloorMs = 50
const prepareRetryMs = 500
/** Signals this close to the first are the same wish. */
const sameSignalMs = 1_000
const poisonRestMs = 600_000

/** What a run of the daemon needs besides its configuration. */
export interface RunOptions {
  readonly log: Log
  /** Things the operator should know before the first order. */
  readonly notes: readonly string[]
  /** Reads the configuration anew, from where it was read. Throws ConfigError. */
  readonly reload: () => LoadedConfig
  readonly keys: KeySources
}

/** Runs until a signal or a fault ends it; resolves with the exit code. Throws CommandError or BaseError when it cannot start. */
export async function run(config: Config, options: RunOptions): Promise<number> {
  const { log } = options
  const [problem] = processProblems(config)
  if (problem !== undefined) throw new CommandError(problem, exitCodes.configuration)
  const strategies = await readStrategies(config)
  const closers: (() => Promise<void> | void)[] = []
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
    const venue = config.embedsVenue ? await startVenue(config, log) : undefined
    if (venue) closers.push(() => venue.close())
    const parts = { strategies, signer: guardedSigner(signer, guard), journal, openedMs, venue }
    code = await live(config, options, parts, closers)
  } finally {
    if (!(await close()) && code === exitCodes.ok) code = exitCodes.error
  }
  return code
}

interface Parts {
  readonly strategies: readonly LoadedStrategy[]
  readonly signer: Signer
  readonly journal: Journal
  /** How long opening and folding the journal took, ms. */
  readonly openedMs: number
  readonly venue: StartedVenue | undefined
}

async function live(
  config: Config,
  { log, notes, reload }: RunOptions,
  { strategies, signer, journal, openedMs, venue }: Parts,
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
  const ended = Promise.withResolvers<number>()
  const stopped = fatalStop(log, () => engine?.abort(), ended.resolve)
  const { fatal } = stopped
  // Once it was said that perpd stops, what falls over because of that is not said too.
  const tell: Emit = (event) => (stopped.isOver() ? undefined : log.listen(event))
  const emit = emitTo([tell, metrics.listen, health.listen], (error) =>
    log.note('error', `a listener failed: ${reasonOf(error)}`),
  )

  const fetch = createNodeFetch()
  closers.push(() => fetch.close())
  const api = createApi({
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
  })
  const evidence = chooseEvidence(config, venue?.chains[chain.name])
  const chainReader = await connect(config, evidence, { emit, fetch: fetch.fetch }, closers)
  const trading = createTrading({ book: createAccountBook({ journal, clock: systemClock }), emit })
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
    signingPolicy: signingPolicyOf(config, () => listedMarkets),
    mayNotSign: (intent) => trading.mayNotSign(intent) ?? subaccount?.mayNotSign(intent),
    fatal,
  }
  let listedMarkets: ReadonlySet<string> = new Set()
  const shell = createShell(execution)
  engine = createEngine(
    {
      ...execution,
      shell,
      strategies,
      limits: limitsOf(config),
      readLimits: () => limitsOf(reload().config),
      breakers: breakersOf(config),
      budget: {
        attemptsPerCause: config.budget.attemptsPerCause,
        executionFeesPerDay: config.budget.executionFeesPerDay,
        relayFeesPerDay: feeTokenAmount(config, config.budget.relayFeesPerDayUsd),
      },
      trading,
      ...(subaccount === undefined ? {} : { subaccount }),
      engineSettings: {
        lane: config.account.lane,
        intentExpiryMs: config.execution.intentExpirySeconds * 1000,
        drainMs: config.execution.drainSeconds * 1000,
        defaultSlippageBps: config.limits.maxSlippageBps,
        watchMs,
        heartbeatMs,
      },
    },
    { version, profile: config.profile, journalPath: config.journal.path, evidence: evidence.text },
    (markets) => {
      listedMarkets = new Set(markets.map(({ marketToken }) => marketToken.toLowerCase()))
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
    door: engine,
    metrics,
    health,
  })
  closers.push(() => control.close())

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
  const stopListening = listenForSignals(engine, log, fatal, ended.resolve)
  try {
    engine.start().catch((error: unknown) => fatal(error))
    return await ended.promise
  } finally {
    stopListening()
  }
}

async function readStrategies(config: Config): Promise<readonly LoadedStrategy[]> {
  const { strategies, problems } = await loadStrategies(config.strategies.paths, {
    refusesOpenFiles: !config.isPaper,
  })
  if (problems.length > 0) throw strategyProblems(problems)
  return strategies
}

function strategyProblems(problems: readonly BaseError[]): CommandError {
  return new CommandError(problems.map((problem) => problem.message).join('\n'), exitCodes.configuration)
}

/** The configured breakers, with what is kept of a delegated key's approval. */
function breakersOf({ account, breakers }: Config): BreakerSettings {
  const { reserveActions, reserveSeconds } = account
  return { ...breakers, reserveActions, reserveSeconds }
}

/** Digests live this long beyond their deadline for the guard: longer than any clock may be off. */
const guardMarginSeconds = 600

/** The table of what was signed, beside the journal; with a journal in memory it ends with the process too. */
function openSigningGuard({ journal: { path }, signing }: Config, journal: Journal): SigningGuard {
  return openGuard({
    ...(path === 'memory:' ? {} : { path: `${path.replace(/^sqlite:/, '')}.signed` }),
    horizonSeconds: signing.maxDeadlineSeconds + guardMarginSeconds,
    marginSeconds: guardMarginSeconds,
    now: systemClock.now,
    neverLeft: ({ intentId, digest }) =>
      journal.intent(intentId)?.attempts.some(({ armed }) => armed?.digest === digest) !== true,
  })
}

/** The configured limits, of the account and of single markets. */
function limitsOf({ limits, marketLimits }: Config): LimitSet {
  return { account: limits, markets: marketLimits }
}

function signingPolicyOf(config: Config, feeSwapMarkets: () => ReadonlySet<string>): () => SigningPolicy {
  const { signing } = config
  const maxRelayFee = feeTokenAmount(config, signing.maxRelayFeeUsd)
  return () => ({
    minDeadlineSeconds: signing.minDeadlineSeconds,
    maxDeadlineSeconds: signing.maxDeadlineSeconds,
    maxExecutionFee: signing.maxExecutionFee,
    maxRelayFee,
    priceToleranceBps: signing.priceToleranceBps,
    feeSwapMarkets: feeSwapMarkets(),
  })
}

/** Dollars in base units of the fee token, which is a dollar coin: one unit counts as one USD. */
function feeTokenAmount(config: Config, amountUsd: Usd): TokenAmount {
  return fromDecimal(toDecimal(amountUsd, USD_DECIMALS), config.venue.chain.feeToken.decimals)
}

/**
 * Connects to the endpoints that evidence is read from, if any. One that does not answer is told of and waited for.
 *
 * @throws CommandError when one serves another chain
 */
async function connect(
  config: Config,
  evidence: EvidenceChoice,
  { emit, fetch }: { readonly emit: Emit; readonly fetch: Fetch },
  closers: (() => void)[],
): Promise<ChainReader | undefined> {
  if (evidence.source === 'api') return undefined
  const { chain } = config.venue
  const reader = connectChain({
    http: evidence.http.map((url) => url.reveal()),
    ws: evidence.ws.map((url) => url.reveal()),
    finality: evidence.finality,
    chainId: chain.chainId,
    eventEmitter: chain.contracts.eventEmitter,
    multicall: chain.contracts.multicall,
    timeoutMs: config.rpc.timeoutMs,
    maxLogSpan: config.rpc.maxLogBlocks,
    clock: systemClock,
    emit,
    fetch,
  })
  closers.push(() => reader.close())
  try {
    await reader.check()
  } catch (error) {
    if (error instanceof BaseError) throw new CommandError(error.message, exitCodes.configuration)
    throw error
  }
  return reader
}

/** Open orders of another account or chain would be signed by the wrong key: the journal is refused whole. */
function refuseForeign(journal: Journal, account: Address, config: Config): void {
  const chainName = config.venue.chain.name
  const foreign = journal
    .openIntents()
    .find(({ intent }) => !sameHex(intent.account, account) || intent.chain !== chainName)
  if (foreign === undefined) return
  const { account: owner, chain, intentId } = foreign.intent
  throw new CommandError(
    `The journal ${journal.path} holds open orders of another account:\n` +
      `  ${intentId} belongs to ${owner} on ${chain}; this perpd trades ${account} on ${chainName}.\n` +
      '  Nothing was sent. Run with the key and profile that made it, or give this account a journal of its own: journal.path.',
    exitCodes.configuration,
  )
}

function announce(
  config: Config,
  emit: Emit,
  parts: {
    readonly strategies: readonly LoadedStrategy[]
    readonly signer: Signer
    readonly journal: Journal
    readonly openedMs: number
    readonly hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] }
    readonly statusUrl: string
    readonly evidence: EvidenceChoice
    readonly notes: readonly string[]
  },
): void {
  const { owner } = config.account
  const delegated =
    owner === undefined ? [] : [`the key ${parts.signer.address} is a delegated one; it trades for ${owner}`]
  const liveNotes = config.isPaper ? [] : ['LIVE: real money moves from here on.']
  emit({
    type: 'daemon.started',
    version,
    profile: config.profile,
    chain: config.venue.chain.name,
    account: config.account.owner ?? parts.signer.address,
    strategies: parts.strategies.map(({ name }) => name),
    journalPath: config.journal.path,
    statusUrl: parts.statusUrl,
    apiHosts: parts.hosts.api,
    oracleHosts: parts.hosts.oracle,
    notes: [
      ...parts.notes,
      ...(config.embedsVenue ? ['paper: the venue is inside this process, the money is play money'] : []),
      ...delegated,
      ...liveNotes,
    ],
  })
  const { source, endpoints, text, isWeak } = parts.evidence
  emit({ type: 'evidence.chosen', source, endpoints, text, isWeak })
  const { records, intents } = parts.journal.summary()
  const open = parts.journal.openIntents()
  if (records === 0) return
  emit({
    type: 'daemon.resumed',
    records,
    intents,
    openIntents: open.length,
    unresolved: open.filter(({ attempts }) => attempts.some(isUnresolved)).length,
    tookMs: parts.openedMs,
  })
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

/**
 * First SIGINT or SIGTERM drains, second leaves at once. SIGUSR2 halts. SIGHUP reads the limits anew; under a terminal that
 * closes it drains, because nobody is left to watch.
 */
function listenForSignals(
  engine: Engine,
  log: Log,
  fatal: (error: unknown) => void,
  end: (code: number) => void,
): () => void {
  let firstAtMs: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonicMs()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      engine.stop(signal).then(() => end(exitCodes.ok), fatal)
      return
    }
    // One Ctrl-C under npm reaches us twice: from the terminal, and forwarded by npm.
    if (nowMs - firstAtMs < sameSignalMs) return
    log.note('warn', 'second signal: leaving at once; open orders are taken up at the next start')
    engine.abort()
    end(exitCodes.error)
  }
  const command = (signal: string, asked: OperatorCommand): void => {
    engine.operate(asked, { by: `signal ${signal}`, via: 'signal' }).then((answer) => {
      if (answer.ok) log.note('warn', `${signal}: ${answer.statement}`)
      else log.note('error', `${signal}: ${answer.reason}`)
    }, fatal)
  }
  const onHangUp = (): void => {
    if (process.stdout.isTTY) onSignal('SIGHUP')
    else command('SIGHUP', { type: 'limits', isConfirmed: false })
  }
  const onHalt = (): void =>
    command('SIGUSR2', { type: 'trading', scope: 'global', state: 'halted', reason: 'SIGUSR2 was sent' })
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  process.on('SIGHUP', onHangUp)
  process.on('SIGUSR2', onHalt)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
    process.off('SIGHUP', onHangUp)
    process.off('SIGUSR2', onHalt)
  }
}
