/**
 * Hedged carry: long on one market and short on another of the same index token, while the two together earn enough after borrowing.
 *
 * A pair earns the net rate of its long and of its short, by the tickers. It opens both legs in one turn when that is at least `enterBpsPerDay` and
 * earns `costBps` (fees, price impact and sending of four orders) within `holdHours`; it closes both below `exitBpsPerDay`. The price is hedged only
 * while both legs exist. A single leg, because the other was denied, stopped or liquidated, is completed within `legGraceSeconds` if the pair still
 * earns, and closed after it. Each leg has its own distant stop at the venue. Both legs have the same size; where one is smaller, the other is
 * reduced to it. It trades by its own parts of positions.
 */
import { defined } from '../../base/defined.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { isFresh } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { absOf, bps, formatDollars, minOf } from '../../protocol/units.ts'
import { bpsField, countField, secondsField } from '../fields.ts'
import { defineStrategy, type OwnPosition, type StatusLine, type StrategyView, z } from '../strategy.ts'
import { closeOf, entryOf, type MarketScene, sceneOf, stopPriceOf } from './shared/marketScene.ts'
import { milliBpsPerDay, rateText } from './shared/netRate.ts'

const schema = z
  .strictObject({
    enterBpsPerDay: bpsField({ min: 1, max: 5000 })
      .default(24)
      .describe('net rate of both legs that opens, basis points of the size of one leg a day'),
    exitBpsPerDay: bpsField({ max: 5000 })
      .default(4)
      .describe('net rate below which both are closed, in the same unit'),
    costBps: bpsField({ max: 1000 })
      .default(95)
      .describe(
        'all costs of opening and closing both legs, basis points of the size of one: fees (24), price impact, and sending, about 2 US dollars: 68 of 300, 20 of 1000',
      ),
    holdHours: countField({ min: 1, max: 2160 })
      .default(96)
      .describe('hours within which the rate must earn costBps'),
    legGraceSeconds: secondsField({ min: 5, max: 3600 })
      .default(60_000)
      .describe('longest time that one leg may be open without the other, seconds (60)'),
    stopBps: bpsField({ min: 100, max: 9000 })
      .default(1500)
      .describe(
        'stop of each leg, basis points from its entry; keep it far, because a stopped leg leaves the other without a hedge',
      ),
    maxRateAgeSeconds: secondsField({ min: 1, max: 3600 })
      .default(60_000)
      .describe('greatest age of the rates that it uses, seconds (60)'),
  })
  .refine((params) => params.exitBpsPerDay < params.enterBpsPerDay, {
    path: ['exitBpsPerDay'],
    message: 'fewer basis points than enterBpsPerDay',
  })

/** Time from which one leg is alone, Unix ms. */
const memorySchema = z.strictObject({ aloneSinceMs: z.number().nullable() })

type View = StrategyView<z.output<typeof schema>>

/** Legs may differ by so much before the larger one is reduced, bps of the smaller. */
const UNEVEN_BPS = 100

/** A leg that is held. */
interface Leg {
  readonly scene: MarketScene
  readonly position: OwnPosition
}

/** Two markets of one index token. */
interface Pair {
  readonly long: MarketScene
  readonly short: MarketScene
  /** Net rate of both legs, thousandths of a basis point a day; undefined where a rate is missing or old. */
  readonly rate: bigint | undefined
}

/** The kind `hedged-carry`. */
export const hedgedCarry = defineStrategy({
  kind: 'hedged-carry',
  description: 'Long on one market and short on another of the same index, while both together earn enough.',
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { aloneSinceMs: null } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { aloneSinceMs }: z.output<typeof memorySchema>) {
    const scenes = view.instance.symbols.flatMap((symbol) => sceneOf(view, symbol) ?? [])
    const legs = scenes.flatMap((scene) => scene.held.map((position): Leg => ({ scene, position })))
    const isBusy = scenes.some((scene) => scene.isBusy)
    const { atMs } = view.snapshot
    const isPaired = legs.length === 0 || pairOf(view, legs) !== undefined
    // An order in flight may be the missing leg: the time runs all the same.
    const since = isPaired ? null : Math.min(aloneSinceMs ?? atMs, atMs)
    const memory = { aloneSinceMs: since }
    if (isBusy) return { decisions: [], memory }
    return { decisions: decisionsOf(view, scenes, legs, since), memory }
  },
  status: statusOf,
})

