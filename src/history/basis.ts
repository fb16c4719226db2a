/** Measures how far imported candles are from the oracle's, at whose prices the venue executes. Pure. */
import type { FileCandle } from '../base/candles/candleFile.ts'
import { absOf, BPS_ONE } from '../protocol/units.ts'
import { type CandleColumns, placeAt, usdPerTick } from './columns.ts'

/** The difference of two series where both have candles. */
export interface Basis {
  /** Candles that both have. */
  readonly candles: number
  /** Median, and the difference that one of a hundred closes exceeds, basis points. */
  readonly p50Bps: number
  readonly p99Bps: number
}

/** Fewer common candles than this say nothing of a difference. */
const LEAST_COMMON = 30
/** A difference is measured in hundredths of a basis point. */
const STEPS = 100

/** The difference of closes; undefined where fewer than 30 candles are common. */
export function basisOf(candles: readonly FileCandle[], oracle: CandleColumns): Basis | undefined {
  const unit = usdPerTick(oracle.decimals)
  const differences: number[] = []
  for (const { startSeconds, close } of candles) {
    const at = placeAt(oracle, startSeconds)
    if (oracle.startSeconds[at] !== startSeconds) continue
    const price = (oracle.close[at] ?? 0n) * unit
    differences.push(Number((absOf(close - price) * BigInt(BPS_ONE * STEPS)) / price) / STEPS)
  }
  if (differences.length < LEAST_COMMON) return undefined
  differences.sort((one, other) => one - other)
  const quantile = (share: number): number => differences[Math.floor((differences.length - 1) * share)] ?? 0
  return { candles: differences.length, p50Bps: quantile(0.5), p99Bps: quantile(0.99) }
}
