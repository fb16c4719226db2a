/**
 * Funding and borrowing of a run by the daily means of the venue's indexer (`GET /rates`). Their unit is not documented: it is told by comparing them with
 * recorded rates of the same time, which are per second, and where that says nothing they are not used.
 */

import type { RatesSnapshot } from '../api/markets/history.ts'
import { BaseError } from '../base/errors.ts'
import { readManifest } from '../history/manifest.ts'
import { readRates } from '../history/ratesFile.ts'
import { readRecording } from '../history/recording.ts'
import { recordedFiles } from '../history/recordingFile.ts'
import type { FollowedMarket, MarketStep } from '../paper/state/followedMarkets.ts'
import type { WantedMarket } from './recordedMarkets.ts'
import type { RunGap, RunRates } from './runFiles.ts'

/** Rates that a run cannot use. */
class HistoricRatesError extends BaseError {}

/** Units that a rate may have, with their seconds. */
const rateUnits = { second: 1, hour: 3_600, year: 31_536_000 } as const

/** One of them. */
export type RateUnit = keyof typeof rateUnits

/** Rates of a run. */
export interface HistoricRates {
  readonly followed: ReadonlyMap<string, FollowedMarket>
  /** For the manifest: what was read of each market. */
  readonly inputs: readonly RunRates[]
}

const DAY_SECONDS = 86_400
/** The longest that one mean stands, seconds. */
const MOST_STANDING_SECONDS = 2 * DAY_SECONDS
/** Means and recorded rates of one time are of one size within this factor; units lie much farther apart. */
const MOST_APART = 4
/** Recordings that the unit is told by, the newest. */
const MOST_COMPARED = 2

/**
 * Reads the means of a run's markets, Unix seconds. Each counts from a day after its time on: no turn sees one before its day is over.
 *
 * @throws HistoricRatesError BACKTEST_NO_RATES where a market's means do not cover the run, BACKTEST_RATES_UNIT where nothing tells their unit
 */
export async function readHistoricRates(
  folder: string,
  chain: string,
  wanted: readonly WantedMarket[],
  span: RunGap,
): Promise<HistoricRates> {
  const entries = readManifest(folder).rates.filter((entry) => entry.chain === chain)
  const read = await Promise.all(
    wanted.map(async ({ market, key }) => {
      const entry = entries.find(({ marketToken }) => marketToken.toLowerCase() === key)
      const snapshots = entry === undefined ? [] : await readRates(folder, entry)
      return { market, key, snapshots, sha256: entry?.sha256 ?? '' }
    }),
  )
  const missing = read.filter(({ snapshots }) => !isCovered(snapshots, span)).map(({ market }) => market)
  if (missing.length > 0) throw noRates(folder, missing)
  const unit = await unitOf(folder, new Map(read.map(({ key, snapshots }) => [key, snapshots])))
  if (unit === undefined) throw unknownUnit(folder)
  return {
    followed: new Map(
      read.map(({ key, snapshots }) => [
        key,
        { steps: snapshots.map((each) => stepOf(each, rateUnits[unit])) },
      ]),
    ),
    inputs: read.map(({ market, sha256 }) => ({ market, sha256, unit })),
  }
}

/** Tells whether a mean stands at each moment of a run. */
function isCovered(snapshots: readonly RatesSnapshot[], { fromSeconds, toSeconds }: RunGap): boolean {
  const from = snapshots.map(({ timestampSeconds }) => timestampSeconds + DAY_SECONDS)
  const first = from.findLast((second) => second <= fromSeconds)
  if (first === undefined) return false
  const stood = [first, ...from.filter((second) => second > first && second < toSeconds), toSeconds]
  return stood.every((second, at) => at === 0 || second - (stood[at - 1] ?? 0) <= MOST_STANDING_SECONDS)
}

