/**
 * Order janitor: manages resting orders that nobody else manages, whoever placed them. It handles entries that wait for too long or too far from the
 * price, and exits whose position is gone. It also handles exits larger than the position, and stop-losses behind the liquidation. It cancels, edits
 * or reports them, as the file says for each.
 *
 * It cancels and edits only within its rights (`risk/exposure/tidying.ts`). No exit of an open position is ever cancelled. An order that a running
 * instance or task manages is never edited, nor is another client's order; these are reported instead. An order that a strategy places anew after
 * each cancel costs a message each time: give `unreachableBps` and `staleAfterSeconds` more room than the strategies of the account use.
 *
 * It remembers its reports, so that each order and cause is reported once, and its edits of the last hour.
 */

import type { MarketSide } from '../../domain/accountRecords/accountRecord.ts'
import type { CancelDecision, ReportDecision, UntidyCause } from '../../domain/order/decision.ts'
import { untidyCauses } from '../../domain/order/decisionSchema.ts'
import { isFresh, marketOf } from '../../domain/snapshot.ts'
import { type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import type { Order } from '../../protocol/position.ts'
import { usd } from '../../protocol/units.ts'
import { bpsField, countField, secondsField, usdField } from '../fields.ts'
import { defineStrategy, type Strategy, type StrategyDecision, type StrategyView, z } from '../strategy.ts'
import { repairOf } from './shared/orderRepair.ts'
import { type FoundCause, MOST_AGE_MS, type Untidy, untidyOf } from './shared/untidy.ts'

const anyCare = z.enum(['cancel', 'edit', 'report'])
/** Care for an exit whose position is open: it is not cancelled. */
const exitCare = z.enum(['edit', 'report'])

const schema = z
  .strictObject({
    staleAfterSeconds: secondsField({ min: 300, max: 31_536_000 })
      .optional()
      .describe(
        'age since its newest change from which a resting entry is stale, seconds; never when left out',
      ),
    onStale: anyCare.default('cancel').describe('action for a stale entry (cancel)'),
    unreachableBps: bpsField({ min: 100, max: 9_000 })
      .optional()
      .describe(
        'distance from the price to the trigger from which an entry is out of reach, basis points; never when left out',
      ),
    onUnreachable: anyCare.default('cancel').describe('action for an entry out of reach (cancel)'),
    orphans: z.boolean().default(true).describe('true: handle exits whose position is gone'),
    onOrphan: z
      .enum(['cancel', 'report'])
      .default('cancel')
      .describe('action for an exit whose position is gone (cancel)'),
    onOversized: exitCare
      .optional()
      .describe('action for an exit larger than the position; none when left out'),
    onBehindLiquidation: exitCare
      .optional()
      .describe('action for a stop-loss behind the liquidation price; none when left out'),
    entryDistanceBps: bpsField({ min: 10, max: 9_000 })
      .default(200)
      .describe('how far from the price an edit puts an entry, basis points (200)'),
    liquidationGapBps: bpsField({ min: 10, max: 2_000 })
      .default(100)
      .describe('how far before the liquidation price an edit puts a stop-loss, basis points (100)'),
    editsPerHour: countField({ min: 1, max: 60 })
      .default(2)
      .describe('most edits of one order in any hour (2)'),
    editStepUsd: usdField({ minUsd: 0 })
      .default(usd(1))
      .describe('least value of an edit, US dollars: size times move, or the size taken off (1)'),
    graceSeconds: secondsField({ min: 60, max: 86_400 })
      .default(300_000)
      .describe('time after its newest change in which it does not touch an order, seconds (300)'),
  })
  .refine(
    (params) =>
      params.orphans ||
      params.staleAfterSeconds !== undefined ||
      params.unreachableBps !== undefined ||
      params.onOversized !== undefined ||
      params.onBehindLiquidation !== undefined,
    'at least one of staleAfterSeconds, unreachableBps, orphans, onOversized and onBehindLiquidation',
  )
  .refine(
    ({ unreachableBps, onUnreachable, entryDistanceBps }) =>
      unreachableBps === undefined || onUnreachable !== 'edit' || entryDistanceBps < unreachableBps,
    {
      path: ['entryDistanceBps'],
      message: 'basis points below unreachableBps, so that a moved entry is in reach',
    },
  )

type Params = z.output<typeof schema>
type View = StrategyView<Params>

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value))
const memorySchema = z.strictObject({
  /** Notified causes that are not over, by order key. */
  told: z.record(
    z.string(),
    z.strictObject({ cause: z.enum(untidyCauses), marketToken: hex, direction: z.enum(['long', 'short']) }),
  ),
  /** Times of edits requested within the last hour, Unix ms, by order key. */
  edits: z.record(z.string(), z.array(z.number())),
})

