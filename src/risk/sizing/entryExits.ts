/**
 * The exits that an increase brings with it. An exit at the venue sees the whole position of a side (contract `DecreaseOrderUtils`), and does not
 * wait for its entry: one that the price has passed would close other positions there.
 */
import type { IncreaseDecision } from '../../domain/order/decision.ts'
import { closedBps, type EntryExits, withPlannedExits } from '../../domain/order/exitSettings.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { ExitTerms } from '../../domain/order/orderTerms.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { BPS_ONE, type Usd } from '../../protocol/units.ts'
import { isDenial } from '../exposure/admissionContext.ts'
import { exitsOf, placed } from './triggerOrders.ts'

/** An entry, as far as its exits need it. */
export interface Entry {
  readonly sizeDeltaUsd: Usd
  /** At about which it opens, USD per whole index token. */
  readonly entryPrice: Usd
  readonly view: MarketView
  /** Those of the file; absent: it has none. */
  readonly exits?: EntryExits | undefined
  /** True if anybody holds a position where it opens. */
  readonly isHeld: boolean
  /** Present price for an entry that waits for its trigger, USD per whole index token. */
  readonly price?: Usd
}

/**
 * Returns its exits; undefined: none. Exits of the file that the price has passed while the entry waits are left out: the maintenance of exits places
 * them once it filled.
 *
 * Refuses with the codes of `exitsOf`. Refuses with TRIGGER_WOULD_FIRE an exit that is past, that nobody would place later, and that would close an
 * open position: one of the decision itself, or a target of a file whose targets leave a rest.
 */
export function entryExits(
  decision: IncreaseDecision,
  { sizeDeltaUsd, entryPrice, view, exits, isHeld, price }: Entry,
): readonly ExitTerms[] | undefined | Denial {
  const all = exitsOf(withPlannedExits(decision, exits, entryPrice), sizeDeltaUsd, entryPrice, view)
  if (all === undefined || isDenial(all) || price === undefined) return all
  const ofDecision = decision.tpsl?.length ?? 0
  const areTargetsPlaced = exits !== undefined && closedBps(exits.takeProfits) === BPS_ONE
  const left: ExitTerms[] = []
  for (const [index, exit] of all.entries()) {
    const waits = placed(exit.type, exit.triggerPrice, decision.direction, price, view)
    const isPlacedLater = index >= ofDecision && (exit.type === 'stop-loss' || areTargetsPlaced)
    if (typeof waits === 'object' && isPlacedLater) continue
    if (typeof waits === 'object' && isHeld) return { ...waits, reason: firesOnHeld(exit, view) }
    left.push(exit)
  }
  return left.length === 0 ? undefined : left
}

function firesOnHeld({ type }: ExitTerms, { indexToken: { symbol } }: Entry['view']): string {
  return `The price of ${symbol} is already past the ${type} of this entry; while the entry waits, this exit would close the position on that side.`
}
