/**
 * What each limit of the files and of the account is held against in a month (monthDeeds.ts). The sums are made here from the venue's own
 * figures; the code that admits decisions has no part in it. Where what is seen lies later than what was decided on, the allowance for
 * it stands beside the check.
 */
import type { LimitName, Limits } from '../../src/domain/limits/limits.ts'
import { BPS_ONE, bps, formatUsd, type Usd } from '../../src/protocol/units.ts'
import type { AdmittedDeed, EndedDeed, FillDeed, LookDeed, MessageDeed } from './monthDeeds.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** From a decision to its message at the venue: retries of lost requests included. */
export const ROAD_MS = 600_000
/** What the price may have moved meanwhile, bps. */
const PRICE_ROAD_BPS = 60
/** Figures that follow the price may be off by this share, bps. */
export const DRIFT_BPS = 500

/** Whose limits: the account's, or a file's. */
export interface Scope {
  readonly whose: string
  readonly limits: Limits
  readonly holds: (strategy: string | undefined) => boolean
}

/** What the judge remembers. */
export interface Past {
  readonly messages: MessageDeed[]
  readonly fills: FillDeed[]
  readonly admitted: AdmittedDeed[]
  readonly ended: EndedDeed[]
  /** Own parts of sides, by strategy and side. */
  readonly parts: Map<string, Usd>
  readonly sizes: Map<string, Usd>
  look: LookDeed | undefined
  /** Highest worth of the account that was seen, and the first fall from it that is the breaker's. */
  peakUsd: Usd
  fall: { readonly atMs: number; readonly fallenBps: number } | undefined
}

/** What a limit is held against; each says what is wrong, or nothing. */
export interface Judge<Value> {
  readonly message?: (most: Value, deed: MessageDeed, at: At) => string | undefined
  readonly look?: (most: Value, deed: LookDeed, at: At) => string | undefined
  readonly admitted?: (most: Value, deed: AdmittedDeed, at: At) => string | undefined
  readonly ended?: (most: Value, deed: EndedDeed, at: At) => string | undefined
  /** Why a month cannot show it. */
  readonly unseen?: string
}

/** Where a limit is held. */
export interface At {
  readonly scope: Scope
  readonly past: Past
}

type Judges = { readonly [K in LimitName]: Judge<NonNullable<Limits[K]>> }

/** The sum of amounts. */
export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, each) => all + each, 0n)
const increasesOf = ({ orders }: MessageDeed) => orders.filter(({ isIncrease }) => isIncrease)
const sizeOf = (deed: MessageDeed): Usd => sum(increasesOf(deed).map(({ sizeUsd }) => sizeUsd))
/** Whether a message opens or adds. */
export const opens = (deed: MessageDeed): boolean => increasesOf(deed).some(({ sizeUsd }) => sizeUsd > 0n)
const above = (what: string, value: Usd, most: Usd): string | undefined =>
  value > most ? `${what} is ${formatUsd(value)}, more than ${formatUsd(most)}` : undefined
const widened = (most: Usd): Usd => most + bps(most, DRIFT_BPS)
const first = (found: readonly (string | undefined)[]): string | undefined =>
  found.find((each) => each !== undefined)

/** The messages of the scope within a time before a deed, the deed itself left out. */
function messagesBefore({ scope, past }: At, deed: MessageDeed, withinMs: number): readonly MessageDeed[] {
  return past.messages.filter(
    (each) => each !== deed && each.atMs > deed.atMs - withinMs && scope.holds(each.strategy),
  )
}

/** By side what the scope holds: of the account the position, of a file its part; with what rests and would open. */
function exposure(deed: LookDeed, { scope, past }: At): Map<string, { market: string; usd: Usd }> {
  const sides = new Map<string, { market: string; usd: Usd }>()
  const add = (side: string, market: string, usd: Usd): void => {
    sides.set(side, { market, usd: (sides.get(side)?.usd ?? 0n) + usd })
  }
  for (const { side, market, sizeUsd } of deed.positions) {
    const isAccount = scope.holds(undefined)
    add(side, market, isAccount ? sizeUsd : (past.parts.get(`${scope.whose} ${side}`) ?? 0n))
  }
  for (const { side, market, sizeUsd, strategy } of deed.resting)
    if (scope.holds(strategy)) add(side, market, sizeUsd)
  return sides
}

function byMarket(sides: ReturnType<typeof exposure>): [string, Usd][] {
  const markets = new Map<string, Usd>()
  for (const { market, usd } of sides.values()) markets.set(market, (markets.get(market) ?? 0n) + usd)
  return [...markets]
}

const sidesAbove = (most: Usd, deed: LookDeed, at: At) =>
  first([...exposure(deed, at)].map(([side, { usd }]) => above(side, usd, most)))
const marketsAbove = (most: Usd, deed: LookDeed, at: At) =>
  first(byMarket(exposure(deed, at)).map(([market, usd]) => above(`both sides of ${market}`, usd, most)))
const wholeAbove = (most: Usd, deed: LookDeed, at: At) =>
  above('the whole', sum([...exposure(deed, at).values()].map(({ usd }) => usd)), most)
