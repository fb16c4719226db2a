/**
 * Pools, open interest and rates of a market from the chain's own events (`perpd data get --chain-logs`), as steps of a minute that a run's venue follows.
 * A step has what every event before its second left. Nothing is filled in: events that are missing are refused.
 */
import { BaseError } from '../base/errors.ts'
import { brokenChange, type LoggedChange, logsOf, readLogs } from '../history/logsFile.ts'
import type { LogsEntry } from '../history/manifest.ts'
import type { FollowedMarket, MarketFigures, MarketStep } from '../paper/state/followedMarkets.ts'
import type { RunGap } from './runFiles.ts'

/** Events that a run cannot use. */
class LoggedMarketsError extends BaseError {}

const STEP_SECONDS = 60
const [ONE, PER_SIZE] = [10n ** 30n, 10n ** 45n]
const slots = ['long', 'short'] as const

/** A market whose events are wanted. */
export interface LoggedName {
  readonly chain: string
  /** Full symbol. */
  readonly market: string
  readonly marketToken: string
  /** Tells whether one token is the collateral of both sides: all amounts are then under the long slot. */
  readonly isSingleToken: boolean
}

/**
 * The steps of one market from its events; undefined where the history has none of the whole run.
 *
 * @throws LoggedMarketsError BACKTEST_LOGS_GAP where events are missing within, or where an amount never changed, so that none tells it
 */
export async function readLoggedMarket(
  folder: string,
  market: LoggedName,
  { fromSeconds, toSeconds }: RunGap,
): Promise<FollowedMarket | undefined> {
  // Events of the last minute are followed at its end, when the run is over.
  const lastSeconds = toSeconds - STEP_SECONDS
  const entries = joined(logsOf(folder, market)).find(
    (run) => (run[0]?.fromSeconds ?? toSeconds) <= fromSeconds && (run.at(-1)?.toSeconds ?? 0) > lastSeconds,
  )
  if (entries === undefined) return undefined
  const changes: LoggedChange[] = []
  for (const entry of entries) changes.push(...(await readLogs(folder, entry)))
  const broken = brokenChange(changes)
  if (broken !== undefined) throw gap(market.market, `${broken.field} at block ${broken.block}`)
  const first = new Map<string, bigint>()
  for (const { field, before } of changes) if (!first.has(field)) first.set(field, before)
  const { isSingleToken: isSame } = market
  const untold = fieldsOf(isSame).filter((field) => !first.has(field))
  if (untold.length > 0) throw gap(market.market, `no event of ${untold.join(', ')}`)
  return { steps: stepsOf(changes, first, isSame, entries[0]?.fromSeconds ?? fromSeconds) }
}

/** Files whose blocks follow on each other, together. */
function joined(entries: readonly LogsEntry[]): readonly (readonly LogsEntry[])[] {
  const runs: LogsEntry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last?.at(-1)?.toBlock === entry.fromBlock - 1) last.push(entry)
    else runs.push([entry])
  }
  return runs
}

/** Amounts that must be told. */
function fieldsOf(isSame: boolean): readonly string[] {
  const of = isSame ? (['long'] as const) : slots
  return [
    'positionImpact',
    ...of.map((slot) => `pool.${slot}`),
    ...slots.flatMap((side) =>
      of.flatMap((slot) => [`interestUsd.${side}.${slot}`, `interestInTokens.${side}.${slot}`]),
    ),
  ]
}

/** An index that grows with time, as it was at moments that accrual told; between them it grows evenly. */
interface Told {
  readonly seconds: readonly number[]
  readonly values: readonly bigint[]
}

function stepsOf(
  changes: readonly LoggedChange[],
  first: ReadonlyMap<string, bigint>,
  isSame: boolean,
  fromSeconds: number,
): readonly MarketStep[] {
  const amounts = new Map(first)
  const states: { readonly second: number; readonly figures: MarketFigures }[] = [
    { second: fromSeconds, figures: figuresOf(amounts, isSame) },
  ]
  // A block's time says its second, not its place in it: what happened in a second is there when it is over.
  const stepOf = ({ second }: LoggedChange): number => (Math.floor(second / STEP_SECONDS) + 1) * STEP_SECONDS
  const byStep = Map.groupBy(changes, stepOf)
  for (const [second, together] of byStep) {
    for (const { field, value } of together) amounts.set(field, value)
    states.push({ second, figures: figuresOf(amounts, isSame) })
  }
  const indices = accruedIn(changes)
  // Rates change at an accrual: its minute has a share of both, the next one has the new alone.
  const around = states.flatMap(({ second }) => [second - STEP_SECONDS, second, second + STEP_SECONDS])
  const seconds = [...new Set(around)]
    .filter((second) => second >= fromSeconds)
    .toSorted((one, other) => one - other)
  let at = 0
  return seconds.flatMap((second, place): MarketStep[] => {
    while ((states[at + 1]?.second ?? Number.POSITIVE_INFINITY) <= second) at += 1
    const last = states[at]
    if (last === undefined) return []
    const until = seconds[place + 1] ?? second + STEP_SECONDS
    const [funding, long, short] = [indices.funding, indices.long, indices.short].map((index) =>
      rateIn(index, second, until),
    )
    return [
      {
        second,
        figures: last.figures,
        rates: {
          ...(funding !== undefined && { fundingFactorPerSecond: funding }),
          ...(long !== undefined && short !== undefined && { borrowingFactorPerSecond: { long, short } }),
        },
      },
    ]
  })
}

