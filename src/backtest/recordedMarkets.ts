/**
 * Pools, open interest, rates and settings of markets as `perpd record` kept them, as steps of a minute that a run's venue follows. A step has the newest
 * row that was there by then. Nothing is filled in: short gaps keep the last figures and are said, long ones are refused. A market of which the
 * chain's own events are there for the whole run follows those.
 */
import { BaseError } from '../base/errors.ts'
import { type RecordedStep, readRecording } from '../history/recording.ts'
import { recordedFiles } from '../history/recordingFile.ts'
import type { CatalogConfig } from '../paper/catalog/catalog.ts'
import type { FollowedMarket, MarketFigures, MarketStep } from '../paper/state/followedMarkets.ts'
import { readLoggedMarket } from './loggedMarkets.ts'
import { type RunGap, type RunRecorded, sha256Of } from './runFiles.ts'

/** A recording that does not cover a run. */
class RecordedMarketsError extends BaseError {}

/** A market to be followed. */
export interface WantedMarket {
  /** Full symbol. */
  readonly market: string
  /** Lower-case market token. */
  readonly key: string
  readonly chain: string
  /** Tells whether one token is the collateral of both sides. */
  readonly isSingleToken: boolean
}

/** Recorded markets of a run. */
export interface RecordedMarkets {
  readonly followed: ReadonlyMap<string, FollowedMarket>
  /** For the manifest: what was read of each. */
  readonly inputs: readonly RunRecorded[]
}

const STEP_SECONDS = 60
/** A span without a row that is said, seconds: rows come each quarter of a minute. */
const SAID_GAP_SECONDS = 300
/** The longest span without a row that a run may have, seconds. */
const MOST_GAP_SECONDS = 3_600
/** Spans that an error names. */
const MOST_NAMED = 3

type Fields = ReadonlyMap<string, unknown>

/** Rows of a market by the second of their step, and its settings before the run. */
interface Collected {
  readonly rows: Map<number, { readonly atMs: number; readonly step: MarketStep }>
  config: CatalogConfig | undefined
}

/**
 * Reads the recordings of a history's folder for a run, Unix seconds.
 *
 * @throws RecordedMarketsError BACKTEST_NOT_RECORDED where a market has no rows for an hour or more of the run
 */
export async function readRecordedMarkets(
  folder: string,
  wanted: readonly WantedMarket[],
  { fromSeconds, toSeconds }: RunGap,
): Promise<RecordedMarkets> {
  const collected = new Map(
    wanted.map(({ key }): [string, Collected] => [key, { rows: new Map(), config: undefined }]),
  )
  const [fromMs, toMs] = [(fromSeconds - MOST_GAP_SECONDS) * 1000, toSeconds * 1000]
  const isWanted = (kind: string, key: string): boolean =>
    (kind === 'values' || kind === 'config') && collected.has(key.toLowerCase())
  for (const { path } of recordedFiles(folder, fromMs, toMs))
    for await (const step of readRecording(path, isWanted))
      if ('fields' in step && step.atMs >= fromMs && step.atMs < toMs)
        take(step, collected, fromSeconds * 1000)
  const followed = new Map<string, FollowedMarket>()
  const inputs: RunRecorded[] = []
  const missing: string[] = []
  for (const each of wanted) {
    const { market, key } = each
    const logged = await readLoggedMarket(folder, { ...each, marketToken: key }, { fromSeconds, toSeconds })
    if (logged !== undefined) {
      const { steps } = logged
      const settings = collected.get(key)?.config
      followed.set(key, { steps, ...(settings && { config: settings }) })
      const sha256 = hashOf(steps, settings)
      inputs.push({ market, rows: steps.length, sha256, gaps: [], source: 'chain' })
      continue
    }
    const { rows, config } = collected.get(key) ?? { rows: new Map(), config: undefined }
    const steps = [...rows.values()]
      .map(({ step }) => step)
      .toSorted((one, other) => one.second - other.second)
    const holes = holesIn(steps, { fromSeconds, toSeconds })
    const long = holes.filter(({ fromSeconds: from, toSeconds: to }) => to - from > MOST_GAP_SECONDS)
    if (long.length > 0) missing.push(`${market}: ${spansText(long)}`)
    followed.set(key, { steps, ...(config && { config }) })
    inputs.push({ market, rows: steps.length, sha256: hashOf(steps, config), gaps: holes })
  }
  if (missing.length > 0) throw notRecorded(folder, missing)
  return { followed, inputs }
}

