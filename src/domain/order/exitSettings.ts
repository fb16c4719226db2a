/**
 * The exits of a strategy file (`exit:`). Take-profits and a stop-loss come with every increase of the instance, in the same signed message. No
 * position of it therefore exists at the venue without them, whether perpd runs or not. A running perpd maintains the exits that move or have a time
 * (domain/exitKeeper.ts).
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { CandlePeriod } from '../../protocol/market.ts'
import { BPS_ONE, bps, type Usd } from '../../protocol/units.ts'
import type { ExitRequest, IncreaseDecision } from './decision.ts'

/** Distance of an exit from the entry: a share of the entry price, or USD per whole index token. */
export type PricedDistance =
  | { readonly bps: number; readonly usd?: never; readonly atrPercent?: never; readonly isOfRange?: never }
  | {
      readonly usd: Usd
      /** It came of an average true range, and is another whenever that is. */
      readonly isOfRange?: true
      readonly bps?: never
      readonly atrPercent?: never
    }

/** The same, or so many hundredths of the market's average true range. */
export type ExitDistance =
  | PricedDistance
  | { readonly atrPercent: number; readonly bps?: never; readonly usd?: never }

/** A stop-loss that follows the price. */
export interface TrailingStop<Distance = ExitDistance> {
  /** Distance that it stays behind the price. */
  readonly distance: Distance
  /** Distance that the price must first reach on the winning side of the entry; absent: at once. */
  readonly activation?: Distance
}

/** A stop-loss that goes to the entry once the price has gone far enough. */
export interface BreakEven<Distance = ExitDistance> {
  /** Distance that the price must reach on the winning side of the entry. */
  readonly after: Distance
  /** Distance on the winning side of the entry at which it is placed, bps of the entry price: the cost of closing. */
  readonly offsetBps: number
}

/** Exits of the file; an absent part means that the instance's increases bring none of that kind by the file. */
export interface ExitSettings<Distance = ExitDistance> {
  readonly stopLoss?: Distance
  /** A take-profit, and the share of the order that it closes, bps; all of it when absent. The nearest first. */
  readonly takeProfits: readonly (Distance & { readonly shareBps?: number })[]
  readonly trailingStop?: TrailingStop<Distance>
  readonly breakEven?: BreakEven<Distance>
  /** Age of the instance's newest entry at which its position is closed, ms. */
  readonly timeLimitMs?: number
  /** Least time between two moves of one stop-loss, ms. */
  readonly moveEveryMs: number
  /** Least that a move must secure, USD; a move costs an execution fee. */
  readonly moveStepUsd: Usd
  /** The kind's own decisions are the only exits, and the operator wants it so. */
  readonly isSignalOnly?: boolean
  /** Candles whose average true range distances count in. */
  readonly range: { readonly period: CandlePeriod; readonly candles: number }
}

/** An exit that acts only while perpd runs: the order that it moves rests at the venue, the move does not. */
export type ExitHere = 'trailing-stop' | 'break-even' | 'time-limit'

/** Those of a plan. */
export function exitsHereOf(plan: ExitSettings | undefined): readonly ExitHere[] {
  return [
    ...(plan?.trailingStop === undefined ? [] : (['trailing-stop'] as const)),
    ...(plan?.breakEven === undefined ? [] : (['break-even'] as const)),
    ...(plan?.timeLimitMs === undefined ? [] : (['time-limit'] as const)),
  ]
}

/** A plan whose distances are known now. */
export type PricedExits = ExitSettings<PricedDistance>

/** Exits of the plan that an increase brings with it. */
export type EntryExits = Pick<PricedExits, 'stopLoss' | 'takeProfits' | 'trailingStop'>

/** The stop-losses among them. */
type EntryStops = Pick<EntryExits, 'stopLoss' | 'trailingStop'>

/** Share of a part that may be uncovered, or covered too much, before an order is changed for it, bps. */
export const EXIT_TOLERANCE_BPS = 200

/** Default limits of moves when the file sets none: once a minute, and for a dollar. */
export const usualMoves = { moveEveryMs: 60_000, moveStepUsd: 10n ** 30n } as const

/** The candles of distances in ATR when the file says nothing. */
export const usualRange = { period: '5m', candles: 14 } as const

/** Tells whether a distance of the plan counts in average true ranges. */
export function needsRange({ stopLoss, takeProfits, trailingStop, breakEven }: ExitSettings): boolean {
  const distances = [
    stopLoss,
    ...takeProfits,
    trailingStop?.distance,
    trailingStop?.activation,
    breakEven?.after,
  ]
  return distances.some((distance) => distance?.atrPercent !== undefined)
}

/**
 * The plan with all distances in bps or USD. `rangeUsd`: the average true range, USD per whole index token; undefined while too few
 * candles are known: then the plan is unknown if it needs one.
 */
