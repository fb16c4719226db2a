/**
 * What the account is worth: its tokens in the wallet but the native coin, which is gas; its positions with profit, loss
 * and pending fees; and what resting orders hold. Lists of one venue lag behind each other by seconds, and a host may lie, so
 * one reading is no figure: over a minute and a quarter a gain counts when the lowest reading shows it, a loss when the
 * middle one does. So neither half a minute of lag nor less than half of the readings make a loss or hide one.
 *
 * A deposit looks like a gain and a withdrawal like a loss: after a withdrawal an operator lifts what it opened.
 */
import type { Api } from '../api/client.ts'
import { type Address, hexKey } from '../domain/address.ts'
import type { IntentState } from '../domain/intent.ts'
import type { Order, Position } from '../domain/position.ts'
import type { EquityMark } from '../domain/trading.ts'
import { absOf, maxOf, minOf, type TokenAmount, type Usd, usdOfAmount } from '../domain/units.ts'
import { dayStartOf } from '../risk/breakers.ts'
import type { AccountBook } from './accountBook.ts'

/** One reading, USD: without and with what orders in flight may hold. */
export interface EquityReading {
  readonly lowUsd: Usd
  readonly highUsd: Usd
}

// MarketSwap, LimitSwap, MarketIncrease, LimitIncrease and StopIncrease hold what they pay (wire: eip712-and-chain, 6).
const payingOrders: ReadonlySet<number> = new Set([0, 1, 2, 3, 8])

/**
 * Reads what the account is worth; undefined when a row of what it has cannot be read, which is no loss. `inFlight`: intents
 * whose payment may be in no list. Throws what the api throws.
 */
