/** The size of an order as tables show it. Pure. */
import type { OrderRow } from '../../domain/summaries/orderView.ts'
import { money } from '../../monitor/text.ts'

/** A cancel, or a change of the collateral alone, has no size. */
export function sizeText({ sizeDeltaUsd }: OrderRow): string {
  return sizeDeltaUsd === '0' ? '-' : money(BigInt(sizeDeltaUsd))
}
