/** Commands that start and stop tasks: the request as it is persisted in the journal, and in words. Amounts and prices are decimal texts. */
import type { Direction } from '../../protocol/market.ts'

/** Largest budget of a task; missing figures are derived from the task's own size and parts. */
export interface AskedBudget {
  readonly maxOrders?: number
  /** USD. */
  readonly maxFees?: string
  readonly maxMinutes?: number
}

interface AskedTask extends AskedBudget {
  readonly type: 'task'
  /** Chosen by whoever asks: the same id is one task, over restarts too. */
  readonly id: string
  /** True to show the task; nothing is made, and nothing written. */
  readonly isPreview: boolean
}

interface AskedSide extends AskedTask {
  /** A symbol, `ETH/USD`, `ETH`, or an address. */
  readonly market: string
  readonly direction: Direction
  /** The token of the market's pool that pays and backs it, or backs the position that is meant. */
  readonly collateral?: 'long' | 'short'
  /** Times: `2.5`. Increases only, and there it must be given. */
  readonly leverage?: string
}

/** Starts a twap. */
export interface StartTwapCommand extends AskedSide {
  readonly kind: 'twap'
  /** USD, of all parts together. */
  readonly size: string
  /** True if it reduces the position. */
  readonly reduce: boolean
  readonly parts: number
  readonly minutes: number
  /** USD per whole index token: no part at a worse price. */
  readonly price?: string
  /** The most of the available capacity that a part may take, bps. */
  readonly shareBps: number
  readonly route: 'auto' | 'own'
}

/** Adds until the position has a size. */
export interface StartAccumulateCommand extends AskedSide {
  readonly kind: 'accumulate'
  /** Size that the position is to have, USD. */
  readonly target: string
  /** No order at a worse price. */
  readonly price: string
  readonly shareBps: number
  readonly everySeconds?: number
  /** Least size of an order, USD. */
  readonly least?: string
}

/** Opens in rungs. */
export interface StartLadderCommand extends AskedSide {
  readonly kind: 'ladder'
  readonly size: string
  readonly rungs: number
  readonly growthBps?: number
  readonly stepBps?: number
  readonly everySeconds?: number
  /** From the averaged entry, bps. */
  readonly profitBps?: number
  /** From the price of the first rung, bps. */
  readonly stopBps?: number
}

/** A limit that follows the price, then the market. */
export interface StartChaseCommand extends AskedSide {
  readonly kind: 'chase'
  readonly size: string
  readonly reduce: boolean
  readonly minutes: number
  /** It never goes beyond. */
  readonly price: string
  readonly offsetBps?: number
  readonly stepBps?: number
  readonly everySeconds?: number
}

/** One entry with its exits. */
export interface StartBracketCommand extends AskedSide {
  readonly kind: 'bracket'
  readonly size: string
  /** Absent: at the market. */
  readonly entry?: string
  readonly takeProfit?: string
  readonly stopLoss: string
}

/** Positions at weights of a total. */
export interface StartRebalanceCommand extends AskedTask {
  readonly kind: 'rebalance'
  /** USD. */
  readonly total: string
  /** Bps of the total by the name of a market, below 0 for a short. */
  readonly weights: Readonly<Record<string, number>>
  readonly leverage: string
  readonly collateral?: 'long' | 'short'
  readonly bandBps?: number
  readonly shareBps: number
  readonly least?: string
}

/** Starts a task. */
export type StartTaskCommand =
  | StartTwapCommand
  | StartAccumulateCommand
  | StartLadderCommand
  | StartChaseCommand
  | StartBracketCommand
  | StartRebalanceCommand

/** Ends a task before it is done. */
export interface StopTaskCommand {
  readonly type: 'task-stop'
  /** A task's id, or its first characters. */
  readonly task: string
  readonly reason: string
}

/** A command about tasks. */
export type TaskCommand = StartTaskCommand | StopTaskCommand

