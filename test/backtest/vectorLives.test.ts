/**
 * The lives of positions that the contracts' own code lived (test/fixtures/math), step by step inside a run: the venue's keeper executes each step in its
 * second, and the run's fills and balances must have the contracts' amounts, to the unit. The daemon of the run trades nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAccount } from '../../src/backtest/exactRun.ts'
import type { RunFill } from '../../src/backtest/runFiles.ts'
import type { RunWorld } from '../../src/backtest/runTerms.ts'
import type { Prices } from '../../src/paper/catalog/prices.ts'
import { executeOrder } from '../../src/paper/keeper/keeper.ts'
import { liquidate } from '../../src/paper/keeper/keeperOrders.ts'
import { accrue } from '../../src/paper/math/increase.ts'
import { cloneMarket, type PricePair } from '../../src/paper/math/marketState.ts'
import { accountOf, addTo, positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { findMarket } from '../../src/paper/state/lookup.ts'
import { orderTypes } from '../../src/paper/state/orderTypes.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import { marketPrices, slotToken, type VenueState } from '../../src/paper/state/venueState.ts'
import { advanceVenue } from '../../src/paper/transactions/advance.ts'
import { hexKey, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import { orderKeyOf } from '../../src/protocol/signing/relayRouter.ts'
import { MAX_UINT256, maxOf, minOf } from '../../src/protocol/units.ts'
import { big, setOpenInterest, settingsOf, sideOf, stateOf } from '../math/input.ts'
import type { Vector } from '../math/vectors.ts'
import type { Any } from '../paper/support.ts'
import { runFor, strategyOf, testFolder } from './runKit.ts'

/** When the runs begin: all markets of the vectors are listed by then. */
const startSeconds = Date.UTC(2025, 0, 2) / 1000

const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(new URL('../fixtures/math/vectors.json', import.meta.url), 'utf8'),
)

/** The venue charges no fee of an interface: lives with one are those of `test/paper/vectors.test.ts` alone. */
const lives = vectors.filter(
  ({ function: name, input }) =>
    name === 'positionLifecycle' && input.steps.every((step: Any) => step.uiFeeFactor === undefined),
)

/** Collateral that a life begins with, beyond the run's own balance, base units. */
const GIVEN = 10n ** 30n
/** When the market of a vector begins, Unix seconds. */
const beginSeconds = startSeconds + 60
/** Seconds from there to each step. */
const stepSeconds = ({ input }: Vector): readonly number[] => {
  let sum = 0
  return input.steps.map((step: Any) => {
    sum += step.secondsSincePrevious
    return sum
  })
}

function symbolOf({ market }: Any): string {
  if (market.isSameCollaterals === true) return 'ETH/USD [WETH-WETH]'
  return market.isIndexLongToken === true ? 'ARB/USD [ARB-USDC]' : 'DOGE/USD [WETH-USDC]'
}

function marketOf(venueState: VenueState, symbol: string): VenueMarket {
  const market = findMarket(venueState, symbol)
  if (market === undefined) throw new Error(`there is no ${symbol}`)
  return market
}

