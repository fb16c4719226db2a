/**
 * Holds what signals from outside say (docs/signals.md): a long, a short, nothing, or the opposite of what is held.
 *
 * The newest signal of a market stands in the place of those before it. What contradicts it is closed first, and that goes on until
 * it is closed; its own side is opened once nothing of the other is held or in flight, unless the signal has expired by then. What
 * is denied is tried again until then; what was accepted is never opened again on the same signal. A signal opens at most what
 * the file's `size` says, and adds to nothing. Positions in the market with the instance's collateral token count as its own.
 */
import type { DeniedEvent, OwnEvent } from '../../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../../domain/memory/tradeSignal.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { type Hex, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { bps, minOf, type Usd } from '../../protocol/units.ts'
import { collateralTokenOf, defineStrategy, type OrderSize, type StrategyView, z } from '../strategy.ts'

const params = z.strictObject({
  sides: z
    .enum(['both', 'long', 'short'])
    .default('both')
    .describe('sides it may open; a signal for the other only closes'),
})
const side = z.enum(['long', 'short'])

/** What is left to do on a signal's word. */
const wishSchema = z.strictObject({
  signal: z.number(),
  name: z.string().optional(),
  action: z.string(),
  symbol: z.string(),
  closes: z.array(side).readonly(),
  /** Of those, what an own increase was still on its way to last turn: its fill may not have been in the book yet. */
  filling: z.array(side).readonly().optional(),
  opens: z
    .strictObject({
      direction: side,
      sizeUsd: z.bigint().optional(),
      shareBps: z.number().optional(),
      stopPrice: z.bigint().optional(),
      targetPrice: z.bigint().optional(),
    })
    .optional(),
  /** Unix ms: nothing is opened later. */
  expiresAtMs: z.number(),
  /** The market in which it was asked for last turn. */
  asked: z.string().optional(),
})
const memorySchema = z.strictObject({ wishes: z.array(wishSchema).readonly() })

type Wish = z.output<typeof wishSchema>
type View = StrategyView<z.output<typeof params>>

const opposite = { long: 'short', short: 'long' } as const satisfies Record<Direction, Direction>
/** Denials of a close that say that there is nothing of the instance's own to close. */
const nothingOwn: ReadonlySet<string> = new Set(['BEYOND_BOOK', 'NO_POSITION'])

/** The kind `signal`. */
export const signal = defineStrategy({
  kind: 'signal',
  description: 'Holds what signed signals from outside say, as alerts of a charting service.',
  params,
  memory: { version: 1, schema: memorySchema, first: { wishes: [] } },
  takesSignals: true,
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory) {
    let wishes = memory.wishes.flatMap((wish) => afterTurn(wish, view))
    for (const given of view.signals) {
      const before = wishes.find(({ symbol }) => symbol === given.symbol)
      const next = wishOf(given, view, before)
      if (next === undefined) continue
      wishes = [...wishes.filter(({ symbol }) => symbol !== given.symbol), next]
    }
    const turns = wishes.map((wish) => act(wish, view))
    return {
      decisions: turns.flatMap(({ decisions }) => decisions),
      memory: { wishes: turns.flatMap(({ left }) => left ?? []) },
    }
  },
})

/** The wish as its last turn left it, now that what was denied of that is told. */
function afterTurn(wish: Wish, view: View): readonly Wish[] {
  const marketToken = wish.asked ?? view.market(wish.symbol)?.market.marketToken
  const denied = view.events.filter(
    (event): event is DeniedEvent => event.kind === 'denied' && isOn(event, marketToken),
  )
  const closes = wish.closes.filter(
    (direction) =>
      !denied.some(
        (event) =>
          event.order === 'close' &&
          event.direction === direction &&
          nothingOwn.has(event.code) &&
          wish.filling?.includes(direction) !== true,
      ),
  )
  const { asked, opens, filling: _, ...rest } = wish
  const isOpened = asked !== undefined && !denied.some(({ order }) => order === 'increase')
  if (isOpened || opens === undefined) return closes.length === 0 ? [] : [{ ...rest, closes }]
  return [{ ...rest, closes, opens }]
}

function isOn(event: OwnEvent, marketToken: string | undefined): boolean {
  return (
    event.marketToken !== undefined &&
    marketToken !== undefined &&
    sameHex(event.marketToken, marketToken as Hex)
  )
}

