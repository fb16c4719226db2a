/**
 * One side of one market with one collateral token: the venue keeps one position there, and this keeps whose part of it is
 * whose. The rules, with examples, are in docs/books.md. Pure.
 */
import { defined } from '../base/defined.ts'
import type { Direction } from '../protocol/market.ts'
import { maxOf, sharesOf, type TokenAmount, type Usd } from '../protocol/units.ts'
import { addFigures, type Figures, noFigures } from './figures.ts'
import { type Move, takesOf } from './sideMove.ts'

/** Owner of the parts that no strategy opened; no strategy can have this name. */
export const UNATTRIBUTED = '@unattributed'

/** A part of a position. Only `UNATTRIBUTED` may be negative: more was reduced than the journal knows to have existed. */
export interface Part {
  /** As the venue counts the position, USD. */
  readonly sizeUsd: Usd
  /** Index token, base units; 0 where no evidence says it. */
  readonly sizeInTokens: TokenAmount
  /** Cost of its tokens, USD; divided by the tokens it is the entry price. */
  readonly costUsd: Usd
  /** Collateral token, base units: payments in, less collateral that left with reductions. */
  readonly collateral: TokenAmount
  /** Fees that are in the results and that reductions to come have to earn, USD. */
  readonly carriedUsd: Usd
  /** USD times ms since fees by time were last charged. */
  readonly sizeTime: bigint
  /** The newest round trip that ended: its ending event, and the result of that reduction after all costs so far, USD. */
  readonly ended?: { readonly id: string; readonly broughtUsd: Usd }
}

/** Nothing held. */
export const noPart: Part = {
  sizeUsd: 0n,
  sizeInTokens: 0n,
  costUsd: 0n,
  collateral: 0n,
  carriedUsd: 0n,
  sizeTime: 0n,
}

/** All parts of a side, by strategy, and until when their `sizeTime` is counted, Unix ms. */
export interface SideParts {
  readonly parts: ReadonlyMap<string, Part>
  readonly atMs: number
  /** Time from which all parts together have a size, Unix ms; absent: they have none. */
  readonly heldSinceMs?: number
  /** Index tokens of the side by its moves alone, base units: its parts add up to them. Absent: before any. */
  readonly tokens?: TokenAmount
}

/** Before anything. */
export const noParts: SideParts = { parts: new Map(), atMs: 0 }

/** Effect of a move on one book. */
export interface Posting {
  readonly move: Move
  readonly strategy: string
  readonly figures: Figures
  /** Change of the book's size. USD and tokens, signed. */
  readonly sizeDeltaUsd: Usd
  readonly sizeInTokens: TokenAmount
  /** Reductions: the cost of its tokens, and the share of carried fees that it had to earn, USD. */
  readonly costUsd: Usd
  readonly carriedUsd: Usd
  /** Part of the carried fees from before this move, USD: without the cost of sending it, and without its charges by time. */
  readonly entryCostsUsd: Usd
  /** Nothing is left of the book. */
  readonly isFlat: boolean
  /** Id of the event that ended the round trip which pays for this message; set for a message about exits after the book's last reduction. */
  readonly bearerId?: string
}

/** A side after a move, and the move's postings. */
export interface Applied {
  readonly after: SideParts
  readonly postings: readonly Posting[]
}

/** Applies a move. Sizes of the parts change by exactly `sizeDeltaUsd` together. */
export function applyMove(before: SideParts, direction: Direction, move: Move): Applied {
  const draft = new Draft(before, move)
  draft.chargeByTime()
  if (move.spent !== undefined) draft.spend()
  else if (move.sizeDeltaUsd > 0n) draft.increase()
  else if (move.sizeDeltaUsd < 0n) draft.reduce(direction === 'long' ? 1n : -1n)
  else draft.settle()
  return draft.applied()
}

interface Note {
  figures: Figures
  sizeDeltaUsd: Usd
  sizeInTokens: TokenAmount
  costUsd: Usd
  carriedUsd: Usd
  entryCostsUsd: Usd
  bearerId?: string
}

/** A move while it is applied to the parts. */
class Draft {
  readonly #parts: Map<string, Part>
  readonly #atMs: number
  readonly #move: Move
  readonly #heldSinceMs: number | undefined
  /** As `SideParts.tokens`. */
  #tokens: TokenAmount
  /** True while tokens are left that nobody holds; the side then holds the sum of its parts. */
  #isLeft = false
  readonly #notes = new Map<string, Note>()
  /** Charges by time of this move, by book, USD. */
  readonly #charged = new Map<string, Usd>()

