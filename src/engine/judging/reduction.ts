/**
 * Additional conditions for a strategy's reduction: a position that more than one host's passing statement supports, and a budget of fees. Where a
 * host invents positions close to their liquidation, a guard would otherwise pay the highest fee for closing each of them, again and again.
 */
import type { AccountFacts } from '../../account/facts.ts'
import type { PositionSide } from '../../domain/accountRecords/accountRecord.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import { expectedOf } from '../../domain/machine/expected.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { marketOf } from '../../domain/snapshot.ts'
import type { BatchTerms } from '../../protocol/batch.ts'
import { formatUnits, parseUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { checkReductionFees } from '../../risk/breakers/budget.ts'

/**
 * Checks a reduction of the strategy `name`. Denies with POSITION_UNPROVEN when only one host's passing statement shows the position. Denies it too
 * when the budget of fees, the account's or its own, is used up. Neither rule holds back an operator.
 */
export function checkReduction(
  { account, known, limits, orders, settings, snapshot, usage }: AccountFacts,
  name: string,
  decision: Decision,
): Denial | undefined {
  const unproven = reducedSides(decision).find((side) => !known.isVouched(side))
  if (unproven !== undefined) {
    const { symbol = unproven.marketToken } = marketOf(snapshot, unproven.marketToken)?.market ?? {}
    return {
      code: 'POSITION_UNPROVEN',
      reason: `perpd did not open the ${unproven.direction} position on ${symbol}, and not every configured host has shown it for half a minute. perpd reduces it when they have, or when it is adopted (perpd discrepancies); an operator can reduce it now`,
    }
  }
  const inForce = limits.current()
  const { feeTokenDecimals } = account
  const within = (perDayUsd: Usd | undefined, counts: (strategy: string) => boolean): Denial | undefined => {
    if (perDayUsd === undefined) return undefined
    const waiting = orders.open.reduce((sum, { intent, attempts }) => {
      const isReduction = intent.reservationUsd === 0n && intent.kind !== 'swap'
      const isWaiting =
        isReduction && counts(intent.strategy) && attempts.every(({ armed }) => armed === undefined)
      return isWaiting ? sum + Math.max(1, expectedOf(intent).orders.length) : sum
    }, 0)
    return checkReductionFees(
      decision,
      usage.endings.filter((ending) => counts(ending.strategy)),
      {
        perDayUsd,
        mostEachUsd: parseUnits(formatUnits(settings.maxReductionFee, feeTokenDecimals), USD_DECIMALS),
        waiting,
        orders: ordersOf(decision),
      },
      feeTokenDecimals,
    )
  }
  return (
    within(inForce.account.reductionFeesPerDayUsd, (strategy) => strategy !== OPERATOR) ??
    within(inForce.strategies[name]?.reductionFeesPerDayUsd, (strategy) => strategy === name)
  )
}

const decreaseTypes: ReadonlySet<bigint> = new Set([4n, 5n, 6n])

/** The sides that a decision takes something off, or pays into. */
export function reducedSides(decision: Decision): readonly PositionSide[] {
  switch (decision.kind) {
    case 'close':
    case 'decrease':
    case 'collateral-in':
      return [decision]
    case 'batch':
      return reductionsIn(decision.batch).map(({ side }) => side)
    default:
      return []
  }
}

/** The reductions that a message of a strategy's own creates, each with its size, USD. */
export function reductionsIn({ createOrderParamsList }: BatchTerms): readonly {
  readonly side: PositionSide
  readonly sizeUsd: Usd
}[] {
  return createOrderParamsList
    .filter(({ orderType }) => decreaseTypes.has(orderType))
    .map(({ addresses, isLong, numbers }) => ({
      side: {
        marketToken: addresses.market,
        direction: isLong ? 'long' : 'short',
        collateralToken: addresses.initialCollateralToken,
      },
      sizeUsd: numbers.sizeDeltaUsd,
    }))
}

/** Counts the orders that a decision creates, each with a separate fee; a message without any has one fee. */
function ordersOf(decision: Decision): number {
  if (decision.kind === 'batch') return Math.max(1, decision.batch.createOrderParamsList.length)
  return decision.kind === 'decrease' ? (decision.twap?.parts ?? 1) : 1
}