/** What a signal asks for; undefined: nothing. */
function wishOf(given: GivenSignal, view: View, before: Wish | undefined): Wish | undefined {
  if (given.isExpired) return undefined
  const { number, name, action, symbol, size, stopPrice, targetPrice, expiresAtMs } = given
  const base = {
    signal: number,
    ...(name === undefined ? {} : { name }),
    action,
    symbol,
    expiresAtMs,
  }
  const target = action === 'reverse' ? reversed(view, symbol, before) : action
  if (target === undefined) return undefined
  if (target === 'flat') return { ...base, closes: ['long', 'short'] }
  const { sides } = view.params
  const closes = [opposite[target]]
  if (sides !== 'both' && sides !== target) return { ...base, closes }
  const opens = {
    direction: target,
    ...(size?.usd === undefined ? {} : { sizeUsd: size.usd }),
    ...(size?.shareBps === undefined ? {} : { shareBps: size.shareBps }),
    ...(stopPrice === undefined ? {} : { stopPrice }),
    ...(targetPrice === undefined ? {} : { targetPrice }),
  }
  return { ...base, closes, opens }
}

/** The other side of what is meant to be held; `flat` where both sides are, undefined where nothing is. */
function reversed(view: View, symbol: string, before: Wish | undefined): Direction | 'flat' | undefined {
  if (before?.opens !== undefined) return opposite[before.opens.direction]
  const held = (['long', 'short'] as const).filter(
    (direction) => isHeld(view, symbol, direction) || isOpening(view, symbol, direction),
  )
  const [only] = held
  return held.length > 1 ? 'flat' : only === undefined ? undefined : opposite[only]
}

/** One turn of a wish: what it asks for, and what is left of it. */
function act(wish: Wish, view: View): { readonly decisions: readonly Decision[]; readonly left?: Wish } {
  const market = view.market(wish.symbol)
  const { size } = view.instance
  if (market === undefined || size === undefined) return { decisions: [], left: wish }
  const { marketToken } = market.market
  const collateralToken = collateralTokenOf(market, size.collateral)
  const about = { marketToken, collateralToken, facts: { signal: wish.signal, action: wish.action } }
  const said = `Signal ${wish.signal}${wish.name === undefined ? '' : ` "${wish.name}"`} says ${wish.action}`
  const pending = wish.closes.filter(
    (direction) => isHeld(view, wish.symbol, direction) || isOpening(view, wish.symbol, direction),
  )
  if (pending.length > 0) {
    const decisions = pending
      .filter((direction) => isHeld(view, wish.symbol, direction) && !isClosing(view, market, direction))
      .map(
        (direction): Decision => ({
          kind: 'close',
          ...about,
          direction,
          reason: `${said}: the ${direction} is closed.`,
        }),
      )
    const filling = pending.filter((direction) => isOpening(view, wish.symbol, direction))
    return { decisions, left: filling.length === 0 ? wish : { ...wish, filling } }
  }
  const { opens } = wish
  if (opens === undefined || wish.expiresAtMs <= view.snapshot.atMs) return { decisions: [] }
  const { direction, stopPrice, targetPrice } = opens
  if (isHeld(view, wish.symbol, direction)) return { decisions: [] }
  if (isOpening(view, wish.symbol, direction) || market.status === 'closed')
    return { decisions: [], left: wish }
  const tpsl = [
    ...(targetPrice === undefined ? [] : [{ type: 'take-profit' as const, triggerPrice: targetPrice }]),
    ...(stopPrice === undefined ? [] : [{ type: 'stop-loss' as const, triggerPrice: stopPrice }]),
  ]
  const decision: Decision = {
    kind: 'increase',
    ...about,
    direction,
    sizeDeltaUsd: sizeOf(opens, size),
    leverageBps: size.leverageBps,
    ...(tpsl.length === 0 ? {} : { tpsl }),
    reason: `${said}.`,
  }
  return { decisions: [decision], left: { ...wish, closes: [], asked: marketToken } }
}

/** Never more than the file says. */
function sizeOf({ sizeUsd, shareBps }: NonNullable<Wish['opens']>, { usd }: OrderSize): Usd {
  if (sizeUsd !== undefined) return minOf(sizeUsd, usd)
  return shareBps === undefined ? usd : bps(usd, shareBps)
}

function isHeld(view: View, symbol: string, direction: Direction): boolean {
  const { size } = view.instance
  const market = view.market(symbol)
  if (market === undefined || size === undefined) return false
  const collateralToken = collateralTokenOf(market, size.collateral)
  return view
    .positions(symbol, direction)
    .some((position) => sameHex(position.collateralToken, collateralToken) && position.sizeInUsd > 0n)
}

/** Whether an increase of its own is not over: on its way, or filled with exits that rest. */
function isOpening(view: View, symbol: string, direction: Direction): boolean {
  const market = view.market(symbol)
  return market !== undefined && hasOpen(view, market, direction, 'increase')
}

function isClosing(view: View, market: MarketView, direction: Direction): boolean {
  return hasOpen(view, market, direction, 'close')
}

function hasOpen(view: View, { market }: MarketView, direction: Direction, kind: Decision['kind']): boolean {
  return view.openIntents.some(
    (open) =>
      open.kind === kind && open.direction === direction && sameHex(open.marketToken, market.marketToken),
  )
}