/** Puts a vector's market, tokens and prices in the place of the venue's, and has each step done in its second. */
function begin({ venueState, scheduler, clock }: RunWorld, vector: Vector) {
  const { input } = vector
  const { decimals } = input.market
  const market = marketOf(venueState, symbolOf(input))
  const [indexToken, longToken, shortToken] = (['indexToken', 'longToken', 'shortToken'] as const).map(
    (name) => ({ ...market[name], decimals: decimals[name.replace('Token', '')] as number }),
  ) as [typeof market.indexToken, typeof market.longToken, typeof market.shortToken]
  Object.assign(market, {
    ...{ indexToken, longToken, shortToken, settings: settingsOf(input.market, input) },
    state: {
      ...stateOf(input.market),
      fundingUpdatedAtSeconds: beginSeconds,
      borrowingUpdatedAtSeconds: beginSeconds,
    },
  })
  const times = stepSeconds(vector).map((each) => beginSeconds + each)
  const { prices, catalog } = venueState
  const pair = ([low, high]: [string, string], places: number) => ({
    min: big(low) / 10n ** BigInt(places),
    max: big(high) / 10n ** BigInt(places),
  })
  /** A step's prices hold from its second on, those of the first one before it too. */
  const pairsOf = (tokenKey: string): readonly PricePair[] | undefined => {
    const [ofIndex, ofLong, ofShort] = [indexToken, longToken, shortToken].map(catalog.priceKeyOf)
    const of = (read: (step: Any) => [string, string], places: number) =>
      input.steps.map((step: Any) => pair(read(step), places))
    if (tokenKey === ofIndex) return of(({ indexPrice }) => indexPrice, decimals.index)
    if (tokenKey === ofLong) return of(({ longPrice, indexPrice }) => longPrice ?? indexPrice, decimals.long)
    if (tokenKey !== ofShort) return undefined
    return of(
      ({ shortPrice, longPrice, indexPrice }) => shortPrice ?? longPrice ?? indexPrice,
      decimals.short,
    )
  }
  const pairs = new Map([...prices.tokens].map((key) => [key, pairsOf(key)]))
  const stepAt = (second: number): number =>
    Math.max(
      0,
      times.findLastIndex((each) => each <= second),
    )
  const medianOf = ({ min, max }: PricePair): bigint => (min + max) / 2n
  const vectorPrices: Prices = {
    ...prices,
    at: (key, second) => pairs.get(key)?.[stepAt(second)] ?? prices.at(key, second),
    medianAt(key, second) {
      const found = pairs.get(key)?.[stepAt(second)]
      return found === undefined ? prices.medianAt(key, second) : medianOf(found)
    },
    pairOf: (key, median) =>
      pairs.get(key)?.find((each) => medianOf(each) === median) ?? prices.pairOf(key, median),
    rangeOf(key, from, to) {
      const medians = pairs
        .get(key)
        ?.slice(stepAt(from), stepAt(to - 1) + 1)
        .map(medianOf)
      const [open, close] = [medians?.[0], medians?.at(-1)]
      if (medians === undefined || open === undefined || close === undefined)
        return prices.rangeOf(key, from, to)
      return { open, close, high: maxOf(open, ...medians), low: minOf(open, ...medians) }
    },
  }
  Object.assign(venueState, { prices: vectorPrices })
  const slot = input.collateralIsLongToken ? 0 : 1
  const collateral = slotToken(market, slot)
  const account = accountOf(venueState, runAccount)
  addTo(account.balances, collateral.address, GIVEN)
  const held = () => positionsOfAccount(venueState, runAccount)[0]
  const positions: (readonly bigint[] | undefined)[] = []
  /** Nobody evens the pools of a vector. */
  let kept = cloneMarket(market.state)

  function act(step: Any, number: number, second: number): void {
    const nowMs = second * 1000
    if (step.op === 'setOpenInterest') {
      const draft = cloneMarket(market.state)
      accrue(market.settings, draft, marketPrices(venueState, market, second), second)
      setOpenInterest(draft, step, market.settings.isSameCollaterals)
      market.state = draft
      return
    }
    const record = held()
    if (step.op === 'liquidate') {
      if (record !== undefined) liquidate(venueState, record, second)
      return
    }
    const isIncrease = step.op === 'increase'
    const initialCollateralDeltaAmount = big(step.collateralDeltaAmount)
    if (isIncrease) addTo(account.balances, collateral.address, -initialCollateralDeltaAmount)
    const isOpenPrice = input.isLong === isIncrease
    const key = orderKeyOf(venueState.chain.contracts.dataStore, BigInt(1_000_000 + number))
    venueState.orders.set(hexKey(key), {
      ...{ key, account: runAccount, isFrozen: false, updatedAtSeconds: second, requestId: null },
      params: {
        addresses: {
          receiver: runAccount,
          cancellationReceiver: runAccount,
          callbackContract: ZERO_ADDRESS,
          uiFeeReceiver: ZERO_ADDRESS,
          market: market.catalog.marketToken,
          initialCollateralToken: collateral.address,
          swapPath: [],
        },
        numbers: {
          sizeDeltaUsd: big(step.sizeDeltaUsd),
          initialCollateralDeltaAmount,
          triggerPrice: 0n,
          acceptablePrice: isOpenPrice ? MAX_UINT256 : 0n,
          executionFee: 0n,
          callbackGasLimit: 0n,
          minOutputAmount: 0n,
          validFromTime: 0n,
        },
        orderType: BigInt(isIncrease ? orderTypes.marketIncrease : orderTypes.marketDecrease),
        decreasePositionSwapType: 0n,
        isLong: input.isLong,
        shouldUnwrapNativeToken: false,
        autoCancel: false,
        referralCode: ZERO_HASH,
        dataList: [],
      },
    })
    executeOrder(venueState, key, nowMs)
  }

  for (const [number, step] of input.steps.entries()) {
    const second = times[number] ?? 0
    scheduler.after(second * 1000 - clock.now(), () => {
      // A liquidation is the keeper's own, in the second in which the price comes: the step finds it done.
      advanceVenue(venueState)
      if (held() !== undefined || step.op !== 'liquidate') {
        market.state = cloneMarket(kept)
        act(step, number, second)
      }
      kept = cloneMarket(market.state)
      const state = held()?.state
      positions.push(
        state && [state.sizeInUsd, state.sizeInTokens, state.collateralAmount, state.pendingImpactAmount],
      )
    })
  }
  return { market, collateral, positions }
}

