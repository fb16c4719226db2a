/** An account's events by order, transaction and block: hundreds of attempts look theirs up among thousands in every look. */
import type { AttemptQuery } from '../../domain/machine/chainReader.ts'
import type { Consumer } from '../../domain/machine/chainView.ts'
import { hexKey } from '../../protocol/address.ts'
import type { OrderEvent } from './orderLogs.ts'

/** An account's events, found by order, transaction and block. */
export interface EventIndex {
  readonly all: readonly OrderEvent[]
  readonly place: ReadonlyMap<OrderEvent, number>
  readonly byKey: ReadonlyMap<string, readonly OrderEvent[]>
  readonly byTransaction: ReadonlyMap<string, readonly OrderEvent[]>
  readonly byBlock: ReadonlyMap<string, readonly OrderEvent[]>
}

/** Makes the index. `all` in chain order. */
export function indexOf(all: readonly OrderEvent[]): EventIndex {
  return {
    all,
    place: new Map(all.map((event, at) => [event, at])),
    byKey: Map.groupBy(all, ({ orderKey }) => orderKey),
    byTransaction: Map.groupBy(all, ({ transactionHash }) => transactionHash),
    byBlock: Map.groupBy(all, ({ blockHash }) => blockHash),
  }
}

/** Events that a view holds: those of the attempt's orders, those in the consumer, and those of the orders made there. */
export function eventsOf(
  query: AttemptQuery,
  consumer: Consumer | undefined,
  { place, byKey, byTransaction }: EventIndex,
): readonly OrderEvent[] {
  const keys = new Set(query.orderKeys.map(hexKey))
  const found = new Set<OrderEvent>()
  for (const event of consumer === undefined ? [] : (byTransaction.get(consumer.transactionHash) ?? [])) {
    if (event.blockHash !== consumer?.block.hash) continue
    found.add(event)
    if (event.event === 'OrderCreated') keys.add(event.orderKey)
  }
  for (const key of keys) for (const event of byKey.get(key) ?? []) found.add(event)
  return [...found].sort((one, other) => (place.get(one) ?? 0) - (place.get(other) ?? 0))
}

/** Counts the events of a consumer's transaction. */
export function countOf({ transactionHash, block }: Consumer, { byTransaction }: EventIndex): number {
  const events = byTransaction.get(transactionHash) ?? []
  return events.filter(({ blockHash }) => blockHash === block.hash).length
}

/** Counts the account's events in a consumer's block, as a search from the block `from` on sees them. */
export function countBeside({ block }: Consumer, from: bigint, index: EventIndex | undefined): number {
  return block.number < from ? 0 : (index?.byBlock.get(block.hash)?.length ?? 0)
}
