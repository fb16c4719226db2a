/**
 * The account's equity: its wallet tokens without the native coin, which is gas; its positions with profit, loss and pending fees; and payments that
 * resting orders hold. Lists of one venue lag behind each other by seconds, and a host may lie, so one reading is no figure. Over a minute and a
 * quarter, a gain counts when the lowest reading shows it, a loss when the middle one does. Half a minute of lag, or less than half of the readings,
 * therefore neither makes a loss nor hides one. Each host is read separately and has its own figures, and the larger loss counts: of four lists from
 * two hosts a single lying one would be enough.
 *
 * `transfers.ts` separates deposits and withdrawals from gains and losses; the figures move with them (`movedMark`).
 */
import type { Api } from '../../api/client.ts'
import { defined } from '../../base/defined.ts'
import { lastMade } from '../../base/sameAgain.ts'
import { EQUITY_WINDOW_MS } from '../../domain/accountRecords/listLag.ts'
import { type EquityMark, movedMark } from '../../domain/accountRecords/tradingState.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { absOf, maxOf, minOf, type TokenAmount, type Usd, usdOfAmount } from '../../protocol/units.ts'
import { AHEAD_FOR_MS, dayStartOf } from '../../risk/breakers/circuitBreakers.ts'
import type { AccountJournal } from '../halts/accountJournal.ts'
import type { Books } from './readingsAddUp.ts'

/** One reading, USD: without and with the possible payments of orders in flight, and positions that its lists hide. */
export interface EquityReading {
  readonly lowUsd: Usd
  readonly highUsd: Usd
  /** Amount that entered the wallet (positive) or left it and is not judged yet: neither gain nor loss until it is. Absent: none. */
  readonly pendingUsd?: Usd
  /** Unrealized results of strategies' open parts by the same lists, USD, by name; absent: not requested. */
  readonly opens?: () => Readonly<Record<string, Usd>>
}

/** A reading of the account, with the content of its lists at that time, which separates readings of one state from others. */
export interface AccountReading extends EquityReading {
  readonly inventory: string
  /** The part of it that is not the wallet: positions, and payments that orders hold. */
  readonly placed: string
  readonly books: Books
}

// MarketSwap, LimitSwap, MarketIncrease, LimitIncrease and StopIncrease hold their payment (contract `Order`, `OrderType`).
const payingOrders: ReadonlySet<number> = new Set([0, 1, 2, 3, 8])

/** Tells whether an order holds its payment until it ends: that payment is in no wallet, and belongs to the account. */
export function holdsPayment({ orderType }: Order): boolean {
  return payingOrders.has(orderType)
}

/**
 * Reads the account's equity, by one host where one is named; undefined when one of its rows is unreadable, which is no loss. `inFlight`: intents
 * whose payment may be in no list. Throws what the api throws.
 */
export async function readEquity(
  api: Api,
  account: Address,
  inFlight: readonly IntentState[],
  host?: string,
): Promise<AccountReading | undefined> {
  const options = host === undefined ? {} : { host, attempts: 1 }
  const [positions, orders, balances, tokens] = await Promise.all([
    api.getPositions({ account }, options),
    api.getOrders({ account }, options),
    api.getWalletBalances({ account }, options),
    api.getTokensInfo(options),
  ])
  if ([positions, orders, balances, tokens].some(({ missing }) => missing !== undefined)) return undefined
  const byAddress = new Map(tokens.value.map((token) => [hexKey(token.address), token]))
  const worth = (address: Address, amount: TokenAmount): Usd => {
    const token = byAddress.get(hexKey(address))
    return token?.minPrice === undefined ? 0n : usdOfAmount(amount, token.minPrice, token.decimals)
  }
  let lowUsd = 0n
  for (const { address, balance } of balances.value) {
    if (byAddress.get(hexKey(address))?.isNative !== true) lowUsd += worth(address, balance)
  }
  for (const { netValueUsd } of positions.value) lowUsd += netValueUsd
  for (const order of orders.value) {
    if (!holdsPayment(order)) continue
    lowUsd += worth(order.initialCollateralToken, order.initialCollateralDeltaAmount)
  }
  const held = inFlight.map(({ intent: { terms } }) =>
    worth(terms.collateralToken.address, terms.collateralDelta),
  )
  const wallet = new Map(
    balances.value
      .filter(({ address }) => byAddress.get(hexKey(address))?.isNative !== true)
      .map(({ address, balance }) => [hexKey(address), balance]),
  )
  const placed = placedOf(positions.value, orders.value)
  return {
    lowUsd,
    highUsd: held.reduce((sum, usd) => sum + usd, lowUsd),
    inventory: `${placed},${listed([...wallet].map(([token, balance]) => `${token}:${balance}`))}`,
    placed,
    books: { positions: positions.value, orders: orders.value, wallet, worth, holdsPayment },
  }
}

