/** Usage of each limit, counted as the checks count it. */
import { defined } from '../../base/defined.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import { type EquityMark, haltKey } from '../../domain/accountRecords/tradingState.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import type { HasChain, HasClock, HasJournal } from '../../execution/context/executionParts.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import { BPS_ONE, maxOf, type Usd } from '../../protocol/units.ts'
import { usedBudget } from '../../risk/breakers/budget.ts'
import { dayStartOf, isOfToday, receivedFromMs } from '../../risk/breakers/circuitBreakers.ts'
import type { HasOrders, HasTrading } from '../accountParts.ts'
import { OPERATOR } from '../halts/tradingHalts.ts'
import { type ShownSide, shownSideSizes } from '../holdings/shownExposure.ts'
import type { AccountWatch } from './accountWatch.ts'
import type { Breakers } from './breakerWatch.ts'
import type { DayResult } from './dayResult.ts'
import type { LiveAnswers } from './lookAtAccount.ts'
import { spentOfDay } from './lookAtAccount.ts'

const hourMs = 3_600_000

/** Inputs of the count. Strategies are keyed by name, markets by token. */
export interface UsedFacts {
  /** Ends of the last 24 hours, with the fees that open orders have paid or may have paid. */
  readonly endings: readonly Ending[]
  readonly feeTokenDecimals: number
  readonly exposureUsd: Usd
  /** The size of each side of each market, open orders included; its sum is the exposure. */
  readonly sides: readonly ShownSide[]
  /** A strategy's own part of each side, its open orders included. */
  readonly ownSides: (strategy: string) => readonly ShownSide[]
  /** The breakers' own; absent before the first reading. Its day may be over. */
  readonly equity?: EquityMark
  /** Start of this day (UTC), Unix ms. */
  readonly dayStartMs: number
  /** Realized result of the account's orders today, USD, as its breaker counts it. */
  readonly realizedUsd: Usd
  /** Part of it from funding that was put aside since the day's first figure, which is in no list. */
  readonly receivedUsd: Usd
  readonly dayResultUsd: (strategy: string) => Usd
  readonly marketDayResultUsd: (marketToken: Address) => Usd
  /** Orders that were accepted in the last hour; of all without an argument. */
  readonly accepted: (of?: { readonly strategy: string } | { readonly marketToken: Address }) => number
  /** The token of a market by its symbol. */
  readonly tokenOf: (symbol: string) => Address | undefined
}

/** Results of the day. */
type DayResults = Pick<LiveAnswers, 'dayResultUsd' | 'marketDaysUsd'>

/** Collects the present usage from the engine's parts. */
export function usedNow(
  context: HasChain & HasClock & HasJournal & HasOrders & HasTrading & DayResults,
  {
    account,
    breakers,
    realized,
  }: {
    readonly account: AccountWatch
    readonly breakers: Breakers
    readonly realized: () => DayResult
  },
): (scope: string, limit: string) => bigint | undefined {
  const { journal, trading } = context
  const nowMs = context.clock.now()
  journal.lookAt(context.clock)
  const accepted = journal.acceptedSince(nowMs - hourMs)
  const marketDays = context.marketDaysUsd()
  const equity = breakers.equity.mark()
  const symbols = Object.entries(account.symbols())
  const open = context.openOrders.open().map(({ state }) => state)
  const { releasedAtMs } = trading.accountJournal.state().trading
  const lossLiftedAtMs = releasedAtMs[haltKey({ scope: 'account', cause: 'daily-loss' })]
  const facts: UsedFacts = {
    endings: spentOfDay(context, nowMs),
    feeTokenDecimals: context.chain.feeToken.decimals,
    exposureUsd: account.exposure().exposureUsd,
    sides: account.sides(),
    ownSides: (strategy) =>
      shownSideSizes(
        [],
        new Map(
          journal
            .books()
            .partsOf(strategy)
            .map((part) => [sideKeyOf(part), part]),
        ),
        open.filter(({ intent }) => intent.strategy === strategy),
      ),
    ...defined({ equity }),
    dayStartMs: dayStartOf(nowMs),
    realizedUsd: realized().ofAll(lossLiftedAtMs ?? Number.NEGATIVE_INFINITY, nowMs),
    receivedUsd: realized().receivedSince(receivedFromMs(equity, lossLiftedAtMs), nowMs),
    dayResultUsd: context.dayResultUsd,
    marketDayResultUsd: (marketToken) => marketDays.get(hexKey(marketToken)) ?? 0n,
    accepted: (of) =>
      of === undefined
        ? accepted.length
        : accepted.filter(({ strategy, terms }) =>
            'strategy' in of ? strategy === of.strategy : sameHex(terms.marketToken, of.marketToken),
          ).length,
    tokenOf: (symbol) => symbols.find(([, each]) => each === symbol)?.[0] as Address | undefined,
  }
  return (scope, limit) => usedOfLimit(facts, scope, limit)
}

