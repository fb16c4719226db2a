/**
 * Protector: ensures that every position of the account, or of the markets named, has a stop-loss, and a take-profit if requested, whoever opened it.
 * It opens nothing.
 *
 * Resting orders count, whoever placed them, unless they froze. One order of a type for a position covers the uncovered part. That order grows and
 * shrinks with the position; it is never moved while the size stays. A stop never lies further than half way to the liquidation price, where it would
 * come too late. While the fate of its own order on a side is unknown, it places no second one there. perpd itself (`risk/orphans.ts`) and the venue
 * cancel the exits that a position leaves behind.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { MarketSide } from '../../domain/accountRecords/accountRecord.ts'
import { type ExitType, keepExits, type PlannedExits, sumOf, waitsAt } from '../../domain/exitKeeper.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { marketOf, reductionPriceOf } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { bps, formatUsd, maxOf, minOf, type Usd } from '../../protocol/units.ts'
import { bpsField, secondsField } from '../fields.ts'
import type { RestingOrder } from '../resting.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'

const schema = z.strictObject({
  stopBps: bpsField({ min: 10, max: 9000 })
    .default(500)
    .describe('distance from the entry price at which a position closes with a loss'),
  targetBps: bpsField({ min: 10, max: 9000 })
    .optional()
    .describe('distance from the entry price at which it closes with a profit; no take-profit when left out'),
  whenPast: z
    .enum(['from-price', 'close'])
    .default('from-price')
    .describe(
      'action when the price has already passed that point: measure from the current price, or close at once',
    ),
  graceSeconds: secondsField({ min: 0, max: 3600 })
    .default(20_000)
    .describe('time for the opener of the position to place its own exit first, seconds (20)'),
  toleranceBps: bpsField({ max: 5000 })
    .default(200)
    .describe('share of a position that may be uncovered or covered twice before it changes the order'),
})

/** Times from which a part of a position is uncovered, Unix ms, by its key and the type of the missing order. */
const memorySchema = z.strictObject({ sinceMs: z.record(z.string(), z.number()) })

type View = StrategyView<z.output<typeof schema>>

/** On-chain types of exits (contract `Order`, `OrderType`). */
const orderTypes: Readonly<Record<ExitType, number>> = { 'take-profit': 5, 'stop-loss': 6 }

/** The kind `protector`. */
export const protector = defineStrategy({
  kind: 'protector',
  description: 'Places a stop-loss, and optionally a take-profit, for every position without one.',
  opensPositions: false,
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { sinceMs: {} } },
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0 }),
  decide(view, { sinceMs }: z.output<typeof memorySchema>) {
    const { symbols } = view.instance
    const watched =
      symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const types: readonly ExitType[] =
      view.params.targetBps === undefined ? ['stop-loss'] : ['stop-loss', 'take-profit']
    const decisions: Decision[] = []
    const uncovered: Record<string, number> = {}
    for (const position of watched) {
      if (position.sizeInUsd <= 0n) continue
      const exits: PlannedExits[] = []
      const keep = keeping(view, position)
      for (const type of types) {
        const planned = plannedOf(view, position, type)
        if (planned === undefined) continue
        if (keep([planned]).some(({ kind }) => kind === 'decrease')) {
          const key = `${position.contractKey}:${type}`
          const { atMs } = view.snapshot
          const dueMs = atMs - view.params.graceSeconds
          const known = sinceMs[key] ?? atMs
          // Each refusal is written down with the memory: it is not asked again at once. A clock that was set back makes no wait longer.
          const since = isRefused(view, position) ? dueMs + RETRY_MS : Math.min(known, atMs + RETRY_MS)
          uncovered[key] = since
          if (since > dueMs) continue
        }
        exits.push(planned)
      }
      decisions.push(...keep(exits))
    }
    return { decisions, memory: { sinceMs: uncovered } }
  },
  status: (view, { sinceMs }) => {
    const { symbols } = view.instance
    const all = symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const positions = all.filter(({ sizeInUsd }) => sizeInUsd > 0n).length
    const uncovered = Object.keys(sinceMs).length
    const facts = { positions, uncovered }
    if (positions === 0) return { text: 'no position to protect', facts }
    const each = `${positions} position${positions === 1 ? '' : 's'}`
    const lacks = `${uncovered} exit${uncovered === 1 ? ' is' : 's are'} missing, placed after ${view.params.graceSeconds / 1_000} s`
    return { text: uncovered === 0 ? `the exits of ${each} are in place` : `${each}: ${lacks}`, facts }
  },
})

/** Pause after a refusal, ms. */
const RETRY_MS = 15_000

