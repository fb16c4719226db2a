/**
 * Deposits and withdrawals: amounts that enter the account or leave it and that no order explains. Lists that have held the same things for longer
 * than they lag separate them from gains and losses. They are compared with the last such lists of the same host. If no order of ours was made
 * meanwhile and positions and orders are the same, every step of the wallet is one. If orders moved, the unexplained rest is one, when it is well
 * beyond the error of their figures. Otherwise nothing is reported, and the step counts as gain or loss. Pure except for its memory.
 */

import { keccak256, stringToHex } from 'viem/utils'
import { defined } from '../../base/defined.ts'
import type { HeldSides } from '../../domain/accountRecords/held.ts'
import type { WalletBase } from '../../domain/accountRecords/tradingState.ts'
import type { Address } from '../../protocol/address.ts'
import { absOf, type Usd } from '../../protocol/units.ts'
import type { AccountReading } from './equity.ts'
import { areOthersSame, areSizesExplained, type Books, type Happening, unexplained } from './readingsAddUp.ts'

/** A reported deposit or withdrawal, USD. */
export interface Transfer {
  /** Signed: a deposit is positive. */
  readonly amountUsd: Usd
  /** Equity of the account after it. */
  readonly afterUsd: Usd
}

/** One reading. */
export interface TransferReading {
  readonly reading: AccountReading
  /** Number of orders that the journal has ever accepted. */
  readonly intents: number
  /** Effects of the orders that are open or ended recently. */
  readonly happenings: readonly Happening[]
  /** True if an order of ours is in flight, or moved so recently that lists may not show it. */
  readonly isMoving: boolean
  /** Position sizes by the journal, signed. */
  readonly held: HeldSides
  readonly monotonicMs: number
}

/** Result of a reading. */
export interface TransferLook {
  /** Deposit (positive) or withdrawal by this host's lists, at the prices of the reading, signed; reported once. */
  readonly amountUsd?: Usd
  /** Amount that entered the wallet (positive) or left it, USD. It counts as neither gain nor loss until it is classified. */
  readonly pendingUsd: Usd
  /** Consistent lists: the next transfer is measured against them. */
  readonly base?: WalletBase
}

/** Follows one host's lists. */
export interface TransferWatch {
  take(reading: TransferReading): TransferLook
  /** Starts anew with the next lists, because a transfer was accepted without this host's report. */
  forget(): void
}

/** Smaller steps are not reported: dust, and fees of a message without effect. USD. */
const leastUsd: Usd = 10n ** 30n
/** An amount that orders do not explain is a transfer if it is this many times the error and the fees of their figures. */
const errorTimes = 5n
/** Effects of orders are known for this long after they ended, ms (trackedOrders.ts). */
const happeningsForMs = 120_000

interface Base {
  readonly kept: WalletBase
  /** Absent: the base is an earlier process's. */
  readonly books?: Books
  readonly accounted: ReadonlySet<string>
  readonly atMs: number
}

/**
 * Makes the watch of one host.
 *
 * @param lagMs how long lists of one venue may be behind each other
 * @param kept the last consistent lists, from the journal
 */
export function createTransferWatch(lagMs: number, kept?: WalletBase): TransferWatch {
  let base: Base | undefined =
    kept === undefined ? undefined : { kept, accounted: new Set(), atMs: Number.NEGATIVE_INFINITY }
  let inventory: string | undefined
  let sinceMs = Number.POSITIVE_INFINITY
  /** Time when the wallet was first seen to differ from the base's, monotonic ms. */
  let steppedSinceMs: number | undefined

  /** Returns the pending part of a step. It is pending no longer than lists lag, and a look or two more. */
  function pendingOf(stepUsd: Usd | undefined, isMoving: boolean, monotonicMs: number): Usd {
    if (isMoving || stepUsd === undefined || stepUsd === 0n) {
      steppedSinceMs = undefined
      return 0n
    }
    steppedSinceMs ??= monotonicMs
    return monotonicMs - steppedSinceMs <= lagMs + lagMs / 2 ? stepUsd : 0n
  }

  return {
    take({ reading, intents, happenings, isMoving, held: sides, monotonicMs }) {
      // The first lists of a process may be of different instants, like all others.
      if (inventory !== reading.inventory) sinceMs = monotonicMs
      inventory = reading.inventory
      const now = walletBaseOf(reading, intents)
      const moved = happenings.filter(({ key }) => base?.accounted.has(key) !== true)
      const stepUsd = base === undefined ? undefined : quietStep(base, now, reading.books, moved, monotonicMs)
      const pendingUsd = pendingOf(stepUsd, isMoving, monotonicMs)
      if (isMoving || monotonicMs - sinceMs < lagMs) return { pendingUsd }
      const amountUsd =
        stepUsd ??
        (base === undefined ? undefined : movedStep(base, reading.books, moved, sides, monotonicMs))
      steppedSinceMs = undefined
      const accounted = new Set(happenings.map(({ key }) => key))
      base = { kept: now, books: reading.books, accounted, atMs: monotonicMs }
      const isTold = amountUsd !== undefined && absOf(amountUsd) >= leastUsd
      return { pendingUsd, base: now, ...defined({ amountUsd: isTold ? amountUsd : undefined }) }
    },
    forget() {
      base = undefined
      steppedSinceMs = undefined
    },
  }
}