const ofEquity =
  (check: (most: Usd, deed: LookDeed, at: At) => string | undefined) =>
  (most: number, deed: LookDeed, at: At): string | undefined =>
    check(widened(bps(deed.equityUsd, most)), deed, at)

/** Positions that grew since the look before, of sides that the scope has a part of. */
function grown(deed: LookDeed, { scope, past }: At) {
  return deed.positions.filter(
    ({ side, sizeUsd }) =>
      sizeUsd > (past.sizes.get(side) ?? 0n) &&
      (scope.holds(undefined) || (past.parts.get(`${scope.whose} ${side}`) ?? 0n) > 0n),
  )
}

function lossOfDay({ scope, past }: At, untilMs: number): Usd {
  const dayStartMs = Math.floor(untilMs / DAY_MS) * DAY_MS
  const own = past.fills.filter(
    ({ atMs, strategy }) => atMs >= dayStartMs && atMs <= untilMs && scope.holds(strategy),
  )
  return -sum(own.map(({ resultUsd }) => resultUsd))
}

/** Increases go on until the fill is known; a message of the day after is of that day. */
function openedAfterLoss(most: Usd, deed: MessageDeed, at: At): string | undefined {
  if (!opens(deed)) return undefined
  const untilMs = deed.atMs - ROAD_MS
  if (Math.floor(untilMs / DAY_MS) !== Math.floor(deed.atMs / DAY_MS)) return undefined
  const lostUsd = lossOfDay(at, untilMs)
  return lostUsd >= widened(most)
    ? `opened after a loss of ${formatUsd(lostUsd)} in the day, of ${formatUsd(most)}`
    : undefined
}

function spentAbove(
  most: bigint,
  deed: MessageDeed,
  at: At,
  read: (each: MessageDeed) => bigint,
  isMeant: (each: MessageDeed) => boolean,
): string | undefined {
  const spent = sum(
    messagesBefore(at, deed, DAY_MS - ROAD_MS)
      .filter(isMeant)
      .map(read),
  )
  return spent >= most ? `spent ${spent} in a day before it, of ${most}` : undefined
}

const tooOld =
  (...which: readonly (keyof AdmittedDeed['ageMs'])[]) =>
  (most: number, { kind, ageMs }: AdmittedDeed): string | undefined => {
    if (kind !== 'increase') return undefined
    const age = Math.max(...which.map((name) => ageMs[name]))
    return age > most ? `opened on data of ${age} ms, of ${most} ms` : undefined
  }

/** Nobody is to blame for these, and trying again costs nothing: limitTable.ts says that they do not count. */
const unblamed = /PRICE_OUT_OF_BOUNDS|POSITION_MOVED|OFFER_EXPIRED|FEE_ABOVE_LIMIT|USER_INITIATED_CANCEL/

function sameEnds(most: number, deed: EndedDeed, { scope, past }: At): string | undefined {
  if (deed.kind !== 'increase' || deed.cause === undefined || unblamed.test(deed.cause)) return undefined
  let count = 0
  for (const each of past.ended) {
    const isSame =
      scope.holds(each.strategy) &&
      each.strategy === deed.strategy &&
      each.kind === deed.kind &&
      each.side === deed.side &&
      each.atMs > deed.atMs - (DAY_MS - ROAD_MS)
    if (!isSame) continue
    if (each.cause === undefined) count = 0
    else if (each.cause === deed.cause) count += 1
  }
  return count > most ? `${deed.side} ended ${count} times by ${deed.cause}, of ${most}` : undefined
}

const reduces = ({ kind, isMarket }: AdmittedDeed): boolean =>
  isMarket && (kind === 'decrease' || kind === 'close')

function reducedAgain(most: number, deed: AdmittedDeed, { past }: At): string | undefined {
  if (!reduces(deed)) return undefined
  const over = new Set(past.ended.map(({ intentId }) => intentId))
  const other = past.admitted.find(
    (each) =>
      reduces(each) &&
      each.intentId !== deed.intentId &&
      each.side === deed.side &&
      deed.atMs - each.atMs < most &&
      !over.has(each.intentId),
  )
  if (other === undefined) return undefined
  return `${deed.side} was reduced again ${(deed.atMs - other.atMs) / 1000} s after a reduction that is not over`
}

