/** The trader of a run: connected to the venue and to the chain as the configuration says, with limits that can be read anew. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import type { ToldApprovalStore } from '../account/subaccountWatch.ts'
import type { Clock } from '../base/clock.ts'
import { defined, ifDefined } from '../base/defined.ts'
import { replaceFile } from '../base/replaceFile.ts'
import { systemClock } from '../base/systemClock.ts'
import { readMarket } from '../chain/marketProof.ts'
import type { Config } from '../config/configTypes.ts'
import type { LoadedConfig } from '../config/loadConfig.ts'
import { version } from '../config/version.ts'
import type { Emit } from '../domain/event.ts'
import type { DeskBudgets } from '../domain/limits/deskBudgets.ts'
import type { Signer } from '../domain/signer.ts'
import type { Journal } from '../journal/journal.ts'
import { createMarketData } from '../market/marketData.ts'
import type { Log } from '../monitor/log/log.ts'
import type { EngineLabels } from '../operator/port/statusReport.ts'
import type { StrategyFiles } from '../operator/reloadStrategies.ts'
import type { Address } from '../protocol/address.ts'
import type { Market } from '../protocol/market.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy } from '../strategy/files/load.ts'
import { hostsAheadMs, type VenueConnection } from './connectVenue.ts'
import type { StartedVenue } from './embeddedVenue.ts'
import { checkRouterCode } from './evidence/routerCode.ts'
import { journalNameOf } from './journalFile.ts'
import { watchClock } from './notices/watchClock.ts'
import { ownCopies } from './ownFiles/ownCopies.ts'
import { readStrategyFiles, strategyProblems } from './readStrategies.ts'
import { limitsOf, traderSettingsOf } from './runSettings.ts'
import { createClaims } from './signers/claims.ts'
import { createRenewals, renewalFileOf } from './signers/renewals.ts'
import { readApprovalFile } from './signers/subaccountFile.ts'
import { createTrader, type Trader, type TraderListeners } from './trader.ts'
import { waitingSettings } from './waitingSettings.ts'

/** Options of a run that the trader needs. */
export interface ReadAnew {
  readonly log: Log
  /** The configuration's values as they were read, by dotted key. */
  readonly values: LoadedConfig['values']
  /** Reads the configuration anew, from where it was read. Throws ConfigError. */
  readonly reload: () => LoadedConfig
}

/** Parts that the trader trades with. */
export interface OpenedParts {
  readonly strategies: readonly LoadedStrategy[]
  readonly signer: Signer
  readonly journal: Journal
  readonly venue: StartedVenue | undefined
  /** The venue's where it is inside this process, else the machine's. */
  readonly clock: Clock
}

/** Connections of a trader to the world. */
export interface Reached {
  /** Connections to the venue and to the chain, which other accounts may share. */
  readonly connection: VenueConnection
  readonly emit: Emit
  readonly fatal: (error: unknown) => void
  /** Store of the notifications about the approval; absent: none are persisted. */
  readonly told?: ToldApprovalStore | undefined
  /** The account's budgets of the desk's limits; absent: the desk has none. */
  readonly deskBudgets?: (() => DeskBudgets) | undefined
  /** Receives each turn that a kind answered; absent: turns are not recorded. */
  readonly recordTurn?: TraderListeners['recordTurn'] | undefined
  /** Closers to call at the end, the last first. */
  readonly closers: (() => Promise<void> | void)[]
}