/** Lists the content of positions and orders, without prices. */
function placedOf(positions: readonly Position[], orders: readonly Order[]): string {
  return listed([
    ...positions.map(({ contractKey, sizeInUsd, collateralAmount }) =>
      [contractKey, sizeInUsd, collateralAmount].join(':'),
    ),
    ...orders
      .filter(holdsPayment)
      .map(({ orderKey, initialCollateralDeltaAmount }) =>
        [orderKey, initialCollateralDeltaAmount].join(':'),
      ),
  ])
}

function listed(texts: readonly string[]): string {
  return texts.toSorted().join()
}

/** The account's worth over time. */
export interface EquityTracker {
  /**
   * Takes a reading of now and keeps the mark in the journal when it is worth it. `host`: whose lists it is by; readings of
   * different hosts are never mixed.
   */
  take(reading: EquityReading, nowMs: number, host?: string): Promise<void>
  /** Money came in (positive) or left, and the account is worth `afterUsd` now; every figure moves with it. Journal first, then here. */
  transfer(amountUsd: Usd, afterUsd: Usd): void
  /** The mark with the newest figure, of the host that shows the largest loss; absent before the first reading of this process. */
  mark(): EquityMark | undefined
  /** The least that a host shows the account to be worth, USD; absent before the first reading of this process. */
  worthUsd(): Usd | undefined
  /** Returns the lowest reading of the window without payments in flight, USD; absent before the first one. */
  floorUsd(): Usd | undefined
  /** Persists the peak that people see, once it is a cent above the journal's. */
  keepShown(nowMs: number): Promise<void>
  /** Sets the peak and the day's first figure to the present equity: an operator accepted the loss. */
  rebase(): Promise<void>
}

/** The mark is written when the peak rose by one part in this many, */
const peakPart = 1_000n
/** or when anything changed and this much time passed, ms. */
const markEveryMs = 600_000
/** Another host's mark counts when its loss is larger by one part of the equity in this many: hosts are cents apart. */
const hostPart = 1_000n

/** Fewer readings than this are no majority: the highest of them counts. */
const fewestReadings = 3
/** Least rise of the peak that people see before it is persisted, USD: the smallest that they can see. */
const centUsd: Usd = 10n ** 28n
/** A reading this far from the figure is reported, bps of the figure. */
const jumpBps = 1_000

type Opens = { readonly opens?: () => Readonly<Record<string, Usd>> }

/** A reading that is far from the figure, which it does not move by itself. */
export interface EquityJump {
  readonly readingUsd: Usd
  readonly equityUsd: Usd
}

/** State of the readings of one host. */
interface HostTrack {
  readonly readings: readonly (EquityReading & { readonly atMs: number })[]
  readonly live: EquityMark
  readonly isJumping: boolean
  /** End of the time in which the day's first figure may still rise, Unix ms: its first readings may have missed payments in flight. */
  readonly dayOpenUntilMs: number
  /** Time from which the mark's day lies in the future, Unix ms: a clock that was ahead began it. Absent: it does not. */
  readonly aheadSinceMs?: number
}

/** Judges whether today ended while a mark of a day to come counted for it: by time that ran from one reading to the next, and by no jump. */
function isAheadOver({ aheadSinceMs, readings }: Partial<HostTrack> = {}, nowMs: number): boolean {
  const lastMs = readings?.at(-1)?.atMs
  if (aheadSinceMs === undefined || lastMs === undefined) return false
  const isRun = nowMs - lastMs <= EQUITY_WINDOW_MS && dayStartOf(lastMs) < dayStartOf(nowMs)
  return isRun && nowMs - aheadSinceMs >= AHEAD_FOR_MS
}

/**
 * Follows the account's equity from the journal's latest mark. `onJump` is called when readings begin to be far from the figure: the equity changed
 * at once, or a host lies. `shownPeakUsd`: the highest figure that people saw, persisted next to the breakers' own.
 */
