/** Finds who places an order anew after a cancel, and moves it back after an edit. */
import type { HasStrategies, HasTrading } from '../account/accountParts.ts'
import { runningTaskOf } from '../account/runningTasks.ts'
import { placeIn, planOn } from '../domain/accountRecords/handPlan.ts'
import { OPERATOR } from '../domain/accountRecords/operatorName.ts'
import type { ExitType } from '../domain/exitKeeper.ts'
import type { ExitSettings } from '../domain/order/exitSettings.ts'
import { type Intent, lastAttempt } from '../domain/order/intent.ts'
import { sameHex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import type { Order, Position } from '../protocol/position.ts'
import type { Usd } from '../protocol/units.ts'
import type { HandContext } from './byHand.ts'
import { type Refusal, refusal } from './operatorAnswer.ts'

interface Parts extends HasStrategies, HasTrading {}

/** The open intent that made an order; undefined: none of ours did. */
export function makerOf({ openOrders }: HandContext, { orderKey }: Order): Intent | undefined {
  const made = openOrders
    .open()
    .find(({ state }) => lastAttempt(state)?.children.some((child) => sameHex(child.orderKey, orderKey)))
  return made?.state.intent
}

/** The running task or strategy that maintains the orders of an intent; undefined: none does. */
export function maintainerOf(parts: Parts, maker: Intent): string | undefined {
  const task = taskOf(parts, maker)
  if (task !== undefined) return `the task ${task}`
  return parts.strategies().some(({ name }) => name === maker.strategy) ? maker.strategy : undefined
}

/**
 * ORDER_MAINTAINED, with the command that removes it: the order is an exit of a held position that perpd would place anew within seconds, by a plan of
 * the operator, for a running task, or by the file of a running strategy. Undefined: a cancel of it lasts.
 *
 * @param maker undefined: another client made it
 */
export function placedAnew(
  parts: Parts,
  {
    row,
    symbol,
    maker,
  }: { readonly row: Order; readonly symbol: string; readonly maker: Intent | undefined },
  positions: readonly Position[],
): Refusal | undefined {
  const type = exitTypeOf(row)
  const isHeld = positions.some((each) => isOfPosition(row, each))
  // A frozen exit never fires: the one that is placed for it does.
  if (type === undefined || maker === undefined || row.isFrozen || !isHeld) return undefined
  const task = taskOf(parts, maker)
  if (task !== undefined)
    return maintained(`the task ${task} maintains this ${type}`, `perpd task stop ${task}`)
  if (maker.strategy === OPERATOR) {
    const side = { ...row, collateralToken: row.initialCollateralToken }
    const plan = planOn(parts.trading.accountJournal.state().handPlans ?? [], side)
    const place = plan && placeIn(plan, type)
    if (plan === undefined || place === undefined || place === 'none') return undefined
    const own = plan.part === 'own' ? ' --own' : ''
    return maintained(
      `perpd protect planned this ${type}`,
      `perpd protect "${symbol}" ${row.direction} --${type} none${own}`,
    )
  }
  const isKept = parts
    .strategies()
    .some(
      ({ name, exits, strategy }) =>
        name === maker.strategy && strategy.opensPositions && keepsType(exits, type),
    )
  if (!isKept) return undefined
  return maintained(
    `${maker.strategy} maintains this ${type} by its file`,
    `change the exits in the file, or perpd strategies set ${maker.strategy} enabled false and cancel again`,
  )
}

/** Type of an exit by the on-chain type of its order; undefined: it is no exit that waits. */
export function exitTypeOf({ orderType }: Order): ExitType | undefined {
  return orderType === 6 ? 'stop-loss' : orderType === 5 ? 'take-profit' : undefined
}

/** Tells whether the exits of a file place one of this type. */
function keepsType(exits: ExitSettings | undefined, type: ExitType): boolean {
  if (exits === undefined) return false
  const { stopLoss, trailingStop, breakEven, takeProfits } = exits
  return type === 'take-profit'
    ? takeProfits.length > 0
    : [stopLoss, trailingStop, breakEven].some((each) => each !== undefined)
}

function maintained(by: string, wayOut: string): Refusal {
  return refusal('ORDER_MAINTAINED', `${by} and would place it again within seconds; to remove it: ${wayOut}`)
}

/** Tells whether more is lost at a stop-loss at one price than at another, USD: below it for a long, above it for a short. */
export function isLooserStop(direction: Direction, before: Usd, now: Usd): boolean {
  return direction === 'long' ? now < before : now > before
}

/** Tells whether an order is of a held position. */
export function isOfPosition(row: Order, position: Position): boolean {
  return (
    position.sizeInUsd > 0n &&
    position.direction === row.direction &&
    sameHex(position.marketToken, row.marketToken) &&
    sameHex(position.collateralToken, row.initialCollateralToken)
  )
}

function taskOf({ trading }: Parts, { decisionKey }: Intent): string | undefined {
  return runningTaskOf(trading.accountJournal.state().tasks, decisionKey)
}
