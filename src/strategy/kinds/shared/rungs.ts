/** The memory of a ladder: the filled rungs, and whether one is requested. Folded from the outcomes of its own orders. Pure. */
import type { OwnEvent } from '../../../domain/memory/ownEvent.ts'
import type { Direction } from '../../../protocol/market.ts'
import type { Usd } from '../../../protocol/units.ts'
import { z } from '../../strategy.ts'

/** One market's ladder. */
export const ladderSchema = z.strictObject({
  /** Filled ones, oldest first, each once. */
  rungs: z
    .array(
      z.strictObject({
        intentId: z.string(),
        /** USD per whole index token. */
        price: z.bigint(),
        sizeUsd: z.bigint(),
        /** Unix ms. */
        atMs: z.number(),
      }),
    )
    .readonly(),
  /** Time from which a rung is requested whose end is unknown, Unix ms. */
  askedAtMs: z.number().optional(),
  /** Time from which no position is held although rungs were filled, Unix ms. */
  flatSinceMs: z.number().optional(),
  /** Time when a rung was denied, Unix ms. */
  deniedAtMs: z.number().optional(),
  /** Time when the last ladder ended, Unix ms. */
  endedAtMs: z.number().optional(),
  /** Events were lost: how many rungs there are is not known, and none is added until nothing is held. */
  isLost: z.boolean().optional(),
})

/** One market's ladder as it is remembered. */
export type Ladder = z.output<typeof ladderSchema>

/** One that has not begun. */
export const noLadder: Ladder = { rungs: [] }

/** Default price and size for a fill that states none. */
interface Usual {
  readonly price: Usd
  readonly sizeUsd: Usd
}

/**
 * Returns the ladder after an event of its market. A fill is one rung however often it is reported, and one that the chain took back is none. An end
 * without a fill leaves the rung to be requested again.
 */
export function afterEvent(ladder: Ladder, event: OwnEvent, direction: Direction, usual: Usual): Ladder {
  if (event.direction !== direction) return ladder
  const { askedAtMs, ...settled } = ladder
  switch (event.kind) {
    case 'denied':
      return event.order === 'increase' ? { ...settled, deniedAtMs: event.atMs } : ladder
    case 'closed': {
      const isRung = ladder.rungs.some(({ intentId }) => intentId === event.intentId)
      return event.order === 'increase' && event.outcome !== 'EXECUTED' && !isRung ? settled : ladder
    }
    case 'filled': {
      if (!event.adds) return ladder
      const { intentId, atMs } = event
      const price = event.executionPrice ?? usual.price
      const sizeUsd = event.sizeDeltaUsd ?? usual.sizeUsd
      const others = ladder.rungs.filter((rung) => rung.intentId !== intentId)
      return { ...settled, rungs: [...others, { intentId, price, sizeUsd, atMs }] }
    }
    case 'unfilled': {
      const rungs = ladder.rungs.filter(({ intentId }) => intentId !== event.intentId)
      // The order may be executed again: its end is awaited anew.
      return event.adds ? { ...ladder, rungs, askedAtMs: askedAtMs ?? event.atMs } : ladder
    }
  }
}

/** Time without a shown position before a ladder is over, ms: the lists may lag behind a fill. */
const SETTLED_MS = 60_000

/** The ladder now that this much is held on its side. `isKnown`: the list of positions hides nothing there. */
export function afterLook(ladder: Ladder, heldUsd: Usd, isKnown: boolean, atMs: number): Ladder {
  const { flatSinceMs, ...rest } = ladder
  const isBegun = ladder.rungs.length > 0 || ladder.isLost === true
  if (heldUsd > 0n || !isKnown || !isBegun || ladder.askedAtMs !== undefined) return rest
  const since = flatSinceMs ?? atMs
  return atMs - since < SETTLED_MS ? { ...rest, flatSinceMs: since } : { rungs: [], endedAtMs: atMs }
}
