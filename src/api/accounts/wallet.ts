/**
 * Reads a wallet's balances and allowances, its staking, and the venue's related lists (docs/reference/api-coverage.md GET /balances/wallet and GET
 * /staking/power).
 */
import type { Address } from '../../protocol/address.ts'
import type { Balance } from '../../protocol/market.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import {
  address,
  count,
  type Decoder,
  float,
  list,
  nullable,
  object,
  tokenDecimals,
  uint,
  unixSeconds,
  word,
} from '../decode/decode.ts'
import { type Undocumented, undocumented } from '../decode/undocumented.ts'
import { rows } from '../rows/listRows.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Whose wallet. */
export interface WalletQuery {
  readonly account: Address
}

/** Allowance of one spender for one token. */
export interface Allowance {
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  readonly allowance: TokenAmount
}

/** Staking power of an account; amounts and powers as the venue counts them. A null is not known, never zero. */
export interface StakingPower {
  readonly cumulativePower: bigint
  readonly totalNetworkPower: bigint
  /** Percent, 0 to 100. */
  readonly userSharePercent: number
  readonly historicalMaxStaked: bigint | null
  readonly currentStaked: bigint
  readonly loyaltyRatio: number | null
  readonly lastPowerResetAtSeconds: number | null
  readonly powerResetCount: number
  readonly projectedRewardShare: bigint | null
  readonly treasuryGmxBalance: bigint | null
  readonly powerAccrualStartSeconds: number
  readonly loyaltyTrackingStartSeconds: number
}

/** Buybacks of the venue's own token, week by week; amounts as the venue counts them. */
export interface BuybackStats {
  readonly totalAccrued: bigint
  readonly latestWeekAccrued: bigint
  readonly weeksTracked: number
  readonly weeks: readonly {
    readonly weekStartSeconds: number
    readonly weekEndSeconds: number
    readonly weeklyAccrued: bigint
    readonly cumulativeAccrued: bigint
  }[]
}

/** A read of the application API about one wallet. */
const walletRead = {
  method: 'GET',
  service: 'api',
  kind: 'read',
  query: ({ account }: WalletQuery) => ({ address: account }),
} as const

const balancesRoute: Route<WalletQuery, readonly Balance[]> = {
  ...walletRead,
  path: '/balances/wallet',
  cacheMs: COALESCE_MS,
  decode: (body, asked) =>
    rows(
      body,
      '',
      (value) => {
        const row = object(value)
        return { ...walletToken(row), balance: uint(row.balance, 'balance') }
      },
      asked,
      { token: 'address', mayBeEmpty: true },
    ),
}

/** Whose allowances, and to whom. */
export interface AllowancesQuery extends WalletQuery {
  /** The venue knows `router`, its one token spender. */
  readonly spender: 'router' | Address
}

const allowancesRoute: Route<AllowancesQuery, readonly Allowance[]> = {
  path: '/allowances',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  query: ({ account, spender }) => ({ address: account, spender }),
  decode: (body, asked) =>
    rows(
      body,
      '',
      (value) => {
        const row = object(value)
        return { ...walletToken(row), allowance: uint(row.allowance, 'allowance') }
      },
      asked,
      { token: 'address' },
    ),
}

const stakingPowerRoute: Route<WalletQuery, StakingPower> = {
  ...walletRead,
  path: '/staking/power',
  cacheMs: COALESCE_MS,
  decode: (body) => {
    const fields = object(body)
    return {
      cumulativePower: uint(fields.cumulativePower, 'cumulativePower'),
      totalNetworkPower: uint(fields.totalNetworkPower, 'totalNetworkPower'),
      userSharePercent: float(fields.userSharePercent, 'userSharePercent'),
      historicalMaxStaked: orNull(fields.historicalMaxStaked, 'historicalMaxStaked', uint),
      currentStaked: uint(fields.currentStaked, 'currentStaked'),
      loyaltyRatio: orNull(fields.loyaltyRatio, 'loyaltyRatio', float),
      lastPowerResetAtSeconds: orNull(fields.lastPowerResetAt, 'lastPowerResetAt', unixSeconds),
      powerResetCount: count(fields.powerResetCount, 'powerResetCount'),
      projectedRewardShare: orNull(fields.projectedRewardShare, 'projectedRewardShare', uint),
      treasuryGmxBalance: orNull(fields.treasuryGmxBalance, 'treasuryGmxBalance', uint),
      powerAccrualStartSeconds: unixSeconds(fields.powerAccrualStart, 'powerAccrualStart'),
      loyaltyTrackingStartSeconds: unixSeconds(fields.loyaltyTrackingStart, 'loyaltyTrackingStart'),
    }
  },
}

