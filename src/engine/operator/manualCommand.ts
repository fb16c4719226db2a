/** Orders that an operator makes by hand: the request as it is persisted in the journal. Amounts are decimal texts. */
import type { Direction } from '../../protocol/market.ts'

interface Handed {
  /** Chosen by whoever asks: the same id is carried out once, over restarts too. */
  readonly id: string
}

/** Opens or adds to a position; whole, or not at all. */
export interface OpenCommand extends Handed {
  readonly type: 'open'
  /** A symbol, `ETH/USD`, `ETH`, or an address. */
  readonly market: string
  readonly direction: Direction
  /** USD. */
  readonly size: string
  /** Times: `2.5`. */
  readonly leverage: string
  /** The token of the market's pool that pays and backs it. */
  readonly collateral: 'long' | 'short'
  /** USD per whole index token: waits for a better price, or for a worse one. At most one of both. */
  readonly limit?: string
  readonly stop?: string
  readonly takeProfit?: string
  readonly stopLoss?: string
  /** True to show the order and its cost at worst; nothing is made, and nothing written. */
  readonly isPreview: boolean
}

/** Closes a position, or a share of it, at the market. */
export interface CloseCommand extends Handed {
  readonly type: 'close'
  readonly market: string
  readonly direction: Direction
  /** 10000 is all of it. */
  readonly shareBps: number
  /** Token that backs the intended one of two positions on a side. */
  readonly collateral?: 'long' | 'short'
  /** True to show the result and the cost; nothing is made, and nothing written. Absent: false. */
  readonly isPreview?: boolean
}

/** Cancels the resting orders of an intent. */
export interface CancelCommand extends Handed {
  readonly type: 'cancel'
  /** An id of `perpd orders`, or the key of an order at the venue, 0x and hex; whole or the first characters. */
  readonly order: string
  /** True to show the cancels, and the positions left without a stop-loss; nothing is made, and nothing written. Absent: false. */
  readonly isPreview?: boolean
}

/** An order by hand. */
export type ManualCommand = OpenCommand | CloseCommand | CancelCommand

/** Describes a command's request, without its id: two commands of one id must agree in it. */
export function askedOf(command: ManualCommand): string {
  switch (command.type) {
    case 'open': {
      const { market, direction, size, leverage, collateral, limit, stop, takeProfit, stopLoss } = command
      const words = [`open ${market} ${direction} ${size} USD at ${leverage}x on the ${collateral} token`]
      if (limit !== undefined) words.push(`limit ${limit}`)
      if (stop !== undefined) words.push(`stop ${stop}`)
      if (takeProfit !== undefined) words.push(`take-profit ${takeProfit}`)
      if (stopLoss !== undefined) words.push(`stop-loss ${stopLoss}`)
      return words.join(', ')
    }
    case 'close': {
      const { market, direction, shareBps, collateral } = command
      return `close ${market} ${direction}, ${shareBps / 100} percent${collateral === undefined ? '' : ` on the ${collateral} token`}`
    }
    case 'cancel':
      return `cancel ${command.order}`
  }
}
