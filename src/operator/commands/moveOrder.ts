/** Moves the trigger of an order that rests: one edit of the same order. */
import { z } from 'zod'
import { commandId, dollars } from '../../base/bodyFields.ts'
import { defined } from '../../base/defined.ts'
import { placeIn, planOn } from '../../domain/accountRecords/handPlan.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import type { EditDecision } from '../../domain/order/decision.ts'
import { hasEnded, lastAttempt } from '../../domain/order/intent.ts'
import { placesOfMarket, type Snapshot, triggerPriceOf } from '../../domain/snapshot.ts'
import { marketSymbol } from '../../market/marketSymbol.ts'
import { sameHex } from '../../protocol/address.ts'
import { isBehindLiquidation, type Order, orderName, type Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { type Usd, usd } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason, poolToken } from '../byHand.ts'
import { orderFlags, yesAtTerminal } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { exitTypeOf, isLooserStop, isOfPosition, maintainerOf, makerOf } from '../maintainer.ts'
import { endedOrder, notListed, openOrder } from '../namedOrder.ts'
import { type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'
import { type ProtectCommand, protectPosition } from './protectPosition.ts'

const body = z.strictObject({
  id: commandId,
  /** USD per whole index token. */
  price: dollars,
})

/** The command. `order`: the key of an order at the venue, 0x and hex, or an id of `perpd orders` of which one part rests; whole or the first characters. */
type MoveCommand = CommandOf<'move', typeof body, 'order'>

const asOrder = byHand({
  asked: ({ order, price }: MoveCommand) => `move ${order} to ${price}`,
  decide,
})

/** Its row. */
export const moveOrder: CommandRow<MoveCommand> = {
  type: 'move',
  route: '/api/orders/:order/move',
  body,
  preview: (context, command, commander) => carryOut('preview', context, command, commander),
  run: (context, command, commander) => carryOut('run', context, command, commander),
  api: {
    example: { id: 'a1b5', price: '1850' },
    note: 'a preview says whether a stop-loss moves to where more is lost (`isLooser`); an exit that `protect` planned moves with its plan; an order that a running strategy or task maintains is refused (`ORDER_MAINTAINED`)',
  },
  cli: [
    {
      name: 'move',
      isForRunning: true,
      summary: 'Move the trigger of a resting order: a stop, a target or a waiting entry.',
      details:
        'One edit of the same order; its size stays. A stop beyond the liquidation price and a trigger that\nthe price already meets are refused, and so is an order that a running strategy or task maintains.',
      positional: {
        name: 'order',
        among: 'open-orders',
        doc: "an order's id of which one part rests (perpd orders), or the key of a part at the venue, 0x...; the first characters suffice",
      },
      more: [{ name: 'price', doc: 'the new trigger, dollars' }],
      asksNoScript: true,
      flags: [yesAtTerminal, ...orderFlags],
      examples: [
        'perpd move 7944b4ff 1850',
        'perpd move 7944b4ff 1850 --yes',
        'perpd move 7944b4ff 1850 --no-wait --json',
      ],
    },
  ],
}

/** An order that may be moved, with its side. */
interface Movable {
  readonly snapshot: Snapshot
  readonly row: Order
  readonly symbol: string
  /** Whoever made it; undefined: another client. */
  readonly maker: string | undefined
  readonly position: Position | undefined
}

/** An exit that the operator planned moves with its plan, or the plan would move it back; any other order is edited by itself. */
async function carryOut(
  act: 'preview' | 'run',
  context: OperatorContext,
  command: MoveCommand,
  commander: Commander,
): Promise<OperatorAnswer> {
  const planned = context.byHand.isRunning() ? await plannedMove(context.byHand, command) : undefined
  if (planned === undefined) return await asOrder[act](context, command, commander)
  return (await protectPosition[act]?.(context, planned, commander)) ?? refusal('NOT_READY', 'retry')
}

async function plannedMove(context: HandContext, command: MoveCommand): Promise<ProtectCommand | undefined> {
  const found = await movable(context, command)
  if ('ok' in found || found.maker !== OPERATOR) return undefined
  const { row, snapshot, symbol } = found
  const type = exitTypeOf(row)
  const side = { ...row, collateralToken: row.initialCollateralToken }
  const plan = planOn(context.trading.accountJournal.state().handPlans ?? [], side)
  const place = type && plan && placeIn(plan, type)
  if (type === undefined || plan === undefined || place === undefined || place === 'none') return undefined
  const view = snapshot.markets.get(row.marketToken.toLowerCase())
  const isLong = view !== undefined && sameHex(poolToken(view, 'long'), plan.collateralToken)
  return {
    ...{ type: 'protect', market: symbol, direction: row.direction, own: plan.part === 'own' },
    ...{ collateral: isLong ? 'long' : 'short' },
    ...(type === 'stop-loss' ? { stopLoss: command.price } : { takeProfit: command.price }),
  }
}

async function decide(
  context: HandContext,
  command: MoveCommand,
  { facts, reason }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const found = await movable(context, command)
  if ('ok' in found) return found
  const { row, snapshot, symbol, position } = found
  const { marketToken, direction, orderKey, orderType } = row
  const triggerPrice = usd(command.price)
  if (
    exitTypeOf(row) === 'stop-loss' &&
    position !== undefined &&
    isBehindLiquidation(position, triggerPrice)
  )
    return refusal(
      'STOP_BEHIND_LIQUIDATION',
      `the position is liquidated at ${formatPrice(position.liquidationPrice ?? 0n)}, before a stop-loss at ${formatPrice(triggerPrice)} fires`,
    )
  const before: Usd | undefined = triggerPriceOf(row, snapshot)
  const places = placesOfMarket(snapshot, marketToken)
  const from = before === undefined ? '' : ` from ${formatPrice(before, places)}`
  const isLooser =
    exitTypeOf(row) === 'stop-loss' && before !== undefined && isLooserStop(direction, before, triggerPrice)
  return {
    snapshot,
    ...defined({ isLooser: isLooser || undefined }),
    decision: {
      kind: 'edit',
      marketToken,
      direction,
      orderKey,
      triggerPrice,
      reason,
      facts,
    } satisfies EditDecision,
    symbol,
    words: `${orderName(orderType)} of ${direction} ${symbol}${from} to ${formatPrice(triggerPrice, places)}`,
  }
}

/** The one resting order of a name, or a refusal: ORDER_NOT_FOUND, ORDER_NOT_RESTING, ORDER_AMBIGUOUS, ORDER_ENDED or ORDER_MAINTAINED. */
async function movable(context: HandContext, { order: named }: MoveCommand): Promise<Movable | Refusal> {
  const { catalogue, journal, openOrders } = context
  const wanted = named.toLowerCase()
  const ended = endedOrder(await journal.intents(), wanted)
  if (ended !== undefined)
    return refusal('ORDER_ENDED', `${ended.intentId} is ${ended.label}: it has no resting part to move`)
  const state = wanted.startsWith('0x') ? undefined : openOrder(openOrders, wanted)
  if (state !== undefined && 'ok' in state) return state
  const snapshot = await context.read(state === undefined ? [] : [state.intent.terms.symbol])
  const ofIntent = (state === undefined ? [] : (lastAttempt(state)?.children ?? [])).filter(
    (child) => !hasEnded(child),
  )
  const rows = snapshot.orders.value.filter(({ orderKey }) =>
    state === undefined
      ? orderKey.toLowerCase().startsWith(wanted)
      : ofIntent.some((child) => sameHex(child.orderKey, orderKey)),
  )
  const [row] = rows
  if (row === undefined) return notListed(openOrders, wanted)
  if (rows.length > 1) {
    const parts = rows.map(
      (each) =>
        `${orderName(each.orderType)} ${each.orderKey.slice(0, 10)} at ${formatPrice(triggerPriceOf(each, snapshot) ?? 0n)}`,
    )
    return refusal('ORDER_AMBIGUOUS', `${rows.length} parts rest: ${parts.join(', ')}; name one by its key`)
  }
  const symbol = marketSymbol(catalogue, snapshot, row.marketToken)
  const intent = makerOf(context, row)
  const owner = intent === undefined ? undefined : maintainerOf(context, intent)
  if (owner !== undefined)
    return refusal(
      'ORDER_MAINTAINED',
      `${owner} maintains this order and would move it back; place an exit of your own: perpd protect "${symbol}" ${row.direction} --stop-loss PRICE`,
    )
  const position = snapshot.positions.value.find((each) => isOfPosition(row, each))
  return { snapshot, row, symbol, maker: intent?.strategy, position }
}
