/** Cancels the resting orders of an intent, or one order at the venue, whoever made it. */
import { z } from 'zod'
import { sidesWithoutStop } from '../../account/holdings/stops.ts'
import { commandId } from '../../base/bodyFields.ts'
import { defined } from '../../base/defined.ts'
import type { CancelDecision } from '../../domain/order/decision.ts'
import { hasEnded, type IntentState, labelOf, lastAttempt } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { marketSymbol } from '../../market/marketSymbol.ts'
import { sameHex } from '../../protocol/address.ts'
import { isOnMarket, type Order } from '../../protocol/position.ts'
import { formatDollars, type Usd } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason } from '../byHand.ts'
import { orderFlags } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { makerOf, placedAnew } from '../maintainer.ts'
import { type EndedOrder, endedOrder, notListed, openOrder } from '../namedOrder.ts'
import { type OperatorAnswer, refusal } from '../operatorAnswer.ts'

const body = z.strictObject({ id: commandId })

/** The command. `order`: an id of `perpd orders`, or the key of an order at the venue, 0x and hex; whole or the first characters. */
export type CancelCommand = CommandOf<'cancel', typeof body, 'order'>

/** Needed by a script for the last stop-loss of a position; a terminal asks. */
const yesLastStop = {
  name: 'yes',
  doc: 'agree to a position without a stop-loss, where this cancels its last one',
} as const

/** Its row. */
export const cancelOrder: CommandRow<CancelCommand> = {
  type: 'cancel',
  route: '/api/orders/:order/cancel',
  body,
  ...byHand({ asked: ({ order }: CancelCommand) => `cancel ${order}`, decide }),
  api: {
    example: { id: 'a1b4' },
    note: 'a preview says whether it cancels the last stop-loss of an open position (`isLastStop`); an exit that perpd would place again is refused (`ORDER_MAINTAINED`)',
  },
  forms: {
    cancel: {
      title: 'Cancel order {short}',
      effects: ['Cancels the resting parts of {what}, exits included. What was filled stays filled.'],
      preview: 'first',
      send: 'Cancel order',
      isDanger: true,
    },
  },
  cli: [
    {
      name: 'cancel',
      isForRunning: true,
      summary: 'Cancel the resting parts of an order at the venue, from any source.',
      details:
        'An exit that perpd would place again within seconds, by a plan, a task or the file of a running strategy,\nis refused with the command that removes it.',
      positional: {
        name: 'order',
        among: 'open-orders',
        doc: "an order's id, or its first characters (perpd orders); or its key at the venue, 0x...",
      },
      flags: [yesLastStop, ...orderFlags],
      examples: ['perpd cancel 7944b4ff', 'perpd cancel 7944b4ff --no-wait --json'],
    },
  ],
}

/** Most orders that one message cancels. */
const cancelMost = 20

async function decide(
  context: HandContext,
  command: CancelCommand,
  { facts, reason }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const wanted = command.order.toLowerCase()
  const ended = endedOrder(await context.journal.intents(), wanted)
  if (ended !== undefined) return endedAnswer(ended)
  const state = wanted.startsWith('0x') ? undefined : openOrder(context.openOrders, wanted)
  if (state !== undefined && 'ok' in state) return state
  const keys = restingKeys(state)
  const snapshot = await context.read(state === undefined ? [] : [state.intent.terms.symbol])
  const rows = snapshot.orders.value.filter(({ orderKey }) =>
    state === undefined ? orderKey.toLowerCase().startsWith(wanted) : keys.includes(orderKey.toLowerCase()),
  )
  const [first] = rows
  if (first === undefined) {
    return state === undefined
      ? notListed(context.openOrders, wanted)
      : refusal(
          'ORDER_NOT_RESTING',
          `${state.intent.intentId} is ${labelOf(state)}: no list shows a resting part of it. If it may still land, unwind it: perpd orders unwind ${state.intent.intentId.slice(0, 8)} --by NAME`,
        )
  }
  if (state === undefined && rows.length > 1) {
    return refusal(
      'ORDER_AMBIGUOUS',
      `the keys of ${rows.length} orders begin with ${wanted}; give more characters`,
    )
  }
  const { direction } = first
  const marketToken = isOnMarket(first)
    ? first.marketToken
    : (state?.intent.terms.marketToken ?? first.marketToken)
  const side = rows.filter(
    (row: Order) => sameHex(row.marketToken, first.marketToken) && row.direction === direction,
  )
  const orderKeys = side.slice(0, cancelMost).map(({ orderKey }) => orderKey)
  const symbol = marketSymbol(context.catalogue, snapshot, marketToken)
  const maker = state?.intent ?? makerOf(context, first)
  const anew = side.map((row) => placedAnew(context, { row, symbol, maker }, snapshot.positions.value))
  const [kept] = anew
  if (kept !== undefined && anew.every((each) => each !== undefined)) return kept
  const what = orderKeys.length === 1 ? '1 order' : `${orderKeys.length} orders`
  const isExits = state !== undefined && isOpened(state)
  const bareUsd = leftBare(snapshot, orderKeys)
  const note =
    bareUsd > 0n
      ? `${formatDollars(bareUsd)} stays open without a stop-loss: while perpd is down, only liquidation can close it`
      : isExits
        ? 'the position stays open without these exits'
        : undefined
  return {
    snapshot,
    decision: { kind: 'cancel', marketToken, direction, orderKeys, reason, facts } satisfies CancelDecision,
    symbol,
    words: `${what} of ${direction} ${symbol}`,
    ...defined({ note }),
    ...(bareUsd > 0n ? { isLastStop: true } : {}),
  }
}

/** Answers a cancel of an ended order: cancelling a cancelled one is no mistake. */
function endedAnswer({ intentId, label, isCancelled }: EndedOrder): OperatorAnswer {
  if (!isCancelled) return refusal('ORDER_ENDED', `${intentId} is ${label}: it has no resting part to cancel`)
  return {
    ok: true,
    statement: `order ${intentId} is already cancelled: no part of it rests, and nothing was sent`,
  }
}

/** Returns the size of positions that would lose their stop-loss at the venue without these orders, USD. */
function leftBare({ positions, orders }: Snapshot, orderKeys: readonly string[]): Usd {
  const bareUsd = (rows: readonly Order[]) =>
    sidesWithoutStop(positions.value, [], rows).reduce((sum, { uncoveredUsd }) => sum + uncoveredUsd, 0n)
  return bareUsd(orders.value.filter(({ orderKey }) => !orderKeys.includes(orderKey))) - bareUsd(orders.value)
}

function restingKeys(state: IntentState | undefined): readonly string[] {
  const children = state === undefined ? [] : (lastAttempt(state)?.children ?? [])
  return children.filter((child) => !hasEnded(child)).map(({ orderKey }) => orderKey.toLowerCase())
}
