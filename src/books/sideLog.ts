/**
 * One side of the account: its settled parts, and its newest moves in the order in which they happened, whatever the order of their reports. A late
 * move is inserted at its place, and a move that is taken back is removed. The moves behind it are computed anew.
 */

import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { TokenAmount } from '../protocol/units.ts'
import { doesTheSame, isSamePlace, type Move } from './sideMove.ts'
import { applyMove, noParts, type Part, type Posting, type SideParts } from './sideParts.ts'

/** A move that is not for good yet. */
export interface Waiting {
  readonly move: Move
  /** Time when it was reported, Unix ms. */
  readonly foldedMs: number
  /** Its number among the moves of the side, in the order of their reports. */
  readonly n: number
  /** Unix seconds of the venue that give its place; for a move without a time, the latest of those reported before it. */
  readonly orderSeconds: number
}

/** A side as a snapshot keeps it: its parts before the moves that are not for good, and of these how many count already. */
export interface SideState extends SideParts {
  readonly waiting: readonly Waiting[]
  readonly counted: number
}

/** Index tokens of a side, base units, signed. */
export interface SideTokens extends PositionSide {
  readonly sizeInTokens: TokenAmount
}

/** Longest delay of reports, and of taking back others' reports, by hosts and chains, ms. */
const SETTLE_MS = 7_200_000
/** Most moves that count already and that a late report may still move. */
const MOST_COUNTED = 200

interface Step extends Waiting {
  /** The parts with it, and its postings. */
  readonly after: SideParts
  readonly postings: readonly Posting[]
}

/** The moves of one side. */
export class SideLog {
  readonly side: PositionSide
  /** `sideKeyOf` the side. */
  readonly key: string
  #settled: SideParts
  #steps: readonly Step[] = []
  /** So many of the first steps are in the results already. */
  #counted: number

  constructor(side: PositionSide, key: string, from: SideState = { ...noParts, waiting: [], counted: 0 }) {
    const { waiting, counted, ...settled } = from
    this.side = side
    this.key = key
    this.#settled = settled
    this.#counted = counted
    this.#reckon(0, waiting)
  }

  /** The parts after all moves. */
  get now(): SideParts {
    return this.#steps.at(-1)?.after ?? this.#settled
  }

