/** The venue's own record: every submit it received, and what became of it. Never shown on the wire. */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Operation } from './venueRecords.ts'
import type { VenueState } from './venueState.ts'

/** A submit as it arrived. */
export interface SubmitEntry {
  readonly receivedAtMs: number
  readonly lane: 'order-chain' | 'relay'
  /** `api/0`, `api/1`. */
  readonly host: string
  readonly requestId: string | null
  account: Address | null
  digest: Hex | null
  signature: string | null
  /** Result that the response stated or would have stated: `accepted`, `repeated`, or a refusal. */
  result: string
  taskId: Hex | null
}

/** An entry with what the chain made of it. */
export interface SettledEntry extends SubmitEntry {
  readonly operationStatus: Operation['status'] | null
  /** The relay's fault that hit it. */
  readonly fault?: string
  readonly orders: readonly { readonly orderKey: Hex; readonly status: string; readonly reason?: string }[]
}

/** The record with today's outcomes. */
export function settledRecord(venueState: VenueState, entries: readonly SubmitEntry[]): SettledEntry[] {
  return entries.map((entry) => {
    const operation = entry.taskId === null ? undefined : venueState.operations.get(entry.taskId)
    return {
      ...entry,
      operationStatus: operation?.status ?? null,
      ...defined({ fault: operation?.fault }),
      orders: [...(operation?.orderKeys ?? []), ...(operation?.afterwards?.orderKeys ?? [])].map(
        (orderKey) => {
          const outcome = venueState.outcomes.get(orderKey.toLowerCase())
          return {
            orderKey,
            status: outcome?.status ?? 'created',
            ...defined({ reason: outcome?.reason }),
          }
        },
      ),
    }
  })
}