function stepOf(snapshot: RatesSnapshot, seconds: number): MarketStep {
  const per = BigInt(seconds)
  const { fundingRateLong, fundingRateShort, borrowingRateLong, borrowingRateShort } = snapshot
  // The side that pays has the negative rate.
  const funding = fundingRateLong < 0n ? -fundingRateLong : fundingRateShort < 0n ? fundingRateShort : 0n
  const size = (rate: bigint): bigint => (rate < 0n ? -rate : rate)
  return {
    second: snapshot.timestampSeconds + DAY_SECONDS,
    rates: {
      fundingFactorPerSecond: funding / per,
      borrowingFactorPerSecond: {
        long: size(borrowingRateLong) / per,
        short: size(borrowingRateShort) / per,
      },
    },
  }
}

/** Tells the unit of means by recorded rates; undefined where there are none of that time, or they fit no unit. */
async function unitOf(
  folder: string,
  means: ReadonlyMap<string, readonly RatesSnapshot[]>,
): Promise<RateUnit | undefined> {
  const times = [...means.values()].flatMap((each) => each.map(({ timestampSeconds }) => timestampSeconds))
  const [firstMs, lastMs] = [Math.min(...times) * 1000, (Math.max(...times) + DAY_SECONDS) * 1000]
  const [recorded, shown] = [sum(), sum()]
  const isWanted = (kind: string, key: string): boolean => kind === 'values' && means.has(key.toLowerCase())
  for (const { path } of recordedFiles(folder, firstMs, lastMs).slice(-MOST_COMPARED))
    for await (const step of readRecording(path, isWanted)) {
      if (!('fields' in step)) continue
      const near = nearest(means.get(step.key.toLowerCase()) ?? [], step.atMs / 1000)
      if (near === undefined) continue
      const rates = [
        'fundingFactorPerSecond',
        'borrowingFactorPerSecondForLongs',
        'borrowingFactorPerSecondForShorts',
      ]
      recorded.add(...rates.map((name) => Number(step.fields.get(name) ?? 0)))
      const { fundingRateLong: long, fundingRateShort: short, borrowingRateLong, borrowingRateShort } = near
      // The side that pays funding counts: the other one gets by its open interest.
      shown.add(Math.max(0, Number(-long)) + Math.max(0, Number(-short)))
      shown.add(Math.abs(Number(borrowingRateLong)), Math.abs(Number(borrowingRateShort)))
    }
  if (recorded.total() === 0 || shown.total() === 0) return undefined
  const seconds = shown.total() / recorded.total()
  return (Object.keys(rateUnits) as RateUnit[]).find((unit) => {
    const times = seconds / rateUnits[unit]
    return times <= MOST_APART && times >= 1 / MOST_APART
  })
}

function sum() {
  let total = 0
  return {
    add(...values: readonly number[]): void {
      for (const value of values) total += value
    },
    total: () => total,
  }
}

/** The mean whose time is nearest to a second, if that is within a day. */
function nearest(snapshots: readonly RatesSnapshot[], second: number): RatesSnapshot | undefined {
  const apart = ({ timestampSeconds }: RatesSnapshot): number => Math.abs(timestampSeconds - second)
  const [first] = snapshots.toSorted((one, other) => apart(one) - apart(other))
  return first !== undefined && apart(first) <= DAY_SECONDS ? first : undefined
}

function noRates(folder: string, missing: readonly string[]): HistoricRatesError {
  return new HistoricRatesError('The history has no rates of funding and borrowing for the whole run.', {
    code: 'BACKTEST_NO_RATES',
    facts: { folder, missing: missing.join(', ') },
    details:
      'Nothing was run. Get them with the candles, from two days before the run on: perpd data get MARKET --from TIME. Or leave out --rates history.',
  })
}

function unknownUnit(folder: string): HistoricRatesError {
  return new HistoricRatesError('Nothing tells the unit of the rates in the history.', {
    code: 'BACKTEST_RATES_UNIT',
    facts: { folder },
    details:
      'Nothing was run. The venue does not document it; perpd tells it by rates that it recorded at the same time. Let `perpd record` run for some minutes, get the rates again, or leave out --rates history.',
  })
}