/** Tells whether its request on a side in the previous turn was denied. */
function isRefused({ events }: View, { marketToken, direction }: Position): boolean {
  return events.some(
    (event) =>
      event.kind === 'denied' &&
      event.direction === direction &&
      event.marketToken !== undefined &&
      sameHex(event.marketToken, marketToken),
  )
}

/** Returns the keeping of wanted exits of a position. */
function keeping(view: View, position: Position): (exits: readonly PlannedExits[]) => readonly Decision[] {
  const { snapshot, params } = view
  const leastUsd = marketOf(snapshot, position.marketToken)?.market.minPositionSizeUsd ?? 0n
  const facts = { resting: restingOn(view, position), price: reductionPriceOf(position, snapshot), leastUsd }
  const of = { owner: 'the protector', side: position, sizeUsd: position.sizeInUsd }
  return (exits) => keepExits({ ...of, toleranceBps: params.toleranceBps, exits }, facts)
}

function restingOn({ restingOrders }: View, position: Position): readonly RestingOrder[] {
  return restingOrders.filter(
    (order) => isOn(position, order) && sameHex(order.collateralToken, position.collateralToken),
  )
}

function isOn(position: Position, { marketToken, direction }: MarketSide) {
  return direction === position.direction && sameHex(marketToken, position.marketToken)
}

/** The wanted exits of one type of a position; undefined: nothing may be done now. */
function plannedOf(view: View, position: Position, type: ExitType): PlannedExits | undefined {
  const { snapshot } = view
  const resting = restingOn(view, position).filter(({ orderType }) => orderType === type)
  const shown = new Set(view.restingOrders.map(({ intentId }) => intentId))
  // An order in flight, unknown, or resting and not listed yet may cover this position. Its collateral is unknown.
  const isOnTheWay = view.openIntents.some(
    (open) =>
      isOn(position, open) && !shown.has(open.intentId) && (open.orderType === type || open.kind === 'close'),
  )
  if (isOnTheWay || resting.some(({ isChanging }) => isChanging)) return undefined
  // A list that lacks a row may hide an exit of somebody else.
  if (lacksMarket(snapshot.orders.missing, position.marketToken)) return undefined
  const { direction, entryPrice } = position
  const price = reductionPriceOf(position, view.snapshot)
  const fromEntry = entryPrice === undefined ? undefined : triggerFrom(entryPrice, position, type, view)
  const isPast = fromEntry === undefined || !waitsAt(fromEntry, price, direction, type)
  const facts = () => ({
    price: formatPrice(price),
    ...defined({ entry: ifDefined(entryPrice, formatPrice) }),
    sizeUsd: formatUsd(position.sizeInUsd),
  })
  const closes = isPast && fromEntry !== undefined && view.params.whenPast === 'close'
  const triggerPrice = isPast && !closes ? triggerFrom(price, position, type, view) : (fromEntry ?? 0n)
  const why = () => ({
    reason: `The price is past ${formatPrice(triggerPrice)}, where the ${type} of the ${direction} position belongs.`,
    facts: facts(),
  })
  return {
    ...{ type, isOne: true, elsewhereUsd: coverOf(snapshot.orders.value, position, type, resting) },
    levels: [{ triggerPrice, facts: () => ({ ...facts(), trigger: formatPrice(triggerPrice) }) }],
    ...(closes ? { past: { action: 'reduce', why } } : {}),
    // An increase moved the entry. If the price has already passed the new place, the old one is better than none.
    moves: resting
      .filter(({ isFrozen }) => !isFrozen && !isPast)
      .map(({ orderKey }) => ({ orderKey, triggerPrice, isWithSize: true })),
  }
}

/** Returns the size of a position that others' exits cover, USD. A frozen exit may stay frozen, and covers nothing. */
function coverOf(
  orders: readonly Order[],
  position: Position,
  type: ExitType,
  own: readonly RestingOrder[],
): Usd {
  const others = orders.filter(
    (order) =>
      order.orderType === orderTypes[type] &&
      !order.isFrozen &&
      isOn(position, order) &&
      sameHex(order.initialCollateralToken, position.collateralToken) &&
      !own.some(({ orderKey }) => sameHex(orderKey, order.orderKey)),
  )
  return sumOf(others)
}

/** Returns the place of an exit, counted from a price; a stop at most half way to the liquidation price. */
function triggerFrom(from: Usd, position: Position, type: ExitType, { params }: View): Usd {
  const { direction, liquidationPrice } = position
  const isLong = direction === 'long'
  if (type === 'take-profit') return from + bps(from, (params.targetBps ?? 0) * (isLong ? 1 : -1))
  const stop = from + bps(from, isLong ? -params.stopBps : params.stopBps)
  if (liquidationPrice === undefined) return stop
  const middle = (from + liquidationPrice) / 2n
  return isLong ? maxOf(stop, middle) : minOf(stop, middle)
}
