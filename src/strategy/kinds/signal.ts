/**
 * Follows signals from outside (docs/signals.md): a long, a short, nothing, or the opposite of the position.
 *
 * The newest signal of a market replaces earlier ones. It first closes positions that contradict the signal, and retries until they are closed. It
 * opens the signal's side once nothing of the other side is held or in flight, unless the signal has expired by then. A denied decision is tried
 * again until then; after an acceptance, the same signal never opens again. A signal opens at most the file's `size`, and adds to nothing. It trades
 * by its own part of positions: others' positions on either side stay, and do not matter. A signal that leads to no order states the reason.
 */
import { defined } from '../../base/defined.ts'
import type { DeniedEvent, OwnEvent } from '../../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../../domain/memory/tradeSignal.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { type Hex, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { bps, formatDollars, minOf, type Usd } from '../../protocol/units.ts'
import { defineStrategy, type OrderSize, type StrategyView, type UnservedSignal, z } from '../strategy.ts'
import { backingTokenOf } from './shared/marketScene.ts'

const params = z.strictObject({
  sides: z
    .enum(['both', 'long', 'short'])
    .default('both')
    .describe('sides that it may open; a signal for the other side only closes'),
})
const side = z.enum(['long', 'short'])

/** Remaining work for a signal. */
const wishSchema = z.strictObject({
  signal: z.number(),
  name: z.string().optional(),
  action: z.string(),
  symbol: z.string(),
  closes: z.array(side).readonly(),
  /** True once a close was requested for the signal. */
  isActed: z.boolean().optional(),
  /** The reason why it has not opened yet. */
  waitsFor: z.string().optional(),
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
  /** Time when it was delivered, Unix ms. */
  givenAtMs: z.number(),
  /** Market in which it made a request last turn. */
  asked: z.string().optional(),
})
const memorySchema = z.strictObject({ wishes: z.array(wishSchema).readonly() })

/** A step back of the clock by more than this leaves open how old a signal is, ms. */
const CORRECTION_MS = 30_000

type Wish = z.output<typeof wishSchema>
type View = StrategyView<z.output<typeof params>>

const opposite = { long: 'short', short: 'long' } as const satisfies Record<Direction, Direction>

/** The kind `signal`. */
export const signal = defineStrategy({
  kind: 'signal',
  description: 'Follows signed signals from outside, such as alerts of a charting service.',
  params,
  memory: { version: 1, schema: memorySchema, first: { wishes: [] } },
  takesSignals: true,
  needs: (_params, symbols) => ({ symbols }),
  decide(view, memory) {
    let wishes = memory.wishes.flatMap((wish) => afterTurn(wish, view))
    const unserved: UnservedSignal[] = []
    for (const given of view.signals) {
      // The expired signal has been reported already.
      if (given.isExpired) continue
      const before = wishes.find(({ symbol }) => symbol === given.symbol)
      const next = wishOf(given, view, before)
      if ('reason' in next) {
        unserved.push(next)
        continue
      }
      if (before !== undefined && before.isActed !== true)
        unserved.push({
          signal: before.signal,
          reason: `signal ${given.number} of the same market replaced it`,
        })
      wishes = [...wishes.filter(({ symbol }) => symbol !== given.symbol), next]
    }
    const turns = wishes.map((wish) => act(wish, view))
    return {
      decisions: turns.flatMap(({ decisions }) => decisions),
      memory: { wishes: turns.flatMap(({ left }) => left ?? []) },
      unserved: [...unserved, ...turns.flatMap((turn) => turn.unserved ?? [])],
    }
  },
  status: (_view, { wishes }) => {
    const [wish] = wishes
    if (wish === undefined) return { text: 'waits for a signal' }
    const text = `signal ${wish.signal} waits: ${wish.waitsFor ?? 'its order is in flight'}`
    return { text: text.slice(0, 150), facts: { waiting: wishes.length } }
  },
})

/** Returns the wish as its last turn left it, after the denials of that turn. */
function afterTurn(wish: Wish, view: View): readonly Wish[] {
  const marketToken = wish.asked ?? view.market(wish.symbol)?.market.marketToken
  const denied = view.events.filter(
    (event): event is DeniedEvent => event.kind === 'denied' && isOn(event, marketToken),
  )
  const { asked, opens, waitsFor: _, ...rest } = wish
  const increase = denied.find(({ order }) => order === 'increase')
  const isOpened = asked !== undefined && increase === undefined
  if (isOpened || opens === undefined) return rest.closes.length === 0 ? [] : [rest]
  const waitsFor =
    increase === undefined ? wish.waitsFor : `its order was denied: ${increase.reason} (${increase.code})`
  return [{ ...rest, opens, ...defined({ waitsFor: waitsFor?.slice(0, 300) }) }]
}

function isOn(event: OwnEvent, marketToken: string | undefined): boolean {
  return (
    event.marketToken !== undefined &&
    marketToken !== undefined &&
    sameHex(event.marketToken, marketToken as Hex)
  )
}