/** An executed step: as the vector asks for it, and as the contracts did it. */
interface DoneStep {
  readonly step: Any
  readonly wanted: Any
  readonly second: number
  /** The lowest price of the collateral, as contracts have it. */
  readonly price: bigint
}

/** Steps that executed, without those of other traders. */
function doneSteps(vector: Vector): readonly DoneStep[] {
  const { input } = vector
  const wanted = vector.expected.steps as readonly Any[]
  const { decimals } = input.market
  const seconds = stepSeconds(vector)
  return [...wanted.entries()].flatMap(([at, each]) => {
    const step = input.steps[at]
    if ('revert' in each || step.op === 'setOpenInterest') return []
    const long = step.longPrice ?? step.indexPrice
    const [low, places] = input.collateralIsLongToken
      ? [long[0], decimals.long]
      : [(step.shortPrice ?? long)[0], decimals.short]
    const price = big(low) / 10n ** BigInt(places)
    return [{ step, wanted: each, second: beginSeconds + (seconds[at] ?? 0), price }]
  })
}

/** The line that a run must write of a step. */
function lineOf({ step, wanted, second, price }: DoneStep, isLong: boolean): Partial<RunFill> {
  const { fees } = wanted
  const isIncrease = step.op === 'increase'
  return {
    second,
    side: sideOf(isLong),
    action: isIncrease ? 'increase' : step.op === 'liquidate' ? 'liquidation' : 'decrease',
    sizeDeltaUsd: isIncrease ? big(step.sizeDeltaUsd) : -big(wanted.sizeDeltaUsd),
    price: big(wanted.executionPrice),
    impactUsd: isIncrease ? 0n : big(wanted.totalImpactUsd) - big(wanted.priceImpactDiffUsd),
    positionFeeUsd: big(fees.positionFeeAmount) * price,
    borrowingFeeUsd: big(fees.borrowingFeeAmount) * price,
    fundingFeeUsd: big(fees.fundingFeeAmount) * price,
    liquidationFeeUsd: big(fees.liquidationFeeAmount) * price,
    collateralDelta: isIncrease ? big(step.collateralDeltaAmount) : -big(wanted.outputAmount),
    pnlUsd: isIncrease ? 0n : big(wanted.basePnlUsd),
  }
}

