/**
 * The trial of strategy files in one situation: a backtest of the daemon itself over prices that are made up. Whatever the daemon denies is denied here, by
 * the same code. The same files give the same trial.
 */
import { defined } from '../../base/defined.ts'
import type { Config } from '../../config/configTypes.ts'
import { assetOf } from '../../paper/catalog/prices.ts'
import type { ScenarioStep } from '../../paper/server/scenario.ts'
import { findMarket } from '../../paper/state/lookup.ts'
import { tokenPrice, type VenueState } from '../../paper/state/venueState.ts'
import { ONE_USD, type Usd } from '../../protocol/units.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { liveExactRun, type RunTally, runAccount } from '../exactRun.ts'
import { settledFills } from '../fillBook.ts'
import type { EquityPoint } from '../runFiles.ts'
import { usualModel } from '../runModel.ts'
import { drawdownOf } from '../runResult.ts'
import { marketsOfFile, turnSecondsOf, warmUpOf } from '../runStrategies.ts'
import type { RunTerms, RunWorld } from '../runTerms.ts'
import { tripFillOf } from '../runTrades.ts'
import { givePosition } from './givenPosition.ts'
import { madeHistories, type TrialClock, type TrialMarket } from './madePrices.ts'
import { type Situation, TRIAL_TURNS } from './situations.ts'
import { createTrialRows, type TrialRow, type TrialRows } from './trialRows.ts'
import { scheduleSignals, takesSignals } from './trialSignals.ts'

/** Files of a trial, and what they are tried with. */
export interface TrialSetting {
  readonly config: Config
  readonly strategies: readonly LoadedStrategy[]
  /** The first follows the situation whole. */
  readonly markets: readonly TrialMarket[]
  readonly clock: TrialClock
}

/** One fill of a trial. */
export interface TrialFill {
  readonly atSeconds: number
  readonly symbol: string
  readonly direction: 'long' | 'short'
  /** Kind of fill: the order's own, an exit's, or the venue's liquidation. */
  readonly what: 'opened' | 'reduced' | 'take-profit' | 'stop-loss' | 'liquidated'
  readonly sizeUsd: Usd
  readonly price: Usd
  /** PnL after all costs of this fill, USD, signed. */
  readonly resultUsd: Usd
  /** Name of the file whose order filled; empty for a liquidation. */
  readonly strategy: string
}

/** A trial that is over. */
export interface Trial {
  readonly situation: Situation
  readonly rows: readonly TrialRow[]
  readonly fills: readonly TrialFill[]
  /** Gain after all costs, with what is still held at what closing it would pay, USD, signed. A change of the wallet's own tokens is none. */
  readonly resultUsd: Usd
  /** The furthest fall of that from its highest, USD. */
  readonly maxDrawdownUsd: Usd
  /** First error that a kind threw, and its turn. */
  readonly failed?: { readonly turn: number; readonly reason: string }
}

/** When every trial begins, Unix seconds: Friday, 2027-01-15 08:00 UTC. */
const START_SECONDS = 1_800_000_000
/** Initial balance of the wallet in each token that the files may pay, USD. */
const WALLET_USD = 10_000
/** Time after the last turn in which its orders execute, seconds. */
const LAST_SECONDS = 30

/** The clock of a trial of these files: a turn is the shortest candle that any of their kinds reads, or a minute. */
export function trialClock(strategies: readonly LoadedStrategy[]): TrialClock {
  const turnSeconds = Math.min(...strategies.map((each) => turnSecondsOf(each)))
  return { turnSeconds, startSeconds: Math.ceil(START_SECONDS / turnSeconds) * turnSeconds }
}

/** Returns the turn at or after which something happened, from 1. */
export function turnOf({ startSeconds, turnSeconds }: TrialClock, atSeconds: number): number {
  return Math.floor((atSeconds - startSeconds) / turnSeconds) + 1
}

/** Tries the files in a situation. What a kind throws is in the trial. */
export async function runTrial(setting: TrialSetting, situation: Situation): Promise<Trial> {
  const { config, strategies, markets, clock } = setting
  const { startSeconds, turnSeconds } = clock
  let world: RunWorld | undefined
  const nowSeconds = (): number => Math.floor((world?.clock.now() ?? 0) / 1000)
  const rows = createTrialRows(strategies, nowSeconds, (second) => turnOf(clock, second))
  const begin = (begun: RunWorld): void => {
    world = begun
    const [first] = markets
    if (first !== undefined && strategies.every(({ strategy }) => !strategy.opensPositions))
      givePosition(begun.venueState, runAccount, first.symbol, startSeconds)
    setFunding(begun.venueState, markets, situation)
    scheduleSignals(begun, strategies, turnSeconds)
  }
  const tally = await liveExactRun({
    config,
    strategies,
    histories: madeHistories(situation, markets, clock, warmUpOf(strategies)),
    manifest: termsOf(setting, situation),
    record: rows.record,
    madeUp: {
      venue: { takesIncreases: situation.isFull !== true },
      scenario: staleSteps(situation, turnSeconds),
      begin,
      listen: rows.listen,
    },
  })
  if (world === undefined) throw new TypeError('a run that never began')
  const { venueState } = world
  return trialOf(situation, tally, rows, withoutWallet(tally, venueState))
}

