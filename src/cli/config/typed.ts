/** From checked values to the typed configuration, and the rules that hold between settings. */
import { resolve } from 'node:path'
import type { Chain, ChainName } from '../../chains/chain.ts'
import type { Finality } from '../../chains/finality.ts'
import { chains } from '../../chains/index.ts'
import type { Address, Hex } from '../../domain/address.ts'
import type { Limits } from '../../domain/limits.ts'
import { Secret } from '../../domain/secret.ts'
import { maxOf, NATIVE_DECIMALS, parseUnits, type Usd, usd } from '../../domain/units.ts'
import type { WarningAction } from '../../domain/warnedFacts.ts'
import type { WarningPolicy } from '../../domain/warning.ts'
import { isJournalLocation } from '../../journal/open.ts'
import { isLoopback } from './formats.ts'
import type { RawConfig } from './schema.ts'
import type { Config } from './types.ts'
import { usualFeesOf } from './usualFees.ts'

/** The 32 bytes of a referral code: as they are, or of its text, padded with zeros at the end. */
function referralCodeOf(text: string): Hex | undefined {
  if (text === '') return undefined
  if (text.startsWith('0x')) return text as Hex
  return `0x${Buffer.from(text, 'ascii').toString('hex').padEnd(64, '0')}`
}

/** `CODE=action` as a policy; the last of two of one code counts. */
function warningPolicyOf(adding: readonly string[], reductions: readonly string[]): WarningPolicy {
  const actions = adding.map((item) => item.split('=') as [string, WarningAction])
  return { adding: new Map(actions), droppingReductions: new Set(reductions) }
}

/** The profile that trades play money. */
export const paperProfile = 'paper'

// Every native token of these chains has 18 decimals.

