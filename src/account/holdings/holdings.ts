/**
 * Positions by every configured source: the lists of all hosts of the application API, read in parallel, and the journal. No host alone decides how
 * much counts as held, or that a position exists to be reduced (`domain/accountRecords/held.ts`).
 */

import type { Api } from '../../api/client.ts'
import { defined, someOf } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { madeOnce } from '../../base/madeOnce.ts'
import { lastMade } from '../../base/sameAgain.ts'
import { type PositionSide, sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { type Fill, fillsOf } from '../../domain/accountRecords/fills.ts'
import {
  type HeldSides,
  type HiddenSide,
  hiddenIn,
  shownSides,
  type UnlistedSide,
  unlistedIn,
} from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import { hasEnded, type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { isExit } from '../../domain/order/orderLegs.ts'
import { isWithheld, unprovenSinceMs } from '../../domain/order/withheld.ts'
import type { AccountLists, Snapshot } from '../../domain/snapshot.ts'
import type { HasApi, HasClock, HasJournal } from '../../execution/context/executionParts.ts'
import type { ExecutionSettings } from '../../execution/context/executionSettings.ts'
import { type OpenOrders, openStatesOf } from '../../execution/openOrders.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { Order, Position } from '../../protocol/position.ts'
import type { Rows } from '../../protocol/reading.ts'
import { formatDollars, type Usd } from '../../protocol/units.ts'
import { type Exposure, sideKey } from '../../risk/exposure/accountExposure.ts'
import type { Trading } from '../halts/tradingHalts.ts'
import { createHostLooks, type PositionList, since } from './hostLooks.ts'
import { isBusy, keysNotListed } from './lag.ts'
import { lastExposure } from './lastExposure.ts'
import { lastSides } from './lastSides.ts'
import { createRowFigures } from './rowFigures.ts'

/** Positions by all sources. */
export interface Holdings {
  /**
   * Reads the positions of every host that is not in cooldown; returns the lists that arrived at most two seconds after the first. Rejects with what
   * reading throws when none did.
   */
  refresh(): Promise<readonly PositionList[]>
  /** Sizes by the journal, signed; sides that were left have 0. */
  journal(): HeldSides
  /** Returns the account's exposure by a snapshot's list, these intents, the journal and other hosts' lists. */
  exposure(snapshot: AccountLists, openIntents: readonly IntentState[]): Exposure
  /** Sides of which a list shows less than the journal knows, where no order of ours explains it by lag. */
  hiddenIn(list: Rows<readonly Position[]>): readonly HiddenSide[]
  /** Rows that another host's newest list shows, of sides that these do not show at all. */
  elsewhere(rows: readonly Position[]): readonly Position[]
  /** A list's rows, and of sides that it does not show and the journal or all hosts know those of other hosts. */
  withOthers(rows: readonly Position[]): readonly Position[]
  /**
   * Returns the positions without a readable row in a list. An unreadable row counts at once. A missing row counts after half a minute in which no
   * order of ours explains it by lag.
   */
  unlistedIn(list: Rows<readonly Position[]>): readonly UnlistedSide[]
  /** Returns the markets of the journal's positions. */
  heldMarkets(): readonly Address[]
  /**
   * Returns a snapshot that marks the sides its list hides, where no order of ours explains that by lag; where an exit rests, only after lists may
   * lag no more. Rows of other hosts replace rows that have been hidden for longer than lists lag, so that such a position can be left.
   */
  held(snapshot: Snapshot): Snapshot
  /**
   * Returns the judgement, as of now, which positions more than one host's passing statement supports. That holds if the journal knows it or an operator
   * adopted it. It also holds if every configured host showed it in looks further apart than lists lag, and one still does.
   */
  vouching(): (side: PositionSide) => boolean
  /** Returns the fold of exposure, as of now, that `exposure` makes. */
  exposing(): (snapshot: AccountLists, openIntents: readonly IntentState[]) => Exposure
}

/** The oldest row of another host that a row's figures are compared with, ms. */
const rowFreshMs = 15_000
/** Longest wait for slower hosts after one has answered, ms. */
const patienceMs = 2_000

/** Hidden sides as sentences, each side once, by the symbols of lower-cased market tokens. */
export function told(
  hidden: readonly HiddenSide[],
  symbols: Readonly<Record<string, string>>,
): readonly string[] {
  const sides = new Map(hidden.map((each) => [sideKeyOf(each), each]))
  return [...sides.values()].map(({ marketToken, direction, shownUsd, knownUsd }) => {
    const symbol = symbols[hexKey(marketToken)] ?? marketToken
    return `a list shows ${formatDollars(shownUsd)} of ${symbol} ${direction}; the journal has ${formatDollars(knownUsd)}`
  })
}

/** Lower-case keys of a list's orders; made once for a list: each turn looks for its own among them. */
const orderKeysOf = madeOnce((orders: readonly Order[]): ReadonlySet<string> => {
  return new Set(orders.map(({ orderKey }) => hexKey(orderKey)))
})

/** Markets of the sides with a size; made once for the sizes. */
const marketsHeldIn = madeOnce((sides: HeldSides): readonly Address[] =>
  [...sides.values()].flatMap((side) => (side.sizeUsd > 0n ? [side.marketToken] : [])),
)

const noneUnlisted: readonly UnlistedSide[] = []

/** Dependencies of holdings. */
export interface HoldingsContext extends HasApi, HasClock, HasJournal {
  readonly openOrders: OpenOrders
  readonly trading: Trading
  /** The last price that most hosts agreed on. */
  readonly prices: {
    lastOf(marketToken: string): { readonly price: Usd; readonly atMs: number } | undefined
  }
  readonly settings?: ExecutionSettings
}

/** Makes the holdings of an account; nothing is known of the hosts' lists before the first look. */
export function createHoldings(context: HoldingsContext, account: Address): Holdings {
  const { clock, journal, openOrders, trading } = context
  const api: Pick<Api, 'getPositions' | 'hosts' | 'isCoolingDown'> = context.api
  const looks = createHostLooks(clock)
  const exposureOnce = lastExposure()
  const figures = createRowFigures()
  /** Times from which snapshots' lists hide a side, monotonic ms. */
  let hiddenSinceMs: ReadonlyMap<string, number> = new Map()
  /** Times from which a list shows no row of a side that the journal has, monotonic ms. */
  let notShownSinceMs: ReadonlyMap<string, number> = new Map()
  /** Keys of the orders that rest by the newest snapshot, lower case. */
  let listed: ReadonlySet<string> = new Set()
  /** Times from which orders that rest by the journal are missing from the list, by lower-case key, monotonic ms. */
  let goneSinceMs: ReadonlyMap<string, number> = new Map()

  const sidesOf = lastSides()
  // Derived from lists that hundreds of turns of a second share, until one of them is another.
  const lastWithOthers = lastMade<readonly Position[]>()
  const lastGone = lastMade<readonly string[]>()
  const lastHidden = lastMade<readonly HiddenSide[]>()
  const lastLacking = lastMade<readonly string[]>()
  const openNow = () => openStatesOf(openOrders)

  function journalNow(open = openNow()): HeldSides {
    return sidesOf(journal.closedFills(), open, trading.accountJournal.state())
  }

  function exposing(): ReturnType<Holdings['exposing']> {
    const known = { journal: journalNow(), hosts: looks.sides() }
    return (snapshot, openIntents) => exposureOnce(snapshot, openIntents, known)
  }

  function note(list: PositionList): void {
    looks.note(list, journalNow())
  }

  /** A snapshot whose rows have figures that more than one host stands behind. */
  function withFigures(snapshot: Snapshot): Snapshot {
    const nowMs = clock.monotonicMs()
    const fresh = looks.fresh().filter(({ atMs }) => nowMs - atMs <= rowFreshMs)
    const value = figures.judged(snapshot.positions.value, {
      lists: fresh.map(({ list }) => list.value),
      priceOf(marketToken) {
        const last = context.prices.lastOf(marketToken)
        return last === undefined || clock.now() - last.atMs > rowFreshMs ? undefined : last.price
      },
    })
    if (value === snapshot.positions.value) return snapshot
    return { ...snapshot, positions: { ...snapshot.positions, value } }
  }

  function withOthers(rows: readonly Position[]): readonly Position[] {
    const [known, fresh, vouched] = [journalNow(), looks.fresh(), looks.vouched()]
    return lastWithOthers([rows, known, vouched, ...fresh], () => {
      const shown = shownSides(rows)
      const added = new Map<string, Position>()
      for (const { key, row } of fresh.flatMap((look) => look.rows)) {
        const byJournal = known.get(key)
        const isHeld = byJournal === undefined ? vouched.has(key) : byJournal.sizeUsd > 0n
        if (!shown.has(key) && isHeld) added.set(key, row)
      }
      return added.size === 0 ? rows : [...rows, ...added.values()]
    })
  }

  /**
   * Returns the sides where a fill of ours may be in the journal and not in the lists, or the reverse: an order is in flight, ended just now, or has
   * just left the list of resting orders. It is computed from the present list; the sides are made on request.
   */
  function sidesThatMove(open: readonly IntentState[]): () => ReadonlySet<string> {
    const nowMs = clock.monotonicMs()
    const gone = lastGone([open, listed], () => open.flatMap((state) => keysNotListed(state, listed)))
    goneSinceMs = since(gone, goneSinceMs, nowMs)
    const [listedNow, goneNowMs] = [listed, goneSinceMs]
    const isGoneNow = (state: IntentState) =>
      keysNotListed(state, listedNow).some((key) => nowMs - (goneNowMs.get(key) ?? nowMs) < LIST_LAG_MS)
    let sides: ReadonlySet<string> | undefined
    return () => {
      if (sides !== undefined) return sides
      const moving = [
        ...open.filter((state) => isBusy(state, clock.now()) || isGoneNow(state)),
        ...openOrders
          .recentlyLanded()
          .filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
      ]
      sides = new Set(moving.map(({ intent: { terms } }) => sideKey(terms.marketToken, terms.direction)))
      return sides
    }
  }

  /** Sides with an exit or a reduction of ours that rests by the journal: the list of orders may be later than that of positions. */
  function sidesWithExits(): ReadonlySet<string> {
    const exiting = openNow().filter((state) =>
      (lastAttempt(state)?.children ?? []).some(
        (child) => !hasEnded(child) && (state.intent.kind === 'decrease' || isExit(child)),
      ),
    )
    return new Set(exiting.map(({ intent: { terms } }) => sideKey(terms.marketToken, terms.direction)))
  }

  function hiddenSides(list: Rows<readonly Position[]>, open = openNow()): readonly HiddenSide[] {
    const moving = sidesThatMove(open)
    const [known, account] = [journalNow(open), trading.accountJournal.state()]
    const found = lastHidden([list.value, list.missing, known, account.discrepancies], () =>
      hiddenIn(list, known, account),
    )
    return found.filter(({ marketToken, direction }) => !moving().has(sideKey(marketToken, direction)))
  }

  /** A reduction whose message is withheld explains nothing that a list lacks. */
  function isNoneWithheld(state: IntentState): boolean {
    const { withheldMs } = context.settings ?? {}
    if (withheldMs === undefined || state.intent.reservationUsd > 0n) return true
    return !isWithheld(unprovenSinceMs(state), clock.now(), withheldMs)
  }

  function unlisted(list: Rows<readonly Position[]>, open = openNow()): readonly UnlistedSide[] {
    const nowMs = clock.monotonicMs()
    const known = journalNow(open)
    const shown = shownSides(list.value)
    const lacking = lastLacking([known, shown], () =>
      [...known].flatMap(([key, { sizeUsd }]) => (sizeUsd > 0n && !shown.has(key) ? [key] : [])),
    )
    notShownSinceMs = since(lacking, notShownSinceMs, nowMs)
    const moving = sidesThatMove(open.every(isNoneWithheld) ? open : open.filter(isNoneWithheld))
    // Every row can be read, and every side that is known has one.
    if (lacking.length + (list.missing ?? []).length === 0) return noneUnlisted
    return unlistedIn(list, known, (key) => {
      const side = known.get(key)
      if (side === undefined || moving().has(sideKey(side.marketToken, side.direction))) return false
      return nowMs - (notShownSinceMs.get(key) ?? nowMs) >= LIST_LAG_MS
    })
  }

  async function readHost(host: string): Promise<PositionList> {
    const options = api.hosts.api.length === 1 ? {} : { host, attempts: 1 }
    const list = await api.getPositions({ account }, options)
    note(list)
    return list
  }

  async function look(): Promise<readonly PositionList[]> {
    const asked = api.hosts.api.filter((host) => !api.isCoolingDown(host))
    if (asked.length === 0) {
      const list = await api.getPositions({ account })
      note(list)
      return [list]
    }
    const lists: PositionList[] = []
    let failure: unknown
    let answered = (): void => undefined
    const first = new Promise<void>((resolve) => {
      answered = resolve
    })
    const over = new AbortController()
    const all = Promise.all(
      asked.map(async (host) => {
        try {
          lists.push(await readHost(host))
          answered()
        } catch (error) {
          if (!(error instanceof BaseError)) throw error
          failure = error
        }
      }),
    ).finally(() => over.abort('answered'))
    await Promise.race([all, first.then(() => clock.sleep(patienceMs, over.signal))])
    if (lists.length === 0) throw failure
    return [...lists]
  }

  return {
    async refresh() {
      const lists = await look()
      looks.vouch(api.hosts.api)
      return lists
    },
    journal: () => journalNow(),
    exposure: (snapshot, openIntents) => exposing()(snapshot, openIntents),
    exposing,
    hiddenIn: (list) => hiddenSides(list),
    unlistedIn: (list) => unlisted(list),
    heldMarkets: () => marketsHeldIn(journalNow()),
    elsewhere(rows) {
      const shown = shownSides(rows)
      const others = looks.fresh().flatMap(({ list }) => list.value)
      const found = others.filter((row) => row.sizeInUsd > 0n && !shown.has(sideKeyOf(row)))
      return [...new Map(found.map((row) => [sideKeyOf(row), row])).values()]
    },
    withOthers,
    held(shown) {
      const snapshot = withFigures(shown)
      const nowMs = clock.monotonicMs()
      listed = orderKeysOf(snapshot.orders.value)
      const open = openNow()
      const found = hiddenSides(snapshot.positions, open)
      hiddenSinceMs = since(found.map(sideKeyOf), hiddenSinceMs, nowMs)
      const exits = found.length === 0 ? new Set<string>() : sidesWithExits()
      // Limits count the journal's sizes meanwhile, so that a host that hides them gains nothing in these seconds.
      const hidden = found.filter(
        (side) =>
          !exits.has(sideKey(side.marketToken, side.direction)) ||
          nowMs - (hiddenSinceMs.get(sideKeyOf(side)) ?? nowMs) >= LIST_LAG_MS,
      )
      const isLasting = [...hiddenSinceMs.values()].some((sinceMs) => nowMs - sinceMs >= LIST_LAG_MS)
      const isUnread = snapshot.positions.missing !== undefined
      const value =
        isUnread || (hidden.length > 0 && isLasting)
          ? withOthers(snapshot.positions.value)
          : snapshot.positions.value
      const without = unlisted({ ...snapshot.positions, value }, open)
      if (hidden.length === 0 && without.length === 0 && !isUnread) return snapshot
      return {
        ...snapshot,
        positions: { ...snapshot.positions, value },
        ...defined({ hidden: someOf(hidden) }),
        ...defined({ unlisted: someOf(without) }),
      }
    },
    vouching() {
      const [closed, open, vouched] = [journal.closedFills(), openNow(), looks.vouched()]
      const { discrepancies } = trading.accountJournal.state()
      return (side) => {
        const key = sideKeyOf(side)
        const isAdopted = [...discrepancies.values()].some(
          ({ discrepancy, end }) =>
            end === 'adopted' && discrepancy.sizeDeltaUsd > 0n && sideKeyOf(discrepancy) === key,
        )
        return isAdopted || ownOf(closed, open, side) || vouched.has(key)
      }
    },
  }
}

/** Tells whether our own fills alone left something on the side, or an order of ours may have: a list may show it before the journal. */
function ownOf(closed: readonly Fill[], open: readonly IntentState[], side: PositionSide): boolean {
  const mayOpen = open.some(
    ({ intent, attempts }) =>
      intent.reservationUsd > 0n &&
      attempts.some(({ armed }) => armed !== undefined) &&
      intent.terms.direction === side.direction &&
      sameHex(intent.terms.marketToken, side.marketToken) &&
      (intent.kind === 'batch' || sameHex(intent.terms.collateralToken.address, side.collateralToken)),
  )
  if (mayOpen) return true
  const fills = [...closed, ...open.flatMap(fillsOf)].filter(
    (fill) =>
      fill.direction === side.direction &&
      sameHex(fill.marketToken, side.marketToken) &&
      sameHex(fill.collateralToken, side.collateralToken),
  )
  return fills.reduce((sum, { sizeDeltaUsd = 0n }) => sum + sizeDeltaUsd, 0n) > 0n
}