/** Sets the rates with which the situation begins. */
function setFunding(
  venueState: VenueState,
  markets: readonly TrialMarket[],
  { fundingBpsPerDay = 0 }: Situation,
): void {
  const perSecond = (BigInt(fundingBpsPerDay) * ONE_USD) / 10_000n / 86_400n
  for (const [at, { symbol }] of markets.entries()) {
    const market = findMarket(venueState, symbol)
    if (market !== undefined) market.state.savedFundingFactorPerSecond = at % 2 === 0 ? perSecond : -perSecond
  }
}

/** Steps of the venue's scenario that let the data of the oracle stand still: at each turn they are one turn older. */
function staleSteps({ staleTurns }: Situation, turnSeconds: number): readonly ScenarioStep[] {
  if (staleTurns === undefined) return []
  const [from, to] = staleTurns
  const ages = Array.from({ length: to - from }, (_, at) => at * turnSeconds)
  return [...ages, undefined].map((oldOracleSeconds, at) => ({
    atMs: (from + at) * turnSeconds * 1000,
    forMs: undefined,
    set: oldOracleSeconds === undefined ? { oldOracles: [] } : { oldOracles: ['oracle/0'], oldOracleSeconds },
    wire: undefined,
  }))
}

/** Terms of the run of a situation. It is fast where all that happens follows the price alone. */
function termsOf({ config, strategies, markets, clock }: TrialSetting, { staleTurns }: Situation): RunTerms {
  const { startSeconds, turnSeconds } = clock
  const toSeconds = startSeconds + (TRIAL_TURNS - 1) * turnSeconds + LAST_SECONDS
  const isExact = staleTurns !== undefined || strategies.some(takesSignals)
  return {
    mode: isExact ? 'exact' : 'fast',
    fromSeconds: startSeconds,
    toSeconds,
    segmentSeconds: toSeconds - startSeconds,
    seed: 1,
    balances: balancesOf(config, strategies, markets),
    model: usualModel,
    strategies: strategies.map((each) => ({
      markets: marketsOfFile(each),
      turnSeconds: turnSecondsOf(each),
    })),
    inputs: markets.map(({ symbol }) => ({ market: symbol, periodSeconds: turnSeconds })),
  }
}

/** The wallet's first balances, whole tokens by symbol: the coin that fees are paid in, and tokens that the files may pay. */
function balancesOf(
  { venue: { chain } }: Config,
  strategies: readonly LoadedStrategy[],
  markets: readonly TrialMarket[],
): Readonly<Record<string, string>> {
  const paysLong = strategies.some(
    ({ instance, needs }) => instance.size?.collateral === 'long' || needs.balances === true,
  )
  const balances: Record<string, string> = { [chain.feeToken.symbol]: String(WALLET_USD) }
  for (const { long, short, assets } of markets)
    for (const token of paysLong ? [long, short] : [short]) {
      const level = token.isStable ? 1 : assets.find(({ asset }) => asset === assetOf(token))?.level
      if (level !== undefined) balances[token.symbol] = (WALLET_USD / level).toFixed(6)
    }
  return balances
}

/** The points of equity of a run less what the wallet's first tokens gained by themselves. */
function withoutWallet({ equity, startAmounts }: RunTally, venueState: VenueState): readonly EquityPoint[] {
  const walletUsd = (second: number): Usd => {
    let twiceUsd = 0n
    for (const [symbol, amount] of Object.entries(startAmounts)) {
      const token = venueState.catalog.tokenBySymbol.get(symbol)
      if (token === undefined) continue
      const { min, max } = tokenPrice(venueState, token, second)
      twiceUsd += amount * (min + max)
    }
    return twiceUsd / 2n
  }
  const firstUsd = walletUsd(equity[0]?.second ?? 0)
  return equity.map((point) => ({
    ...point,
    equityUsd: point.equityUsd - walletUsd(point.second) + firstUsd,
  }))
}

function trialOf(
  situation: Situation,
  tally: RunTally,
  rows: TrialRows,
  equity: readonly EquityPoint[],
): Trial {
  return {
    situation,
    rows: rows.rowsWith(tally.intents),
    fills: fillsOf(tally),
    resultUsd: (equity.at(-1)?.equityUsd ?? 0n) - (equity[0]?.equityUsd ?? 0n),
    maxDrawdownUsd: drawdownOf(equity).usd,
    ...defined({ failed: rows.failed() }),
  }
}

function fillsOf({ fills, intents }: RunTally): readonly TrialFill[] {
  const exits = new Map<string, TrialFill['what']>()
  for (const { intent, attempts } of intents)
    for (const { orderKey, role } of attempts.flatMap(({ children }) => children)) {
      const type = isExitType(role) ? role : intent.terms.orderType
      if (isExitType(type)) exits.set(orderKey.toLowerCase(), type)
    }
  // A payment of collateral is an order of size 0: it fills nothing.
  const sized = fills.filter(({ sizeDeltaUsd }) => sizeDeltaUsd !== 0n)
  return settledFills(sized, intents).map((fill, at) => {
    const { pnlUsd, impactUsd, feesUsd, sizeUsd } = tripFillOf(fill, undefined)
    const { action, second, market, side, price, strategy } = fill
    const byOrder = exits.get(sized[at]?.orderKey ?? '') ?? 'reduced'
    const what = action === 'increase' ? 'opened' : action === 'liquidation' ? 'liquidated' : byOrder
    const resultUsd = pnlUsd + impactUsd - feesUsd
    return { atSeconds: second, symbol: market, direction: side, what, sizeUsd, price, resultUsd, strategy }
  })
}

function isExitType(type: string | undefined): type is 'take-profit' | 'stop-loss' {
  return type === 'take-profit' || type === 'stop-loss'
}