function figuresOf(amounts: ReadonlyMap<string, bigint>, isSame: boolean): MarketFigures {
  const bySlot = (name: string): readonly [bigint, bigint] => {
    const [long, short] = [amounts.get(`${name}.long`) ?? 0n, amounts.get(`${name}.short`) ?? 0n]
    return isSame ? [long / 2n, long - long / 2n] : [long, short]
  }
  return {
    long: { interestUsd: bySlot('interestUsd.long'), interestInTokens: bySlot('interestInTokens.long') },
    short: { interestUsd: bySlot('interestUsd.short'), interestInTokens: bySlot('interestInTokens.short') },
    pool: bySlot('pool'),
    ...(amounts.has('swapImpact.long') &&
      amounts.has('swapImpact.short') && {
        swapImpactPool: [amounts.get('swapImpact.long') ?? 0n, amounts.get('swapImpact.short') ?? 0n],
      }),
    positionImpactPoolAmount: amounts.get('positionImpact') ?? 0n,
  }
}

/** Borrowing and funding as they grew, factors with 30 decimals; funding of longs that pay is positive. */
function accruedIn(changes: readonly LoggedChange[]): Readonly<Record<'funding' | 'long' | 'short', Told>> {
  const accruals = Map.groupBy(
    changes.filter(({ field }) => /^(funding|borrowing|price)\./.test(field)),
    ({ second }) => second,
  )
  const [funding, long, short] = [told(), told(), told()]
  for (const [second, together] of accruals) {
    const grownBy = (field: string): bigint =>
      together.reduce((sum, each) => (each.field === field ? sum + each.value - each.before : sum), 0n)
    long.grow(second, grownBy('borrowing.long'))
    short.grow(second, grownBy('borrowing.short'))
    funding.grow(second, paidBy('long', together) - paidBy('short', together))
  }
  return { funding, long, short }
}

/** The factor that one side paid at a moment: the fee per size times the price of its token, the same for both tokens. */
function paidBy(side: 'long' | 'short', together: readonly LoggedChange[]): bigint {
  const price = new Map(together.flatMap(({ field, value }) => [[field, value] as const]))
  const factors = slots.map((slot) => {
    const fee = together.reduce(
      (sum, { field, before, value }) => (field === `funding.${side}.${slot}` ? sum + value - before : sum),
      0n,
    )
    return (fee * (price.get(`price.${slot}`) ?? 0n) * ONE) / PER_SIZE
  })
  return factors.reduce((most, each) => (each > most ? each : most), 0n)
}

function told() {
  const seconds: number[] = []
  const values: bigint[] = []
  return {
    seconds,
    values,
    grow(second: number, by: bigint): void {
      seconds.push(second)
      values.push((values.at(-1) ?? 0n) + by)
    },
  }
}

/** Mean growth a second from one moment to another; undefined before the first accrual, which tells no time that it is for. */
function rateIn(index: Told, fromSecond: number, toSecond: number): bigint | undefined {
  const [from, to] = [valueAt(index, fromSecond), valueAt(index, toSecond)]
  return from === undefined || to === undefined ? undefined : (to - from) / BigInt(toSecond - fromSecond)
}

/** The index at a moment; after the last accrual it grows on as before it. */
function valueAt({ seconds, values }: Told, second: number): bigint | undefined {
  const first = seconds[0]
  if (first === undefined || second < first || seconds.length < 2) return undefined
  let [low, high] = [0, seconds.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((seconds[middle] ?? 0) <= second) low = middle
    else high = middle
  }
  const [start, end] = [seconds[low] ?? 0, seconds[high] ?? 0]
  const [from, to] = [values[low] ?? 0n, values[high] ?? 0n]
  return from + ((to - from) * BigInt(second - start)) / BigInt(end - start)
}

function gap(market: string, missing: string): LoggedMarketsError {
  return new LoggedMarketsError('The events of the chain do not tell a market for the whole run.', {
    code: 'BACKTEST_LOGS_GAP',
    facts: { market, missing },
    details:
      'Nothing was run. Get events from an earlier time on, in which the amount changed: perpd data get MARKET --from TIME --chain-logs. Or run with frozen pools: --impact frozen.',
  })
}
