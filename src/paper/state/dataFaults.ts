/** Deliberate faults in the venue's data: each is a documented state of the live hosts, off by default. */

import { type AnswerFaults, answerFaultWords, noAnswerFaults } from '../http/answerFaults.ts'
import { isErrorName } from './givenError.ts'

/** Switches over the data behind the reads. Markets are market tokens in any case. */
export interface DataFaults extends AnswerFaults {
  /** `jitDataStatus` of every capacity; only `available` counts JIT liquidity. */
  jitData: 'available' | 'stale' | 'unavailable'
  /** Milliseconds that a JIT refresh under way still takes while the data is stale; 0 = none is under way. */
  jitRefreshMs: number
  /**
   * `never-lands`: accepted operations stay pending until their deadline has passed; then the relay has given up. `fails`:
   * it gives them up at once and nothing is sent. `lands-late`: the same is said, but it sends them after `relayLateMs`.
   * `unknown`: `/relay/status` does not know what became of them.
   */
  relay: 'none' | 'never-lands' | 'fails' | 'lands-late' | 'unknown'
  /** Milliseconds from the relay's last word to the landing of `lands-late`. */
  relayLateMs: number
  /** Part of the operations that the relay's faults hit, percent; which ones is drawn from the seed. */
  relayPercent: number
  /** Milliseconds after a revert in which somebody else sends the same calldata again; 0 = nobody does. */
  replayMs: number
  /** `before-landing`: somebody else signs the same parameters and uses the digest up, just before the relay lands it. */
  foreignDigest: 'none' | 'before-landing'
  /** Cost of gas, percent of its usual price: a spike while it is above 100. */
  gasSpikePercent: number
  /** Fees that prepare requests, percent of those that the gas price gives: above 100 no gas explains the rest. */
  askedFeePercent: number
  /** Name of the custom error that every operation reverts with; empty = none. */
  relayReverts: string
  /** Name of the custom error that every execution fails with: market orders are cancelled, others frozen; empty = none. */
  keeperFails: string
  /** Added to the keeper's delay, ms. */
  keeperExtraDelayMs: number
  /** Blocks that the second JSON-RPC endpoint, `rpc/1`, is behind the first. */
  rpcLagBlocks: number
  /** `forked`: `rpc/1` follows other blocks than `rpc/0`, empty ones, from `rpcForkBlocks` before the head on. */
  rpcFork: 'none' | 'forked'
  /** Blocks below the head at which a fork begins. */
  rpcForkBlocks: number
  /** `unknown`: nobody can say whether an account may use JIT liquidity. */
  jitEligibility: 'known' | 'unknown'
  /** Code of a warning that every prepared order carries besides its own, as a newer venue may have; empty = none. */
  prepareWarns: string
  /** `marketDataStatus` of every capacity. */
  marketData: 'fresh' | 'stale'
  /**
   * `stale`: virtual inventories are no longer refreshed, and `updatedAt` of value rows, the older of both refreshes, stands
   * still with them. `never`: no refresh of them has succeeded, and `updatedAt` is null.
   */
  virtualInventory: 'fresh' | 'stale' | 'never'
  /** Markets whose value rows have no successful refresh: `updatedAt` null, and what stands on them is stale. */
  staleValues: string[]
  /** Markets that are disabled: their rows say so and are left out of staleness. */
  disabledMarkets: string[]
  /** Markets that are no longer listed: not in `/markets`, and `isListed` of the oracle says so. */
  unlistedMarkets: string[]
  /** Markets whose position reader reverts; a list with one such position fails whole. */
  readerReverts: string[]
  /** Markets that the indexer has no metrics of: their yields are null. */
  unindexedMarkets: string[]
  /** `warming-up`: `/yield/gm-user-earnings` answers 503. */
  earnings: 'none' | 'warming-up'
  /** Seconds that every stats source lags more than it does by itself. */
  statsLagSeconds: number
  /** Stats sources, as `network:version`, that cannot be read: `missing`, their values null. */
  missingSources: string[]
  /** `unavailable`: this deployment serves no stats, 503. `moved`: 308 to another path of the same origin. */
  stats: 'none' | 'unavailable' | 'moved'
  /** `frozen`: the Solana snapshot is no longer rebuilt. `empty`: it is rebuilt without pairs. */
  solanaPairs: 'none' | 'frozen' | 'empty'
}

