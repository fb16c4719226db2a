/**
 * The nearest-to-profit level of a strategy's stop-losses that rested for its present part, by the journal. Resting stops and lost ones (cancelled by
 * anyone) count. A stop that fired has closed its share and says nothing of the rest. A part that was closed and opened anew starts anew. Folded over
 * records of intents. Pure.
 */
import { defined } from '../base/defined.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import { stopChildrenOf } from '../domain/accountRecords/stopChildren.ts'
import { type Child, type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { changesBy, namedIn, signedOrderOf } from '../domain/order/signedOrder.ts'
import { hexKey } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { bookKeyOf, type Rounds } from './rounds.ts'

/** A stop-loss of an intent that is open, or of one whose edits are. */
interface KnownStop {
  /** Strategy and side. */
  readonly book: string
  /** The intent that made it. */
  readonly maker: string
  readonly direction: Direction
  /** The nearest to profit that it ever lay, contract price. */
  readonly nearest: bigint
  /** The round of the part that it rested for first; absent: it rested for none yet. */
  readonly round?: string
  /** The order that opened its position, once that filled. */
  readonly entry?: string
  /** True once the part that it protects was opened: an entry's stop rests before that. */
  readonly isForPart: boolean
  readonly hasFired: boolean
  /** Its own story is over. */
  readonly isOver: boolean
  /** Open intents that may still turn out to have moved it. */
  readonly changes: readonly string[]
}

/** The nearest of the stops that were lost in one round of a part, contract price. */
interface LostLevel {
  readonly round: string
  readonly nearest: bigint
}

/** As a snapshot keeps it. */
export interface StopLevelsState {
  readonly stops: readonly (readonly [orderKey: string, stop: KnownStop])[]
  readonly lost: readonly (readonly [book: string, levels: readonly LostLevel[]])[]
}

const telling: ReadonlySet<string> = new Set([
  'landed',
  'attempt.unlanded',
  'child.executed',
  'child.cancelled',
  'child.frozen',
  'child.reopened',
  'intent.closed',
])

/** Contract `OrderType` of orders that open. */
const entryTypes: ReadonlySet<number> = new Set([2, 3, 8])

/** The fold: it holds the stops of open intents, and one level for each part that lost one. */
export class StopLevels {
  readonly #stops: Map<string, KnownStop>
  readonly #lost: Map<string, readonly LostLevel[]>
  /** Keys of the known stops, by book. */
  readonly #keys = new Map<string, Set<string>>()

  constructor({ stops, lost }: StopLevelsState) {
    this.#stops = new Map(stops)
    this.#lost = new Map(lost)
    for (const [key, { book }] of stops) this.#keysOf(book).add(key)
  }

  /** Takes in a record of an intent, after the books did: its kind, and the intent with it. */
  fold(kind: string, after: IntentState, rounds: Rounds): void {
    if (kind === 'intent.accepted') this.#await(after)
    if (!telling.has(kind)) return
    if (kind === 'landed' || kind === 'attempt.unlanded') this.#forgetUnmade(after)
    this.#foldStops(after, rounds)
    if (kind === 'intent.closed') this.#foldChanges(after, rounds)
    this.#foldRounds(after, rounds)
  }

  /** Returns the nearest level, contract price; undefined: no stop rested for the present part. */
  of(strategy: string, side: PositionSide, rounds: Rounds): bigint | undefined {
    const sideKey = sideKeyOf(side)
    const book = bookKeyOf(strategy, sideKey)
    const round = rounds.now(strategy, sideKey)
    if (round === undefined) return undefined
    const lost = this.#lost.get(book)?.find((level) => level.round === round)?.nearest
    return [...(this.#keys.get(book) ?? [])]
      .flatMap((key) => this.#stops.get(key) ?? [])
      .filter((stop) => counts(stop) && roundOf(stop, rounds) === round)
      .reduce((best, { nearest }) => nearerOf(side.direction, best, nearest), lost)
  }

  /** For a snapshot. */
  state(): StopLevelsState {
    return { stops: [...this.#stops], lost: [...this.#lost] }
  }

  #keysOf(book: string): Set<string> {
    const known = this.#keys.get(book) ?? new Set()
    this.#keys.set(book, known)
    return known
  }

  /** An edit of a stop is in flight. */
  #await(after: IntentState): void {
    const { intentId } = after.intent
    for (const name of namedIn(after)) {
      const stop = this.#stops.get(hexKey(name))
      if (stop !== undefined) this.#stops.set(hexKey(name), { ...stop, changes: [...stop.changes, intentId] })
    }
  }

  /** Forgets orders of a landing that the chain took back: they never existed. */
  #forgetUnmade(after: IntentState): void {
    const made = new Set(stopChildrenOf(after).map(({ orderKey }) => hexKey(orderKey)))
    for (const [key, { maker, book }] of this.#stops) {
      if (maker === after.intent.intentId && !made.has(key)) this.#drop(key, book)
    }
  }

  #drop(key: string, book: string): void {
    this.#stops.delete(key)
    const keys = this.#keysOf(book)
    keys.delete(key)
    if (keys.size === 0) this.#keys.delete(book)
  }

  /** The stops that an intent made. */
  #foldStops(after: IntentState, rounds: Rounds): void {
    const { strategy, intentId } = after.intent
    const { isForPart, entry } = openedBy(after)
    for (const { orderKey, phase, side } of stopChildrenOf(after)) {
      const key = hexKey(orderKey)
      const sideKey = sideKeyOf(side)
      const known = this.#stops.get(key)
      const nearest = known?.nearest ?? signedOrderOf(orderKey, after, undefined)?.kept?.triggerContractPrice
      if (nearest === undefined) continue
      const rests = phase === 'OPEN' || phase === 'FROZEN'
      const round = known?.round ?? (isForPart && rests ? rounds.now(strategy, sideKey) : undefined)
      const book = bookKeyOf(strategy, sideKey)
      this.#keysOf(book).add(key)
      this.#stops.set(key, {
        ...{ book, maker: intentId, direction: side.direction, nearest },
        ...{ isForPart, hasFired: phase === 'EXECUTED' },
        ...defined({ round, entry }),
        ...{ isOver: after.closing !== undefined, changes: known?.changes ?? [] },
      })
      this.#leave(key, strategy, sideKey, rounds)
    }
  }

  /** Settles an edit once its outcome is known for good. */
  #foldChanges(after: IntentState, rounds: Rounds): void {
    const { intentId } = after.intent
    const changed = new Map(changesBy(after))
    for (const name of namedIn(after)) {
      const key = hexKey(name)
      const stop = this.#stops.get(key)
      if (stop === undefined) continue
      const change = changed.get(key)
      const level = change === undefined || change === 'unknown' ? undefined : change.triggerPrice
      const nearest = level === undefined ? stop.nearest : nearerOf(stop.direction, stop.nearest, level)
      const changes = stop.changes.filter((each) => each !== intentId)
      this.#stops.set(key, { ...stop, nearest, changes })
      const [strategy, sideKey] = partsOf(stop.book)
      this.#leave(key, strategy, sideKey, rounds)
    }
  }

  /** A late fill may have moved others into another round; re-checks the stops on its side while their round is known. */
  #foldRounds({ intent }: IntentState, rounds: Rounds): void {
    const { strategy } = intent
    const sideKey = sideKeyOf(sideOfIntent(intent))
    for (const key of [...(this.#keys.get(bookKeyOf(strategy, sideKey)) ?? [])]) {
      const stop = this.#stops.get(key)
      const round = stop === undefined ? undefined : roundOf(stop, rounds)
      if (stop === undefined || round === undefined) continue
      if (round !== stop.round) this.#stops.set(key, { ...stop, round })
      this.#leave(key, strategy, sideKey, rounds)
    }
  }

  /** Drops a stop about which no more reports can come; only its level remains. */
  #leave(key: string, strategy: string, sideKey: string, rounds: Rounds): void {
    const stop = this.#stops.get(key)
    if (stop === undefined || !stop.isOver || stop.changes.length > 0) return
    const { book, direction, nearest, round, entry } = stop
    if (counts(stop) && entry !== undefined && rounds.at(strategy, sideKey, entry) !== undefined) return
    this.#drop(key, book)
    const levels = this.#lost.get(book) ?? []
    const isLost = counts(stop) && round !== undefined
    const known = levels.find((level) => level.round === round)
    const level = isLost ? { round, nearest: nearerOf(direction, known?.nearest, nearest) } : known
    const kept = [...levels.filter((each) => each !== known), ...(level === undefined ? [] : [level])].filter(
      (each) => rounds.mayReturn(strategy, sideKey, each.round),
    )
    if (kept.length === 0) this.#lost.delete(book)
    else this.#lost.set(book, kept)
  }
}

