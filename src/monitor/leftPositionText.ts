/** A position that a kill leaves, as the log, commands and notifications say it. Pure. */
import { formatPrice } from '../protocol/priceText.ts'
import { money } from './text.ts'

/** A position as a kill reports it, with amounts as bigints or as texts of JSON. */
export interface ShownLeftPosition {
  readonly symbol: string
  readonly direction: string
  readonly sizeUsd: bigint | string
  readonly exits: readonly { readonly name: string; readonly triggerPrice: bigint | string | null }[]
  readonly uncoveredUsd: bigint | string
}

/** `long ETH/USD [WETH-USDC] $500.00 (stop-loss at $1,900.00, take-profit at $2,300.00)`; what no stop-loss would close is said. */
export function leftPositionText(position: ShownLeftPosition): string {
  const { symbol, direction, sizeUsd } = position
  return `${direction} ${symbol} ${money(BigInt(sizeUsd))} (${protectionText(position)})`
}

/** `stop-loss at $1,900.00, take-profit at $2,300.00`, or `no stop-loss`. */
export function protectionText({ exits, sizeUsd, uncoveredUsd }: ShownLeftPosition): string {
  const bareUsd = BigInt(uncoveredUsd)
  const parts = exits.map(({ name, triggerPrice }) =>
    triggerPrice === null ? name : `${name} at ${formatPrice(BigInt(triggerPrice))}`,
  )
  const bare =
    bareUsd === 0n
      ? []
      : bareUsd >= BigInt(sizeUsd)
        ? [exits.some(({ name }) => name === 'stop-loss') ? 'no stop-loss that can fire' : 'no stop-loss']
        : [`no stop-loss for ${money(bareUsd)} of it`]
  return [...parts, ...bare].join(', ')
}