/**
 * Returns the usage of a limit, in the limit's own unit. Undefined: it limits each order separately, or it counts nothing.
 *
 * @param scope as in `LimitRow`, with `account` for the account's
 */
export function usedOfLimit(facts: UsedFacts, scope: string, limit: string): bigint | undefined {
  if (scope === 'breakers') return limit === 'maxDrawdownBps' ? drawdownBps(facts) : undefined
  const counted = countedIn(facts, scope)
  if (counted === undefined) return undefined
  switch (limit as keyof Limits) {
    case 'executionFeesPerDay':
      return usedBudget(counted.endings, facts.feeTokenDecimals).executionFee
    case 'relayFeesPerDayUsd':
      return usedBudget(counted.endings, facts.feeTokenDecimals).relayFeesUsd
    case 'reductionFeesPerDayUsd':
      return usedBudget(
        counted.endings.filter(({ strategy }) => strategy !== OPERATOR),
        facts.feeTokenDecimals,
      ).reductionFeesUsd
    case 'attemptsPerCause':
      return BigInt(usedBudget(counted.endings, facts.feeTokenDecimals).tries)
    case 'maxOrdersPerHour':
      return BigInt(counted.orders)
    case 'maxDailyLossUsd':
      return maxOf(0n, counted.lostUsd)
    case 'maxTotalExposureUsd':
      return counted.exposureUsd
    case 'maxPositionSizeUsd':
      return largestUsd(counted.sides, ({ marketToken, direction }) => `${hexKey(marketToken)} ${direction}`)
    case 'maxMarketExposureUsd':
      return largestUsd(counted.sides, ({ marketToken }) => hexKey(marketToken))
    default:
      return undefined
  }
}

interface Counted {
  readonly endings: readonly Ending[]
  readonly orders: number
  readonly lostUsd: Usd
  /** As limits of a size count them: of a strategy its own parts, of an account or a market everything. */
  readonly sides: readonly ShownSide[]
  /** Absent: a market has no such limit. */
  readonly exposureUsd?: Usd
}

/** The largest sum of the sides that have one key together; 0 without any. */
function largestUsd(sides: readonly ShownSide[], keyOf: (side: ShownSide) => string): Usd {
  return [...Map.groupBy(sides, keyOf).values()]
    .map((together) => together.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n))
    .reduce((most, sumUsd) => maxOf(most, sumUsd), 0n)
}

function countedIn(facts: UsedFacts, scope: string): Counted | undefined {
  const { endings, accepted, sides } = facts
  if (scope === 'account')
    return { endings, orders: accepted(), lostUsd: lostToday(facts), sides, exposureUsd: facts.exposureUsd }
  const [, strategy] = /^strategy (.+)$/.exec(scope) ?? []
  if (strategy !== undefined) {
    const own = facts.ownSides(strategy)
    return {
      endings: endings.filter((each) => each.strategy === strategy),
      orders: accepted({ strategy }),
      lostUsd: -facts.dayResultUsd(strategy),
      sides: own,
      exposureUsd: own.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n),
    }
  }
  const marketToken = facts.tokenOf(scope)
  if (marketToken === undefined) return undefined
  return {
    endings: endings.filter((each) => sameHex(each.marketToken, marketToken)),
    orders: accepted({ marketToken }),
    lostUsd: -facts.marketDayResultUsd(marketToken),
    sides: sides.filter((side) => sameHex(side.marketToken, marketToken)),
  }
}

/** Returns the larger of the fall of the equity, less receipts outside it, and the realized loss of orders. */
function lostToday({ equity, dayStartMs, realizedUsd, receivedUsd }: UsedFacts): Usd {
  if (equity === undefined || !isOfToday(equity, dayStartMs)) return maxOf(-realizedUsd, 0n)
  return maxOf(-realizedUsd, equity.dayStartUsd - equity.equityUsd - receivedUsd)
}

function drawdownBps({ equity }: UsedFacts): bigint | undefined {
  if (equity === undefined || equity.peakUsd <= 0n) return undefined
  return maxOf(0n, ((equity.peakUsd - equity.equityUsd) * BigInt(BPS_ONE)) / equity.peakUsd)
}
