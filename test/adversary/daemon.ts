/** The real daemon on a simulated clock, wired as src/cli/run.ts does it, with the settings of a live profile. */
import { createApi } from '../../src/api/client.ts'
import type { Fetch } from '../../src/api/route.ts'
import { arbitrum } from '../../src/chains/arbitrum.ts'
import { chainGas } from '../../src/chains/gas.ts'
import type { Config } from '../../src/cli/config/types.ts'
import { loadConfig } from '../../src/cli/config.ts'
import {
  feeTokenAmount,
  limitsOf,
  signingPolicyOf,
  usualFeesOf,
  warningPoliciesOf,
} from '../../src/cli/runSettings.ts'
import type { Clock } from '../../src/domain/clock.ts'
import type { Event } from '../../src/domain/event.ts'
import { createAccountBook } from '../../src/engine/accountBook.ts'
import { createCatalogue } from '../../src/engine/catalogue.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { pinnedApi } from '../../src/engine/pinnedApi.ts'
import { createTrading } from '../../src/engine/trading.ts'
import { connectChain } from '../../src/evm/connect.ts'
import { createHttpTransport } from '../../src/evm/httpTransport.ts'
import { createRpcClient } from '../../src/evm/jsonRpc.ts'
import { readMarket } from '../../src/evm/marketProof.ts'
import type { ExecutionContext } from '../../src/execution/context.ts'
import { createFees } from '../../src/execution/fees.ts'
import { createGasWatch } from '../../src/execution/gasWatch.ts'
import { createNativePrice } from '../../src/execution/nativePrice.ts'
import { createShell } from '../../src/execution/shell.ts'
import { type SwapMarkets, swapMarketsOf } from '../../src/execution/swapPath.ts'
import { guardedSigner, openGuard } from '../../src/journal/guard.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { LoadedStrategy } from '../../src/strategy/load.ts'

const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

/** The account that is traded, and whose key signs. */
export const account = signer.address

/** What a daemon is made of here. */
export interface DaemonParts {
  readonly config: Config
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: Fetch
  readonly apiHosts: readonly string[]
  readonly oracleHosts: readonly string[]
  /** Endpoints of the chain; none: the APIs alone close orders. */
  readonly endpoints: readonly string[]
  readonly strategies: readonly LoadedStrategy[]
  readonly emit: (event: Event) => void
  readonly fatal: (error: unknown) => void
}

/** A daemon. */
export interface RunningDaemon {
  readonly engine: Engine
  readonly journal: Journal
  close(): void
}

const configs = new Map<string, Config>()

/** The settings of the shipped profile of Arbitrum, with these flags on top. */
export function liveConfig(flags: readonly string[] = []): Config {
  const key = flags.join(' ')
  const known = configs.get(key)
  if (known !== undefined) return known
  // No folder: nothing of this machine is read.
  const { config } = loadConfig({ argv: ['--profile', 'arbitrum', ...flags], env: {}, cwd: '/nonexistent' })
  configs.set(key, config)
  return config
}