/** Amounts by token that a whole life takes and gives, claims included. */
function movedBy(done: readonly DoneStep[], { input }: Vector, [long, short]: readonly [string, string]) {
  const moved: Record<string, bigint> = { [long]: 0n, [short]: 0n }
  const add = (symbol: string, amount: bigint): void => {
    moved[symbol] = (moved[symbol] ?? 0n) + amount
  }
  const collateral = input.collateralIsLongToken ? long : short
  for (const { step, wanted } of done) {
    if (step.op === 'increase') add(collateral, -big(step.collateralDeltaAmount))
    add(collateral, big(wanted.outputAmount))
    add(input.isLong ? long : short, big(wanted.secondaryOutputAmount))
  }
  const { account } = done.at(-1)?.wanted ?? {}
  add(long, big(account.claimableFundingLongToken) + big(account.claimableCollateralLongToken))
  add(short, big(account.claimableFundingShortToken) + big(account.claimableCollateralShortToken))
  return moved
}

test.each(lives)(
  'the life of $id is accounted in a run as the contracts did it, to the unit',
  async (vector) => {
    const { input } = vector
    const symbol = symbolOf(input)
    const folder = testFolder()
    const minutes = Math.ceil((stepSeconds(vector).at(-1) ?? 0) / 60) + 10
    const rows = Array.from({ length: minutes + 240 }, (_, at) => `${startSeconds + (at - 120) * 60},1,1,1,1`)
    const data = join(folder, `${symbol.slice(0, symbol.indexOf('/')).toLowerCase()}-usd.csv`)
    writeFileSync(data, `timestamp,open,high,low,close\n${rows.join('\n')}\n`)
    const still = await strategyOf(folder, 'still', () => [], { market: symbol })
    let life: ReturnType<typeof begin> | undefined
    const { fills, tally } = await runFor(
      folder,
      data,
      minutes,
      [{ ...still, needs: { symbols: [symbol] } }],
      {
        turnSeconds: 3_600,
        fromSeconds: startSeconds,
        toSeconds: startSeconds + Math.ceil(minutes / 60) * 3_600,
        segmentSeconds: 10_000_000,
        begin(world) {
          life = begin(world, vector)
        },
      },
    )
    if (life === undefined) throw new Error('the run did not begin')
    const { market, collateral } = life
    const done = doneSteps(vector)
    expect(fills).toMatchObject(done.map((each) => lineOf(each, input.isLong)))
    const tokens = [market.longToken.symbol, market.shortToken.symbol] as const
    const moved = movedBy(done, vector, tokens)
    for (const token of new Set(tokens)) {
      const given = amountOf(tally.startAmounts, token) + (token === collateral.symbol ? GIVEN : 0n)
      expect(amountOf(tally.amounts, token) - given, token).toBe(moved[token])
    }
    for (const [at, wanted] of (vector.expected.steps as readonly Any[]).entries())
      if (wanted.position !== undefined)
        expect(life.positions[at], `after step ${at}`).toEqual(positionOf(wanted))
  },
)

/** An amount of a token; the keeper's own orders pay the wrapped coin out as the coin itself. */
function amountOf(amounts: Readonly<Record<string, bigint>>, token: string): bigint {
  return (amounts[token] ?? 0n) + (token === 'WETH' ? (amounts.ETH ?? 0n) : 0n)
}

/** Size, tokens, collateral and stored impact of a vector's position; undefined: closed. */
function positionOf({ position }: Any): readonly bigint[] | undefined {
  if (position === null) return undefined
  const { sizeInUsd, sizeInTokens, collateralAmount, pendingImpactAmount } = position
  return [sizeInUsd, sizeInTokens, collateralAmount, pendingImpactAmount].map(big)
}