function counts({ isForPart, hasFired }: KnownStop): boolean {
  return isForPart && !hasFired
}

/** The round that a stop rested in; undefined: in none yet. */
function roundOf({ round, entry, book }: KnownStop, rounds: Rounds): string | undefined {
  if (round === undefined || entry === undefined) return round
  const [strategy, sideKey] = partsOf(book)
  return rounds.at(strategy, sideKey, entry) ?? round
}

/** Tells whether the part that an intent's stops protect exists: an entry of it filled, which is named, or it opens nothing. */
function openedBy(state: IntentState): { readonly isForPart: boolean; readonly entry?: string } {
  const attempt = lastAttempt(state)
  const creates = attempt?.armed?.creates
  const opens = ({ index, role }: Child) => {
    const type = creates?.[index]?.orderType
    if (type !== undefined) return entryTypes.has(type)
    return state.intent.kind === 'increase' && (role === 'main' || role === 'part')
  }
  const entries = (attempt?.children ?? []).filter(opens)
  const filled = entries.find(({ phase }) => phase === 'EXECUTED')
  if (filled !== undefined) return { isForPart: true, entry: hexKey(filled.orderKey) }
  return { isForPart: entries.length === 0 }
}

function nearerOf(direction: Direction, one: bigint | undefined, other: bigint): bigint {
  if (one === undefined) return other
  return (direction === 'long') === other > one ? other : one
}

function partsOf(book: string): readonly [strategy: string, sideKey: string] {
  const end = book.indexOf(' ')
  return [book.slice(0, end), book.slice(end + 1)]
}