function decisionsOf(
  view: View,
  scenes: readonly MarketScene[],
  legs: readonly Leg[],
  aloneSinceMs: number | null,
): readonly Decision[] {
  const { params, snapshot } = view
  if (legs.length === 0) return opening(view, scenes)
  const pair = pairOf(view, legs)
  if (pair === undefined) {
    const isOver = aloneSinceMs !== null && snapshot.atMs - aloneSinceMs >= params.legGraceSeconds
    const missing = isOver ? [] : completing(view, scenes, legs)
    if (missing.length > 0 || !isOver) return missing
    const seconds = params.legGraceSeconds / 1_000
    return legs.map(({ scene, position }) =>
      closeOf(
        scene,
        position.direction,
        `The ${position.direction} has been without its other leg for ${seconds} s or more.`,
        {},
      ),
    )
  }
  if (pair.rate !== undefined && pair.rate < BigInt(params.exitBpsPerDay) * 1000n) {
    const why = `The pair earns ${rateText(pair.rate)} bps a day; below ${params.exitBpsPerDay} it is closed.`
    return legs.map(({ scene, position }) => closeOf(scene, position.direction, why, factsOf(pair)))
  }
  return evened(legs)
}

/** One line on the rate of the pair that is held, or of the best one, and the rate that closes or opens it. */
function statusOf(view: View): StatusLine {
  const { enterBpsPerDay, exitBpsPerDay, legGraceSeconds } = view.params
  const scenes = view.instance.symbols.flatMap((symbol) => sceneOf(view, symbol) ?? [])
  const legs = scenes.flatMap((scene) => scene.held.map((position): Leg => ({ scene, position })))
  const pair = legs.length === 0 ? bestOf(view, scenes) : pairOf(view, legs)
  const facts = pair === undefined ? {} : factsOf(pair)
  if (legs.length > 0 && pair === undefined)
    return { text: `holds one leg alone, closes it after ${legGraceSeconds / 1_000} s without the other` }
  if (pair?.rate === undefined)
    return { text: `${legs.length === 0 ? '' : 'holds both legs, '}waits for fresh rates of both markets` }
  const earns = `${rateText(pair.rate)} bps a day`
  const text =
    legs.length === 0
      ? `the best pair earns ${earns}, opens from ${enterBpsPerDay}`
      : `holds both legs, they earn ${earns}, closes below ${exitBpsPerDay}`
  return { text, facts }
}

/** Returns the pair with the highest known rate; undefined: no rate is known. */
function bestOf(view: View, scenes: readonly MarketScene[]): Pair | undefined {
  return pairsOf(view, scenes)
    .filter(({ rate }) => rate !== undefined)
    .toSorted((one, other) => Number((other.rate ?? 0n) - (one.rate ?? 0n)))[0]
}

/** Both legs of the pair that earns most, when it earns enough. */
function opening(view: View, scenes: readonly MarketScene[]): readonly Decision[] {
  const { params } = view
  const best = bestOf(view, scenes)
  if (best?.rate === undefined || best.rate < BigInt(params.enterBpsPerDay) * 1000n) return []
  if (best.rate * BigInt(params.holdHours) < BigInt(params.costBps) * 24_000n) return []
  return (['long', 'short'] as const).map((direction) => leg(view, best, direction))
}

