/** The configuration as the daemon uses it: typed, in the domain's units, frozen. */
import type { Chain } from '../../chains/chain.ts'
import type { Finality } from '../../chains/finality.ts'
import type { Address, Hex } from '../../domain/address.ts'
import type { Lane } from '../../domain/intent.ts'
import type { Limits } from '../../domain/limits.ts'
import type { Secret } from '../../domain/secret.ts'
import type { TokenAmount, Usd } from '../../domain/units.ts'
import type { WarningPolicy } from '../../domain/warning.ts'
import type { BreakerSettings } from '../../risk/breakers.ts'

/** Limits that the account always has. */
type AlwaysSet =
  | 'maxDataAgeMs'
  | 'maxOrdersPerHour'
  | 'maxPositionSizeUsd'
  | 'maxTotalExposureUsd'
  | 'maxOrderSizeUsd'
  | 'minOrderSizeUsd'
  | 'maxLeverageBps'
  | 'maxSlippageBps'
  | 'attemptsPerCause'
  | 'executionFeesPerDay'
  | 'relayFeesPerDayUsd'

/** The effective configuration. Paths are absolute. */
export interface Config {
  readonly profile: string
  /** True for the paper profile: play money, a throwaway key, only hosts of this machine. */
  readonly isPaper: boolean
  /** True when the daemon serves its own paper venue: the paper profile without hosts of its own. */
  readonly embedsVenue: boolean
  readonly venue: {
    readonly chain: Chain
    /** Empty exactly when `embedsVenue`. */
    readonly apiHosts: readonly string[]
    /** Empty exactly when `embedsVenue`. */
    readonly oracleHosts: readonly string[]
  }
  readonly rpc: {
    /** Addresses; keys stand in them. */
    readonly http: readonly Secret[]
    /** Addresses; keys stand in them. */
    readonly ws: readonly Secret[]
    /** Undefined: what the chain needs. */
    readonly finality: Finality | undefined
    readonly timeoutMs: number
    readonly maxLogBlocks: number
    /** Of the router's code; undefined: none is pinned. */
    readonly routerCodeHash: Hex | undefined
  }
  readonly account: {
    /** What the key's address must be. */
    readonly address: Address | undefined
    /** Absolute path of an encrypted key. */
    readonly keystore: string | undefined
    /** File descriptor of the keystore's password. */
    readonly passwordFd: number | undefined
    /** Base address, without a slash at its end. */
    readonly remoteSigner: string | undefined
    readonly remoteSignerTokenFile: string | undefined
    readonly remoteSignerTimeoutMs: number
    /** Absolute path of a bare key. */
    readonly keyFile: string | undefined
    readonly acceptRawKey: boolean
    /** The account traded when the key is a delegated one. */
    readonly owner: Address | undefined
    /** Absolute path. */
    readonly approvalFile: string
    /** Whether what was there before the first look is adopted by this setting. */
    readonly adoptInitial: boolean
    readonly warnActions: number
    readonly warnSeconds: number
    readonly reserveActions: number
    readonly reserveSeconds: number
    readonly lane: Lane
  }
  readonly journal: {
    readonly path: string
    /** File of the high-water mark; undefined beside the journal. */
    readonly headPath: string | undefined
    readonly maxMiB: number
  }
  readonly strategies: {
    readonly paths: readonly string[]
    /** Limits of kinds of the user's own, each in its thread. */
    readonly decideTimeoutMs: number
    readonly memoryMiB: number
    readonly pauseAfterFailures: number
  }
  /** Limits of the whole account; a strategy's own may only tighten them. */
  readonly limits: Limits & Required<Pick<Limits, AlwaysSet>>
  /** Limits of single markets, by symbol. */
  readonly marketLimits: Readonly<Record<string, Limits>>
  /** Oldest refresh of a market's values that its data counts as fresh with. */
  readonly maxMarketValuesAgeMs: number
  readonly breakers: BreakerSettings
  readonly execution: {
    readonly intentExpirySeconds: number
    readonly statusPollMs: number
    readonly statusPollMaxMs: number
    readonly drainSeconds: number
    readonly deadlineMarginSeconds: number
    readonly relayDeadlineSeconds: number
  }
  readonly signing: {
    readonly maxDeadlineSeconds: number
    readonly minDeadlineSeconds: number
    /** Most exposure that is signed in `exposureWindowSeconds`. */
    readonly exposureCapUsd: Usd
    readonly exposureWindowSeconds: number
    /** Smallest unit of the native token. */
    readonly maxExecutionFee: TokenAmount
    readonly maxRelayFeeUsd: Usd
    readonly relayFeeUsd: Usd
    /** Native token, smallest unit. */
    readonly usualExecutionFee: TokenAmount
    readonly usualRelayFeeUsd: Usd
    readonly feeFactor: number
    readonly priceToleranceBps: number
    /** 32 bytes; undefined: none. */
    readonly referralCode: Hex | undefined
    /** At least `priceToleranceBps`. */
    readonly reducingPriceToleranceBps: number
    readonly maxPriceImpactBps: number
    /** At least `maxPriceImpactBps`. */
    readonly reducingMaxPriceImpactBps: number
    /** Absent: no such limit. */
    readonly priceImpactPerDayUsd?: Usd
    readonly warnings: WarningPolicy
  }
  readonly evidence: { readonly source: 'auto' | 'chain' | 'api'; readonly trustVenue: boolean }
  readonly api: {
    readonly timeoutMs: number
    readonly attempts: number
    readonly concurrencyPerHost: number
    readonly requestsPerSecondPerHost: number
    readonly maxPriceAgeMs: number
  }
  readonly paper: {
    /** Chains the venue serves, the daemon's own first. */
    readonly chains: readonly Chain[]
    readonly seed: number
    readonly port: number
    readonly keeperDelayMs: number
    readonly keeperJitterMs: number
    readonly relayDelayMs: number
    readonly blockTimeMs: number
    readonly safeLagBlocks: number
    readonly finalizedLagBlocks: number
    readonly orderDeadlineSeconds: number
    readonly stateFile: string
    readonly keyFile: string
    readonly ownerKeyFile: string
    /** Whole tokens as decimal text; the venue knows the decimals. */
    readonly startBalances: readonly { readonly symbol: string; readonly amount: string }[]
    /** JSON of faults from the start. */
    readonly faults: string | undefined
    /** Absolute path of a scenario file. */
    readonly scenario: string | undefined
    /** Absolute path of a candle file. */
    readonly replayFile: string | undefined
    readonly speed: number
    readonly startAllowance: boolean
    /** Gwei as decimal text, by chain name. */
    readonly gasPriceGwei: readonly { readonly chain: string; readonly gwei: string }[]
    readonly exitShape: 'sdk' | 'sdk-keep' | 'zero' | 'max'
    readonly exitsReordered: boolean
    readonly slippageOnLimits: boolean
    readonly collateralOutMinOutput: 'usd' | 'zero'
    readonly dividesAnyPrice: boolean
    readonly topsUpFees: boolean
    readonly strictPrepare: boolean
    readonly referralCode: string
    readonly positionKeyForm: 'any' | 'row' | 'contract'
    /** Whole tokens as decimal text. */
    readonly startGmxAccount: string
    readonly poolShareBps: number
    readonly openInterestShareBps: number
    readonly jitPoolShareBps: number
    readonly liquidityProviders: number
    readonly poolShares: readonly {
      readonly wallet: string
      readonly market: string
      /** Millionths of the pool. */
      readonly sharePpm: number
    }[]
    readonly earningsWarmUpSeconds: number
    readonly weeklyIncentivesUsd: number
    readonly whitelists: readonly { readonly wallet: string; readonly market: string }[]
    readonly boostAprBps: number
    readonly buybackShareBps: number
    readonly traders: number
    /** `MARKET=HH:MM-HH:MM`, UTC, Monday to Friday. */
    readonly marketHours: readonly string[]
  }
  readonly control: {
    readonly host: string
    readonly port: number
    readonly hostNames: readonly string[]
    /** Absolute path; the read token's is the same with `.read` at its end. */
    readonly tokenFile: string
    readonly isMetricsOpen: boolean
    readonly isHealthOpen: boolean
    readonly requestsPerSecond: number
  }
  readonly log: {
    readonly level: 'debug' | 'info' | 'warn' | 'error'
    readonly format: 'auto' | 'pretty' | 'json'
    /** 0: never. */
    readonly heartbeatSeconds: number
  }
}