/** Memory of the kind. */
type Memory = z.output<typeof memorySchema>

const HOUR_MS = 3_600_000
/** Most orders of one message. */
const CANCEL_MOST = 20
/** Most orders that are reported at once: the memory is bounded, and so is people's reading. */
const TOLD_MOST = 100

const kind = defineStrategy({
  kind: 'order-janitor',
  description:
    'Cancels, edits or reports resting orders that are stale, out of reach, left without their position, too large or too late.',
  opensPositions: false,
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { told: {}, edits: {} } },
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0 }),
  decide(view, memory) {
    const { snapshot } = view
    if (
      !isFresh(snapshot, snapshot.orders, MOST_AGE_MS) ||
      !isFresh(snapshot, snapshot.positions, MOST_AGE_MS)
    )
      return { decisions: [], memory }
    const edits = recentEdits(memory, snapshot.atMs)
    const cancelled: Untidy[] = []
    const told = new Map<string, Untidy>()
    const decisions: StrategyDecision[] = []
    for (const found of foundIn(view)) {
      const { order, cause } = found
      const care = careOf(view.params, cause)
      if (care === 'cancel') cancelled.push(found)
      else if (care === 'report') told.set(hexKey(order.orderKey), found)
      else {
        const tended = tend(found, view, edits)
        if (tended === undefined) continue
        if ('edit' in tended) decisions.push(tended.edit)
        else told.set(hexKey(order.orderKey), { ...found, why: `${found.why}, and ${tended.hindered}` })
      }
    }
    const telling = tell(view, memory.told, told)
    return {
      decisions: [...cancels(cancelled), ...decisions, ...telling.decisions],
      memory: { told: telling.told, edits },
    }
  },
  status: (view) => {
    const untidy = foundIn(view).length
    const text =
      untidy === 0 ? 'no order is untidy' : `${untidy} order${untidy === 1 ? ' is' : 's are'} untidy`
    return { text, facts: { untidy } }
  },
})

/** The kind `order-janitor`. */
export const orderJanitor: Strategy<Params> = { ...kind, tidiesOrders: true }

/** Returns the untidy orders on the markets of the file. */
function foundIn({ snapshot, instance, params }: View): readonly Untidy[] {
  const rules = {
    staleAfterMs: params.staleAfterSeconds,
    unreachableBps: params.unreachableBps,
    isAsked: (cause: FoundCause) => careOf(params, cause) !== undefined,
    graceMs: params.graceSeconds,
  }
  return snapshot.orders.value.flatMap((order) => {
    const symbol = marketOf(snapshot, order.marketToken)?.market.symbol
    const { symbols } = instance
    if (symbols.length > 0 && (symbol === undefined || !symbols.includes(symbol))) return []
    const found = untidyOf(order, snapshot, rules)
    return found === undefined ? [] : [found]
  })
}

function careOf(params: Params, cause: FoundCause): 'cancel' | 'edit' | 'report' | undefined {
  const cares = {
    stale: params.onStale,
    unreachable: params.onUnreachable,
    orphaned: params.orphans ? params.onOrphan : undefined,
    oversized: params.onOversized,
    'behind-liquidation': params.onBehindLiquidation,
  }
  return cares[cause]
}