/** Makes the trader of one account over the connections to venue and chain; nothing is traded yet. */
export async function connectTrader(
  config: Config,
  { log, values, reload }: ReadAnew,
  { strategies, signer, journal, venue, clock }: OpenedParts,
  { connection, deskBudgets, emit, fatal, told, recordTurn, closers }: Reached,
): Promise<Trader> {
  const { chain } = config.venue
  const { api, evidence, chainReader, clients, fetch } = connection
  // The venue inside this process has no code worth a pin, unless one was asked for.
  const isChecked = venue === undefined || config.rpc.routerCodeHash !== undefined
  const code = isChecked ? await checkRouterCode(config, evidence, fetch) : undefined
  if (code !== undefined) log.note('evidence.codeRead', code.isWeak ? 'warn' : 'info', code.text)
  const proveMarket = (marketToken: Address) =>
    readMarket(clients, chain, marketToken, new AbortController().signal)
  const { owner } = config.account
  const listed = createListedSymbols()
  const ownerOf = (account: Address) => ({
    account,
    readApproval: () => readApprovalFile(config.account.approvalFile, chain, account, signer.address),
    settings: config.account,
    ...defined({ told }),
    prepareRenewal: createRenewals({
      sources: {
        ...{ chain, api, timeoutMs: config.rpc.timeoutMs, clock },
        urls: evidence.http.map((url) => url.reveal()),
      },
      ...{ owner: account, subaccount: signer.address, clock, emit },
      file: renewalFileOf(config.account.approvalFile),
    }),
  })
  const market = createMarketData({
    ...{ chain, api, clock, journal, emit, fatal },
    ...defined({ prove: clients.length === 0 ? undefined : proveMarket }),
  })
  const trader = createTrader({
    market,
    clock,
    journal,
    signer,
    ...defined({ owner: ifDefined(owner, ownerOf) }),
    prepareClaim: createClaims({
      ...{ chain, api, clients, clock, emit },
      account: owner ?? signer.address,
      file: claimFileOf(config),
    }),
    ...defined({ chainReader }),
    strategies,
    limits: { ...limitsOf(config, strategies), ...defined({ desk: deskBudgets }) },
    readLimits: () => readLimits(reload(), values),
    strategyFiles: strategyFilesOf(config, log, listed),
    settings: traderSettingsOf(config, evidence.source),
    labels: labelsOf(config, evidence.text, venue),
    listeners: {
      onMarkets: (markets) => {
        listed.take(markets)
        const problems = listed.problemsOf(strategies)
        if (problems.length > 0) throw strategyProblems(problems)
      },
      ...defined({ recordTurn }),
    },
    emit,
    fatal,
  })
  closers.push(() => closeStrategies(trader.strategies()))
  const watching = new AbortController()
  closers.push(() => watching.abort())
  watchClock({
    clock: systemClock,
    newestAtMs: journal.newestAtMs,
    hostsAheadMs: () => hostsAheadMs(connection, clock),
    ...{ emit, signal: watching.signal },
  }).catch(fatal)
  return trader
}

/** The file of a prepared claim, beside the approval. */
function claimFileOf({ account, accountName }: Config): string {
  const name = accountName === undefined ? 'claim.json' : `claim.${accountName}.json`
  return join(dirname(account.approvalFile), name)
}

/** Reads the configured limits now. Throws a BaseError, which a running daemon outlives, for values that cannot be used. */
async function readLimits(
  { config, values }: LoadedConfig,
  running: LoadedConfig['values'],
): Promise<ConfiguredLimits & { readonly waiting: readonly string[] }> {
  const { strategies, problems } = await readStrategyFiles(config)
  await closeStrategies(strategies)
  const [problem] = problems
  if (problem !== undefined) throw problem
  return { ...limitsOf(config, strategies), waiting: waitingSettings(running, values) }
}

function labelsOf(config: Config, evidence: string, venue: StartedVenue | undefined): EngineLabels {
  const labels = { version, profile: config.profile, journalPath: journalNameOf(config), evidence }
  return venue?.replay === undefined ? labels : { ...labels, replay: venue.replay }
}

/** Symbols that positions may be in. */
interface ListedSymbols {
  /** Takes them from the venue's list. */
  take(markets: readonly Market[]): void
  /** Returns the problems of strategies on markets that are not among them; none before the venue listed its markets. */
  problemsOf(strategies: readonly LoadedStrategy[]): ReturnType<typeof checkMarkets>
}

function createListedSymbols(): ListedSymbols {
  let symbols: readonly string[] | undefined
  return {
    take(markets) {
      symbols = markets
        .filter(({ isListed, isSpotOnly }) => isListed && !isSpotOnly)
        .map(({ symbol }) => symbol)
    },
    problemsOf: (strategies) => (symbols === undefined ? [] : checkMarkets(strategies, symbols)),
  }
}

/** The files of the configuration, as they are read and written while perpd runs. */
function strategyFilesOf(config: Config, log: Log, listed: ListedSymbols): StrategyFiles {
  const copies = ownCopies(config)
  return {
    async read(texts) {
      const read = await readStrategyFiles(config, false, texts)
      return { ...read, problems: [...read.problems, ...listed.problemsOf(read.strategies)] }
    },
    textOf: (file) => readFileSync(file, 'utf8'),
    replace(file, text) {
      if (existsSync(file)) return replaceFile(file, text)
      const origin = copies.originOf(file)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true })
      log.note(
        'strategy.copied',
        'warn',
        `${file} runs instead of ${origin ?? 'none'}, which ships with perpd and is unchanged`,
      )
    },
    copies,
    isGone(file) {
      const named = copies.originOf(file) ?? file
      return existsSync(dirname(named)) && !existsSync(named)
    },
  }
}
