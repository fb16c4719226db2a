/** The question before a kill: what is held, what rests, what is cancelled or closed, and what stays. Pure. */
import type { Plain } from '../../domain/summaries/orderView.ts'
import { protectionText } from '../../monitor/leftPositionText.ts'
import { counted, money } from '../../monitor/text.ts'
import type { KillPreview } from '../../running/killPlan.ts'
import { triggersIn } from './pricePlaces.ts'
import { wrapped } from './screen.ts'
import { table } from './table.ts'

/** A kill as it was asked for. */
export interface AskedKill {
  readonly close: boolean
  readonly exits: boolean
}

type Seen = Plain<KillPreview>

const columns = [
  { title: 'HELD OR AT REST', rank: 0 },
  { title: 'SIZE', rank: 0, isFigure: true },
  { title: 'PNL', rank: 2, isFigure: true },
  { title: 'TRIGGER', rank: 1, isFigure: true },
  { title: 'WHAT A KILL DOES', rank: 0, isProse: true },
]

/** The question. `seen`: what a kill would find now, or why that is not known. */
export function killQuestion(seen: Seen | string, asked: AskedKill, width: number): string {
  const rest = wrapped('', effect(asked), width).join('\n')
  if (typeof seen === 'string') {
    const unknown = `Positions and resting orders cannot be read now (${seen.replaceAll(/\s+/g, ' ')}). The kill keeps reading until it is done.`
    return [...wrapped('', unknown, width), '', rest].join('\n')
  }
  const { positions, orders, unlisted, inFlight, unread } = seen
  const triggerText = triggersIn<Pick<Seen['unlisted'][number], 'symbol' | 'triggerPrice'>>(
    [...orders, ...unlisted],
    ({ symbol }) => symbol ?? '',
    ({ triggerPrice }) => [triggerPrice],
  )
  const rows = [
    ...positions.map((position) => [
      `${position.direction} ${position.symbol}`,
      money(BigInt(position.sizeUsd)),
      money(BigInt(position.pnlUsd)),
      '',
      asked.close ? 'closes it at the market' : `stays: ${protectionText(position)}`,
    ]),
    ...orders.map((order) => [
      order.symbol === null ? order.name : `${order.name} ${order.direction} ${order.symbol}`,
      order.symbol === null ? '' : money(BigInt(order.sizeUsd)),
      '',
      triggerText(order, order.triggerPrice),
      orderFate(order.stays, asked),
    ]),
    ...unlisted.map(({ name, symbol, direction, sizeUsd, triggerPrice, stays, why }) => [
      [...(name === null ? [] : [name]), ...(symbol === null ? [] : [direction, symbol])].join(' '),
      sizeUsd === null || symbol === null ? '' : money(BigInt(sizeUsd)),
      '',
      triggerText({ symbol, triggerPrice }, triggerPrice),
      `${name === null ? (stays ? 'stays' : 'closes it at the market') : orderFate(stays, asked)}; ${why}`,
    ]),
  ]
  const more = [
    ...(inFlight === 0
      ? []
      : [`${counted(inFlight, 'more order')} in flight: the kill waits for the outcome of each.`]),
    ...unread.map((each) => `Not shown: ${each}.`),
  ]
  return [
    rows.length === 0 ? 'perpd sees no positions and no resting orders.' : table(columns, rows, width),
    '',
    ...more.flatMap((each) => wrapped('', each, width)),
    rest,
  ].join('\n')
}

function orderFate(stays: boolean, { close }: AskedKill): string {
  return !stays ? 'cancelled' : close ? 'stays until its position is closed' : 'stays'
}

function effect({ close, exits }: AskedKill): string {
  const halts = 'Trading is halted until you resume it (perpd trading active), and every task ends.'
  if (close) return `${halts} Everything is cancelled and closed.`
  return exits
    ? `${halts} Every order is cancelled: positions stay, without stop-losses and take-profits.`
    : `${halts} Positions stay, with their stop-losses and take-profits (--exits cancels them too, --close closes the positions).`
}
