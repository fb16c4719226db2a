/** Result of each fill by the books: its parts, after all their costs. Folded over postings. Pure. */
import type { FillCosts } from '../domain/order/orderLegs.ts'
import { resultOf } from './figures.ts'
import { type Posting, UNATTRIBUTED } from './sideParts.ts'

/** The fold: the newest fills, no more than `most`. */
export class FillResults {
  /** By id of the move, which is the order's key. */
  readonly #fills: Map<string, FillCosts>
  readonly #most: number

  constructor(fills: readonly (readonly [id: string, fill: FillCosts])[], most: number) {
    this.#fills = new Map(fills)
    this.#most = most
  }

  /** Takes in a posting that nothing takes back any more. */
  take(posting: Posting): void {
    const id = fillIdOf(posting)
    const fill = id === undefined ? undefined : withFill(this.#fills.get(id), posting)
    if (id === undefined || fill === undefined) return
    this.#fills.set(id, fill)
    for (const oldest of this.#fills.keys()) {
      if (this.#fills.size <= this.#most) return
      this.#fills.delete(oldest)
    }
  }

  /** Returns a fill, with its pending postings. */
  of(id: string, waiting: readonly Posting[]): FillCosts | undefined {
    return waiting.filter((each) => fillIdOf(each) === id).reduce(withFill, this.#fills.get(id))
  }

  /** Takes a posting out again, because it is computed anew. */
  giveBack(posting: Posting): void {
    const { move, bearerId } = posting
    const borne = bearerId === undefined ? undefined : this.#fills.get(bearerId)
    if (bearerId !== undefined && borne !== undefined) {
      const [pnlUsd, cancellingUsd] = [borne.pnlUsd + move.sendingUsd, borne.cancellingUsd - move.sendingUsd]
      this.#fills.set(bearerId, { ...borne, pnlUsd, cancellingUsd })
    }
    if (bearerId === undefined) this.#fills.delete(move.id)
  }

  /** The chain took it back. */
  delete(id: string): void {
    this.#fills.delete(id)
  }

  /** For a snapshot. */
  state(): readonly (readonly [id: string, fill: FillCosts])[] {
    return [...this.#fills]
  }
}

/** Returns the id of the fill that a posting concerns; undefined: none of ours. */
function fillIdOf({ move, bearerId }: Posting): string | undefined {
  const isOurs = move.intentId !== undefined && move.strategy !== UNATTRIBUTED
  return bearerId ?? (move.spent === undefined && isOurs ? move.id : undefined)
}

/** Returns a fill's result with one more posting added. */
function withFill(before: FillCosts | undefined, posting: Posting): FillCosts | undefined {
  const { move, strategy, figures, sizeDeltaUsd, carriedUsd, entryCostsUsd, bearerId } = posting
  if (bearerId !== undefined) {
    if (before === undefined) return undefined
    const { sendingUsd } = move
    const [pnlUsd, cancellingUsd] = [before.pnlUsd - sendingUsd, before.cancellingUsd + sendingUsd]
    return { ...before, pnlUsd, cancellingUsd }
  }
  const reduces = move.sizeDeltaUsd < 0n
  const known = before ?? {
    pnlUsd: reduces ? -move.sendingUsd : 0n,
    sendingUsd: move.sendingUsd,
    entryCostsUsd: 0n,
    cancellingUsd: 0n,
    isEntryKnown: true,
  }
  if (sizeDeltaUsd >= 0n) return known
  // The carried amount contains charges by time; the sending cost counts once, whoever holds the parts.
  const { pricePnlUsd, impactUsd, positionFeesUsd } = figures
  const borneUsd = carriedUsd - (strategy === move.strategy ? move.sendingUsd : 0n)
  return {
    ...known,
    pnlUsd: known.pnlUsd + resultOf({ pricePnlUsd, impactUsd, positionFeesUsd }) - borneUsd,
    entryCostsUsd: known.entryCostsUsd + entryCostsUsd,
    isEntryKnown: known.isEntryKnown && strategy !== UNATTRIBUTED,
  }
}