/** The typed configuration of values that fit the schema. Relative paths are resolved against `cwd`. Frozen. */
export function typedConfig(raw: RawConfig, cwd: string): Config {
  const profile = raw.profile as string
  const file = (path: unknown): string => resolve(cwd, String(path).replaceAll('{profile}', profile))
  const optionalFile = (path: unknown): string | undefined => (path === '' ? undefined : file(path))
  const number = (value: unknown): number => value as number
  const texts = (value: unknown): readonly string[] => value as readonly string[]
  const amount = (value: unknown): bigint => usd(String(value))
  const chain = chains[raw.venue.chain as ChainName]
  const isPaper = profile === paperProfile
  const apiHosts = texts(raw.venue.apiHosts).map(withoutSlash)
  const oracleHosts = texts(raw.venue.oracleHosts).map(withoutSlash)
  const embedsVenue = isPaper && apiHosts.length === 0 && oracleHosts.length === 0
  const own = (given: readonly string[], chainHosts: readonly string[]): readonly string[] =>
    given.length > 0 || isPaper ? given : chainHosts
  const { risk, breakers, execution, signing, api, paper, control, log } = raw
  return deepFreeze({
    profile,
    isPaper,
    embedsVenue,
    venue: {
      chain,
      apiHosts: own(apiHosts, chain.hosts.api),
      oracleHosts: own(oracleHosts, chain.hosts.oracle),
    },
    rpc: {
      http: texts(raw.rpc.http).map((url) => new Secret(url)),
      ws: texts(raw.rpc.ws).map((url) => new Secret(url)),
      finality: finalityOf(String(raw.rpc.finality)),
      timeoutMs: number(raw.rpc.timeoutMs),
      maxLogBlocks: number(raw.rpc.maxLogBlocks),
      routerCodeHash: raw.rpc.routerCodeHash === '' ? undefined : (raw.rpc.routerCodeHash as Hex),
    },
    account: {
      address: raw.account.address === '' ? undefined : (raw.account.address as Address),
      keystore: optionalFile(raw.account.keystore),
      passwordFd: number(raw.account.passwordFd) < 0 ? undefined : number(raw.account.passwordFd),
      remoteSigner: raw.account.remoteSigner === '' ? undefined : (raw.account.remoteSigner as string),
      remoteSignerTokenFile: optionalFile(raw.account.remoteSignerTokenFile),
      remoteSignerTimeoutMs: number(raw.account.remoteSignerTimeoutMs),
      keyFile: optionalFile(raw.account.keyFile),
      acceptRawKey: raw.account.acceptRawKey as boolean,
      owner: raw.account.owner === '' ? undefined : (raw.account.owner as Address),
      approvalFile: file(raw.account.approvalFile),
      adoptInitial: raw.account.adoptInitial as boolean,
      warnActions: number(raw.account.warnActions),
      warnSeconds: number(raw.account.warnHours) * 3600,
      reserveActions: number(raw.account.reserveActions),
      reserveSeconds: number(raw.account.reserveMinutes) * 60,
      lane: raw.account.lane as Config['account']['lane'],
    },
    journal: {
      path: journalPath(String(raw.journal.path), file),
      headPath: optionalFile(raw.journal.headPath),
      maxMiB: number(raw.journal.maxMiB),
    },
    strategies: {
      paths: texts(raw.strategies.paths).map(file),
      decideTimeoutMs: number(raw.strategies.decideTimeoutMs),
      memoryMiB: number(raw.strategies.memoryMiB),
      pauseAfterFailures: number(raw.strategies.pauseAfterFailures),
    },
    maxMarketValuesAgeMs: number(risk.maxMarketValuesAgeMs),
    limits: {
      maxPositionSizeUsd: amount(risk.maxPositionSizeUsd),
      maxTotalExposureUsd: amount(risk.maxTotalExposureUsd),
      maxOrderSizeUsd: amount(risk.maxOrderSizeUsd),
      minOrderSizeUsd: amount(risk.minOrderSizeUsd),
      maxUnboundedOrderUsd: amount(risk.maxUnboundedOrderUsd),
      maxLeverageBps: Number(parseUnits(String(risk.maxLeverage), 4)),
      maxSlippageBps: number(risk.maxSlippageBps),
      maxOrdersPerHour: number(risk.maxOrdersPerHour),
      capacityHeadroomBps: number(risk.capacityHeadroomBps),
      maxDataAgeMs: number(risk.maxDataAgeMs),
      maxPriceDivergenceBps: number(risk.maxPriceDivergenceBps),
      reduceAgainAfterMs: number(risk.reduceAgainAfterMs),
      maxCapacityShareBps: number(risk.maxCapacityShareBps),
      maxClockSkewMs: number(risk.maxClockSkewMs),
      attemptsPerCause: number(risk.attemptsPerCause),
      executionFeesPerDay: parseUnits(String(risk.executionFeesPerDay), NATIVE_DECIMALS),
      relayFeesPerDayUsd: amount(risk.relayFeesPerDayUsd),
      reductionFeesPerDayUsd: amount(risk.reductionFeesPerDayUsd),
      ...aboveZero({
        maxMarketExposureEquityBps: number(risk.maxMarketExposureEquityBps),
        maxDailyLossEquityBps: number(risk.maxDailyLossEquityBps),
        maxPositionEquityBps: number(risk.maxPositionEquityBps),
        maxMarketExposureUsd: amount(risk.maxMarketExposureUsd),
        maxExposureEquityBps: number(risk.maxExposureEquityBps),
        maxWishEquityBps: number(risk.maxWishEquityBps),
        maxWishCollateralEquityBps: number(risk.maxWishCollateralEquityBps),
        minLiquidationDistanceBps: number(risk.minLiquidationDistanceBps),
        maxDailyLossUsd: amount(risk.maxDailyLossUsd),
        maxTickerAgeMs: number(risk.maxTickerAgeMs),
        maxCapacityAgeMs: number(risk.maxCapacityAgeMs),
        maxOracleAgeMs: number(risk.maxOracleAgeMs),
        maxAccountAgeMs: number(risk.maxAccountAgeMs),
      }),
    },
    marketLimits: Object.fromEntries(texts(risk.markets).map(marketLimitsOf)),
    breakers: {
      ...aboveZero({
        maxDrawdownBps: number(breakers.maxDrawdownBps),
        rejectsInRow: number(breakers.rejectsInRow),
        poisonedPerDay: number(breakers.poisonedPerDay),
        unknownAgeMs: number(breakers.unknownSeconds) * 1000,
        staleMs: number(breakers.staleSeconds) * 1000,
        openFindings: number(breakers.openFindings),
      }),
      sets: Object.fromEntries(texts(breakers.sets).map((item) => item.split('='))),
    },
    execution: {
      intentExpirySeconds: number(execution.intentExpirySeconds),
      statusPollMs: number(execution.statusPollMs),
      statusPollMaxMs: number(execution.statusPollMaxMs),
      drainSeconds: number(execution.drainSeconds),
      deadlineMarginSeconds: number(execution.deadlineMarginSeconds),
      relayDeadlineSeconds: number(execution.relayDeadlineSeconds),
    },
    signing: {
      maxDeadlineSeconds: number(signing.maxDeadlineSeconds),
      minDeadlineSeconds: number(signing.minDeadlineSeconds),
      exposureCapUsd: exposureCapOf(raw),
      exposureWindowSeconds: number(signing.exposureWindowSeconds),
      maxExecutionFee: parseUnits(String(signing.maxExecutionFee), NATIVE_DECIMALS),
      maxRelayFeeUsd: amount(signing.maxRelayFeeUsd),
      relayFeeUsd: amount(signing.relayFeeUsd),
      ...usualFeesOf(chain.name, signing),
      feeFactor: number(signing.feeFactor),
      priceToleranceBps: number(signing.priceToleranceBps),
      referralCode: referralCodeOf(String(signing.referralCode)),
      reducingPriceToleranceBps: Math.max(
        number(signing.priceToleranceBps),
        number(signing.reducingPriceToleranceBps),
      ),
      maxPriceImpactBps: number(signing.maxPriceImpactBps),
      reducingMaxPriceImpactBps: Math.max(
        number(signing.maxPriceImpactBps),
        number(signing.reducingMaxPriceImpactBps),
      ),
      ...aboveZero({ priceImpactPerDayUsd: amount(signing.priceImpactPerDayUsd) }),
      warnings: warningPolicyOf(texts(signing.warnings), texts(signing.warningsDropReductions)),
    },
    evidence: {
      source: raw.evidence.source as Config['evidence']['source'],
      trustVenue: raw.evidence.trustVenue as boolean,
    },
    api: {
      timeoutMs: number(api.timeoutMs),
      attempts: number(api.attempts),
      concurrencyPerHost: number(api.concurrencyPerHost),
      requestsPerSecondPerHost: number(api.requestsPerSecondPerHost),
      maxPriceAgeMs: number(api.maxPriceAgeMs),
    },
    paper: {
      chains: [...new Set([chain, ...texts(paper.chains).map((name) => chains[name as ChainName])])],
      seed: number(paper.seed),
      port: number(paper.port),
      keeperDelayMs: number(paper.keeperDelayMs),
      keeperJitterMs: number(paper.keeperJitterMs),
      relayDelayMs: number(paper.relayDelayMs),
      blockTimeMs: number(paper.blockTimeMs),
      safeLagBlocks: number(paper.safeLagBlocks),
      finalizedLagBlocks: number(paper.finalizedLagBlocks),
      orderDeadlineSeconds: number(paper.orderDeadlineSeconds),
      stateFile: file(paper.stateFile),
      keyFile: file(paper.keyFile),
      ownerKeyFile: file(paper.ownerKeyFile),
      startBalances: texts(paper.startBalances).map((item) => {
        const [symbol = '', text = ''] = item.split('=')
        return { symbol, amount: text }
      }),
      faults: paper.faults === '' ? undefined : (paper.faults as string),
      scenario: paper.scenario === '' ? undefined : file(paper.scenario),
      replayFile: paper.replayFile === '' ? undefined : file(paper.replayFile),
      speed: number(paper.speed),
      startAllowance: paper.startAllowance as boolean,
      gasPriceGwei: texts(paper.gasPriceGwei).map((item) => {
        const [chain = '', gwei = ''] = item.split('=')
        return { chain, gwei }
      }),
      exitShape: paper.exitShape as Config['paper']['exitShape'],
      exitsReordered: paper.exitsReordered as boolean,
      slippageOnLimits: paper.slippageOnLimits as boolean,
      collateralOutMinOutput: paper.collateralOutMinOutput as Config['paper']['collateralOutMinOutput'],
      dividesAnyPrice: paper.dividesAnyPrice as boolean,
      topsUpFees: paper.topsUpFees as boolean,
      strictPrepare: paper.strictPrepare as boolean,
      referralCode: paper.referralCode as string,
      positionKeyForm: paper.positionKeyForm as Config['paper']['positionKeyForm'],
      startGmxAccount: paper.startGmxAccount as string,
      poolShareBps: number(paper.poolShareBps),
      openInterestShareBps: number(paper.openInterestShareBps),
      jitPoolShareBps: number(paper.jitPoolShareBps),
      liquidityProviders: number(paper.liquidityProviders),
      poolShares: texts(paper.poolShares).map((item) => {
        const [wallet = '', market = '', share] = item.split('=')
        return { wallet, market, sharePpm: Number(share) }
      }),
      earningsWarmUpSeconds: number(paper.earningsWarmUpSeconds),
      weeklyIncentivesUsd: number(paper.weeklyIncentivesUsd),
      whitelists: texts(paper.whitelists).map((item) => {
        const [wallet = '', market = ''] = item.split('=')
        return { wallet, market }
      }),
      boostAprBps: number(paper.boostAprBps),
      buybackShareBps: number(paper.buybackShareBps),
      traders: number(paper.traders),
      marketHours: texts(paper.marketHours),
    },
    control: {
      host: control.host as string,
      port: number(control.port),
      hostNames: texts(control.hostNames),
      tokenFile: file(control.tokenFile),
      isMetricsOpen:
        control.metricsAccess === 'open' ||
        (control.metricsAccess === 'auto' && isLoopback(bracketed(String(control.host)))),
      isHealthOpen: control.healthAccess === 'open',
      requestsPerSecond: number(control.requestsPerSecond),
    },
    log: {
      level: log.level as Config['log']['level'],
      format: log.format as Config['log']['format'],
      heartbeatSeconds: number(log.heartbeatSeconds),
    },
  })
}

