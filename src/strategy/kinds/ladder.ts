/**
 * Ladder: buys another part each time the price moved a step against the last fill, or each time a period has passed (dollar-cost averaging). One
 * take-profit and one stop over the averaged entry close all of it.
 *
 * The memory holds the rungs. A rung counts when its fill is reported. None is therefore counted twice or omitted over crashes, denials and fills
 * that the chain takes back. The next is requested once the last is known. A gap is one rung, and the next step counts from its fill. The first rung
 * brings both exits with it; later ones move them. After an end it pauses, and starts over. It trades by its own part of the position of its side and
 * collateral token.
 */
import { defined } from '../../base/defined.ts'
import { type ExitPlan, type ExitType, exitTypes, keepExits, waitsAt } from '../../domain/exitKeeper.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { absOf, BPS_ONE, bps, formatUsd, minOf, type Usd } from '../../protocol/units.ts'
import { bpsField, countField, secondsField, usdField } from '../fields.ts'
import { defineStrategy, type OwnPosition, type RestingOrder, type StrategyView, z } from '../strategy.ts'
import { entryOf, type MarketScene, sceneOf, stopPriceOf } from './shared/marketScene.ts'
import { statusOfMarkets } from './shared/marketStatus.ts'
import { afterEvent, afterLook, type Ladder, ladderSchema, noLadder } from './shared/rungs.ts'

const schema = z
  .strictObject({
    direction: z.enum(['long', 'short']).default('long').describe('side that it builds'),
    stepBps: bpsField({ min: 10, max: 5000 })
      .optional()
      .describe('move of the price against the last fill before the next rung; alternative to everySeconds'),
    everySeconds: secondsField({ min: 60, max: 2_592_000 })
      .optional()
      .describe('time from the last fill to the next rung, whatever the price'),
    maxRungs: countField({ min: 1, max: 50 }).default(5).describe('most rungs of one ladder'),
    maxUsd: usdField().describe('largest position, US dollars; the last rung is cut to it'),
    takeProfitBps: bpsField({ min: 10, max: 5000 })
      .default(150)
      .describe('distance from the average entry at which the whole ladder closes with a profit'),
    stopBps: bpsField({ min: 10, max: 9000 })
      .default(1500)
      .describe('distance from the average entry at which the whole ladder closes with a loss'),
    pauseSeconds: secondsField({ min: 0, max: 2_592_000 })
      .default(3_600_000)
      .describe('time after the end of a ladder before the next begins, seconds (3600)'),
  })
  .refine(({ stepBps, everySeconds }) => (stepBps === undefined) !== (everySeconds === undefined), {
    message: 'exactly one of stepBps and everySeconds',
  })

const memorySchema = z.strictObject({ ladders: z.record(z.string(), ladderSchema) })

type View = StrategyView<z.output<typeof schema>>

/** The kind `ladder`. */
export const ladder = defineStrategy({
  kind: 'ladder',
  description:
    'Buys in rungs as the price falls or time passes, with one take-profit and one stop for all of them.',
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { ladders: {} } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory: z.output<typeof memorySchema>) {
    const ladders: Record<string, Ladder> = {}
    const decisions = view.instance.symbols.flatMap((symbol) => {
      const turn = decideMarket(view, symbol, memory.ladders[symbol] ?? noLadder)
      ladders[symbol] = turn.ladder
      return turn.decisions
    })
    return { decisions, memory: { ladders } }
  },
  status: (view, { ladders }) =>
    statusOfMarkets(view, (symbol) => {
      const { rungs, askedAtMs } = ladders[symbol] ?? noLadder
      const { stepBps, everySeconds = 0, maxRungs } = view.params
      const step =
        stepBps === undefined
          ? `after ${everySeconds / 60_000} min`
          : `${stepBps / 100} % against the last fill`
      const next =
        rungs.length === 0
          ? 'waits for the first'
          : rungs.length < maxRungs
            ? `the next ${step}`
            : 'waits for an exit'
      const facts = { rungs: rungs.length }
      const last = rungs.at(-1)
      const nextRung =
        last === undefined || stepBps === undefined || rungs.length >= maxRungs
          ? undefined
          : stopPriceOf(last.price, view.params.direction, stepBps)
      return {
        text: `${rungs.length} of ${maxRungs} rungs, ${askedAtMs === undefined ? next : 'an order is in flight'}`,
        facts,
        prices: defined({ nextRung }),
      }
    }),
})