  constructor({ parts, atMs, heldSinceMs, tokens = tokensIn(parts) }: SideParts, move: Move) {
    this.#heldSinceMs = heldSinceMs
    this.#tokens = tokens
    // Clocks that step back take nothing off.
    this.#atMs = Math.max(atMs, move.atMs)
    const passed = atMs === 0 ? 0n : BigInt(Math.round(this.#atMs - atMs))
    this.#parts = new Map(
      [...parts].map(([strategy, part]) => [
        strategy,
        { ...part, sizeTime: part.sizeTime + maxOf(0n, part.sizeUsd) * passed },
      ]),
    )
    this.#move = move
  }

  applied(): Applied {
    const postings = [...this.#notes].map(([strategy, note]) => ({
      move: this.#move,
      strategy,
      ...note,
      isFlat: this.#part(strategy).sizeUsd === 0n,
    }))
    const parts = new Map([...this.#parts].filter(([, part]) => !isNothing(part)))
    let sizeUsd = 0n
    for (const part of parts.values()) sizeUsd += part.sizeUsd
    const held = defined({ heldSinceMs: sizeUsd > 0n ? (this.#heldSinceMs ?? this.#move.atMs) : undefined })
    const tokens = this.#isLeft ? tokensIn(parts) : this.#tokens
    return { after: { parts, atMs: this.#atMs, ...held, tokens }, postings }
  }

  #part(strategy: string): Part {
    return this.#parts.get(strategy) ?? noPart
  }

  #change(strategy: string, change: Partial<Part>): void {
    const part = this.#part(strategy)
    this.#parts.set(strategy, {
      ...part,
      sizeUsd: part.sizeUsd + (change.sizeUsd ?? 0n),
      sizeInTokens: part.sizeInTokens + (change.sizeInTokens ?? 0n),
      costUsd: part.costUsd + (change.costUsd ?? 0n),
      collateral: part.collateral + (change.collateral ?? 0n),
      carriedUsd: part.carriedUsd + (change.carriedUsd ?? 0n),
    })
  }

  #note(strategy: string, figures: Partial<Figures>, change: Partial<Omit<Note, 'figures'>> = {}): void {
    const note = this.#notes.get(strategy)
    this.#notes.set(strategy, {
      figures: addFigures(note?.figures ?? noFigures, figures),
      sizeDeltaUsd: (note?.sizeDeltaUsd ?? 0n) + (change.sizeDeltaUsd ?? 0n),
      sizeInTokens: (note?.sizeInTokens ?? 0n) + (change.sizeInTokens ?? 0n),
      costUsd: (note?.costUsd ?? 0n) + (change.costUsd ?? 0n),
      carriedUsd: (note?.carriedUsd ?? 0n) + (change.carriedUsd ?? 0n),
      entryCostsUsd: (note?.entryCostsUsd ?? 0n) + (change.entryCostsUsd ?? 0n),
      ...defined({ bearerId: change.bearerId }),
    })
  }

  /** Borrowing and funding are shared by size and time since they were last charged. */
  chargeByTime(): void {
    const { borrowingUsd, fundingUsd, fundingReceivedUsd = 0n, sizeDeltaUsd, collateral } = this.#move
    const isCharged = borrowingUsd !== 0n || fundingUsd !== 0n || fundingReceivedUsd !== 0n
    // A swap touches no position.
    if (sizeDeltaUsd === 0n && collateral === 0n && !isCharged) return
    if (isCharged) this.#chargeShares()
    for (const [name, part] of this.#parts) this.#parts.set(name, { ...part, sizeTime: 0n })
  }

  /** Charges them, each book its share. */
  #chargeShares(): void {
    const { strategy, borrowingUsd, fundingUsd, fundingReceivedUsd = 0n } = this.#move
    const all = [...this.#parts]
    const weights = all.map(([, { sizeTime }]) => sizeTime)
    const isWeighed = weights.some((weight) => weight > 0n)
    const payers = isWeighed ? all.map(([name]) => name) : [strategy]
    const by = isWeighed ? weights : [1n]
    const [borrowing, funding] = [sharesOf(borrowingUsd, by), sharesOf(fundingUsd - fundingReceivedUsd, by)]
    for (const [place, payer] of payers.entries()) {
      const [borrowed = 0n, funded = 0n] = [borrowing[place], funding[place]]
      if (borrowed === 0n && funded === 0n) continue
      this.#note(payer, { borrowingUsd: borrowed, fundingUsd: funded })
      this.#change(payer, { carriedUsd: borrowed + funded })
      this.#charged.set(payer, borrowed + funded)
    }
  }

  increase(): void {
    const { strategy, sizeDeltaUsd, tokens = this.#reckonedTokens(), collateral } = this.#move
    const { positionFeeUsd, sendingUsd } = this.#move
    this.#tokens += tokens
    this.#change(strategy, {
      sizeUsd: sizeDeltaUsd,
      sizeInTokens: tokens,
      costUsd: sizeDeltaUsd,
      collateral,
      carriedUsd: positionFeeUsd + sendingUsd,
    })
    this.#note(
      strategy,
      { positionFeesUsd: positionFeeUsd, fills: strategy === UNATTRIBUTED ? 0 : 1 },
      { sizeDeltaUsd, sizeInTokens: tokens },
    )
  }

  /** Applies a move that changes no size: collateral, swaps, and fills whose size no evidence gives. */
  settle(): void {
    const { strategy, collateral, positionFeeUsd, sendingUsd, swapUsd, pnlUsd } = this.#move
    const isHeld = this.#part(strategy).sizeUsd > 0n
    this.#change(strategy, { collateral, carriedUsd: isHeld ? positionFeeUsd + sendingUsd : 0n })
    const pricePnlUsd = pnlUsd === undefined ? 0n : this.#basePnl(pnlUsd)
    const impactUsd = pnlUsd === undefined ? 0n : this.#impact(pnlUsd, pricePnlUsd)
    this.#note(strategy, {
      pricePnlUsd,
      impactUsd,
      positionFeesUsd: positionFeeUsd,
      swapUsd,
      fills: strategy === UNATTRIBUTED ? 0 : 1,
    })
  }

  /** Books a message that filled nothing: the position has to earn it; after the last reduction of a book, exits are charged to its end. */
  spend(): void {
    const { strategy, sendingUsd, spent } = this.#move
    const { sizeUsd, ended } = this.#part(strategy)
    if (sizeUsd > 0n) {
      this.#change(strategy, { carriedUsd: sendingUsd })
      this.#note(strategy, {})
    } else if (spent === 'exits' && ended !== undefined) {
      const broughtUsd = ended.broughtUsd - sendingUsd
      this.#end(strategy, { ...ended, broughtUsd })
      const isLostNow = ended.broughtUsd > 0n && broughtUsd <= 0n
      this.#note(strategy, { wins: isLostNow ? -1 : 0 }, { bearerId: ended.id })
    }
  }

  #end(strategy: string, ended: NonNullable<Part['ended']>): void {
    this.#parts.set(strategy, { ...this.#part(strategy), ended })
  }

  reduce(sign: 1n | -1n): void {
    const { strategy, pnlUsd, positionFeeUsd, sendingUsd } = this.#move
    const lessUsd = -this.#move.sizeDeltaUsd
    const { takes, beyondUsd } = takesOf(this.#parts, [strategy, UNATTRIBUTED], lessUsd)
    const tokens = this.#move.tokens ?? this.#reckonedTokens()
    const rows = takes.map(([name, takenUsd]) => {
      const part = this.#part(name)
      const share = (amount: bigint) =>
        takenUsd === part.sizeUsd ? amount : (amount * takenUsd) / part.sizeUsd
      return {
        name,
        takenUsd,
        tokens: share(part.sizeInTokens),
        costUsd: share(part.costUsd),
        collateral: share(part.collateral),
        carriedUsd: share(part.carriedUsd),
        chargedUsd: share(this.#charged.get(name) ?? 0n),
      }
    })
    if (beyondUsd > 0n) {
      const beyond = (tokens * beyondUsd) / lessUsd
      const part = { tokens: beyond, costUsd: beyondUsd, collateral: 0n, carriedUsd: 0n, chargedUsd: 0n }
      rows.push({ name: UNATTRIBUTED, takenUsd: beyondUsd, ...part })
    }
    const baseUsd = pnlUsd === undefined ? undefined : this.#basePnl(pnlUsd)
    // Worth of the position's tokens that left.
    const worthUsd = baseUsd === undefined ? undefined : lessUsd + sign * baseUsd
    // A part without evidence of its tokens is measured by the position's average.
    const counted = rows.map((row) => (row.tokens === 0n ? (tokens * row.takenUsd) / lessUsd : row.tokens))
    const worths = rows.map((row, place) => {
      if (worthUsd === undefined) return row.costUsd
      return tokens > 0n ? (worthUsd * (counted[place] ?? 0n)) / tokens : (worthUsd * row.takenUsd) / lessUsd
    })
    for (const row of rows) {
      this.#change(row.name, {
        sizeUsd: -row.takenUsd,
        sizeInTokens: -row.tokens,
        costUsd: -row.costUsd,
        collateral: -row.collateral,
        carriedUsd: -row.carriedUsd,
      })
    }
    const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n)
    // Tokens without evidence on entry were never among the side's tokens.
    this.#tokens -= tokens - (sumOf(counted) - sumOf(rows.map((row) => row.tokens)))
    const handed = sumOf(counted) - tokens
    const handedUsd = sumOf(worths) - (worthUsd ?? lessUsd)
    const kept = this.#hand(handed, handedUsd)
    const weights = rows.map((row) => row.takenUsd)
    const largest = weights.indexOf(maxOf(0n, ...weights))
    const impactUsd = baseUsd === undefined ? 0n : this.#impact(pnlUsd ?? 0n, baseUsd)
    const [impacts, fees] = [sharesOf(impactUsd, weights), sharesOf(positionFeeUsd, weights)]
    for (const [place, row] of rows.entries()) {
      const { name, takenUsd, carriedUsd, chargedUsd, costUsd } = row
      const value = (worths[place] ?? 0n) - (place === largest ? handedUsd - kept : 0n)
      const pricePnlUsd = sign * (value - costUsd)
      const [impact = 0n, fee = 0n] = [impacts[place], fees[place]]
      const sending = name === strategy ? sendingUsd : 0n
      const broughtUsd = pricePnlUsd + impact - fee - carriedUsd - sending
      this.#note(
        name,
        { pricePnlUsd, impactUsd: impact, positionFeesUsd: fee, trades: 1, wins: broughtUsd > 0n ? 1 : 0 },
        {
          ...{ sizeDeltaUsd: -takenUsd, sizeInTokens: -row.tokens, costUsd },
          ...{ carriedUsd: carriedUsd + sending, entryCostsUsd: carriedUsd - chargedUsd },
        },
      )
      if (name !== UNATTRIBUTED && this.#part(name).sizeUsd === 0n)
        this.#end(name, { id: this.#move.id, broughtUsd })
    }
    if (strategy !== UNATTRIBUTED) this.#note(strategy, { fills: 1 })
  }

  /**
   * Hands tokens that left a book but not the position to the remaining books, by size, at their worth then. Returns the amount handed over, USD:
   * zero where no book remains.
   */
  #hand(tokens: TokenAmount, worthUsd: Usd): Usd {
    const left = [...this.#parts].filter(([, { sizeUsd }]) => sizeUsd > 0n)
    if (left.length === 0) {
      this.#isLeft = tokens !== 0n
      return 0n
    }
    const sizes = left.map(([, { sizeUsd }]) => sizeUsd)
    const [counts, costs] = [sharesOf(tokens, sizes), sharesOf(worthUsd, sizes)]
    for (const [place, [name]] of left.entries()) {
      this.#change(name, { sizeInTokens: counts[place] ?? 0n, costUsd: costs[place] ?? 0n })
    }
    return worthUsd
  }

  /** Returns the tokens of a move without evidence: by the position's average; for a move that closes everything, all of them. */
  #reckonedTokens(): TokenAmount {
    const parts = [...this.#parts.values()].filter(({ sizeUsd }) => sizeUsd > 0n)
    const sizeUsd = parts.reduce((sum, part) => sum + part.sizeUsd, 0n)
    const tokens = parts.reduce((sum, part) => sum + part.sizeInTokens, 0n)
    if (sizeUsd === 0n) return 0n
    const moved = this.#move.sizeDeltaUsd < 0n ? -this.#move.sizeDeltaUsd : this.#move.sizeDeltaUsd
    return moved === sizeUsd ? tokens : (tokens * moved) / sizeUsd
  }

  #basePnl(pnlUsd: Usd): Usd {
    const { basePnlUsd, impactUsd, positionFeeUsd, borrowingUsd, fundingUsd } = this.#move
    return basePnlUsd ?? pnlUsd + positionFeeUsd + borrowingUsd + fundingUsd - impactUsd
  }

  /** Returns the price impact: the difference between the price's PnL and the PnL before fees. */
  #impact(pnlUsd: Usd, baseUsd: Usd): Usd {
    const { positionFeeUsd, borrowingUsd, fundingUsd } = this.#move
    return pnlUsd + positionFeeUsd + borrowingUsd + fundingUsd - baseUsd
  }
}

function tokensIn(parts: SideParts['parts']): TokenAmount {
  return [...parts.values()].reduce((sum, { sizeInTokens }) => sum + sizeInTokens, 0n)
}

function isNothing({ sizeUsd, sizeInTokens, costUsd, collateral, carriedUsd, ended }: Part): boolean {
  const isEmpty = sizeUsd === 0n && sizeInTokens === 0n && costUsd === 0n && collateral === 0n
  return isEmpty && carriedUsd === 0n && ended === undefined
}