/** Returns the wish of a signal, or the reason why it has none. */
function wishOf(given: GivenSignal, view: View, before: Wish | undefined): Wish | UnservedSignal {
  const { number, name, action, symbol, size, stopPrice, targetPrice, expiresAtMs } = given
  const base = {
    signal: number,
    ...defined({ name }),
    action,
    symbol,
    expiresAtMs,
    givenAtMs: view.snapshot.atMs,
  }
  const target = action === 'reverse' ? reversed(view, symbol, before) : action
  if (target === undefined)
    return { signal: number, reason: `it has no own position to reverse${othersText(view, symbol)}` }
  if (target === 'flat') return { ...base, closes: ['long', 'short'] }
  const { sides } = view.params
  const closes = [opposite[target]]
  if (sides !== 'both' && sides !== target) return { ...base, closes }
  const opens = {
    direction: target,
    ...defined({ sizeUsd: size?.usd, shareBps: size?.shareBps, stopPrice, targetPrice }),
  }
  return { ...base, closes, opens }
}

/** Returns the other side of the intended position; `flat` where both sides are intended, undefined where none is. */
function reversed(view: View, symbol: string, before: Wish | undefined): Direction | 'flat' | undefined {
  if (before?.opens !== undefined) return opposite[before.opens.direction]
  const held = (['long', 'short'] as const).filter(
    (direction) => isHeld(view, symbol, direction) || isOpening(view, symbol, direction),
  )
  const [only] = held
  return held.length > 1 ? 'flat' : only === undefined ? undefined : opposite[only]
}

interface WishTurn {
  readonly decisions: readonly Decision[]
  readonly left?: Wish
  readonly unserved?: UnservedSignal
}

/** Runs one turn of a wish: its requests, and its rest. */
function act(wish: Wish, view: View): WishTurn {
  const market = view.market(wish.symbol)
  const { size } = view.instance
  if (market === undefined || size === undefined) return { decisions: [], left: wish }
  const { marketToken } = market.market
  const collateralToken = backingTokenOf(view, market, size)
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
    const isActed = wish.isActed === true || decisions.length > 0
    const waitsFor = `its ${pending.join(' and ')} was not closed yet`
    return { decisions, left: { ...wish, waitsFor, ...defined({ isActed: isActed || undefined }) } }
  }
  const { opens } = wish
  if (opens === undefined)
    return wish.isActed === true ? { decisions: [] } : unserved(wish, nothingToClose(wish, view))
  const { direction, stopPrice, targetPrice } = opens
  const own = ownUsd(view, wish.symbol, direction)
  if (own > 0n) {
    const reason = `it already has a ${direction} of ${formatDollars(own)}, and a signal never adds to a position`
    return wish.isActed === true ? { decisions: [] } : unserved(wish, reason)
  }
  const { atMs } = view.snapshot
  const isSetBack = (wish.givenAtMs ?? atMs) - atMs > CORRECTION_MS
  if (wish.expiresAtMs <= atMs || isSetBack) {
    const over = isSetBack ? 'the clock went back' : 'it expired'
    const { waitsFor } = wish
    return unserved(wish, `${over} before it opened${waitsFor === undefined ? '' : `, for ${waitsFor}`}`)
  }
  if (isOpening(view, wish.symbol, direction))
    return {
      decisions: [],
      left: { ...wish, waitsFor: `its own order on the ${direction} side was in flight` },
    }
  if (market.status === 'closed')
    return { decisions: [], left: { ...wish, waitsFor: 'the market was closed' } }
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
    ...defined({ tpsl: tpsl.length === 0 ? undefined : tpsl }),
    reason: `${said}.`,
  }
  return { decisions: [decision], left: { ...wish, closes: [], asked: marketToken } }
}

/** Never more than the file says. */
function sizeOf({ sizeUsd, shareBps }: NonNullable<Wish['opens']>, { usd }: OrderSize): Usd {
  if (sizeUsd !== undefined) return minOf(sizeUsd, usd)
  return shareBps === undefined ? usd : bps(usd, shareBps)
}

function unserved({ signal: number }: Wish, reason: string): WishTurn {
  return { decisions: [], unserved: { signal: number, reason } }
}

function nothingToClose({ action, symbol }: Wish, view: View): string {
  const { sides } = view.params
  const isShut = action !== 'flat' && sides !== 'both'
  return `${isShut ? `params.sides opens ${sides}s alone, and ` : ''}it has no own position to close${othersText(view, symbol)}`
}

/** Said where others hold something. */
function othersText(view: View, symbol: string): string {
  return view.positions(symbol).some(({ sizeInUsd }) => sizeInUsd > 0n)
    ? '; the position there belongs to others (perpd positions shows the owners)'
    : ''
}

/** Its own part, USD. */
function ownUsd(view: View, symbol: string, direction: Direction): Usd {
  const { size } = view.instance
  const market = view.market(symbol)
  if (market === undefined || size === undefined) return 0n
  const collateralToken = backingTokenOf(view, market, size)
  return view
    .ownPositions(symbol, direction)
    .filter((part) => sameHex(part.collateralToken, collateralToken))
    .reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
}

function isHeld(view: View, symbol: string, direction: Direction): boolean {
  return ownUsd(view, symbol, direction) > 0n
}

/** Tells whether one of its increases may still open something. */
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
      open.kind === kind &&
      !open.onlyExitsRest &&
      open.direction === direction &&
      sameHex(open.marketToken, market.marketToken),
  )
}
