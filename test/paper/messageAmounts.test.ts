/** The client's functions of the model against orders that the venue's own client library made. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { acceptablePriceInfo, withSlippage } from '../../src/paper/math/client/acceptablePrice.ts'
import { type DecreaseAmountsTerms, decreaseAmounts } from '../../src/paper/math/client/decreaseAmounts.ts'
import { increaseAmounts } from '../../src/paper/math/client/increaseAmounts.ts'
import type { ShownPosition } from '../../src/paper/math/client/positionInfo.ts'
import type { MarketPrices, MarketSettings, MarketState } from '../../src/paper/math/marketState.ts'
import { MAX_UINT256 } from '../../src/protocol/units.ts'
import { big, maybeBig, settingsOf, stateOf } from '../math/input.ts'
import type { Any } from './support.ts'

const { cases } = JSON.parse(
  readFileSync(new URL('../fixtures/messages/amounts.json', import.meta.url), 'utf8'),
) as { cases: Any[] }

/** Profit caps and swap impact pools are in no case: wide enough to say nothing. */
const WIDE = 10n ** 40n

interface Moment {
  readonly settings: MarketSettings
  readonly state: MarketState
  readonly prices: MarketPrices
  readonly collateral: { readonly min: bigint; readonly max: bigint }
  readonly indexDecimals: number
  readonly scale: bigint
  readonly isIndexCollateral: boolean
}

function momentOf({ market, prices, want, position }: Any): Moment {
  const pair = ({ address }: Any) => {
    const { min, max, decimals } = prices[address]
    return { min: big(min) / 10n ** BigInt(decimals), max: big(max) / 10n ** BigInt(decimals) }
  }
  const swaps = ['FeeFactorForBalanceWasImproved', 'FeeFactorForBalanceWasNotImproved'].concat(
    'ImpactFactorPositive',
    'ImpactFactorNegative',
    'ImpactExponentFactor',
  )
  const state = stateOf(market)
  state.swapImpactPool = [WIDE, WIDE]
  const collateralToken = position?.collateralToken.address ?? want.collateralToken
  const isLongToken = collateralToken === market.longToken.address
  return {
    settings: {
      ...settingsOf({ ...market, maxPnlFactorForTradersLong: 10n ** 30n }, market),
      ...Object.fromEntries(swaps.map((name) => [`swap${name}`, big(market[`swap${name}`])])),
    },
    state,
    prices: {
      index: pair(market.indexToken),
      long: pair(market.longToken),
      short: pair(market.shortToken),
    },
    collateral: pair(isLongToken ? market.longToken : market.shortToken),
    indexDecimals: market.indexToken.decimals,
    scale: 10n ** BigInt(market.indexToken.decimals),
    isIndexCollateral: collateralToken === market.indexToken.address,
  }
}

function heldPosition({ position, want }: Any, { isIndexCollateral }: Moment): ShownPosition {
  return {
    side: want.direction,
    sizeInUsd: big(position.sizeInUsd),
    sizeInTokens: big(position.sizeInTokens),
    collateralAmount: big(position.collateralAmount),
    pendingImpactAmount: big(position.pendingImpactAmount),
    pendingBorrowingFeesUsd: big(position.pendingBorrowingFeesUsd),
    fundingFeeAmount: big(position.pendingFundingFeeAmount),
    claimableLongTokenAmount: 0n,
    claimableShortTokenAmount: 0n,
    collateralIsIndexToken: isIndexCollateral,
  }
}

function decreaseOf(
  moment: Moment,
  position: ShownPosition,
  order: Any,
  terms: Pick<DecreaseAmountsTerms, 'closeSizeUsd' | 'keepLeverage'> & {
    readonly type: string
    readonly triggerPrice: Any
    readonly impactBps: Any
  },
) {
  return decreaseAmounts(moment.settings, moment.state, moment.prices, {
    position,
    closeSizeUsd: terms.closeSizeUsd,
    keepLeverage: terms.keepLeverage,
    indexDecimals: moment.indexDecimals,
    collateralPrice: moment.collateral,
    trigger:
      terms.triggerPrice === undefined
        ? undefined
        : {
            type: terms.type === 'take-profit' ? 'LimitDecrease' : 'StopLossDecrease',
            price: big(terms.triggerPrice),
            setAcceptablePrice: true,
            fixedImpactBps: maybeBig(terms.impactBps),
          },
    uiFeeFactor: 0n,
    swapsProfit: order.decreasePositionSwapType === 1,
  })
}

/** Within the library's own double precision: it takes powers in floating point, the contracts do not. */
function expectNear(got: bigint, wanted: bigint, what: string): void {
  const off = got > wanted ? got - wanted : wanted - got
  const size = wanted < 0n ? -wanted : wanted
  expect(off * 10n ** 12n <= size, `${what}: ${got}, not ${wanted}`).toBe(true)
}

const decreases = cases.filter(({ want }) => want.kind !== 'increase')
const increases = cases.filter(({ want }) => want.kind === 'increase')