/** Unused reports of transfers by each host, retained for as long as the others may take to see them. */
export interface TransferVotes {
  /** Records a host's report of a transfer. */
  tell(host: string, amountUsd: Usd, monotonicMs: number): void
  /**
   * Returns the transfer that all of these hosts reported, USD: the smallest of amounts that differ a little. Undefined when one of them did not
   * report it, or reported another amount: one host moves no figure that another contradicts.
   */
  agreed(hosts: readonly string[], monotonicMs: number): Usd | undefined
  /** Forgets all reports, because their transfer was accepted. */
  clear(): void
}

/** Hosts see the same step within this time of each other, ms. */
const votesForMs = 60_000
/** Tolerated difference between hosts' prices and figures: one part in so many. */
const votePart = 50n

/** Makes an empty set of votes. */
export function createTransferVotes(): TransferVotes {
  const votes = new Map<string, { readonly amountUsd: Usd; readonly atMs: number }>()
  return {
    tell(host, amountUsd, monotonicMs) {
      votes.set(host, { amountUsd, atMs: monotonicMs })
    },
    agreed(hosts, monotonicMs) {
      const told = hosts.map((host) => votes.get(host))
      const amounts = told.flatMap((vote) =>
        vote !== undefined && monotonicMs - vote.atMs <= votesForMs ? [vote.amountUsd] : [],
      )
      const [first, ...others] = amounts.toSorted((one, other) => (absOf(one) < absOf(other) ? -1 : 1))
      if (first === undefined || amounts.length < hosts.length) return undefined
      return others.every((each) => absOf(each - first) * votePart <= absOf(first)) ? first : undefined
    },
    clear: () => votes.clear(),
  }
}

/** Returns the base with which later readings are compared. */
export function walletBaseOf({ placed, books }: AccountReading, intents: number): WalletBase {
  const wallet = [...books.wallet].filter(([, amount]) => amount !== 0n)
  return { wallet: Object.fromEntries(wallet), placed: keccak256(stringToHex(placed)), intents }
}

/** Tells whether two bases have the same holdings. */
export function isSameBase(one: WalletBase | undefined, other: WalletBase): boolean {
  if (one === undefined || one.placed !== other.placed || one.intents !== other.intents) return false
  return tokensOf(one, other).every((token) => one.wallet[token] === other.wallet[token])
}

/** Returns the wallet's gain or loss while nothing else changed, USD; undefined when something else did, or that is unknown. */
function quietStep(
  { kept, books, atMs }: Base,
  now: WalletBase,
  { worth }: Books,
  moved: readonly Happening[],
  monotonicMs: number,
): Usd | undefined {
  if (kept.placed !== now.placed) return undefined
  // An order that came to nothing moves nothing: it is known not to have landed for as long as landings are.
  const isKnown = books !== undefined && moved.length === 0 && monotonicMs - atMs <= happeningsForMs
  if (kept.intents !== now.intents && !isKnown) return undefined
  return tokensOf(kept, now).reduce(
    (sum, token) => sum + worth(token as Address, (now.wallet[token] ?? 0n) - (kept.wallet[token] ?? 0n)),
    0n,
  )
}

function tokensOf(one: WalletBase, other: WalletBase): readonly string[] {
  return [...new Set([...Object.keys(one.wallet), ...Object.keys(other.wallet)])]
}

/** Returns the part of a step that orders do not explain, USD; undefined when it is within their error, or cannot be decided. */
function movedStep(
  { books, atMs }: Base,
  now: Books,
  moved: readonly Happening[],
  sides: HeldSides,
  monotonicMs: number,
): Usd | undefined {
  if (books === undefined || moved.length === 0 || monotonicMs - atMs > happeningsForMs) return undefined
  // A liquidation or a trade by hand meanwhile took or brought money that no order of ours explains, and is no transfer.
  if (!areOthersSame(books, now, moved) || !areSizesExplained(books, now, moved)) return undefined
  const rest = unexplained(books, now, moved, sides)
  if (rest === undefined) return undefined
  const { beyondUsd, errorUsd, feesUsd } = rest
  return absOf(beyondUsd) >= errorTimes * (errorUsd + feesUsd) ? beyondUsd : undefined
}
