/** Describes an order beyond its size: the lines of `perpd explain` that differ by kind. Pure. */

import type { Intent } from '../../domain/order/intent.ts'
import { orderTypeName } from '../../domain/order/orderTerms.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import { formatUnits, MAX_UINT256, NATIVE_DECIMALS, priceOfContractPrice } from '../../protocol/units.ts'
import { money, span } from '../text.ts'

/** Lists the particulars of a kind: its trigger, exits, changes or least output; nothing for market orders. */
export function kindLines({ kind, terms }: Intent): string[] {
  const { triggerPrice, twap, tpsl, swap, edit, batch, indexToken } = terms
  const lines: string[] = []
  if (triggerPrice !== undefined && kind !== 'edit')
    lines.push(`waits for ${formatExactPrice(triggerPrice)} (${orderTypeName(terms.orderType)})`)
  if (twap !== undefined)
    lines.push(`${twap.parts} equal parts over ${span(twap.durationSeconds * 1_000)}, the first at once`)
  for (const exit of tpsl ?? [])
    lines.push(`${exit.type} of ${money(exit.sizeDeltaUsd)} at ${formatExactPrice(exit.triggerPrice)}`)
  if (swap !== undefined) {
    const { symbol, decimals } = swap.receiveToken
    lines.push(`least output ${formatUnits(swap.minOutputAmount, decimals)} ${symbol}`)
  }
  if (edit !== undefined) {
    const price = (contractPrice: bigint) =>
      contractPrice === 0n || contractPrice === MAX_UINT256
        ? 'any'
        : formatExactPrice(priceOfContractPrice(contractPrice, indexToken.decimals))
    lines.push(
      `is to be ${money(edit.sizeDeltaUsd)} at ${price(edit.triggerContractPrice)}, accepting ${price(edit.acceptableContractPrice)}`,
    )
    if (edit.executionFeeIncrease > 0n) {
      const held = formatUnits(edit.executionFeeHeld ?? 0n, NATIVE_DECIMALS)
      const more = formatUnits(edit.executionFeeIncrease, NATIVE_DECIMALS)
      lines.push(`its execution fee of ${held} is topped up by ${more} native for the current gas price`)
    }
  }
  if (batch !== undefined) {
    const { createOrderParamsList, updateOrderParamsList, cancelOrderKeys: cancels } = batch
    lines.push(
      `creates ${createOrderParamsList.length}, updates ${updateOrderParamsList.length}, cancels ${cancels.length}`,
    )
  }
  return lines
}