const buybackRoute: Route<undefined, BuybackStats> = {
  path: '/buyback/weekly-stats',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 60_000,
  decode: (body, asked) => {
    const fields = object(body)
    const summary = object(fields.summary, 'summary')
    return {
      totalAccrued: uint(summary.totalAccrued, 'summary.totalAccrued'),
      latestWeekAccrued: uint(summary.latestWeekAccrued, 'summary.latestWeekAccrued'),
      weeksTracked: count(summary.weeksTracked, 'summary.weeksTracked'),
      weeks: rows(fields.weeks, 'weeks', buybackWeek, asked),
    }
  },
}

const whitelistsRoute: Route<WalletQuery, Undocumented<readonly Address[]>> = {
  ...walletRead,
  path: '/whitelists',
  cacheMs: 60_000,
  decode: undocumented((body) => list(body, '', address)),
}

const boostAprRoute: Route<undefined, Undocumented<number>> = {
  path: '/incentives/usdg/boost-apr',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_800_000,
  decode: undocumented((body) => float(object(body).boostApr, 'boostApr')),
}

function buybackWeek(value: unknown): BuybackStats['weeks'][number] {
  const week = object(value)
  return {
    weekStartSeconds: unixSeconds(week.weekStart, 'weekStart'),
    weekEndSeconds: unixSeconds(week.weekEnd, 'weekEnd'),
    weeklyAccrued: uint(week.weeklyAccrued, 'weeklyAccrued'),
    cumulativeAccrued: uint(week.cumulativeAccrued, 'cumulativeAccrued'),
  }
}

/** Token balances of a wallet (`GET /balances/wallet`). The native coin may be missing. */
export function getWalletBalances(
  transport: Transport,
  query: WalletQuery,
  options?: CallOptions,
): Promise<Read<readonly Balance[]>> {
  return transport.call(balancesRoute, query, options)
}

/** Reads the allowances of a spender on a wallet (`GET /allowances`). */
export function getAllowances(
  transport: Transport,
  query: AllowancesQuery,
  options?: CallOptions,
): Promise<Read<readonly Allowance[]>> {
  return transport.call(allowancesRoute, query, options)
}

/** Staking power of an account (`GET /staking/power`). */
export function getStakingPower(
  transport: Transport,
  query: WalletQuery,
  options?: CallOptions,
): Promise<Read<StakingPower>> {
  return transport.call(stakingPowerRoute, query, options)
}

/** Weekly buybacks (`GET /buyback/weekly-stats`). */
export function getBuybackStats(transport: Transport, options?: CallOptions): Promise<Read<BuybackStats>> {
  return transport.call(buybackRoute, undefined, options)
}

/** Market tokens of the pools open to an account (`GET /whitelists`). The payload is not documented. */
export function getWhitelists(
  transport: Transport,
  query: WalletQuery,
  options?: CallOptions,
): Promise<Read<Undocumented<readonly Address[]>>> {
  return transport.call(whitelistsRoute, query, options)
}

/** Launch boost rate, a fraction of 1 (`GET /incentives/usdg/boost-apr`). The payload is not documented. */
export function getBoostApr(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<Undocumented<number>>> {
  return transport.call(boostAprRoute, undefined, options)
}

function walletToken(row: Readonly<Record<string, unknown>>): Omit<Balance, 'balance'> {
  return {
    symbol: word(row.symbol, 'symbol'),
    address: address(row.address, 'address'),
    decimals: tokenDecimals(row.decimals, 'decimals'),
  }
}

function orNull<T>(value: unknown, name: string, decode: Decoder<T>): T | null {
  return value === undefined ? null : nullable(value, name, decode)
}