/**
 * Rules between settings: problems forbid the start, warnings are told and allowed.
 *
 * @param comparesAll false when some value could not be read, so that comparing with what stands in its place would mislead.
 */
export function judge(
  config: Config,
  origins: Readonly<Record<string, string>>,
  comparesAll: boolean,
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  const at = (key: string): string => `${origins[key]}: ${key}`
  const hosts = [
    ...config.venue.apiHosts.map((url) => ({ key: 'venue.apiHosts', url, known: 'api' as const })),
    ...config.venue.oracleHosts.map((url) => ({ key: 'venue.oracleHosts', url, known: 'oracle' as const })),
  ]
  const endpoints = [
    ...config.rpc.http.map((url) => ({ key: 'rpc.http', url })),
    ...config.rpc.ws.map((url) => ({ key: 'rpc.ws', url })),
  ]
  if (config.evidence.source === 'chain' && endpoints.length === 0 && !config.embedsVenue) {
    problems.push(
      `${at('evidence.source')} is chain, and no endpoint is given: set rpc.http, or let evidence.source be auto.`,
    )
  }
  if (config.isPaper) {
    // Such an address may carry a key: its host alone is told.
    for (const { key, url } of endpoints) {
      const { hostname } = new URL(url.reveal())
      if (isLoopback(hostname)) continue
      problems.push(`${at(key)} has an address of ${hostname}; the paper profile talks to this machine only.`)
    }
    for (const { key, url } of hosts) {
      if (!isLoopback(new URL(url).hostname)) {
        problems.push(
          `${at(key)} has ${url}; the paper profile talks to this machine only. For real money choose --profile ${config.venue.chain.name}.`,
        )
      }
    }
    if (
      !config.embedsVenue &&
      (config.venue.apiHosts.length === 0 || config.venue.oracleHosts.length === 0)
    ) {
      problems.push('venue.apiHosts and venue.oracleHosts: in the paper profile give both, or neither.')
    }
    for (const key of keySettings) {
      if (config.account[key] === undefined) continue
      problems.push(
        `${at(`account.${key}`)} is set; the paper profile signs with a throwaway key of its own and loads no other, because a signature made on paper is valid on the live chain.`,
      )
    }
  } else {
    if (config.evidence.trustVenue) {
      problems.push(
        `${at('evidence.trustVenue')} is true; with real money the venue's statement alone never closes an order. Remove it.`,
      )
    }
    if (config.rpc.finality === 'latest') {
      warnings.push(
        `${at('rpc.finality')} is latest; what a reorganisation takes back was then already closed.`,
      )
    }
    for (const { key, url, known } of hosts) {
      const list = config.venue.chain.hosts[known]
      if (!list.includes(url)) warnings.push(outsider(key, url, config.venue.chain, list))
    }
  }
  for (const [lower, higher] of comparesAll ? ordered : []) {
    const [low, high] = [limitOf(config, lower), limitOf(config, higher)]
    if (low > high) problems.push(`${at(lower)} is above ${higher} (${origins[higher]}); it must not be.`)
  }
  const { relayDeadlineSeconds } = config.execution
  const { minDeadlineSeconds, maxDeadlineSeconds } = config.signing
  const isSigned = relayDeadlineSeconds >= minDeadlineSeconds && relayDeadlineSeconds <= maxDeadlineSeconds
  if (comparesAll && config.account.lane === 'relay' && !isSigned) {
    problems.push(
      `${at('execution.relayDeadlineSeconds')} is ${relayDeadlineSeconds}, outside what is signed: ${minDeadlineSeconds} to ${maxDeadlineSeconds} s (signing.minDeadlineSeconds, signing.maxDeadlineSeconds).`,
    )
  }
  if (!isJournalLocation(config.journal.path)) {
    problems.push(
      `${at('journal.path')} names the scheme ${config.journal.path.split(':')[0]}:; a journal is a path, sqlite:PATH, or memory:.`,
    )
  }
  if (!isLoopback(bracketed(config.control.host))) {
    warnings.push(
      `control.host ${config.control.host} is not this machine alone: whoever reaches it sees account, orders and metrics.`,
    )
  }
  return { problems, warnings }
}