/** Returns the missing leg of a lone one, while their pair still earns enough. */
function completing(view: View, scenes: readonly MarketScene[], legs: readonly Leg[]): readonly Decision[] {
  const [lone] = legs
  if (lone === undefined || legs.length > 1) return []
  const { direction } = lone.position
  const pairs = pairsOf(view, scenes).filter((pair) => pair[direction] === lone.scene)
  const best = pairs
    .filter(({ rate }) => rate !== undefined && rate >= BigInt(view.params.exitBpsPerDay) * 1000n)
    .toSorted((one, other) => Number((other.rate ?? 0n) - (one.rate ?? 0n)))[0]
  if (best === undefined) return []
  const sizeDeltaUsd = minOf(lone.position.sizeInUsd, lone.scene.size.usd)
  const missing = leg(view, best, direction === 'long' ? 'short' : 'long')
  return [missing.kind === 'increase' ? { ...missing, sizeDeltaUsd } : missing]
}

function leg({ params }: View, pair: Pair, direction: Direction): Decision {
  const scene = pair[direction]
  const why = `Long ${pair.long.symbol} and short ${pair.short.symbol} earn ${rateText(pair.rate ?? 0n)} bps a day together.`
  const stop = stopPriceOf(scene.price, direction, params.stopBps)
  const edge = Number(((pair.rate ?? 0n) * BigInt(params.holdHours)) / 24_000n)
  return entryOf(scene, direction, why, factsOf(pair), stop, Math.max(0, edge))
}

/** Reduces the excess of one leg over the other. */
function evened(legs: readonly Leg[]): readonly Decision[] {
  const [one, other] = legs
  if (one === undefined || other === undefined) return []
  const difference = one.position.sizeInUsd - other.position.sizeInUsd
  const smaller = minOf(one.position.sizeInUsd, other.position.sizeInUsd)
  if (absOf(difference) <= bps(smaller, UNEVEN_BPS)) return []
  const { scene, position } = difference > 0n ? one : other
  return [
    {
      kind: 'decrease',
      marketToken: scene.market.market.marketToken,
      direction: position.direction,
      collateralToken: scene.collateralToken,
      sizeDeltaUsd: absOf(difference),
      keepLeverage: true,
      reason: `The ${position.direction} is ${formatDollars(absOf(difference))} larger than the other leg.`,
    },
  ]
}

/** The pair that the held legs are; undefined when they are not one long and one short of two markets of one index. */
function pairOf(view: View, legs: readonly Leg[]): Pair | undefined {
  if (legs.length !== 2) return undefined
  const long = legs.find(({ position }) => position.direction === 'long')?.scene
  const short = legs.find(({ position }) => position.direction === 'short')?.scene
  return long === undefined || short === undefined || !isPair(long, short)
    ? undefined
    : { long, short, rate: rateOf(view, long, short) }
}

function pairsOf(view: View, scenes: readonly MarketScene[]): readonly Pair[] {
  return scenes.flatMap((long) =>
    scenes
      .filter(
        (short) => isPair(long, short) && long.market.status !== 'closed' && short.market.status !== 'closed',
      )
      .map((short) => ({ long, short, rate: rateOf(view, long, short) })),
  )
}

function isPair(long: MarketScene, short: MarketScene): boolean {
  const isOther = !sameHex(long.market.market.marketToken, short.market.market.marketToken)
  return isOther && sameHex(long.market.indexToken.address, short.market.indexToken.address)
}

function rateOf({ snapshot, params }: View, long: MarketScene, short: MarketScene): bigint | undefined {
  const [one, other] = [long.market.ticker, short.market.ticker]
  if (
    !isFresh(snapshot, one, params.maxRateAgeSeconds) ||
    !isFresh(snapshot, other, params.maxRateAgeSeconds)
  )
    return undefined
  if (one === undefined || other === undefined) return undefined
  const [ofLong, ofShort] = [milliBpsPerDay(one.value, 'long'), milliBpsPerDay(other.value, 'short')]
  return ofLong === undefined || ofShort === undefined ? undefined : ofLong + ofShort
}

function factsOf({ rate }: Pair) {
  return defined({ netBpsPerDay: rate === undefined ? undefined : Number(rate) / 1000 })
}