describe('a decrease has the size and the collateral of the library, to the unit', () => {
  test.each(decreases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
    const moment = momentOf(one)
    const { want, orders, estimates } = one
    const position = heldPosition(one, moment)
    const amounts = decreaseOf(moment, position, orders[0], {
      closeSizeUsd: maybeBig(want.sizeDeltaUsd) ?? position.sizeInUsd,
      keepLeverage: want.keepLeverage === true,
      type: want.orderType,
      triggerPrice: want.triggerPrice,
      impactBps: want.acceptablePriceImpactBps,
    })
    const parts = BigInt(orders.length)
    for (const order of orders) {
      expect(amounts.sizeDeltaUsd / parts).toBe(big(order.sizeDeltaUsd))
      expect(amounts.collateralDeltaAmount / parts).toBe(big(order.initialCollateralDeltaAmount))
    }
    expect(amounts.positionFeeUsd).toBe(big(estimates.positionFeeUsd))
    expectNear(amounts.acceptablePrice, big(estimates.acceptablePrice), 'estimate')
    const direction = { side: position.side, isIncrease: false }
    if (want.orderType === 'market') {
      const price = withSlippage(amounts.acceptablePrice, BigInt(want.slippageBps), direction)
      expectNear(price / moment.scale, big(orders[0].acceptablePrice), 'price')
    } else if (want.orderType !== 'twap') {
      expect(
        amounts.acceptablePrice === MAX_UINT256
          ? amounts.acceptablePrice
          : amounts.acceptablePrice / moment.scale,
      ).toBe(big(orders[0].acceptablePrice))
    }
  })
})

describe('an increase has the price of the library, and its exits what the library gives them', () => {
  test.each(increases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
    const moment = momentOf(one)
    const { settings, state, prices, scale } = moment
    const { want, orders, estimates } = one
    const direction = { side: want.direction, isIncrease: true } as const
    const size = big(want.sizeDeltaUsd)
    const mark = direction.side === 'long' ? prices.index.max : prices.index.min
    const indexPrice = maybeBig(want.triggerPrice) ?? mark * scale
    const amounts = increaseAmounts(settings, state, prices, {
      side: direction.side,
      strategy: 'independent',
      collateralAmount: big(want.collateralAmount),
      indexTokenAmount: (size * scale) / indexPrice,
      indexDecimals: moment.indexDecimals,
      collateralPrice: moment.collateral,
      collateralIsIndexToken: moment.isIndexCollateral,
      limit:
        want.triggerPrice === undefined
          ? undefined
          : {
              type: want.orderType === 'limit' ? 'LimitIncrease' : 'StopIncrease',
              triggerPrice: indexPrice,
              setAcceptablePrice: true,
              fixedImpactBps: maybeBig(want.acceptablePriceImpactBps),
            },
      uiFeeFactor: 0n,
    })
    expect(amounts.sizeDeltaUsd).toBe(big(estimates.sizeDeltaUsd))
    expect(amounts.positionFeeUsd).toBe(big(estimates.positionFeeUsd))
    expectNear(amounts.acceptablePrice, big(estimates.acceptablePrice), 'estimate')
    const [own, ...exits] = orders
    expect(big(own.sizeDeltaUsd)).toBe(size)
    if (want.orderType === 'market') {
      const price = withSlippage(amounts.acceptablePrice, BigInt(want.slippageBps), direction)
      expectNear(price / scale, big(own.acceptablePrice), 'price')
    }
    for (const [i, exit] of exits.entries()) {
      const { type, triggerPrice, sizeDeltaUsd } = want.tpsl[i]
      const position: ShownPosition = {
        side: direction.side,
        sizeInUsd: size,
        sizeInTokens: amounts.sizeDeltaInTokens,
        collateralAmount: big(want.collateralAmount),
        pendingImpactAmount: 0n,
        pendingBorrowingFeesUsd: 0n,
        fundingFeeAmount: 0n,
        claimableLongTokenAmount: 0n,
        claimableShortTokenAmount: 0n,
        collateralIsIndexToken: moment.isIndexCollateral,
      }
      const made = decreaseOf(moment, position, exit, {
        closeSizeUsd: big(sizeDeltaUsd),
        keepLeverage: one.id.includes('sdk-keep'),
        type,
        triggerPrice,
        impactBps: undefined,
      })
      expect(made.collateralDeltaAmount, type).toBe(big(exit.initialCollateralDeltaAmount))
      expect(made.acceptablePrice === MAX_UINT256 ? MAX_UINT256 : made.acceptablePrice / scale, type).toBe(
        big(exit.acceptablePrice),
      )
    }
  })
})

test('a limit price keeps its budget, with slippage on top where the server adds it', () => {
  const one = increases.find(({ id }) => id === 'increase-limit-arbi-long-005')
  const { settings, state, prices, scale } = momentOf(one)
  const direction = { side: 'long', isIncrease: true } as const
  const { acceptablePrice } = acceptablePriceInfo(settings, state, prices, {
    ...direction,
    indexPrice: big(one.want.triggerPrice),
    sizeDeltaUsd: big(one.want.sizeDeltaUsd),
    maxNegativeImpactBps: 30n,
  })
  expect(withSlippage(acceptablePrice, 100n, direction) / scale).toBe(big(one.orders[0].acceptablePrice))
})
