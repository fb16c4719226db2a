/**
 * Tells whether the lists of a reading all reflect the state after our orders' changes. Wallet, positions and orders of one venue lag behind each
 * other by seconds, and no list gives its instant. But amounts are conserved: an amount that leaves the wallet is in an order or a position, and the
 * results of fills are known. Lists that match an earlier reading plus the orders that moved since are therefore of one state. Pure.
 */
import { defined } from '../../base/defined.ts'
import { sideKeyOf, sideOfIntent } from '../../domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../../domain/accountRecords/held.ts'
import { type Child, hasEnded, type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { isExit } from '../../domain/order/orderLegs.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { absOf, maxOf, minOf, type TokenAmount, type Usd } from '../../protocol/units.ts'

/** Content of the lists of one reading. */
export interface Books {
  readonly positions: readonly Position[]
  readonly orders: readonly Order[]
  /** Balances by lower-case token, without the native coin, which gas reduces. */
  readonly wallet: ReadonlyMap<string, TokenAmount>
  /** Worth at the prices of the reading; 0 for a token without a price. */
  readonly worth: (token: Address, amount: TokenAmount) => Usd
  /** Tells whether an order holds its payment until it ends. */
  readonly holdsPayment: (order: Order) => boolean
}

/** Something that an order of ours did: it landed, or one of its created orders ended. */
export interface Happening {
  readonly key: string
  readonly state: IntentState
  /** Absent: the landing. */
  readonly child?: Child
}

/** All that these intents did. */
export function happeningsOf(states: readonly IntentState[]): readonly Happening[] {
  return states.flatMap((state): readonly Happening[] => {
    const attempt = lastAttempt(state)
    if (attempt?.phase !== 'LANDED') return []
    const ended = attempt.children.filter(hasEnded)
    return [
      { key: `${state.intent.intentId}:${attempt.n}`, state },
      ...ended.map((child) => ({ key: `${hexKey(child.orderKey)}:${child.phase}`, state, child })),
    ]
  })
}

/** Kinds whose flows are known: other changes of amounts are recognized by time alone. */
const knownKinds: ReadonlySet<string> = new Set(['increase', 'decrease', 'close', 'cancel', 'edit'])
/** Part of the smallest amount that moved by which the figures of a fill may be wrong: one in so many. */
const errorPart = 50n
/** Tolerance for changes that are no amount of an order, USD. */
const centUsd: Usd = 10n ** 28n

/**
 * Tells whether the present lists are from after all of these happenings, and of one state. False also where that cannot be decided.
 *
 * @param before lists that belonged together, from before the happenings
 * @param held sizes by the journal, signed
 */
export function addsUp(
  before: Books,
  now: Books,
  happenings: readonly Happening[],
  held: HeldSides,
): boolean {
  const rest = unexplained(before, now, happenings, held)
  if (rest === undefined) return false
  const { beyondUsd, errorUsd, feesUsd, smallestUsd } = rest
  // A list that lags is off by an amount of that size: it must be distinguishable from fees and from the error.
  if (smallestUsd !== undefined && (feesUsd + errorUsd) * 2n >= smallestUsd) return false
  if (smallestUsd !== undefined && isSameWallet(before, now)) return false
  return beyondUsd <= errorUsd && beyondUsd >= -(errorUsd + feesUsd)
}

/** Difference of two readings beyond our orders' changes. USD. */
export interface Unexplained {
  /** Signed; within `errorUsd` above, and within `errorUsd` and `feesUsd` below nothing, it is nothing. */
  readonly beyondUsd: Usd
  /** Error of the fills' figures. */
  readonly errorUsd: Usd
  /** The most that sending took. */
  readonly feesUsd: Usd
  /** The smallest amount that an order moved; absent when none moved any. */
  readonly smallestUsd?: Usd
}

/**
 * Returns the difference of the present lists from earlier ones beyond the effects of these happenings. Undefined where that cannot be decided:
 * unknown flows, or lists that do not show all of the happenings.
 */
export function unexplained(
  before: Books,
  now: Books,
  happenings: readonly Happening[],
  held: HeldSides,
): Unexplained | undefined {
  const states = [...new Set(happenings.map(({ state }) => state))]
  if (states.some(({ intent }) => !knownKinds.has(intent.kind) || intent.terms.twap !== undefined))
    return undefined
  if (!states.every((state) => agreesWithOrders(state, now))) return undefined
  const fills = happenings.flatMap(({ state, child }) =>
    child?.phase === 'EXECUTED' ? [{ state, child, adds: addsTo(state, child) }] : [],
  )
  let broughtUsd = 0n
  for (const { state, child, adds } of fills) {
    if (!isShown(state, child, now, held)) return undefined
    const resultUsd = adds ? child.settlement?.feesUsd : child.settlement?.pnlUsd
    if (resultUsd === undefined) return undefined
    broughtUsd += adds ? -resultUsd : resultUsd
  }
  const legs = [...paidIn(happenings, now), ...takenOut(fills, before, now)]
  const smallestUsd = legs.length === 0 ? undefined : minOf(...(legs as [Usd, ...Usd[]]))
  return {
    beyondUsd: totalUsd(now, now) - totalUsd(before, now) - broughtUsd,
    errorUsd: smallestUsd === undefined ? centUsd : smallestUsd / errorPart,
    feesUsd: happenings.reduce((sum, each) => sum + mostFees(each, now), 0n),
    ...defined({ smallestUsd }),
  }
}

/** Tells whether positions of sides without any of these happenings are unchanged. */
export function areOthersSame(before: Books, now: Books, happenings: readonly Happening[]): boolean {
  const touched = new Set(happenings.map(({ state }) => sideKeyOf(sideOfIntent(state.intent))))
  const others = ({ positions }: Books): readonly string[] =>
    positions
      .filter((position) => !touched.has(sideKeyOf(position)))
      .map(
        ({ contractKey, sizeInUsd, collateralAmount }) => `${contractKey} ${sizeInUsd} ${collateralAmount}`,
      )
      .toSorted()
  return others(before).join() === others(now).join()
}

/** Tells whether the sizes of all sides moved exactly by the fills of these happenings. */
export function areSizesExplained(before: Books, now: Books, happenings: readonly Happening[]): boolean {
  const moved = new Map<string, Usd>()
  for (const { state, child } of happenings) {
    if (child?.phase !== 'EXECUTED') continue
    const sizeDeltaUsd = child.settlement?.sizeDeltaUsd
    if (sizeDeltaUsd === undefined) return false
    const key = sideKeyOf(sideOfIntent(state.intent))
    moved.set(key, (moved.get(key) ?? 0n) + (addsTo(state, child) ? sizeDeltaUsd : -sizeDeltaUsd))
  }
  const sizeOf = ({ positions }: Books, key: string): Usd =>
    positions
      .filter((position) => sideKeyOf(position) === key)
      .reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const sides = new Set([...before.positions, ...now.positions].map(sideKeyOf))
  return [...sides, ...moved.keys()].every(
    (key) => sizeOf(now, key) - sizeOf(before, key) === (moved.get(key) ?? 0n),
  )
}

function addsTo({ intent }: IntentState, child: Child): boolean {
  return intent.kind === 'increase' && !isExit(child)
}

/** Tells whether the list of orders shows the resting orders of an intent, and none of its ended ones. */
function agreesWithOrders(state: IntentState, { orders }: Books): boolean {
  const listed = new Set(orders.map(({ orderKey }) => hexKey(orderKey)))
  const children = lastAttempt(state)?.children ?? []
  return children.every((child) => listed.has(hexKey(child.orderKey)) !== hasEnded(child))
}

/** Tells whether the positions are from after a fill: their size is the journal's, and their row changed then or later. */
function isShown(state: IntentState, { settlement }: Child, { positions }: Books, held: HeldSides): boolean {
  const key = sideKeyOf(sideOfIntent(state.intent))
  const row = positions.find((position) => sideKeyOf(position) === key)
  if ((row?.sizeInUsd ?? 0n) !== maxOf(0n, held.get(key)?.sizeUsd ?? 0n)) return false
  if (row === undefined) return true
  const atSeconds = settlement?.timestampSeconds ?? Number.POSITIVE_INFINITY
  return Math.max(row.increasedAtSeconds, row.decreasedAtSeconds) >= atSeconds
}

/** Returns the payments of increases, USD: a payment left the wallet, moved from an order into a position, or was returned. */
function paidIn(happenings: readonly Happening[], now: Books): readonly Usd[] {
  const payers = happenings.flatMap(({ state, child }) =>
    state.intent.kind === 'increase' && (child === undefined || !isExit(child)) ? [state] : [],
  )
  return [...new Set(payers)].map(({ intent: { terms } }) =>
    now.worth(terms.collateralToken.address, terms.collateralDelta),
  )
}

/** Returns the payouts of reductions, USD, by side: collateral that left, and their results. */
function takenOut(
  fills: readonly { readonly state: IntentState; readonly child: Child; readonly adds: boolean }[],
  before: Books,
  now: Books,
): readonly Usd[] {
  const sides = new Set(
    fills.flatMap(({ state, adds }) => (adds ? [] : [sideKeyOf(sideOfIntent(state.intent))])),
  )
  return [...sides].map((key) => {
    let outUsd = collateralUsd(before, key, now) - collateralUsd(now, key, now)
    for (const { state, child, adds } of fills) {
      if (sideKeyOf(sideOfIntent(state.intent)) !== key) continue
      const { collateralToken, collateralDelta } = state.intent.terms
      outUsd += adds
        ? now.worth(collateralToken.address, collateralDelta) - (child.settlement?.feesUsd ?? 0n)
        : (child.settlement?.pnlUsd ?? 0n)
    }
    return maxOf(0n, outUsd)
  })
}

function collateralUsd({ positions }: Books, key: string, { worth }: Books): Usd {
  return positions
    .filter((position) => sideKeyOf(position) === key)
    .reduce(
      (sum, { collateralToken, collateralAmount }) => sum + worth(collateralToken, collateralAmount),
      0n,
    )
}

/** Returns the most that sending a message took from the wallet, USD; later effects of its orders are not included. */
function mostFees({ state, child }: Happening, { worth }: Books): Usd {
  const armed = child === undefined ? lastAttempt(state)?.armed : undefined
  return armed === undefined ? 0n : absOf(worth(armed.relayFeeToken, armed.relayFeeAmount))
}

function isSameWallet(before: Books, now: Books): boolean {
  const tokens = new Set([...before.wallet.keys(), ...now.wallet.keys()])
  return [...tokens].every((token) => (before.wallet.get(token) ?? 0n) === (now.wallet.get(token) ?? 0n))
}

/** Sums all amounts of a reading at the prices of another, USD: without the profits and losses of positions. */
function totalUsd({ wallet, positions, orders, holdsPayment }: Books, { worth }: Books): Usd {
  let sumUsd = 0n
  for (const [token, amount] of wallet) sumUsd += worth(token as Address, amount)
  for (const { collateralToken, collateralAmount } of positions)
    sumUsd += worth(collateralToken, collateralAmount)
  for (const order of orders) {
    if (holdsPayment(order)) sumUsd += worth(order.initialCollateralToken, order.initialCollateralDeltaAmount)
  }
  return sumUsd
}
