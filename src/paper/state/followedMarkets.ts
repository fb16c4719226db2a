/**
 * Markets that follow a history in time: their pools, open interest and rates are what they were, and what the venue's own accounts did to them stays on
 * top. A step is the difference between two moments of the history, so that it moves others' part alone.
 */
import type { CatalogConfig } from '../catalog/catalog.ts'
import { accrueBorrowing } from '../math/borrowing.ts'
import { accrueFunding } from '../math/funding.ts'
import {
  cloneMarket,
  type FollowedRates,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type VirtualInventory,
} from '../math/marketState.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'

/** Amounts of one side by slot, as the venue's reads show them; a single-token market has half of its amount in each slot. */
interface SideFigures {
  readonly interestUsd: readonly [bigint, bigint]
  readonly interestInTokens: readonly [bigint, bigint]
}

/** Amounts of a market at a moment. */
export interface MarketFigures {
  readonly long: SideFigures
  readonly short: SideFigures
  readonly pool: readonly [bigint, bigint]
  /** Absent: it stays as the venue has it. */
  readonly swapImpactPool?: readonly [bigint, bigint]
  readonly positionImpactPoolAmount: bigint
  /** Absent: it stays as the venue has it. */
  readonly virtualInventory?: Readonly<VirtualInventory>
}

/** A moment of a market's history, from which on it is so. */
export interface MarketStep {
  /** Unix seconds. */
  readonly second: number
  /** Absent: pools and open interest stay as the venue has them. */
  readonly figures?: MarketFigures
  readonly rates: FollowedRates
}

/** The history of a market. */
export interface FollowedMarket {
  /** Ascending by time. */
  readonly steps: readonly MarketStep[]
  /** Settings of the market in the place of the catalogue's, by their names on the wire; absent: the catalogue's. */
  readonly config?: CatalogConfig
}

/** A market that can follow one. */
interface FollowingMarket {
  readonly settings: MarketSettings
  state: MarketState
}

/** Histories by lower-case market token. */
export type FollowedMarkets = ReadonlyMap<string, FollowedMarket>

/** The number of steps that began by a second. */
function placeOf(steps: readonly MarketStep[], second: number): number {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((steps[middle]?.second ?? 0) <= second) low = middle + 1
    else high = middle
  }
  return low
}

/** Puts a market where its history has it at a second; before the first step it stays as it is. */
export function beginFollowing(
  { settings, state }: FollowingMarket,
  followed: FollowedMarket,
  second: number,
): void {
  const step = followed.steps[placeOf(followed.steps, second) - 1]
  if (step === undefined) return
  if (step.figures !== undefined) {
    const now = figuresOf(state, settings.isSameCollaterals)
    move(state, settings.isSameCollaterals, now, step.figures)
  }
  state.followedRates = step.rates
}

/** The first second after `second` at which a market follows its history; infinity for none. */
export function nextStepSecond(followed: FollowedMarkets, second: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const { steps } of followed.values())
    next = Math.min(next, steps[placeOf(steps, second)]?.second ?? Number.POSITIVE_INFINITY)
  return next
}

/**
 * Takes the steps of one market after one second and up to another. Fees accrue up to each of them by what was before it. `pricesAt`: the market's
 * prices at a Unix second.
 */
export function followSteps(
  market: FollowingMarket,
  { steps }: FollowedMarket,
  span: { readonly afterSecond: number; readonly toSecond: number },
  pricesAt: (second: number) => MarketPrices,
): void {
  const { settings } = market
  const end = placeOf(steps, span.toSecond)
  for (let at = placeOf(steps, span.afterSecond); at < end; at += 1) {
    const step = steps[at]
    if (step === undefined) return
    const draft = cloneMarket(market.state)
    accrue(market, draft, pricesAt(step.second), step.second)
    const before = steps[at - 1]?.figures
    if (step.figures !== undefined)
      move(
        draft,
        settings.isSameCollaterals,
        before ?? figuresOf(draft, settings.isSameCollaterals),
        step.figures,
      )
    draft.followedRates = step.rates
    market.state = draft
  }
}

function accrue(
  { settings }: FollowingMarket,
  draft: MarketState,
  prices: MarketPrices,
  second: number,
): void {
  try {
    accrueFunding(settings, draft, prices, second)
    accrueBorrowing(settings, draft, prices, second)
  } catch (error) {
    // A market that is empty accrues nothing.
    if (!(error instanceof ProtocolRevert)) throw error
  }
}

/** The amounts of a state as reads show them. */
function figuresOf(state: MarketState, isHalved: boolean): MarketFigures {
  const shown = ([one, other]: readonly [bigint, bigint]): readonly [bigint, bigint] =>
    isHalved ? [one / 2n, one - one / 2n] : [one, other]
  const side = ({ interestUsd, interestInTokens }: MarketState['long']): SideFigures => ({
    interestUsd: shown(interestUsd),
    interestInTokens: shown(interestInTokens),
  })
  return {
    long: side(state.long),
    short: side(state.short),
    pool: shown(state.pool),
    swapImpactPool: [...state.swapImpactPool],
    positionImpactPoolAmount: state.positionImpactPoolAmount,
    virtualInventory: { ...state.virtualInventory },
  }
}

/** Adds the difference of two moments to a state. No amount that is one falls below nothing. */
function move(state: MarketState, isHalved: boolean, from: MarketFigures, to: MarketFigures): void {
  const atLeastNone = (amount: bigint): bigint => (amount < 0n ? 0n : amount)
  const moved = (
    [one, other]: readonly [bigint, bigint],
    before: readonly [bigint, bigint],
    after: readonly [bigint, bigint],
    // A single-token market keeps both halves in its first slot.
    areHalves = isHalved,
  ): [bigint, bigint] => {
    const [first, second] = [after[0] - before[0], after[1] - before[1]]
    return areHalves
      ? [atLeastNone(one + first + second), other]
      : [atLeastNone(one + first), atLeastNone(other + second)]
  }
  for (const side of ['long', 'short'] as const) {
    const own = state[side]
    own.interestUsd = moved(own.interestUsd, from[side].interestUsd, to[side].interestUsd)
    own.interestInTokens = moved(own.interestInTokens, from[side].interestInTokens, to[side].interestInTokens)
  }
  state.pool = moved(state.pool, from.pool, to.pool)
  if (from.swapImpactPool !== undefined && to.swapImpactPool !== undefined)
    state.swapImpactPool = moved(state.swapImpactPool, from.swapImpactPool, to.swapImpactPool, false)
  state.positionImpactPoolAmount = atLeastNone(
    state.positionImpactPoolAmount + to.positionImpactPoolAmount - from.positionImpactPoolAmount,
  )
  if (from.virtualInventory === undefined || to.virtualInventory === undefined) return
  state.virtualInventory = {
    usd: state.virtualInventory.usd + to.virtualInventory.usd - from.virtualInventory.usd,
    tokens: state.virtualInventory.tokens + to.virtualInventory.tokens - from.virtualInventory.tokens,
  }
}