interface MarketTurn {
  readonly decisions: readonly Decision[]
  readonly ladder: Ladder
}

function decideMarket(view: View, symbol: string, remembered: Ladder): MarketTurn {
  const { params, snapshot } = view
  const { direction } = params
  const marketToken = view.market(symbol)?.market.marketToken
  const scene = sceneOf(view, symbol)
  const price = scene?.price ?? remembered.rungs.at(-1)?.price ?? 0n
  const usual = { price, sizeUsd: view.instance.size?.usd ?? 0n }
  let now = view.eventsMissed > 0 ? lost(remembered) : remembered
  for (const event of view.events) {
    if (event.marketToken === undefined || marketToken === undefined) continue
    if (sameHex(event.marketToken, marketToken)) now = afterEvent(now, event, direction, usual)
  }
  if (scene === undefined || marketToken === undefined) return { decisions: [], ladder: now }
  const held = scene.held.find((position) => position.direction === direction)
  const isHidden = snapshot.hidden?.some((side) => sameHex(side.marketToken, marketToken)) === true
  const isKnown = !isHidden && !lacksMarket(snapshot.positions.missing, marketToken)
  now = afterLook(now, held?.sizeInUsd ?? 0n, isKnown, snapshot.atMs)
  const isBegun = now.rungs.length > 0 || now.isLost === true
  if (now.askedAtMs !== undefined || (isBegun && held === undefined)) return { decisions: [], ladder: now }
  const exits = held === undefined || !isBegun ? [] : exitsOf(view, scene, held)
  // The position has priority; the next turn continues.
  if (exits !== 'waits' && exits.length > 0) return { decisions: exits, ladder: now }
  const rung = exits === 'waits' ? undefined : nextRung(view, scene, held, now)
  return rung === undefined
    ? { decisions: [], ladder: now }
    : { decisions: [rung], ladder: { ...now, askedAtMs: snapshot.atMs } }
}

/** Returns the ladder after missed events, whose content is unknown: the requested order may be a rung, or none. */
function lost({ askedAtMs: _, ...ladder }: Ladder): Ladder {
  return { ...ladder, isLost: true }
}

/** Pause after a denial, ms: the memory records each denial. */
const RETRY_MS = 60_000

/** The next rung, when its time has come. */
function nextRung(
  { params, snapshot, instance }: View,
  scene: MarketScene,
  held: OwnPosition | undefined,
  { rungs, isLost, endedAtMs, deniedAtMs }: Ladder,
): Decision | undefined {
  const { direction, stepBps, everySeconds, maxRungs, maxUsd } = params
  const last = rungs.at(-1)
  // A position without a rung is one that the memory does not know.
  const isTaken = last === undefined && held !== undefined
  if (isTaken || isLost === true || rungs.length >= maxRungs || scene.market.status === 'closed')
    return undefined
  // A clock that was set back holds nothing up.
  if (deniedAtMs !== undefined && Math.abs(snapshot.atMs - deniedAtMs) < RETRY_MS) return undefined
  const leftUsd = maxUsd - (held?.sizeInUsd ?? 0n)
  const sizeDeltaUsd = minOf(scene.size.usd, leftUsd)
  if (sizeDeltaUsd <= 0n || sizeDeltaUsd < scene.market.market.minPositionSizeUsd) return undefined
  const number = rungs.length + 1
  const exits = [
    { type: 'take-profit' as const, triggerPrice: exitPriceOf(scene.price, 'take-profit', params) },
    { type: 'stop-loss' as const, triggerPrice: exitPriceOf(scene.price, 'stop-loss', params) },
  ]
  const facts = { rung: number, price: formatPrice(scene.price), heldUsd: formatUsd(held?.sizeInUsd ?? 0n) }
  if (last === undefined) {
    const isPausing = endedAtMs !== undefined && Math.abs(snapshot.atMs - endedAtMs) < params.pauseSeconds
    if (isPausing) return undefined
    const reason = `${scene.symbol} ${direction}: the first of ${maxRungs} rungs.`
    return { ...entryOf(scene, direction, reason, facts), sizeDeltaUsd, tpsl: exits }
  }
  const isDue =
    stepBps === undefined
      ? Math.abs(snapshot.atMs - last.atMs) >= (everySeconds ?? 0)
      : isBeyond(scene.price, stopPriceOf(last.price, direction, stepBps), direction)
  if (!isDue) return undefined
  const why =
    stepBps === undefined
      ? `${Math.floor((snapshot.atMs - last.atMs) / 1000)} s`
      : `${(absOf(last.price - scene.price) * BigInt(BPS_ONE)) / last.price} bps`
  const reason = `${instance.name}: rung ${number} of ${maxRungs}, ${why} after the last at ${formatPrice(last.price)}.`
  return { ...entryOf(scene, direction, reason, facts), sizeDeltaUsd }
}