/** Settings of the account that name a key of the user's own. */
const keySettings = ['keystore', 'remoteSigner', 'keyFile'] as const

/** The variable that may hold a bare key. */
export const privateKeyVariable = 'PERPD_PRIVATE_KEY'

/**
 * What a start needs of keys beyond a valid configuration; empty when the daemon may start.
 *
 * @param hasVariable whether `PERPD_PRIVATE_KEY` holds something.
 */
export function startProblems(config: Config, hasVariable = false): readonly string[] {
  if (config.isPaper) {
    return hasVariable
      ? [
          `${privateKeyVariable} is set; the paper profile signs with a throwaway key of its own and loads no other, because a signature made on paper is valid on the live chain.`,
        ]
      : []
  }
  const { account, profile } = config
  const named = [
    ...keySettings.filter((key) => account[key] !== undefined).map((key) => `account.${key}`),
    ...(hasVariable ? [privateKeyVariable] : []),
  ]
  const [source] = named
  if (source === undefined) {
    return [
      `no key is named; the profile ${profile} trades real money and needs one: --account.keystore FILE (perpd keys new makes it) or --account.remoteSigner URL`,
    ]
  }
  if (named.length > 1) return [`${named.join(' and ')} are set; keep one of them.`]
  if (source === 'account.keystore') return []
  if (source === 'account.remoteSigner') {
    return account.address === undefined
      ? ['account.address is not set; with account.remoteSigner it says which of its keys is yours.']
      : []
  }
  if (account.acceptRawKey) return []
  return [
    `account.acceptRawKey is false; the profile ${profile} trades real money, and whoever reads ${source === privateKeyVariable ? privateKeyVariable : 'a raw key file'} owns the account. Encrypt it with perpd keys import, or, if you accept that for this account: --account.acceptRawKey`,
  ]
}