  /** Returns a strategy's part, if it has a position. `isFinal`: without any order's moves that the chain may take back. */
  partOf(strategy: string, isFinal: boolean): (PositionSide & Part) | undefined {
    const part = (isFinal ? this.#final() : this.now).parts.get(strategy)
    return part === undefined || part.sizeUsd <= 0n ? undefined : { ...this.side, ...part }
  }

  #final(): SideParts {
    if (this.#counted === this.#steps.length) return this.now
    const waiting = this.#steps.slice(this.#counted)
    if (!waiting.some(mayBeTakenBack)) return this.now
    let parts = this.#steps[this.#counted - 1]?.after ?? this.#settled
    for (const { move } of waiting)
      if (!mayBeTakenBack({ move })) parts = applyMove(parts, this.side.direction, move).after
    return parts
  }

  /** Index tokens of the side by its moves alone; undefined before any. */
  get tokens(): SideTokens | undefined {
    const { tokens } = this.now
    return tokens === undefined ? undefined : { ...this.side, sizeInTokens: tokens }
  }

  /** The parts before the moves that may still be moved or taken back. */
  get settled(): SideParts {
    return this.#settled
  }

  /** The parts after one of these moves; undefined: it is none of them. */
  after(id: string): SideParts | undefined {
    return this.#steps.find(({ move }) => move.id === id)?.after
  }

  /** Returns the postings of moves that are not in the results yet. */
  waitingPostings(): readonly Posting[] {
    if (this.#counted === this.#steps.length) return []
    return this.#steps.slice(this.#counted).flatMap(({ postings }) => postings)
  }

  /** Returns the postings of all moves that are not settled yet. */
  allPostings(): readonly Posting[] {
    return this.#steps.flatMap(({ postings }) => postings)
  }

  /** Puts a move in its place. Returns the postings that no longer count: those of the moves behind it are computed anew. */
  put(move: Move, foldedMs: number): readonly Posting[] {
    const n = this.#steps.reduce((most, step) => Math.max(most, step.n), 0) + 1
    const steps: Waiting[] = [...this.#steps]
    return this.#changeFrom(insert(steps, { move, foldedMs, n }), steps)
  }

  /** Puts a move in the place of the one that said something else of the same fill; undefined: that one is for good. */
  replace(move: Move): readonly Posting[] | undefined {
    const place = this.#steps.findIndex((each) => each.move.id === move.id)
    const known = this.#steps[place]
    if (known === undefined) return undefined
    const replaced: readonly Waiting[] = this.#steps.with(place, { ...known, move })
    const steps = isSamePlace(known.move, move) ? replaced : inOrder(replaced)
    if (doesTheSame(known.move, move) && steps.every(({ n }, index) => n === this.#steps[index]?.n)) {
      const postings = known.postings.map((posting) => ({ ...posting, move }))
      this.#steps = this.#steps.map((step, index) => {
        const orderSeconds = steps[index]?.orderSeconds ?? step.orderSeconds
        return index === place ? { ...step, orderSeconds, move, postings } : { ...step, orderSeconds }
      })
      return []
    }
    const first = steps.findIndex(({ n }, index) => n === known.n || n !== this.#steps[index]?.n)
    return this.#changeFrom(first, steps)
  }

  /** Takes a move out, as if it had never been; undefined: it is settled. Returns the postings that no longer count. */
  takeBack(id: string): readonly Posting[] | undefined {
    const place = this.#steps.findIndex((each) => each.move.id === id)
    return place < 0 ? undefined : this.#changeFrom(place, this.#steps.toSpliced(place, 1))
  }

  /**
   * Returns the postings that count from now on, in order: nothing takes them back any more. A move that may be taken back holds up those behind it.
   */
  count(nowMs: number): readonly Posting[] {
    const from = this.#counted
    for (let next = this.#steps[from]; next !== undefined; next = this.#steps[this.#counted]) {
      if (!next.move.isFinal && (next.move.intentId !== undefined || !isOld(next, nowMs))) break
      this.#counted += 1
    }
    return this.#steps.slice(from, this.#counted).flatMap(({ postings }) => postings)
  }

  /** Returns the postings that are settled from now on; no late report moves them. */
  settle(nowMs: number): readonly Posting[] {
    let settled = 0
    for (const step of this.#steps.slice(0, this.#counted)) {
      if (!isOld(step, nowMs) && this.#counted - settled <= MOST_COUNTED) break
      settled += 1
      this.#settled = step.after
    }
    const postings = this.#steps.slice(0, settled).flatMap((step) => step.postings)
    this.#steps = settled === 0 ? this.#steps : this.#steps.slice(settled)
    this.#counted -= settled
    return postings
  }

  /** For a snapshot. */
  state(): SideState {
    const waiting = this.#steps.map(({ move, foldedMs, n, orderSeconds }) => ({
      move,
      foldedMs,
      n,
      orderSeconds,
    }))
    return { ...this.#settled, waiting, counted: this.#counted }
  }

  /** Steps that are others from this place on. */
  #changeFrom(place: number, steps: readonly Waiting[]): readonly Posting[] {
    const lost = this.#steps.slice(place, this.#counted).flatMap(({ postings }) => postings)
    this.#counted = Math.min(this.#counted, place)
    this.#reckon(place, steps)
    return lost
  }

  #reckon(place: number, waiting: readonly Waiting[]): void {
    const steps = this.#steps.slice(0, place)
    let parts = steps.at(-1)?.after ?? this.#settled
    for (const { move, foldedMs, n, orderSeconds } of waiting.slice(place)) {
      const { after, postings } = applyMove(parts, this.side.direction, move)
      steps.push({ move, foldedMs, n, orderSeconds, after, postings })
      parts = after
    }
    this.#steps = steps
  }
}

function mayBeTakenBack({ move: { isFinal, intentId } }: { readonly move: Move }): boolean {
  return !isFinal && intentId !== undefined
}

function isOld({ foldedMs }: Waiting, nowMs: number): boolean {
  return nowMs - foldedMs >= SETTLE_MS
}

/** The moves in their order, whichever they had. */
function inOrder(waiting: readonly Waiting[]): readonly Waiting[] {
  const steps: Waiting[] = []
  for (const each of [...waiting].sort((one, other) => one.n - other.n)) insert(steps, each)
  return steps
}

/** Inserts a move that was reported last at its place, and returns that place. */
function insert(steps: Waiting[], { move, foldedMs, n }: Omit<Waiting, 'orderSeconds'>): number {
  const latest = steps.at(-1)?.orderSeconds ?? 0
  const told = { move, foldedMs, n, orderSeconds: move.place?.atSeconds ?? latest }
  let place = steps.length
  if (move.place !== undefined)
    for (let before = steps[place - 1]; before !== undefined; before = steps[place - 1]) {
      if (!isBehind(before, told)) break
      place -= 1
    }
  steps.splice(place, 0, told)
  return place
}

/** Tells whether a move happened after one that was reported later. Within one second, without more evidence, an increase comes first. */
function isBehind(one: Waiting, other: Waiting): boolean {
  if (one.orderSeconds !== other.orderSeconds) return one.orderSeconds > other.orderSeconds
  const [known, told] = [one.move.place, other.move.place]
  if (known === undefined || told === undefined) return false
  if (known.block !== undefined && told.block !== undefined && known.block !== told.block)
    return known.block > told.block
  if (known.block !== undefined && told.block !== undefined)
    return (known.logIndex ?? 0) > (told.logIndex ?? 0)
  return other.move.sizeDeltaUsd > 0n && one.move.sizeDeltaUsd < 0n
}
