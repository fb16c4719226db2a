/**
 * The account's list of orders, as the one look at all resting orders: a single read shows every waiting order, so none of them is queried separately
 * while it is listed. The list decides when an order is queried, and proves nothing.
 *
 * Lists that others read are taken too (`saw`); it reads one itself when none arrived for the pause. The pause is `statusPollMs` after a change and
 * grows to `statusPollMaxMs`.
 */

import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import { lacksOrder, type MissingRow } from '../../protocol/missing.ts'
import type { Order } from '../../protocol/position.ts'
import type { Reading } from '../../protocol/reading.ts'
import type { HasApi, HasClock, HasSettings } from '../context/executionParts.ts'

/** State of an order in the newest list: `gone`: an earlier list showed it; `not-shown`: none did, or its row may be an unreadable one. */
export type Shown = 'listed' | 'changed' | 'gone' | 'not-shown'

/** Dependencies of the list. */
export interface OrdersListOptions {
  readonly account: Address
  /** Lower-case keys of our orders that rest by the journal; while there are none nothing is read. */
  readonly watched: () => ReadonlySet<string>
  /** A list was taken, or none came for too long. */
  readonly onChange: () => void
  readonly signal: AbortSignal
}

/** The account's list of orders. */
export interface OrdersList {
  /** Takes a list that was read; one that is older than the newest is left. */
  saw(list: Reading<readonly Order[]>): void
  /** Returns the state of an order in the newest list; `not-shown` when no list arrived for three of the longest pauses. */
  shown(orderKey: Hex): Shown
  /** Something moved, or is about to: the next reads come soon. */
  hurry(): void
  /** Reads until the signal. Rejects with mistakes of ours alone. */
  run(): Promise<void>
}

const GROWTH = 1.25
/** Longest pauses without a list after which the newest one is old. */
const OLD_AFTER = 3

interface Known {
  /** Order rows by lower-case key, as text. */
  readonly rows: ReadonlyMap<string, string>
  /** Keys whose row differs from that of the list before; keys of ours that a list before had and this one has not. */
  readonly changed: ReadonlySet<string>
  readonly gone: ReadonlySet<string>
  readonly missing: readonly MissingRow[]
  /** Time of the request, monotonic ms. */
  readonly askedMs: number
}

/** Makes it; nothing is known before the first list. */
export function createOrdersList(
  { api, clock, settings }: HasApi & HasClock & HasSettings,
  { account, watched, onChange, signal }: OrdersListOptions,
): OrdersList {
  let known: Known | undefined
  let triedMs = Number.NEGATIVE_INFINITY
  let pauseMs = settings.statusPollMs
  let wakeSignal = new AbortController()

  function isOld({ askedMs }: Known): boolean {
    return clock.monotonicMs() - askedMs > OLD_AFTER * settings.statusPollMaxMs
  }

  function wake(): void {
    wakeSignal.abort()
    wakeSignal = new AbortController()
  }

  function saw({ value, atMs, missing = [] }: Reading<readonly Order[]>): void {
    const askedMs = clock.monotonicMs() - Math.max(0, clock.now() - atMs)
    if (known !== undefined && askedMs <= known.askedMs) return
    const rows = new Map(value.map((row) => [hexKey(row.orderKey), textOf(row)]))
    const before = known?.rows ?? new Map<string, string>()
    const changed = [...rows].filter(([key, text]) => (before.get(key) ?? text) !== text)
    const ours = watched()
    const left = [...before.keys(), ...(known?.gone ?? [])].filter((key) => ours.has(key))
    known = {
      rows,
      changed: new Set(changed.map(([key]) => key)),
      gone: new Set(left.filter((key) => !rows.has(key) && !lacksOrder(missing, key))),
      missing,
      askedMs,
    }
    onChange()
  }

  return {
    saw,
    shown(orderKey) {
      if (known === undefined || isOld(known)) return 'not-shown'
      const key = hexKey(orderKey)
      if (known.rows.has(key)) return known.changed.has(key) ? 'changed' : 'listed'
      return known.gone.has(key) ? 'gone' : 'not-shown'
    },
    hurry() {
      pauseMs = settings.statusPollMs
      wake()
    },
    async run() {
      signal.addEventListener('abort', wake, { once: true })
      try {
        while (!signal.aborted) {
          const lastMs = Math.max(triedMs, known?.askedMs ?? Number.NEGATIVE_INFINITY)
          const waitMs =
            watched().size > 0 ? lastMs + pauseMs - clock.monotonicMs() : settings.statusPollMaxMs
          if (waitMs > 0) {
            await clock.sleep(waitMs, wakeSignal.signal)
            continue
          }
          triedMs = clock.monotonicMs()
          pauseMs = Math.min(pauseMs * GROWTH, settings.statusPollMaxMs)
          try {
            const { value, readAtMs, missing } = await api.getOrders({ account })
            if (signal.aborted) return
            saw({ value, atMs: readAtMs, ...defined({ missing }) })
          } catch (error) {
            if (!(error instanceof BaseError)) throw error
            // The known list grows old, and each order is queried separately.
            onChange()
          }
        }
      } finally {
        signal.removeEventListener('abort', wake)
      }
    },
  }
}

/** Returns the part of a row that shows whether the order moved. */
function textOf(row: Order): string {
  const { sizeDeltaUsd, triggerContractPrice, acceptableContractPrice, isFrozen, updatedAtSeconds } = row
  return [sizeDeltaUsd, triggerContractPrice, acceptableContractPrice, isFrozen, updatedAtSeconds].join(' ')
}