/** Nothing wrong with the data. */
export function noDataFaults(): DataFaults {
  return {
    jitData: 'available',
    jitRefreshMs: 0,
    jitEligibility: 'known',
    relay: 'none',
    relayLateMs: 20_000,
    relayPercent: 100,
    replayMs: 0,
    foreignDigest: 'none',
    rpcLagBlocks: 0,
    rpcFork: 'none',
    rpcForkBlocks: 1,
    gasSpikePercent: 100,
    askedFeePercent: 100,
    relayReverts: '',
    keeperFails: '',
    keeperExtraDelayMs: 0,
    prepareWarns: '',
    marketData: 'fresh',
    virtualInventory: 'fresh',
    staleValues: [],
    disabledMarkets: [],
    unlistedMarkets: [],
    readerReverts: [],
    unindexedMarkets: [],
    earnings: 'none',
    statsLagSeconds: 0,
    missingSources: [],
    stats: 'none',
    solanaPairs: 'none',
    ...noAnswerFaults(),
  }
}

const words: Readonly<Record<string, readonly string[]>> = {
  jitData: ['available', 'stale', 'unavailable'],
  jitEligibility: ['known', 'unknown'],
  relay: ['none', 'never-lands', 'fails', 'lands-late', 'unknown'],
  foreignDigest: ['none', 'before-landing'],
  rpcFork: ['none', 'forked'],
  marketData: ['fresh', 'stale'],
  virtualInventory: ['fresh', 'stale', 'never'],
  earnings: ['none', 'warming-up'],
  stats: ['none', 'unavailable', 'moved'],
  solanaPairs: ['none', 'frozen', 'empty'],
  ...answerFaultWords,
}
const lists = new Set([
  'staleValues',
  'disabledMarkets',
  'unlistedMarkets',
  'readerReverts',
  'unindexedMarkets',
  'missingSources',
  'oldOracles',
  'malformedRows',
  'bigintObjects',
])

const numbers = new Set([
  'statsLagSeconds',
  'jitRefreshMs',
  'keeperExtraDelayMs',
  'relayLateMs',
  'relayPercent',
  'replayMs',
  'gasSpikePercent',
  'askedFeePercent',
  'rpcLagBlocks',
  'rpcForkBlocks',
  'oldOracleSeconds',
  'relayStatusLagMs',
])
const errors = new Set(['relayReverts', 'keeperFails'])
const codes = new Set(['prepareWarns', 'prepareRefuses'])

/** Tells whether a name is one of these switches. */
export function isDataFault(name: string): name is keyof DataFaults {
  return (
    Object.hasOwn(words, name) || lists.has(name) || numbers.has(name) || errors.has(name) || codes.has(name)
  )
}

function unitOf(name: string): string {
  if (name.endsWith('Percent')) return 'percent'
  if (name.endsWith('Blocks')) return 'blocks'
  return name.endsWith('Ms') ? 'milliseconds' : 'seconds'
}

/** Returns the fault of a switch's value, or undefined. */
export function wrongDataFault(name: keyof DataFaults, value: unknown): string | undefined {
  const choices = words[name]
  if (choices !== undefined) {
    return typeof value === 'string' && choices.includes(value)
      ? undefined
      : `${name} must be one of ${choices.join(', ')}`
  }
  if (errors.has(name)) {
    return typeof value === 'string' && (value === '' || isErrorName(value))
      ? undefined
      : `${name} must be empty or the name of a custom error of the protocol, as EmptyPosition`
  }
  if (codes.has(name)) {
    return typeof value === 'string' && /^([A-Z][A-Z0-9_]{0,63})?$/.test(value)
      ? undefined
      : `${name} must be empty or a code of capital letters, as HIGH_PRICE_IMPACT`
  }
  if (lists.has(name)) {
    return Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? undefined
      : `${name} must be a list of texts`
  }
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? undefined
    : `${name} must be a whole number of ${unitOf(name)}`
}

/** Tells whether a list of market tokens names a market, whatever the case. */
export function namesMarket(list: readonly string[], marketKey: string): boolean {
  return list.length > 0 && list.some((one) => one.toLowerCase() === marketKey)
}