type Without<Command> = Omit<Command, 'type' | 'id' | 'isPreview'>
type Asked =
  | Without<StartTwapCommand>
  | Without<StartAccumulateCommand>
  | Without<StartLadderCommand>
  | Without<StartChaseCommand>
  | Without<StartBracketCommand>
  | Without<StartRebalanceCommand>

/** Describes its request, without its id. */
export function askedOfTask(command: Asked | StartTaskCommand): string {
  const { maxOrders, maxFees, maxMinutes, leverage, collateral } = command
  const [what, ...own] = wordsOf(command)
  return [
    what,
    ...(leverage === undefined ? [] : [`at ${leverage}x`]),
    ...(collateral === undefined ? [] : [`on the ${collateral} token`]),
    ...own,
    ...(maxOrders === undefined ? [] : [`at most ${maxOrders} orders`]),
    ...(maxFees === undefined ? [] : [`at most ${maxFees} USD of fees`]),
    ...(maxMinutes === undefined ? [] : [`at most ${maxMinutes} min`]),
  ].join(', ')
}

function wordsOf(command: Asked): readonly string[] {
  switch (command.kind) {
    case 'twap': {
      const { market, direction, size, reduce, parts, minutes, price, shareBps, route } = command
      return [
        `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD in ${parts} parts over ${minutes} min`,
        ...(price === undefined ? [] : [`not worse than ${price}`]),
        ofCapacity(shareBps, 'a part'),
        ...(route === 'own' ? ["without the venue's own twap"] : []),
      ]
    }
    case 'accumulate': {
      const { market, direction, target, price, shareBps, everySeconds, least } = command
      return [
        `add to ${market} ${direction} until it has ${target} USD`,
        `not worse than ${price}`,
        ofCapacity(shareBps, 'an order'),
        ...(everySeconds === undefined ? [] : [`every ${everySeconds} s`]),
        ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
      ]
    }
    case 'ladder': {
      const { market, direction, size, rungs, growthBps, stepBps, everySeconds, profitBps, stopBps } = command
      return [
        `open ${market} ${direction} by ${size} USD in ${rungs} rungs`,
        stepBps === undefined ? `every ${everySeconds ?? 0} s` : `every ${percent(stepBps)}`,
        ...(growthBps === undefined ? [] : [`each ${growthBps / 10_000} times the one before`]),
        ...(profitBps === undefined ? [] : [`target ${percent(profitBps)} from the average`]),
        ...(stopBps === undefined ? [] : [`stop ${percent(stopBps)} from the first`]),
      ]
    }
    case 'chase': {
      const { market, direction, size, reduce, minutes, price, offsetBps, stepBps, everySeconds } = command
      return [
        `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD with a limit behind the price, at the market after ${minutes} min`,
        `not worse than ${price}`,
        ...(offsetBps === undefined ? [] : [`${percent(offsetBps)} behind`]),
        ...(stepBps === undefined ? [] : [`moved by ${percent(stepBps)} or more`]),
        ...(everySeconds === undefined ? [] : [`every ${everySeconds} s`]),
      ]
    }
    case 'bracket': {
      const { market, direction, size, entry, takeProfit, stopLoss } = command
      return [
        `open ${market} ${direction} by ${size} USD at ${entry ?? 'the market'}`,
        `stop ${stopLoss}`,
        ...(takeProfit === undefined ? [] : [`target ${takeProfit}`]),
      ]
    }
    case 'rebalance': {
      const { total, weights, bandBps, shareBps, least } = command
      const each = Object.entries(weights).map(([market, weightBps]) => `${market} ${percent(weightBps)}`)
      return [
        `bring ${total} USD to ${each.join(', ')}`,
        ...(bandBps === undefined ? [] : [`a drift of ${percent(bandBps)} left alone`]),
        ofCapacity(shareBps, 'an order'),
        ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
      ]
    }
  }
}

function ofCapacity(shareBps: number, what: string): string {
  return `at most ${shareBps / 100} percent of the capacity ${what}`
}

function percent(basisPoints: number): string {
  return `${basisPoints / 100} percent`
}