export function pricedBy(plan: ExitSettings, rangeUsd: Usd | undefined): PricedExits | undefined {
  const { stopLoss, takeProfits, trailingStop, breakEven, ...rest } = plan
  if (needsRange(plan) && rangeUsd === undefined) return undefined
  const priced = (distance: ExitDistance): PricedDistance =>
    distance.atrPercent === undefined
      ? distance
      : { usd: ((rangeUsd ?? 0n) * BigInt(distance.atrPercent)) / 100n, isOfRange: true }
  return {
    ...rest,
    ...defined({ stopLoss: ifDefined(stopLoss, priced) }),
    takeProfits: takeProfits.map(({ shareBps, ...distance }) => ({
      ...priced(distance as ExitDistance),
      ...defined({ shareBps }),
    })),
    ...defined({
      trailingStop: ifDefined(trailingStop, ({ distance, activation }) => ({
        distance: priced(distance),
        ...defined({ activation: ifDefined(activation, priced) }),
      })),
      breakEven: ifDefined(breakEven, (rule) => ({ ...rule, after: priced(rule.after) })),
    }),
  }
}

/**
 * Returns the part of a plan that is known without the range of its market: its exits in true ranges stay where they were placed, and all others are
 * maintained.
 */
export function withoutItsRange({
  stopLoss,
  takeProfits,
  trailingStop,
  breakEven,
  ...rest
}: ExitSettings): PricedExits {
  const fixed = (distance: ExitDistance | undefined): PricedDistance | undefined =>
    distance?.atrPercent === undefined ? distance : undefined
  const stop = fixed(stopLoss)
  const [following, activation] = [fixed(trailingStop?.distance), fixed(trailingStop?.activation)]
  const isActivationKnown = activation !== undefined || trailingStop?.activation === undefined
  const after = fixed(breakEven?.after)
  const targets = takeProfits.flatMap(({ shareBps, ...distance }) => {
    const target = fixed(distance as ExitDistance)
    return target === undefined ? [] : [{ ...target, ...defined({ shareBps }) }]
  })
  return {
    ...rest,
    ...defined({ stopLoss: stop }),
    // A list with one unknown target places none: nothing shows which one is missing.
    takeProfits: targets.length === takeProfits.length ? targets : [],
    ...defined({
      trailingStop:
        following && isActivationKnown ? { distance: following, ...defined({ activation }) } : undefined,
      breakEven: breakEven && after ? { ...breakEven, after } : undefined,
    }),
  }
}

/**
 * The increase with the file's exits, which lie around the price that it opens at, USD per whole index token. What the decision
 * brings itself stands: its own stop-loss keeps the file's away, and so do its own take-profits. A trailing stop that is active from the
 * start is a stop-loss at its distance where the file has no nearer one. A distance that is not less than the price gives a
 * trigger of 0, which sizing refuses.
 */
export function withPlannedExits(
  decision: IncreaseDecision,
  plan: EntryExits | undefined,
  entryPrice: Usd,
): IncreaseDecision {
  if (plan === undefined) return decision
  const own = decision.tpsl ?? []
  const has = (type: ExitRequest['type']) => own.some((exit) => exit.type === type)
  const targets = has('take-profit') ? [] : plan.takeProfits
  const stop = has('stop-loss') ? undefined : firstStop(plan, entryPrice)
  const { direction } = decision
  const planned: ExitRequest[] = [
    ...targets.map(
      (target): ExitRequest => ({
        type: 'take-profit',
        triggerPrice: awayFrom(entryPrice, target, direction, 'winning'),
        ...defined({ shareBps: target.shareBps }),
      }),
    ),
    ...(stop === undefined
      ? []
      : [
          {
            type: 'stop-loss' as const,
            triggerPrice: awayFrom(entryPrice, stop, direction, 'losing'),
          },
        ]),
  ]
  return planned.length === 0 ? decision : { ...decision, tpsl: [...own, ...planned] }
}

/** The distance of the stop-loss that an entry begins with: the file's, or a nearer one that trails from the start; undefined: none. */
export function firstStop(
  { stopLoss, trailingStop }: EntryStops,
  entryPrice: Usd,
): PricedDistance | undefined {
  const trailing = trailingStop?.activation === undefined ? trailingStop?.distance : undefined
  if (stopLoss === undefined || trailing === undefined) return stopLoss ?? trailing
  return usdOf(trailing, entryPrice) < usdOf(stopLoss, entryPrice) ? trailing : stopLoss
}

/** Returns the settings of the stop-losses that do not change with the market's range: a file asks to move a resting stop by these alone. */
export function withoutRanges({ stopLoss, trailingStop }: EntryStops): EntryStops {
  return {
    ...defined({
      stopLoss: stopLoss?.isOfRange === true ? undefined : stopLoss,
      trailingStop: trailingStop?.distance.isOfRange === true ? undefined : trailingStop,
    }),
  }
}

/** The price a distance from another, on the side where the position wins or loses, USD per whole index token; at least 0. */
export function awayFrom(
  price: Usd,
  distance: PricedDistance,
  direction: 'long' | 'short',
  side: 'winning' | 'losing',
): Usd {
  const isAbove = (direction === 'long') === (side === 'winning')
  const found = isAbove ? price + usdOf(distance, price) : price - usdOf(distance, price)
  return found > 0n ? found : 0n
}

/** Most exits of a file: a stop-loss, and take-profits up to the number that one increase may bring. */
export const MOST_TARGETS = 4

/** Sums the shares that the take-profits of a ladder close, bps of the order; one without a share closes all of it. */
export function closedBps(targets: readonly { readonly shareBps?: number | undefined }[]): number {
  return targets.reduce((sum, { shareBps = BPS_ONE }) => sum + shareBps, 0)
}

function usdOf(distance: PricedDistance, price: Usd): Usd {
  return distance.usd ?? bps(price, distance.bps)
}
