/** Interprets an operator's start of a task: names become markets and tokens, texts become amounts. */

import type { HasCatalogue } from '../account/accountParts.ts'
import { defined, ifDefined } from '../base/defined.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasApi, HasJournal } from '../execution/context/executionParts.ts'
import { sameHex } from '../protocol/address.ts'
import type { Direction, Market } from '../protocol/market.ts'
import { marketsNamed } from '../protocol/marketName.ts'
import { parseUnits, usd } from '../protocol/units.ts'
import { valuesOf } from '../tasks/taskFields.ts'
import type { BudgetWish, WishSide } from '../tasks/taskRow.ts'
import { rowOfTask, type TaskWish } from '../tasks/taskRows.ts'
import { type NamedMarket, namedMarket } from './namedMarket.ts'
import { type Refusal, refusal, theOne } from './operatorAnswer.ts'
import type { StartTaskCommand } from './taskBodies.ts'

/** Dependencies of the interpretation. */
export interface WishContext extends HasApi, HasCatalogue, HasJournal {
  /** Reads a snapshot with these markets, the wallet, and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
}

/** A start that was understood. */
export interface ReadWish {
  readonly wish: TaskWish
  readonly snapshot: Snapshot
  /** The whole symbol of its one market. */
  readonly market?: string
  /** The rules that took the markets of short symbols. */
  readonly chosen?: string
}

/** Returns the wish with the snapshot of its markets, or the reason why it is unclear. Throws what reading throws. */
export async function taskWishOf(
  context: WishContext,
  command: StartTaskCommand,
): Promise<ReadWish | Refusal> {
  const listed = (await context.api.getMarkets()).value.filter(({ isListed }) => isListed)
  if (rowOfTask(command.kind).works === 'none') return await weighed(context, command, listed)
  const { market = '', direction = 'long', collateral, reduce: isReduce = false } = command
  const found = isReduce
    ? await heldMarket(context, listed, market, direction)
    : await namedMarket(context, market, direction)
  if ('ok' in found) return found
  const { snapshot, chosen } = found
  const { symbol, marketToken } = found.market
  const view = snapshot.markets.get(marketToken.toLowerCase())
  if (view === undefined) return refusal('MARKET_UNKNOWN', `${symbol} cannot be read now; retry`)
  const tokenOf = (side: 'long' | 'short') => (side === 'long' ? view.longToken : view.shortToken).address
  const held = snapshot.positions.value.filter(
    (row) =>
      row.sizeInUsd > 0n &&
      sameHex(row.marketToken, marketToken) &&
      row.direction === direction &&
      (collateral === undefined || sameHex(row.collateralToken, tokenOf(collateral))),
  )
  const [one] = held
  if (isReduce && (one === undefined || held.length > 1)) {
    return one === undefined
      ? refusal('POSITION_NOT_FOUND', `there is no ${direction} position on ${symbol} (perpd positions)`)
      : refusal('POSITION_AMBIGUOUS', 'there are two positions; give --collateral long or short')
  }
  const collateralToken = isReduce && one !== undefined ? one.collateralToken : tokenOf(collateral ?? 'short')
  const side = { marketToken: view.market.marketToken, direction, collateralToken }
  return { wish: wishAt(command, side), snapshot, ...defined({ chosen }), market: symbol }
}

/** The same of a task on several markets, whose weights name them. */
async function weighed(
  context: WishContext,
  command: StartTaskCommand,
  listed: readonly Market[],
): Promise<ReadWish | Refusal> {
  const { weights: named = {}, collateral = 'short' } = command
  const found: { readonly market: Market; readonly weightBps: number }[] = []
  const rules: string[] = []
  for (const [name, weightBps] of Object.entries(named)) {
    const one =
      weightBps === 0
        ? await heldMarket(context, listed, name)
        : await namedMarket(context, name, weightBps > 0 ? 'long' : 'short')
    if ('ok' in one) return one
    const { market, chosen } = one
    if (found.some((each) => sameHex(each.market.marketToken, market.marketToken)))
      return refusal('WEIGHTS', `${market.symbol} is named twice`)
    found.push({ market, weightBps })
    if (chosen !== undefined) rules.push(chosen)
  }
  const snapshot = await context.read(found.map(({ market }) => market.symbol))
  const weights: Weight[] = []
  for (const { market, weightBps } of found) {
    const view = snapshot.markets.get(market.marketToken.toLowerCase())
    if (view === undefined) return refusal('MARKET_UNKNOWN', `${market.symbol} cannot be read now; retry`)
    const { address: collateralToken } = collateral === 'long' ? view.longToken : view.shortToken
    weights.push({ marketToken: view.market.marketToken, collateralToken, weightBps })
  }
  const chosen = rules.length === 0 ? undefined : rules.join('; ')
  return { wish: wishAt(command, { weights }), snapshot, ...defined({ chosen }) }
}

interface Weight extends Omit<WishSide, 'direction'> {
  readonly weightBps: number
}

/** The wish of a command: the values of its texts, at the place that was found. */
function wishAt(
  command: StartTaskCommand,
  place: WishSide | { readonly weights: readonly Weight[] },
): TaskWish {
  const { kind, leverage, reduce } = command
  return {
    kind,
    budget: budgetOf(command),
    ...valuesOf(rowOfTask(kind).fields, command),
    ...place,
    ...defined({ leverageBps: ifDefined(leverage, (text) => Number(parseUnits(text, 4))) }),
    ...defined({ action: ifDefined(reduce, (isLess) => (isLess ? 'decrease' : 'increase')) }),
  } as TaskWish
}

/**
 * The market of a position that is to be left, whether the venue lists it or not: of several of that name the one with a position.
 *
 * @param side absent: either
 */
async function heldMarket(
  context: WishContext,
  listed: readonly Market[],
  name: string,
  side?: Direction,
): Promise<NamedMarket | Refusal> {
  const snapshot = await context.read([])
  const held = (market: Market) =>
    snapshot.positions.value.some(
      (row) =>
        row.sizeInUsd > 0n &&
        sameHex(row.marketToken, market.marketToken) &&
        (side === undefined || row.direction === side),
    )
  const tradable = listed.filter(({ isSpotOnly }) => !isSpotOnly)
  const named = marketsNamed(tradable, name).filter(held)
  const market = theOne(named.length === 1 ? named : tradable, name)
  return 'ok' in market ? market : { market, snapshot: await context.read([market.symbol]) }
}

function budgetOf({ maxOrders, maxFees, maxMinutes }: StartTaskCommand): BudgetWish {
  return {
    ...defined({ orders: maxOrders }),
    ...defined({ feesUsd: ifDefined(maxFees, usd) }),
    ...defined({ minutes: maxMinutes }),
  }
}