export function createEquityTracker(
  accountJournal: AccountJournal,
  onJump?: (jump: EquityJump) => void,
  shownPeakUsd: () => Usd | undefined = () => undefined,
): EquityTracker {
  let tracks: ReadonlyMap<string, HostTrack> = new Map()
  /** The host whose mark counts. */
  let chosen: string | undefined
  let writtenAtMs = Number.NEGATIVE_INFINITY
  /** Starting mark of each host: this process writes only one host's figures. */
  let begun = accountJournal.state().trading.equity

  async function write(mark: EquityMark, nowMs: number, { opens }: Opens = {}): Promise<void> {
    writtenAtMs = nowMs
    const { shownPeakUsd: _, dayOpenUsd: __, ...own } = mark
    const shown = shownPeakUsd()
    const peak = shown === undefined || shown <= mark.peakUsd ? {} : { shownPeakUsd: shown }
    const isNewDay = accountJournal.state().trading.equity?.dayStartMs !== mark.dayStartMs
    const day = isNewDay && opens !== undefined ? { dayOpenUsd: opens() } : {}
    await accountJournal.write({ kind: 'equity.marked', ...own, ...peak, ...day })
  }

  /** Returns a host's figures with one more reading; `before` is absent at its first, `isRebasing` when they start over. */
  function tracked(
    before: HostTrack | undefined,
    reading: EquityReading,
    nowMs: number,
    isRebasing: boolean,
  ): HostTrack {
    const kept = isRebasing ? [] : (before?.readings ?? [])
    const readings = [
      ...kept.filter(({ atMs }) => atMs > nowMs - EQUITY_WINDOW_MS),
      { ...reading, atMs: nowMs },
    ]
    const floorUsd = minOf(leastIn(reading), ...readings.map(leastIn))
    const equityUsd = figureOf(readings.map(mostOf))
    const isJumping =
      readings.length >= fewestReadings &&
      absOf(mostOf(reading) - equityUsd) * 10_000n > absOf(equityUsd) * BigInt(jumpBps)
    if (isJumping && before?.isJumping !== true) onJump?.({ readingUsd: mostOf(reading), equityUsd })
    const mark = before?.live ?? begun
    const dayStartMs = dayStartOf(nowMs)
    const aheadSinceMs =
      mark === undefined || mark.dayStartMs <= dayStartMs ? undefined : (before?.aheadSinceMs ?? nowMs)
    const isNewDay =
      isRebasing || mark === undefined || mark.dayStartMs < dayStartMs || isAheadOver(before, nowMs)
    const dayOpenUntilMs = isNewDay
      ? nowMs + 2 * EQUITY_WINDOW_MS
      : (before?.dayOpenUntilMs ?? Number.NEGATIVE_INFINITY)
    const dayStartUsd = isNewDay ? floorUsd : mark.dayStartUsd
    const dayFirstAtMs = isNewDay ? nowMs : mark.dayFirstAtMs
    const isDayOpen = nowMs <= dayOpenUntilMs
    const { dayTransfersUsd, dayShareOfUsd } = isNewDay ? {} : mark
    return {
      readings,
      isJumping,
      dayOpenUntilMs,
      ...defined({ aheadSinceMs }),
      live: {
        equityUsd,
        peakUsd: isRebasing || mark === undefined ? floorUsd : maxOf(mark.peakUsd, floorUsd),
        dayStartMs: isNewDay ? dayStartMs : mark.dayStartMs,
        dayStartUsd: isDayOpen ? maxOf(dayStartUsd, floorUsd) : dayStartUsd,
        ...defined({ dayFirstAtMs, dayTransfersUsd }),
        ...(dayShareOfUsd === undefined
          ? {}
          : { dayShareOfUsd: isDayOpen ? maxOf(dayShareOfUsd, floorUsd) : dayShareOfUsd }),
      },
    }
  }

  /** Returns a host's figures after a transfer: its earlier readings belong to another account, so to say. */
  function moved({ readings, live, ...track }: HostTrack, amountUsd: Usd, afterUsd: Usd): HostTrack {
    const last = readings.slice(-1).map(({ pendingUsd: _, ...reading }) => reading)
    return { ...track, readings: last, isJumping: false, live: movedMark(live, amountUsd, afterUsd) }
  }

  const lastFloor = lastMade<Usd | undefined>()

  /** Hosts that were read in the last minute and a quarter; all when none was. */
  function heard(nowMs: number): readonly (readonly [string, HostTrack])[] {
    const fresh = [...tracks].filter(
      ([, { readings }]) => (readings.at(-1)?.atMs ?? 0) > nowMs - EQUITY_WINDOW_MS,
    )
    return fresh.length === 0 ? [...tracks] : fresh
  }

  /** Returns the tracks of the hosts that were read together with the newest one. */
  function heardLast(): readonly HostTrack[] {
    const lasts = [...tracks.values()].map(({ readings }) => readings.at(-1)?.atMs ?? 0)
    return heard(Math.max(0, ...lasts)).map(([, track]) => track)
  }

  function choose(nowMs: number): EquityMark | undefined {
    const hosts = heard(nowMs)
    const [worst] = hosts.toSorted(([, one], [, other]) => (lossOf(one.live) > lossOf(other.live) ? -1 : 1))
    const kept = hosts.find(([host]) => host === chosen)
    const isFarther =
      worst !== undefined &&
      kept !== undefined &&
      (lossOf(worst[1].live) - lossOf(kept[1].live)) * hostPart > absOf(kept[1].live.equityUsd)
    const [host, track] = (kept === undefined || isFarther ? worst : kept) ?? []
    chosen = host
    return track?.live
  }

  async function keep(nowMs: number, isRebased: boolean, opens: Opens = {}): Promise<void> {
    const live = choose(nowMs)
    if (live === undefined) return
    const written = accountJournal.state().trading.equity
    const isChanged = written === undefined || absOf(written.equityUsd - live.equityUsd) > 0n
    const isDue =
      isRebased ||
      written === undefined ||
      live.dayStartMs !== written.dayStartMs ||
      live.dayStartUsd !== written.dayStartUsd ||
      live.peakUsd - written.peakUsd > written.peakUsd / peakPart ||
      (isChanged && Math.abs(nowMs - writtenAtMs) >= markEveryMs)
    if (isDue) await write(live, nowMs, opens)
  }

  let isRebasing = false
  return {
    async take(reading, nowMs, host = '') {
      const wasRebasing = isRebasing
      isRebasing = false
      const track = tracked(tracks.get(host), reading, nowMs, wasRebasing)
      tracks = wasRebasing ? new Map([[host, track]]) : new Map(tracks).set(host, track)
      await keep(nowMs, wasRebasing, reading)
    },
    transfer(amountUsd, afterUsd) {
      tracks = new Map([...tracks].map(([host, track]) => [host, moved(track, amountUsd, afterUsd)]))
      if (begun !== undefined) begun = movedMark(begun, amountUsd, afterUsd)
    },
    mark: () => (chosen === undefined ? undefined : tracks.get(chosen)?.live),
    worthUsd: () => leastOf(heardLast().map(({ live }) => live.equityUsd)),
    floorUsd: () =>
      lastFloor([tracks], () => leastOf(heardLast().flatMap(({ readings }) => readings.map(leastIn)))),
    async keepShown(nowMs) {
      const live = chosen === undefined ? undefined : tracks.get(chosen)?.live
      const written = accountJournal.state().trading.equity
      const shown = shownPeakUsd()
      if (live === undefined || shown === undefined) return
      const keptUsd = maxOf(written?.peakUsd ?? 0n, written?.shownPeakUsd ?? 0n)
      if (shown / centUsd > keptUsd / centUsd) await write(live, nowMs)
    },
    async rebase() {
      const lasts = [...tracks].flatMap(([host, { readings }]) => {
        const last = readings.at(-1)
        return last === undefined ? [] : [{ host, ...last }]
      })
      // Before the first reading of this process there is nothing to begin from: the first one will do it.
      if (lasts.length === 0) isRebasing = true
      tracks = new Map(
        lasts.map(({ host, atMs, ...reading }) => [host, tracked(undefined, reading, atMs, true)]),
      )
      chosen = undefined
      begun = undefined
      const newest = Math.max(0, ...lasts.map(({ atMs }) => atMs))
      await keep(newest, true)
    },
  }
}

/** The most that a reading may stand for, USD. */
function mostOf({ highUsd, pendingUsd = 0n }: EquityReading): Usd {
  return pendingUsd < 0n ? highUsd - pendingUsd : highUsd
}

/** The least that a reading may stand for, USD. */
function leastIn({ lowUsd, pendingUsd = 0n }: EquityReading): Usd {
  return pendingUsd > 0n ? lowUsd - pendingUsd : lowUsd
}

function leastOf([first, ...others]: readonly Usd[]): Usd | undefined {
  return first === undefined ? undefined : minOf(first, ...others)
}

/** Returns the loss that a mark shows since 00:00 UTC, or since the peak where that is more; USD. */
function lossOf({ dayStartUsd, peakUsd, equityUsd }: EquityMark): Usd {
  return maxOf(dayStartUsd, peakUsd) - equityUsd
}

/** Returns the median of the readings (the lower middle of an even number), or the highest while there are too few. */
function figureOf(readings: readonly Usd[]): Usd {
  const sorted = readings.toSorted((one, other) => (one < other ? -1 : 1))
  const middle = readings.length < fewestReadings ? sorted.length - 1 : Math.floor((sorted.length - 1) / 2)
  return sorted[middle] ?? 0n
}