/** One cancel a side. */
function cancels(found: readonly Untidy[]): readonly CancelDecision[] {
  const sides = new Map<
    string,
    { readonly first: Order; readonly orderKeys: Hex[]; readonly why: Set<string> }
  >()
  for (const { order, why } of found) {
    const key = `${hexKey(order.marketToken)}:${order.direction}`
    const side = sides.get(key) ?? { first: order, orderKeys: [], why: new Set() }
    if (side.orderKeys.length < CANCEL_MOST) side.orderKeys.push(order.orderKey)
    side.why.add(why)
    sides.set(key, side)
  }
  return [...sides.values()].map(
    ({ first: { marketToken, direction }, orderKeys, why }): CancelDecision => ({
      kind: 'cancel',
      marketToken,
      direction,
      orderKeys,
      reason: `${orderKeys.length === 1 ? 'An order rests' : `${orderKeys.length} orders rest`} without a purpose: ${[...why].join('; ')}.`,
      facts: { orders: orderKeys.length },
    }),
  )
}

/** The edit of an order, counted in `edits`; or why there is none, for people; undefined: not now. */
function tend(found: Untidy, view: View, edits: Record<string, number[]>) {
  const { order } = found
  const { strayOrders, snapshot, params, openIntents } = view
  if (!strayOrders.some((orderKey) => sameHex(orderKey, order.orderKey)))
    return { hindered: 'it is not moved: another strategy or client manages or placed it' }
  const repair = repairOf(found, snapshot, { ...params, minStepUsd: params.editStepUsd })
  if (repair === undefined || 'hindered' in repair) return repair
  const key = hexKey(order.orderKey)
  const before = edits[key] ?? []
  // A change in flight on the side may be of this very order, and not in the list yet.
  const isChanging = openIntents.some(
    (open) => open.direction === order.direction && sameHex(open.marketToken, order.marketToken),
  )
  if (isChanging || before.length >= params.editsPerHour) return undefined
  edits[key] = [...before, snapshot.atMs]
  return repair
}

function recentEdits({ edits }: Memory, atMs: number): Record<string, number[]> {
  const recent = Object.entries(edits).map(([key, times]): [string, number[]] => [
    key,
    // A clock that was set back makes an edit new, and counts it for one hour from there.
    times.map((askedMs) => Math.min(askedMs, atMs)).filter((askedMs) => atMs - askedMs < HOUR_MS),
  ])
  return Object.fromEntries(recent.filter(([, times]) => times.length > 0))
}

/** Notifies of new causes, and of notified causes that are over. */
function tell(view: View, before: Memory['told'], found: ReadonlyMap<string, Untidy>) {
  const told: Memory['told'] = {}
  const decisions: ReportDecision[] = []
  const rest = new Set(view.snapshot.orders.value.map(({ orderKey }) => hexKey(orderKey)))
  for (const [key, row] of Object.entries(before)) {
    if (found.get(key)?.cause === row.cause || !isKnown(view.snapshot, row, rest.has(key))) {
      told[key] = row
      continue
    }
    const why = rest.has(key) ? `is no longer ${row.cause}` : 'no longer rests'
    const names = { marketToken: row.marketToken, direction: row.direction }
    decisions.push(reportDecision(key, row.cause, names, `The order ${why}.`, true))
  }
  for (const [key, { order, cause, why }] of found) {
    if (told[key] !== undefined || Object.keys(told).length >= TOLD_MOST) continue
    const { marketToken, direction } = order
    told[key] = { cause, marketToken, direction }
    const reason = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`
    decisions.push(reportDecision(key, cause, { marketToken, direction }, reason, false))
  }
  return { told, decisions }
}

/** Tells whether the end of an order's cause can be judged now: false where the row or the price that would show it is missing. */
function isKnown(
  snapshot: View['snapshot'],
  { cause, marketToken }: Memory['told'][string],
  rests: boolean,
): boolean {
  if (!rests) return (snapshot.orders.missing ?? []).length === 0
  if (lacksMarket(snapshot.positions.missing, marketToken)) return false
  const oracle = marketOf(snapshot, marketToken)?.oraclePrice
  return cause !== 'unreachable' || (oracle !== undefined && isFresh(snapshot, oracle, MOST_AGE_MS))
}

function reportDecision(
  orderKey: string,
  cause: UntidyCause,
  side: MarketSide,
  reason: string,
  isOver: boolean,
): ReportDecision {
  return { kind: 'report-order', ...side, orderKey: orderKey as Hex, cause, reason, isOver }
}
