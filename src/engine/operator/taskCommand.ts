/** Commands that start and stop tasks: what is asked, as it is kept in the journal. Amounts are decimal texts. */
import type { Direction } from '../../protocol/market.ts'

/** What a task may use at most; what is not given is made from the task's own size and parts. */
export interface AskedBudget {
  readonly maxOrders?: number
  /** USD. */
  readonly maxFees?: string
  readonly maxMinutes?: number
}

/** Starts a twap. */
export interface StartTwapCommand extends AskedBudget {
  readonly type: 'task'
  readonly kind: 'twap'
  /** Chosen by whoever asks: the same id is one task, over restarts too. */
  readonly id: string
  /** A symbol, `ETH/USD`, `ETH`, or an address. */
  readonly market: string
  readonly direction: Direction
  /** USD, of all parts together. */
  readonly size: string
  /** Whether it takes off what is held. */
  readonly reduce: boolean
  /** Times: `2.5`. Increases only, and there it must be given. */
  readonly leverage?: string
  /** The token of the market's pool that pays and backs it, or backs the position that is meant. */
  readonly collateral?: 'long' | 'short'
  readonly parts: number
  readonly minutes: number
  /** USD per whole index token: no part at a worse price. */
  readonly price?: string
  /** The most of the available capacity that a part may take, bps. */
  readonly shareBps: number
  readonly route: 'auto' | 'own'
  /** Says what it would be; nothing is made, and nothing written. */
  readonly isPreview: boolean
}

/** Ends a task before it is done. */
export interface StopTaskCommand {
  readonly type: 'task-stop'
  /** A task's id, or its first characters. */
  readonly task: string
  readonly reason: string
}

/** A command about tasks. */
export type TaskCommand = StartTwapCommand | StopTaskCommand

/** What a start asks for, without its id: two of one id must agree in it. */
export function askedOfTask({
  market,
  direction,
  size,
  reduce,
  leverage,
  collateral,
  parts,
  minutes,
  price,
  shareBps,
  route,
  ...budget
}: Omit<StartTwapCommand, 'type' | 'kind' | 'id' | 'isPreview'>): string {
  const { maxOrders, maxFees, maxMinutes } = budget
  const words = [
    `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD in ${parts} parts over ${minutes} min`,
  ]
  if (leverage !== undefined) words.push(`at ${leverage}x`)
  if (collateral !== undefined) words.push(`on the ${collateral} token`)
  if (price !== undefined) words.push(`not worse than ${price}`)
  words.push(`at most ${shareBps / 100} percent of the capacity a part`)
  if (route === 'own') words.push("without the venue's own twap")
  if (maxOrders !== undefined) words.push(`at most ${maxOrders} orders`)
  if (maxFees !== undefined) words.push(`at most ${maxFees} USD of fees`)
  if (maxMinutes !== undefined) words.push(`at most ${maxMinutes} min`)
  return words.join(', ')
}