function outsider(key: string, url: string, chain: Chain, list: readonly string[]): string {
  return `${key} has ${url}, which is not one of ${chain.name}'s own (${list.join(', ')}); it sees the account and prepares what is verified here.`
}

const ordered = [
  ['risk.minOrderSizeUsd', 'risk.maxOrderSizeUsd'],
  ['risk.maxOrderSizeUsd', 'risk.maxPositionSizeUsd'],
  ['risk.maxPositionSizeUsd', 'risk.maxTotalExposureUsd'],
  ['execution.statusPollMs', 'execution.statusPollMaxMs'],
  ['signing.minDeadlineSeconds', 'signing.maxDeadlineSeconds'],
  ['signing.relayFeeUsd', 'signing.maxRelayFeeUsd'],
] as const

function limitOf(config: Config, key: (typeof ordered)[number][number]): number | bigint {
  switch (key) {
    case 'risk.minOrderSizeUsd':
      return config.limits.minOrderSizeUsd
    case 'risk.maxOrderSizeUsd':
      return config.limits.maxOrderSizeUsd
    case 'risk.maxPositionSizeUsd':
      return config.limits.maxPositionSizeUsd
    case 'risk.maxTotalExposureUsd':
      return config.limits.maxTotalExposureUsd
    case 'execution.statusPollMs':
      return config.execution.statusPollMs
    case 'execution.statusPollMaxMs':
      return config.execution.statusPollMaxMs
    case 'signing.relayFeeUsd':
      return config.signing.relayFeeUsd
    case 'signing.maxRelayFeeUsd':
      return config.signing.maxRelayFeeUsd
    case 'signing.minDeadlineSeconds':
      return config.signing.minDeadlineSeconds
    case 'signing.maxDeadlineSeconds':
      return config.signing.maxDeadlineSeconds
  }
}