/** Tells whether a price has reached another on the losing side. */
function isBeyond(price: Usd, level: Usd, direction: 'long' | 'short'): boolean {
  return direction === 'long' ? price <= level : price >= level
}

/** Distance of an exit from its proper place before it is moved, bps of its trigger. */
const TRIGGER_TOLERANCE_BPS = 20
/** The same of its size, bps of the position. */
const SIZE_TOLERANCE_BPS = 50

/** Returns the decisions that fit the two exits to the present position; `waits` while one of them is in flight. */
function exitsOf(view: View, scene: MarketScene, held: OwnPosition): readonly Decision[] | 'waits' {
  const { params } = view
  const { direction } = params
  const isHere = (order: { readonly marketToken: string; readonly direction: string }) =>
    sameHex(order.marketToken, held.marketToken) && order.direction === direction
  const resting = view.restingOrders.filter(
    (order) => isHere(order) && sameHex(order.collateralToken, held.collateralToken),
  )
  const shown = new Set(resting.map(({ intentId }) => intentId))
  const isOnTheWay = view.openIntents.some(
    (open) => isHere(open) && open.kind !== 'increase' && !shown.has(open.intentId),
  )
  if (isOnTheWay || resting.some(({ isChanging }) => isChanging)) return 'waits'
  const entry = held.entryPrice
  if (entry === undefined) return []
  const wanted = exitTypes.toReversed().map((type) => ({
    type,
    triggerPrice: exitPriceOf(entry, type, params),
    own: resting.filter(({ orderType }) => orderType === type),
  }))
  const { marketToken, collateralToken, sizeInUsd: sizeUsd } = held
  // One that rests is the venue's to execute.
  const past = wanted.find(
    ({ type, triggerPrice, own }) =>
      !waitsAt(triggerPrice, scene.price, direction, type) && own.every(({ isFrozen }) => isFrozen),
  )
  const plan: ExitPlan = {
    ...{ owner: 'this ladder', side: { marketToken, direction, collateralToken } },
    ...{ sizeUsd, toleranceBps: SIZE_TOLERANCE_BPS },
    closes: past && {
      reason: `The price is past the ${past.type} of the ${direction} ladder, and no such order rests.`,
      facts: { price: formatPrice(scene.price), trigger: formatPrice(past.triggerPrice) },
    },
    exits: wanted.map(({ type, triggerPrice, own }) => ({
      ...{ type, isOne: true, keepsLeverage: true },
      levels: [{ triggerPrice, facts: () => ({ trigger: formatPrice(triggerPrice) }) }],
      moves: waitsAt(triggerPrice, scene.price, direction, type)
        ? own.map((order) => ({
            orderKey: order.orderKey,
            triggerPrice,
            isWithSize: isPlaced(order, triggerPrice),
          }))
        : [],
    })),
  }
  return keepExits(plan, { resting, price: scene.price })
}

/** Returns the trigger price of an exit of an averaged entry. */
function exitPriceOf(entry: Usd, type: ExitType, params: View['params']): Usd {
  const isUp = (type === 'take-profit') === (params.direction === 'long')
  const way = type === 'take-profit' ? params.takeProfitBps : params.stopBps
  return entry + bps(entry, isUp ? way : -way)
}

function isPlaced({ triggerPrice }: RestingOrder, trigger: Usd): boolean {
  return triggerPrice !== undefined && absOf(triggerPrice - trigger) <= bps(trigger, TRIGGER_TOLERANCE_BPS)
}