/** The judge of each limit. */
export const limitJudges: Judges = {
  maxPositionSizeUsd: { look: sidesAbove },
  maxPositionEquityBps: { look: ofEquity(sidesAbove) },
  maxMarketExposureUsd: { look: marketsAbove },
  maxMarketExposureEquityBps: { look: ofEquity(marketsAbove) },
  // A file's binds what the file opens; what others open may lead the whole above it.
  maxTotalExposureUsd: { look: wholeAbove },
  maxExposureEquityBps: { look: ofEquity(wholeAbove) },
  maxWishEquityBps: {
    message: (most, deed, { past }) =>
      above('an order', sizeOf(deed), widened(bps(past.look?.equityUsd ?? 0n, most))),
  },
  maxWishCollateralEquityBps: {
    message: (most, deed, { past }) => {
      const paid = sum(increasesOf(deed).map(({ collateralUsd }) => collateralUsd))
      return above('its collateral', paid, widened(bps(past.look?.equityUsd ?? 0n, most)))
    },
  },
  maxDailyLossUsd: { message: openedAfterLoss },
  maxDailyLossEquityBps: {
    message: (most, deed, at) => openedAfterLoss(bps(at.past.look?.equityUsd ?? 0n, most), deed, at),
  },
  maxOrderSizeUsd: { message: (most, deed) => above('an order', sizeOf(deed), most) },
  minOrderSizeUsd: {
    message: (least, deed) =>
      opens(deed) && sizeOf(deed) < least
        ? `an order of ${formatUsd(sizeOf(deed))} is below ${formatUsd(least)}`
        : undefined,
  },
  maxUnboundedOrderUsd: {
    message: (most, deed) => {
      const unbounded = increasesOf(deed).filter(({ isUnbounded }) => isUnbounded)
      return above('an order at any price', sum(unbounded.map(({ sizeUsd }) => sizeUsd)), most)
    },
  },
  maxLeverageBps: {
    look: (most, deed, at) =>
      first(
        grown(deed, at).map(({ side, leverageBps }) =>
          leverageBps > (most * (BPS_ONE + DRIFT_BPS)) / BPS_ONE
            ? `${side} grew to a leverage of ${leverageBps} bps, of ${most}`
            : undefined,
        ),
      ),
  },
  maxSlippageBps: {
    message: (most, { orders }) =>
      first(
        orders.map(({ isIncrease, isUnbounded, slippageBps, side }) =>
          isIncrease && !isUnbounded && slippageBps > most + PRICE_ROAD_BPS
            ? `${side}: ${slippageBps} bps were signed as slippage, of ${most}`
            : undefined,
        ),
      ),
  },
  maxOrdersPerHour: {
    message: (most, deed, at) => {
      // What is sent within this was decided within an hour.
      const before = messagesBefore(at, deed, HOUR_MS - ROAD_MS)
      const opened = before.filter(opens).length + 1
      if (opens(deed) && opened > most) return `opened ${opened} times in an hour, of ${most}`
      return before.length + 1 > 2 * most
        ? `sent ${before.length + 1} messages in an hour, of ${2 * most}`
        : undefined
    },
  },
  attemptsPerCause: { ended: sameEnds },
  executionFeesPerDay: {
    message: (most, deed, at) =>
      opens(deed)
        ? spentAbove(
            most,
            deed,
            at,
            ({ executionFee }) => executionFee,
            () => true,
          )
        : undefined,
  },
  relayFeesPerDayUsd: {
    message: (most, deed, at) =>
      opens(deed)
        ? spentAbove(
            most,
            deed,
            at,
            ({ relayFeeUsd }) => relayFeeUsd,
            () => true,
          )
        : undefined,
  },
  reductionFeesPerDayUsd: {
    message: (most, deed, at) =>
      opens(deed)
        ? undefined
        : spentAbove(
            most,
            deed,
            at,
            ({ relayFeeUsd }) => relayFeeUsd,
            (each) => !opens(each),
          ),
  },
  maxCapacityShareBps: {
    message: (most, { orders }) =>
      first(
        orders.map(({ isIncrease, side, sizeUsd, capacityUsd }) =>
          isIncrease
            ? above(`${side}: an order`, sizeUsd, widened(bps(capacityUsd + sizeUsd, most)))
            : undefined,
        ),
      ),
  },
  capacityHeadroomBps: {
    message: (least, { orders }) =>
      first(
        orders.map(({ isIncrease, side, sizeUsd, capacityUsd }) =>
          isIncrease
            ? above(`${side}: an order`, sizeUsd, widened(bps(capacityUsd + sizeUsd, BPS_ONE - least)))
            : undefined,
        ),
      ),
  },
  minLiquidationDistanceBps: {
    look: (least, deed, at) =>
      first(
        grown(deed, at).map(({ side, liquidationBps }) =>
          liquidationBps !== undefined && liquidationBps + PRICE_ROAD_BPS < least
            ? `${side} grew and is ${liquidationBps} bps from its liquidation, least ${least}`
            : undefined,
        ),
      ),
  },
  maxDataAgeMs: { admitted: tooOld('ticker', 'oracle', 'account') },
  maxTickerAgeMs: { admitted: tooOld('ticker') },
  // Capacity comes with the tickers.
  maxCapacityAgeMs: { admitted: tooOld('ticker') },
  maxOracleAgeMs: { admitted: tooOld('oracle') },
  maxAccountAgeMs: { admitted: tooOld('account') },
  maxPriceDivergenceBps: {
    admitted: (most, { kind, divergenceBps }) =>
      kind === 'increase' && divergenceBps > most
        ? `opened on prices ${divergenceBps} bps apart, of ${most}`
        : undefined,
  },
  maxClockSkewMs: { unseen: 'the daemon and the venue of a month share one clock' },
  reduceAgainAfterMs: { admitted: reducedAgain },
}
