/** Settings of risk: the limits, which are rows of `domain/limits/limitTable.ts`, and what stands beside them. */
import type { DeskLimits } from '../../domain/limits/deskBudgets.ts'
import {
  type AccountLimits,
  type DeskLimitName,
  deskLimitRows,
  type LimitName,
  type LimitSetting,
  type Limits,
  limitRows,
  limitSetting,
} from '../../domain/limits/limits.ts'
import type { LimitRow } from '../../domain/limits/limitTable.ts'
import {
  bps,
  decimal,
  dollars,
  dollarsOrNone,
  type Format,
  integer,
  liveSetting,
  meaning,
  ms,
  native,
  type Section,
  type Setting,
  seconds,
  setting,
  type Typed,
} from '../../protocol/settings/setting.ts'
import { parseUnits } from '../../protocol/units.ts'
import type { BreakerSettings } from '../../risk/breakers/circuitBreakers.ts'
import * as as from './formats.ts'

const times: Format<number> = meaning(
  decimal('a leverage from 1 to 200, as 5 or "2.5"', { decimals: 4, least: '1', most: '200' }),
  (value) => Number(parseUnits(value, 4)),
)

function limitFormat({ unit, bounds = [0, 0], initial, isOptional }: LimitRow): Format<number | bigint> {
  switch (unit) {
    case 'usd':
      return isOptional ? dollarsOrNone : dollars
    case 'native':
      return native(String(initial))
    case 'times':
      return times
    case 'count':
      return integer(...bounds)
    default:
      return integer(...bounds, unit)
  }
}

type LimitSettings = {
  readonly [K in LimitName as LimitSetting<K>]: Setting<NonNullable<Limits[K]>>
}

const limitSettings = Object.fromEntries(
  limitRows.map(([name, row]) => [limitSetting(name), liveSetting(limitFormat(row), row.initial, row.doc)]),
) as LimitSettings

/** Settings under `risk`. */
export const risk = {
  ...limitSettings,
  markets: liveSetting(
    as.marketLimits,
    [],
    'Limits of single markets on top of the others, MARKET: LIMIT=VALUE LIMIT=VALUE, as ETH/USD [WETH-USDC]: maxPositionSizeUsd=3000 maxLeverage=5. The tighter one applies.',
  ),
  maxMarketValuesAgeMs: setting(
    ms(10_000),
    30_000,
    "Greatest age of the venue's values of a market for an increase, ms. The venue refreshes them every 5 s and marks them stale at 15 s.",
  ),
} satisfies Section

/** The account's limits, by the names of the code; 0 is no limit where that is allowed. And what stands beside them. */
export function riskOf({ markets, maxMarketValuesAgeMs, ...written }: Typed<typeof risk>): {
  readonly limits: AccountLimits
  readonly marketLimits: Readonly<Record<string, Limits>>
  readonly maxMarketValuesAgeMs: number
} {
  const values: Readonly<Record<string, number | bigint>> = written
  const limits = limitRows.flatMap(([name, { isOptional }]) => {
    const value = values[limitSetting(name)]
    return value === undefined || (isOptional && value <= 0) ? [] : [[name, value]]
  })
  return { limits: Object.fromEntries(limits), marketLimits: markets, maxMarketValuesAgeMs }
}

type DeskSettings = {
  readonly [K in DeskLimitName as LimitSetting<K>]: Setting<NonNullable<Limits[K]>>
}

/** Settings under `desk`: limits of all accounts together. */
export const desk = Object.fromEntries(
  deskLimitRows.map(([name, row]) => {
    const [, most = 0] = row.bounds ?? []
    const format = row.unit === 'usd' ? dollarsOrNone : integer(0, most)
    return [
      limitSetting(name),
      setting(format as Format<number | bigint>, row.unit === 'usd' ? '0' : 0, row.ofDesk.doc),
    ]
  }),
) as DeskSettings

/** Returns the limits of the desk that are set, by the names of the code. */
export function deskOf(written: Typed<typeof desk>): DeskLimits {
  const values: Readonly<Record<string, number | bigint>> = written
  const limits = deskLimitRows.map(([name]) => [name, BigInt(values[limitSetting(name)] ?? 0)] as const)
  return Object.fromEntries(limits.filter(([, limit]) => limit > 0n))
}

/** Settings under `breakers`. */
export const breakers = {
  maxDrawdownBps: liveSetting(
    bps(10_000),
    2_000,
    'Fall of the equity below its peak at which the breaker `drawdown` opens, basis points of the peak. 0: off.',
  ),
  rejectsInRow: liveSetting(
    integer(0, 1_000),
    10,
    'Orders of one strategy in a row without effect, at which its breaker `rejects` opens. 0: off.',
  ),
  payloadMismatchesPerDay: liveSetting(
    integer(0, 1_000),
    3,
    'Payload mismatches in 24 hours at which the breaker `payload-mismatch` opens. 0: off.',
  ),
  unknownSeconds: liveSetting(
    seconds(0, 604_800),
    1_800,
    'Age of the oldest order whose fate is not proven, at which the breaker `unknowns` opens. 0: off.',
  ),
  staleSeconds: liveSetting(
    seconds(0, 86_400),
    120,
    'How long the account may be unreadable until the breaker `stale-data` opens. 0: off.',
  ),
  openDiscrepancies: liveSetting(
    integer(0, 1_000),
    3,
    'Unsettled discrepancies that pause a market, at which the breaker `unexplained` opens for all. 0: off.',
  ),
  sets: liveSetting(
    as.breakerStates,
    [],
    'Trading state that a breaker sets where it is not `reducing`, BREAKER=halted. While halted perpd makes no orders at all, not even exits.',
  ),
} satisfies Section

/** Returns the settings of the breakers; 0 switches one off. */
export function breakersOf({
  sets,
  unknownSeconds,
  staleSeconds,
  ...same
}: Typed<typeof breakers>): BreakerSettings {
  const all = { ...same, unknownAgeMs: unknownSeconds * 1000, staleMs: staleSeconds * 1000 }
  return { ...Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0)), sets }
}