/**
 * How often the largest exposure of all may be signed for in one window when no cap is set: enough to leave everything and
 * build it up anew twice, and no more than that where something hides what is held.
 */
const CAP_TIMES = 3n

/** The configured cap, or a few times the largest exposure of all; never less than one order. */
function exposureCapOf({ risk, signing }: RawConfig): Usd {
  const capUsd = usd(String(signing.exposureCapUsd))
  if (capUsd > 0n) return capUsd
  return maxOf(CAP_TIMES * usd(String(risk.maxTotalExposureUsd)), usd(String(risk.maxOrderSizeUsd)))
}

/** A host as a URL writes it. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The fields that are not 0, which stands for no limit. */
function aboveZero<T extends Readonly<Record<string, number | bigint>>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value > 0)) as Partial<T>
}

/** `MARKET: limit=value ...` as the market's symbol and its limits. */
function marketLimitsOf(item: string): readonly [string, Limits] {
  const colon = item.indexOf(':')
  const limits = item
    .slice(colon + 1)
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      if (name === 'maxLeverage') return ['maxLeverageBps', Number(parseUnits(value, 4))]
      if (name === 'executionFeesPerDay') return [name, parseUnits(value, NATIVE_DECIMALS)]
      return [name, name.endsWith('Usd') ? usd(value) : Number(value)]
    })
  return [item.slice(0, colon).trim(), Object.fromEntries(limits)]
}

/** A journal may be named by a scheme; the path after `sqlite:` is a path like any other. */
function journalPath(written: string, file: (path: string) => string): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+]+):(.*)$/.exec(written) ?? []
  if (scheme === undefined) return file(written)
  return scheme === 'sqlite' ? file(rest) : written
}

function finalityOf(written: string): Finality | undefined {
  if (written === 'auto') return undefined
  if (written === 'latest' || written === 'safe' || written === 'finalized') return written
  return { depth: Number(written) }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
