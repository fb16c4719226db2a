/**
 * Signals from outside: a sender's requests for a strategy's position. The journal persists each accepted one once. It waits for its instance until a
 * memory of a turn that received it is written, as own events do. No crash therefore loses one or delivers it twice.
 */
import type { Usd } from '../../protocol/units.ts'

/** Target that a signal requests: a long, a short, nothing, or the opposite of the position held. */
export const signalActions = ['long', 'short', 'flat', 'reverse'] as const

/** One of them. */
export type SignalAction = (typeof signalActions)[number]

/** Share of the file's `size.usd` to open, or USD and at most all of it. */
export type SignalSize =
  | { readonly usd: Usd; readonly shareBps?: never }
  | { readonly shareBps: number; readonly usd?: never }

/** Content of a signal. */
export interface SignalTerms {
  /** Name of the instance that it is for. */
  readonly strategy: string
  readonly action: SignalAction
  /** Full symbol of the market. */
  readonly symbol: string
  /** The sender's name for the signal. */
  readonly name?: string
  /** Size of the opened position; all of the file's when absent. */
  readonly size?: SignalSize
  /** Exits of its position, USD per whole index token. */
  readonly stopPrice?: Usd
  readonly targetPrice?: Usd
  /** By the sender's clock, Unix ms. */
  readonly sentAtMs: number
  /** Nothing is opened on its word later than this, Unix ms. */
  readonly expiresAtMs: number
}

/** A signal that was accepted. */
export interface TradeSignal extends SignalTerms {
  /** 1, 2, 3, ... over all instances of a journal. */
  readonly number: number
  /** Unix ms. */
  readonly receivedAtMs: number
}

/** A signal as its strategy is given it. */
export interface GivenSignal extends TradeSignal {
  /** True if the signal had expired when the strategy received it. */
  readonly isExpired: boolean
}

/** Signals that a turn consumed: written with its memory. */
export interface TakenSignals {
  /** Signals up to this number were given. */
  readonly through: number
  /** Numbers of those whose time was over. */
  readonly expired: readonly number[]
}

/** A record of a signal: the part of an account's record that is not its stamp. */
export interface SignalEntry {
  readonly kind: 'signal.received'
  readonly signal: SignalTerms
  /** Key that is accepted once: the proven sender and the sender's nonce. */
  readonly nonce: string
  /** Until then a message with it may come, Unix ms: later it is too old. */
  readonly nonceUntilMs: number
}

/** Kinds of the entry above. */
export const signalKinds = ['signal.received'] as const satisfies readonly SignalEntry['kind'][]

/** The newest signal of an instance, and its state. */
export interface NewestSignal extends TradeSignal {
  readonly standing: 'waiting' | 'taken' | 'expired'
}

/** A nonce that was used. */
interface UsedNonce {
  readonly sentAtMs: number
  readonly untilMs: number
}

/** The fold of the records. */
export interface SignalFold {
  /** Signals that were ever accepted. */
  readonly received: number
  /** Those that their instance was not given yet, by its name, oldest first. */
  readonly waiting: ReadonlyMap<string, readonly TradeSignal[]>
  /** By name of the instance. */
  readonly newest: ReadonlyMap<string, NewestSignal>
  readonly nonces: ReadonlyMap<string, UsedNonce>
  /** Nonces of messages up to this time are forgotten, Unix ms: none of them is taken, whatever the clock says. */
  readonly forgottenThroughMs: number
}

/** Before the first record. */
export const noSignals: SignalFold = {
  received: 0,
  waiting: new Map(),
  newest: new Map(),
  nonces: new Map(),
  forgottenThroughMs: 0,
}

/**
 * Time for which a nonce is remembered after its message is too old, ms. A clock that was ahead and is set back would otherwise forget the nonces of
 * that time. Then no signal with such a time could be accepted before that time is over.
 */
const REMEMBERED_MS = 172_800_000
/** Most of these that are remembered: of more the oldest messages are forgotten. */
const MOST_OLD_NONCES = 1_000

/** Most signals that wait for one instance. */
export const MOST_SIGNALS_WAITING = 100

/** The fold after one more signal, written at `atMs`. Pure. */
export function applySignalEntry(
  fold: SignalFold,
  { signal, nonce, nonceUntilMs }: SignalEntry,
  atMs: number,
): SignalFold {
  const received = fold.received + 1
  const accepted: TradeSignal = { ...signal, number: received, receivedAtMs: atMs }
  const { strategy, sentAtMs } = signal
  const kept = new Map(fold.nonces)
  let { forgottenThroughMs } = fold
  for (const [each, used] of forgotten(fold.nonces, atMs)) {
    kept.delete(each)
    forgottenThroughMs = Math.max(forgottenThroughMs, used.sentAtMs)
  }
  return {
    received,
    waiting: new Map(fold.waiting).set(strategy, [...(fold.waiting.get(strategy) ?? []), accepted]),
    newest: new Map(fold.newest).set(strategy, { ...accepted, standing: 'waiting' }),
    nonces: kept.set(nonce, { sentAtMs, untilMs: nonceUntilMs }),
    forgottenThroughMs,
  }
}

/** The nonces of messages that are too old for long, and of those that are too old the oldest, where they are too many. */
function forgotten(nonces: SignalFold['nonces'], atMs: number): readonly (readonly [string, UsedNonce])[] {
  const old = [...nonces].filter(([, { untilMs }]) => untilMs < atMs)
  const long = old.filter(([, { untilMs }]) => untilMs + REMEMBERED_MS < atMs)
  if (old.length - long.length <= MOST_OLD_NONCES) return long
  return old
    .toSorted(([, one], [, other]) => one.sentAtMs - other.sentAtMs)
    .slice(0, old.length - MOST_OLD_NONCES)
}

/** Returns the fold once a turn of an instance took its waiting signals. Pure. */
export function applyTakenSignals(
  fold: SignalFold | undefined,
  strategy: string,
  { through, expired }: TakenSignals,
): SignalFold {
  const before = fold ?? noSignals
  const left = (before.waiting.get(strategy) ?? []).filter(({ number }) => number > through)
  const newest = before.newest.get(strategy)
  const standing = newest !== undefined && expired.includes(newest.number) ? 'expired' : 'taken'
  return {
    ...before,
    waiting: withList(before.waiting, strategy, left),
    newest:
      newest === undefined || newest.number > through
        ? before.newest
        : new Map(before.newest).set(strategy, { ...newest, standing }),
  }
}

/** Returns the fold after an instance's memory was reset: its waiting signals are dropped. Nonces stay. Pure. */
export function forgetSignals(fold: SignalFold | undefined, strategy: string): SignalFold | undefined {
  if (fold === undefined) return undefined
  const newest = new Map(fold.newest)
  newest.delete(strategy)
  return { ...fold, waiting: withList(fold.waiting, strategy, []), newest }
}

function withList(
  lists: SignalFold['waiting'],
  strategy: string,
  left: readonly TradeSignal[],
): SignalFold['waiting'] {
  const next = new Map(lists)
  if (left.length === 0) next.delete(strategy)
  else next.set(strategy, left)
  return next
}

/** Tells whether a message with this nonce is refused: `replayed` if it was accepted before, `stale` if it may have been. */
export function nonceProblem(
  fold: SignalFold | undefined,
  nonce: string,
  sentAtMs: number,
): 'replayed' | 'stale' | undefined {
  if (fold === undefined) return undefined
  if (fold.nonces.has(nonce)) return 'replayed'
  return sentAtMs <= fold.forgottenThroughMs ? 'stale' : undefined
}
