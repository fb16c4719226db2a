/**
 * JIT liquidity now and in the past (docs/reference/api-coverage.md GET /jit/liquidity_info). For insight: what an increase may use
 * is `availableLiquidity` of the trading capacity, which has JIT in it already.
 */
import type { Address } from '../../protocol/address.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import {
  address,
  type Fields,
  inside,
  list,
  object,
  optional,
  uint,
  unixSeconds,
  usd30,
} from '../decode/decode.ts'
import { rows } from '../rows/listRows.ts'
import { RefusedError } from '../transport/apiErrors.ts'
import { type CallOptions, COALESCE_MS, type Read, type Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** One shift of vault liquidity into a market that would have to happen. */
export interface GlvShift {
  readonly glv: Address
  readonly fromMarket: Address
  readonly toMarket: Address
  readonly marketTokenAmount: TokenAmount
  readonly minMarketTokens: TokenAmount
}

/** JIT capacity on one side of a market. */
export interface JitSide {
  /** Most that may be reserved with JIT, USD. */
  readonly maxReservedUsd: Usd
  readonly shifts: readonly GlvShift[]
}

/** Capacity that a vault can add to a market at once. A side is null where the venue does not report it; never zero. */
export interface JitLiquidity {
  readonly glv: Address
  readonly market: Address
  readonly long: JitSide | null
  readonly short: JitSide | null
}

const infoV1Route: Route<undefined, readonly JitLiquidity[]> = {
  path: '/jit/liquidity_info',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  decode: (body, asked) =>
    rows(object(body).liquidityInfos, 'liquidityInfos', liquidityV1, asked, { market: 'market' }),
}

const infoV2Route: Route<undefined, readonly JitLiquidity[]> = {
  ...infoV1Route,
  version: 'v2',
  decode: (body, asked) =>
    rows(object(body).liquidityInfos, 'liquidityInfos', liquidityV2, asked, { market: 'market' }),
}

/** Period and range of a JIT liquidity history. */
export interface JitHistoryQuery {
  readonly period: '1h' | '1d'
  /** Unix seconds. */
  readonly fromSeconds?: number
  readonly toSeconds?: number
}

/** JIT liquidity of one vault in one market at one moment. A side is null where the value is missing; never zero. */
export interface JitHistoryRow {
  readonly market: Address
  readonly glv: Address
  readonly timestampSeconds: number
  readonly longLiquidityUsd: Usd | null
  readonly shortLiquidityUsd: Usd | null
}

const historyRoute: Route<JitHistoryQuery, readonly JitHistoryRow[]> = {
  path: '/jit/liquidity_history',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: COALESCE_MS,
  query: ({ period, fromSeconds, toSeconds }) => ({ period, from: fromSeconds, to: toSeconds }),
  decode: (body, asked) =>
    rows(object(body).snapshots, 'snapshots', historyRow, asked, { market: 'marketAddress' }),
}

const goneStatuses: ReadonlySet<number> = new Set([404, 405, 410])

/**
 * JIT liquidity that could be added now (`GET /jit/liquidity_info`, then `/v2/jit/liquidity_info` where the first is gone).
 * The first version has one list of shifts for both sides: it is given on both.
 */
export async function getJitLiquidity(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly JitLiquidity[]>> {
  try {
    return await transport.call(infoV1Route, undefined, options)
  } catch (error) {
    if (!(error instanceof RefusedError) || !goneStatuses.has(error.status)) throw error
    return transport.call(infoV2Route, undefined, options)
  }
}

/** Reads the history of JIT liquidity (`GET /jit/liquidity_history`). */
export function getJitHistory(
  transport: Transport,
  query: JitHistoryQuery,
  options?: CallOptions,
): Promise<Read<readonly JitHistoryRow[]>> {
  return transport.call(historyRoute, query, options)
}

function shift(value: unknown): GlvShift {
  const row = object(value)
  return {
    glv: address(row.glv, 'glv'),
    fromMarket: address(row.fromMarket, 'fromMarket'),
    toMarket: address(row.toMarket, 'toMarket'),
    marketTokenAmount: uint(row.marketTokenAmount, 'marketTokenAmount'),
    minMarketTokens: uint(row.minMarketTokens, 'minMarketTokens'),
  }
}

function shifts(row: Fields): readonly GlvShift[] {
  return optional(row.glvShiftParams, 'glvShiftParams', (value, name) => list(value, name, shift)) ?? []
}

function liquidityV1(value: unknown): JitLiquidity {
  const row = object(value)
  const common = shifts(row)
  const side = (name: string): JitSide | null => {
    const maxReservedUsd = optional(row[name], name, usd30)
    return maxReservedUsd === undefined ? null : { maxReservedUsd, shifts: common }
  }
  return {
    glv: address(row.glv, 'glv'),
    market: address(row.market, 'market'),
    long: side('maxReservedUsdWithJitLong'),
    short: side('maxReservedUsdWithJitShort'),
  }
}

function liquidityV2(value: unknown): JitLiquidity {
  const row = object(value)
  const side = (name: string): JitSide | null =>
    optional(row[name], name, (inner) =>
      inside(inner, name, (each) => {
        const fields = object(each)
        return { maxReservedUsd: usd30(fields.maxReservedUsd, 'maxReservedUsd'), shifts: shifts(fields) }
      }),
    ) ?? null
  return {
    glv: address(row.glv, 'glv'),
    market: address(row.market, 'market'),
    long: side('long'),
    short: side('short'),
  }
}

function historyRow(value: unknown): JitHistoryRow {
  const row = object(value)
  return {
    market: address(row.marketAddress, 'marketAddress'),
    glv: address(row.glvAddress, 'glvAddress'),
    timestampSeconds: unixSeconds(row.timestamp, 'timestamp'),
    longLiquidityUsd: optional(row.longLiquidityUsd, 'longLiquidityUsd', usd30) ?? null,
    shortLiquidityUsd: optional(row.shortLiquidityUsd, 'shortLiquidityUsd', usd30) ?? null,
  }
}