/** Makes a daemon; `engine.start()` is the caller's. */
export function createDaemon(parts: DaemonParts): RunningDaemon {
  const { config, clock, fetch, emit, fatal, strategies } = parts
  const { chain } = config.venue
  const journal = createMemoryJournal()
  const asListed = createApi({
    chain,
    hosts: { ...chain.hosts, api: parts.apiHosts, oracle: parts.oracleHosts },
    fetch,
    clock,
    random: parts.random,
    limits: { ...config.api, requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    onPrices: (prices) => emit({ type: 'host.prices', ...prices }),
    onRest: ({ host, restMs, reason }) => emit({ type: 'host.rested', host, restMs, reason }),
    onMissing: (missing) => emit({ type: 'rows.missing', ...missing }),
    onForeign: (foreign) => emit({ type: 'rows.foreign', ...foreign }),
  })
  const reader =
    parts.endpoints.length === 0
      ? undefined
      : connectChain({
          http: parts.endpoints,
          ws: [],
          chainId: chain.chainId,
          eventEmitter: chain.contracts.eventEmitter,
          multicall: chain.contracts.multicall,
          finality: 'safe',
          timeoutMs: config.rpc.timeoutMs,
          maxLogSpan: config.rpc.maxLogBlocks,
          clock,
          emit,
          fetch,
        })
  const clients = parts.endpoints.map((url, index) =>
    createRpcClient(`rpc/${index}`, createHttpTransport(url, fetch), clock, {
      timeoutMs: config.rpc.timeoutMs,
      batchSize: 1,
    }),
  )
  const book = createAccountBook({ journal, clock })
  const trading = createTrading({ book, emit })
  const catalogue = createCatalogue({
    shipped: chain.facts,
    book,
    clock,
    emit,
    fatal,
    ...(clients.length === 0
      ? {}
      : { prove: (marketToken) => readMarket(clients, chain, marketToken, new AbortController().signal) }),
  })
  const api = pinnedApi(asListed, catalogue)
  const nativePrice = createNativePrice(api, chain, clock)
  const guard = openGuard({
    horizonSeconds: config.signing.maxDeadlineSeconds + 600,
    marginSeconds: 600,
    exposure: {
      capUsd: config.signing.exposureCapUsd,
      windowSeconds: config.signing.exposureWindowSeconds,
    },
    now: clock.now,
  })
  let listedMarkets: SwapMarkets = new Map()
  let engine: Engine | undefined
  const gasPrices = reader?.gasPrices
  const execution: ExecutionContext = {
    api,
    journal,
    signer: guardedSigner(signer, guard),
    chain,
    clock,
    emit,
    ...(reader === undefined ? {} : { chainReader: reader }),
    rules: {
      source: reader === undefined ? 'api' : 'chain',
      trustVenue: false,
      deadlineMarginMs: config.execution.deadlineMarginSeconds * 1000,
    },
    settings: {
      statusPollMs: config.execution.statusPollMs,
      statusPollMaxMs: config.execution.statusPollMaxMs,
      prepareRetryMs: 500,
      relayDeadlineSeconds: config.execution.relayDeadlineSeconds,
      relayFeePerOrder: feeTokenAmount(config, config.signing.relayFeeUsd),
      poisonRestMs: 600_000,
    },
    signingPolicy: signingPolicyOf(config, () => listedMarkets, nativePrice.usd),
    warningPolicies: warningPoliciesOf(config, strategies),
    fees: createFees({
      chain,
      clock,
      usual: usualFeesOf(config),
      nativePrice,
      isSubaccount: false,
      ...(gasPrices === undefined ? {} : { gas: createGasWatch(chainGas[chain.name], gasPrices, clock) }),
    }),
    sizeAnew: (intent, atMostUsd) => {
      if (engine === undefined) throw new TypeError('sizeAnew: there is no engine')
      return engine.sizeAnew(intent, atMostUsd)
    },
    mayNotSign: (intent) => trading.mayNotSign(intent) ?? catalogue.mayNotSign(intent),
    fatal,
  }
  engine = createEngine(
    {
      ...execution,
      shell: createShell(execution),
      catalogue,
      strategies,
      limits: limitsOf(config, strategies),
      trading,
      engineSettings: {
        lane: config.account.lane,
        intentExpiryMs: config.execution.intentExpirySeconds * 1000,
        drainMs: config.execution.drainSeconds * 1000,
        defaultSlippageBps: config.limits.maxSlippageBps,
        watchMs: 5_000,
        maxMarketValuesAgeMs: config.maxMarketValuesAgeMs,
        heartbeatMs: 60_000,
      },
    },
    {
      version: 'adversary',
      profile: config.profile,
      journalPath: 'memory:',
      evidence: 'as the world has it',
    },
    (markets) => {
      listedMarkets = swapMarketsOf([...markets, ...catalogue.facts().markets.values()])
    },
  )
  return {
    engine,
    journal,
    close() {
      engine?.abort()
      reader?.close()
    },
  }
}

/** The chain that is traded on. */
export const chain = arbitrum