/** Notes a row: values as the figures of their step, settings as they were when the run began. */
function take(
  { atMs, kind, key, fields }: Extract<RecordedStep, { fields: Fields }>,
  collected: ReadonlyMap<string, Collected>,
  startMs: number,
): void {
  const market = collected.get(key.toLowerCase())
  if (market === undefined) return
  if (kind === 'config') {
    if (market.config === undefined || atMs <= startMs) market.config = configOf(fields)
    return
  }
  const second = Math.ceil(atMs / (STEP_SECONDS * 1000)) * STEP_SECONDS
  const before = market.rows.get(second)
  if (before !== undefined && before.atMs > atMs) return
  const step = stepOf(fields, second)
  if (step !== undefined) market.rows.set(second, { atMs, step })
}

/** Fields of a settings row that name the market and set nothing. */
const naming: ReadonlySet<string> = new Set([
  'marketToken',
  'indexToken',
  'longToken',
  'shortToken',
  'name',
  'data',
  'isSameCollaterals',
  'isSpotOnly',
  'isDisabled',
])

function configOf(fields: Fields): CatalogConfig {
  const set = [...fields].filter(
    ([name, value]) => !naming.has(name) && (typeof value === 'string' || typeof value === 'boolean'),
  )
  return Object.fromEntries(set) as CatalogConfig
}

/** A step of a row; undefined for a row that lacks an amount. */
function stepOf(fields: Fields, second: number): MarketStep | undefined {
  let isWhole = true
  const amount = (name: string): bigint => {
    const value = fields.get(name)
    if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
    isWhole = false
    return 0n
  }
  const bySlot = (name: string) =>
    [amount(`${name}UsingLongToken`), amount(`${name}UsingShortToken`)] as const
  const figures: MarketFigures = {
    long: { interestUsd: bySlot('longInterestUsd'), interestInTokens: bySlot('longInterestInTokens') },
    short: { interestUsd: bySlot('shortInterestUsd'), interestInTokens: bySlot('shortInterestInTokens') },
    pool: [amount('longPoolAmount'), amount('shortPoolAmount')],
    swapImpactPool: [amount('swapImpactPoolAmountLong'), amount('swapImpactPoolAmountShort')],
    positionImpactPoolAmount: amount('positionImpactPoolAmount'),
    virtualInventory: {
      usd: amount('virtualInventoryForPositions'),
      tokens: amount('virtualInventoryForPositionsInTokens'),
    },
  }
  const paid = amount('fundingFactorPerSecond')
  const rates = {
    fundingFactorPerSecond: fields.get('longsPayShorts') === true ? paid : -paid,
    borrowingFactorPerSecond: {
      long: amount('borrowingFactorPerSecondForLongs'),
      short: amount('borrowingFactorPerSecondForShorts'),
    },
  }
  return isWhole ? { second, figures, rates } : undefined
}

/** Spans of a run without a row, each from the last row before it. A run of which nothing was recorded an hour before it begins with such a span. */
function holesIn(steps: readonly MarketStep[], { fromSeconds, toSeconds }: RunGap): readonly RunGap[] {
  const holes: RunGap[] = []
  const before = steps.findLast(({ second }) => second <= fromSeconds)
  let last = before?.second ?? fromSeconds - MOST_GAP_SECONDS - STEP_SECONDS
  for (const second of [...steps.map((step) => step.second), toSeconds]) {
    if (second <= fromSeconds) continue
    if (second - last > SAID_GAP_SECONDS) holes.push({ fromSeconds: last, toSeconds: second })
    last = second
  }
  return holes
}

function hashOf(steps: readonly MarketStep[], config: CatalogConfig | undefined): string {
  const plain = (_name: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value
  return sha256Of(JSON.stringify([steps, config], plain))
}

function spansText(spans: readonly RunGap[]): string {
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
  const named = spans.slice(0, MOST_NAMED).map((each) => `${iso(each.fromSeconds)} to ${iso(each.toSeconds)}`)
  const more = spans.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

function notRecorded(folder: string, missing: readonly string[]): RecordedMarketsError {
  return new RecordedMarketsError('The recording does not cover the run.', {
    code: 'BACKTEST_NOT_RECORDED',
    facts: { folder, missing: missing.join('; ') },
    details:
      'Nothing was run. Choose --from and --to within what was recorded, record it with `perpd record` from now on, get the events of the chain (perpd data get MARKET --chain-logs), or run with frozen pools: --impact frozen.',
  })
}