export async function readEquity(
  api: Pick<Api, 'getPositions' | 'getOrders' | 'getWalletBalances' | 'getTokensInfo'>,
  account: Address,
  inFlight: readonly IntentState[],
): Promise<(EquityReading & { readonly inventory: string }) | undefined> {
  const [positions, orders, balances, tokens] = await Promise.all([
    api.getPositions({ account }),
    api.getOrders({ account }),
    api.getWalletBalances({ account }),
    api.getTokensInfo(),
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
    if (!payingOrders.has(order.orderType)) continue
    lowUsd += worth(order.initialCollateralToken, order.initialCollateralDeltaAmount)
  }
  const held = inFlight.map(({ intent: { terms } }) =>
    worth(terms.collateralToken.address, terms.collateralDelta),
  )
  return {
    lowUsd,
    highUsd: held.reduce((sum, usd) => sum + usd, lowUsd),
    inventory: inventoryOf(positions.value, orders.value, balances.value, byAddress),
  }
}

/** What the lists hold, without prices and without the native coin, which gas takes off. */
function inventoryOf(
  positions: readonly Position[],
  orders: readonly Order[],
  balances: readonly { readonly address: Address; readonly balance: TokenAmount }[],
  byAddress: ReadonlyMap<string, { readonly isNative?: boolean }>,
): string {
  return [
    ...positions.map(({ contractKey, sizeInUsd, collateralAmount }) =>
      [contractKey, sizeInUsd, collateralAmount].join(':'),
    ),
    ...orders
      .filter(({ orderType }) => payingOrders.has(orderType))
      .map(({ orderKey, initialCollateralDeltaAmount }) =>
        [orderKey, initialCollateralDeltaAmount].join(':'),
      ),
    ...balances
      .filter(({ address }) => byAddress.get(hexKey(address))?.isNative !== true)
      .map(({ address, balance }) => [hexKey(address), balance].join(':')),
  ]
    .sort()
    .join()
}

/** The account's worth over time. */
export interface EquityTracker {
  /** Takes a reading of now and keeps the mark in the journal when it is worth it. */
  take(reading: EquityReading, nowMs: number): Promise<void>
  /** The mark with the newest figure; absent before the first reading of this process. */
  mark(): EquityMark | undefined
  /** Peak and first figure of the day become what the account is worth now: an operator accepted the loss. */
  rebase(): Promise<void>
}

/** Readings that figures are taken from, ms: lists may lag behind each other for half a minute, which is less than half of it. */
const windowMs = 75_000
/** The mark is written when the peak rose by one part in this many, */
const peakPart = 1_000n
/** or when anything changed and this much time passed, ms. */
const markEveryMs = 600_000

/** Fewer readings than this are no majority: the highest of them counts. */
const fewestReadings = 3
/** A reading this far from the figure is told of, bps of the figure. */
const jumpBps = 1_000

/** A reading that is far from the figure, which it does not move by itself. */
export interface EquityJump {
  readonly readingUsd: Usd
  readonly equityUsd: Usd
}

/**
 * Follows the account's worth from what the journal last held of it. `onJump` is told when readings begin to be far from the
 * figure: the account's worth changed at once, or a host lies.
 */
export function createEquityTracker(book: AccountBook, onJump?: (jump: EquityJump) => void): EquityTracker {
  let isJumping = false
  let readings: readonly (EquityReading & { readonly atMs: number })[] = []
  let live: EquityMark | undefined
  let writtenAtMs = Number.NEGATIVE_INFINITY
  let isRebasing = false
  /** Until when the day's first figure may still rise, Unix ms: its first readings may have missed what was in flight. */
  let dayOpenUntilMs = Number.NEGATIVE_INFINITY

  async function write(mark: EquityMark, nowMs: number): Promise<void> {
    writtenAtMs = nowMs
    await book.write({ kind: 'equity.marked', ...mark })
  }

  return {
    async take(reading, nowMs) {
      readings = [
        ...readings.filter(({ atMs }) => !isRebasing && atMs > nowMs - windowMs),
        { ...reading, atMs: nowMs },
      ]
      const floorUsd = minOf(reading.lowUsd, ...readings.map(({ lowUsd }) => lowUsd))
      const equityUsd = figureOf(readings.map(({ highUsd }) => highUsd))
      const wasJumping = isJumping
      isJumping =
        readings.length >= fewestReadings &&
        absOf(reading.highUsd - equityUsd) * 10_000n > absOf(equityUsd) * BigInt(jumpBps)
      if (isJumping && !wasJumping) onJump?.({ readingUsd: reading.highUsd, equityUsd })
      const before = live ?? book.state().trading.equity
      const dayStartMs = dayStartOf(nowMs)
      const isNewDay = isRebasing || before === undefined || before.dayStartMs < dayStartMs
      if (isNewDay) dayOpenUntilMs = nowMs + 2 * windowMs
      const dayStartUsd = isNewDay ? floorUsd : before.dayStartUsd
      live = {
        equityUsd,
        peakUsd: isRebasing || before === undefined ? floorUsd : maxOf(before.peakUsd, floorUsd),
        dayStartMs: isNewDay ? dayStartMs : before.dayStartMs,
        dayStartUsd: nowMs <= dayOpenUntilMs ? maxOf(dayStartUsd, floorUsd) : dayStartUsd,
      }
      isRebasing = false
      const written = book.state().trading.equity
      const isChanged = written === undefined || absOf(written.equityUsd - equityUsd) > 0n
      const isDue =
        isNewDay ||
        written === undefined ||
        live.dayStartUsd !== written.dayStartUsd ||
        live.peakUsd - written.peakUsd > written.peakUsd / peakPart ||
        (isChanged && nowMs - writtenAtMs >= markEveryMs)
      if (isDue) await write(live, nowMs)
    },
    mark: () => live,
    async rebase() {
      const last = readings.at(-1)
      isRebasing = true
      // Before the first reading of this process there is nothing to begin from: the first one will do it.
      if (last !== undefined) await this.take(last, last.atMs)
    },
  }
}

/** The middle of the readings, the lower of two; the highest of too few. */
function figureOf(readings: readonly Usd[]): Usd {
  const sorted = readings.toSorted((one, other) => (one < other ? -1 : 1))
  const middle = readings.length < fewestReadings ? sorted.length - 1 : Math.floor((sorted.length - 1) / 2)
  return sorted[middle] ?? 0n
}
