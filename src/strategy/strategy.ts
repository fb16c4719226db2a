/**
 * A strategy is a kind with settings that looks at a snapshot and returns requests. It receives values and returns decisions: no key, client, clock
 * or journal reaches it. It derives its state from the positions and its open intents, or keeps it in a memory (`memory.ts`). One YAML file is one
 * running instance of a kind.
 */

import { z } from 'zod'
import { defined, ifDefined } from '../base/defined.ts'
import { allAsOwn, type OwnPosition } from '../books/ownPositions.ts'
import type { OwnEvent } from '../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../domain/memory/tradeSignal.ts'
import type { MarketView, Snapshot } from '../domain/snapshot.ts'
import type { SubaccountReport } from '../domain/subaccountReport.ts'
import type { OwnTask } from '../domain/taskStates/ownTask.ts'
import { type Address, type Hex, hexKey } from '../protocol/address.ts'
import type { Candle, CandlePeriod, Direction } from '../protocol/market.ts'
import type { Position } from '../protocol/position.ts'
import type { Reading } from '../protocol/reading.ts'
import { type Usd, usd } from '../protocol/units.ts'
import { checkDefinition } from './definitionCheck.ts'
import type { MemoryDefinition, Turn } from './kindMemory.ts'
import { type StatusLine, takenStatus } from './kindStatus.ts'
import type { OpenIntent, RestingOrder } from './resting.ts'
import type { StrategyDecision } from './strategyDecision.ts'
import { type TestWorldParts, testWorld } from './testWorld.ts'

export type { OwnPosition } from '../books/ownPositions.ts'
export type { Fill } from '../domain/accountRecords/fills.ts'
export type { ClosedEvent, DeniedEvent, FillEvent, OwnEvent } from '../domain/memory/ownEvent.ts'
export type { GivenSignal, SignalAction, SignalSize } from '../domain/memory/tradeSignal.ts'
export type {
  BatchDecision,
  CancelDecision,
  ClaimDecision,
  CloseDecision,
  CollateralDecision,
  Decision,
  DecisionFacts,
  DecreaseDecision,
  EditDecision,
  ExitRequest,
  IncreaseDecision,
  RenewalDecision,
  ReportDecision,
  StopTaskDecision,
  SwapDecision,
  UnwindDecision,
} from '../domain/order/decision.ts'
export type { MarketView, Snapshot } from '../domain/snapshot.ts'
// biome-ignore lint/performance/noBarrelFile: the one door that a kind of the user's own imports (#strategy)
export { ageOf, capacityReading, isFresh } from '../domain/snapshot.ts'
export type { SubaccountReport } from '../domain/subaccountReport.ts'
export type { OwnTask } from '../domain/taskStates/ownTask.ts'
export type { Address, Hex } from '../protocol/address.ts'
export type {
  Balance,
  Candle,
  CandlePeriod,
  Direction,
  Market,
  MarketStatus,
  OraclePrice,
  Ticker,
  Token,
  TradingCapacity,
} from '../protocol/market.ts'
export type { Order, Position } from '../protocol/position.ts'
export { liquidationDistanceBps } from '../protocol/position.ts'
export type { Reading } from '../protocol/reading.ts'
export type { TokenAmount, Usd } from '../protocol/units.ts'
export {
  amountOfUsd,
  bps,
  formatUnits,
  formatUsd,
  maxOf,
  minOf,
  mulDiv,
  ONE_USD,
  parseUnits,
  usd,
  usdOfAmount,
} from '../protocol/units.ts'
export type { TaskWish } from '../tasks/taskRows.ts'
export { bpsField, countField, leverageField, secondsField, usdField } from './fields.ts'
export type { MemoryDefinition, Turn, UnservedSignal } from './kindMemory.ts'
export type { StatusLine } from './kindStatus.ts'
export { levelOfPrice, priceOfLevel } from './levels.ts'
export type { OpenIntent, RestingOrder } from './resting.ts'
export type { StartTaskDecision, StrategyDecision } from './strategyDecision.ts'
export type { TestPosition } from './testWorld.ts'
/** Schemas for the params of a kind. */
export { z }

/** Candles of one market that a strategy looks at. */
export interface CandleNeed {
  /** Market symbol, `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  readonly period: CandlePeriod
  /** Number of candles, the running one included. */
  readonly limit: number
  /** True where the kind decides by the running candle too; `perpd backtest --check lookahead` then leaves it as it was. */
  readonly readsRunning?: boolean
}

/** Data to read before the strategy's turn. */
export interface Needs {
  /** Markets whose ticker, oracle price and capacity are read. */
  readonly symbols: readonly string[]
  /** Also the markets of every open position and resting order of the account, delisted ones included. */
  readonly allPositionMarkets?: boolean
  /** Also the tokens in the wallet; swaps are denied without them. */
  readonly balances?: boolean
  /** Several periods of one market are several entries. */
  readonly candles?: readonly CandleNeed[]
}

/** The `size` block of a strategy file. */
export interface OrderSize {
  /** Size of one order, USD. */
  readonly usd: Usd
  /** 10000 = 1x. */
  readonly leverageBps: number
  /** Token of the market that pays and backs the position. */
  readonly collateral: 'long' | 'short'
}

/** The instance for which a kind decides. */
export interface StrategyInstance {
  /** Name of the file without its extension. */
  readonly name: string
  /** Market symbols of the file, in its order; empty when the file names none. */
  readonly symbols: readonly string[]
  readonly size?: OrderSize
}

/** All that a strategy sees. */
export interface StrategyView<Params = unknown> {
  readonly snapshot: Snapshot
  readonly params: Params
  readonly instance: StrategyInstance
  /**
   * This instance's open intents: planned, in flight, unknown, or resting with their orders. An intent whose entry is filled stays among them while
   * its exits rest (`onlyExitsRest`): `isBusy` tells whether there is anything to wait for.
   */
  readonly openIntents: readonly OpenIntent[]
  /** This instance's orders that rest at the venue, and that it may edit and cancel. */
  readonly restingOrders: readonly RestingOrder[]
  /** This instance's tasks that make orders over time: those that run, and the newest that ended. */
  readonly tasks: readonly OwnTask[]
  /** Remaining approval of the delegated key; absent when the account's own key signs, and before it was read. */
  readonly approval?: SubaccountReport
  /**
   * Keys of the unmanaged resting orders that perpd made, for a kind that tidies: no running instance or task manages them. Empty for other kinds.
   */
  readonly strayOrders: readonly Hex[]
  /**
   * Outcomes of its decisions since the turn that returned the present memory, in order, for a kind with a memory; denials of that turn come first.
   * Each is delivered once, over crashes too. Always empty for a kind without a memory.
   */
  readonly events: readonly OwnEvent[]
  /** Older events that were dropped, because more than 2,000 waited; 0 as a rule. */
  readonly eventsMissed: number
  /**
   * External signals accepted since the turn that returned the present memory, in order, for a kind that takes signals. Each is delivered once, over
   * crashes too; one past its time is delivered as expired. Always empty for other kinds.
   */
  readonly signals: readonly GivenSignal[]
  /** The market with this symbol, or undefined when the snapshot has none. */
  market(symbol: string): MarketView | undefined
  /** A market's candles of a period, ascending, the running one last; of the first that `needs` names without a period. */
  candles(symbol: string, period?: CandlePeriod): Reading<readonly Candle[]> | undefined
  /**
   * Returns this instance's positions by its own book, of one market or one side if given: it trades by these. Positions that others opened, by hand
   * or by another file, are not in it (docs/books.md).
   */
  ownPositions(symbol?: string, direction?: Direction): readonly OwnPosition[]
  /**
   * Tells whether this instance has an active order, in one market or on one side if given: planned, in flight, unknown, waiting at the venue for its
   * price, or a change of a resting order. Exits that rest for its position do not count. True where the market was not read.
   */
  isBusy(symbol?: string, direction?: Direction): boolean
  /** The account's positions with everybody's parts, of one market or one side if given: keepers look at these. */
  positions(symbol?: string, direction?: Direction): readonly Position[]
}

/** A kind of strategy, as `defineStrategy` makes it. Methods, so that kinds of any params fit one list. */
export interface Strategy<Params = unknown> {
  readonly kind: string
  readonly description: string
  /** True when the kind opens positions: its file must then name markets and a size. */
  readonly opensPositions: boolean
  readonly params: z.ZodType<Params>
  /** Absent: the kind remembers nothing. */
  readonly memory?: MemoryDefinition<unknown>
  /** True if external signals may be sent to its instances, which then have a memory; false when absent. */
  readonly takesSignals?: boolean
  /**
   * True if it may cancel, and within bounds edit, orders that others left resting, by the rule of docs/keepers.md. Only for perpd's built-in kinds:
   * a kind of the user's own changes its own orders.
   */
  readonly tidiesOrders?: boolean
  needs(params: Params, symbols: readonly string[]): Needs
  decide(view: StrategyView<Params>, memory?: unknown): readonly StrategyDecision[] | Turn<unknown>
  /** Says what the instance waits for after a turn; absent: the kind never says it. */
  status?(view: StrategyView<Params>, memory?: unknown): StatusLine | undefined
}

/** A kind without a memory. */
export interface PlainStrategy<Params> extends Strategy<Params> {
  readonly memory?: never
  decide(view: StrategyView<Params>): readonly StrategyDecision[]
}

/** A kind with one. */
export interface RememberingStrategy<Params, Memory> extends Strategy<Params> {
  readonly memory: MemoryDefinition<Memory>
  decide(view: StrategyView<Params>, memory: Memory): Turn<Memory>
  status?(view: StrategyView<Params>, memory: Memory): StatusLine | undefined
}

interface DefinitionBase<Schema extends z.ZodType> {
  /** Name of the kind; for a file of your own, any name that tells it apart in logs. */
  readonly kind: string
  /** One sentence: what the kind does. */
  readonly description: string
  /** False for a keeper that only reduces: its file may leave out markets and size. True when absent. */
  readonly opensPositions?: boolean
  /** A `z.strictObject` of the file's `params`; unknown names are then reported with a hint. */
  readonly params: Schema
  /** Returns the data to read, from the params and the file's market symbols. */
  needs(params: z.output<Schema>, symbols: readonly string[]): Needs
}

/** Parts of a kind. */
export interface StrategyDefinition<Schema extends z.ZodType> extends DefinitionBase<Schema> {
  /** Returns the decisions to request. Pure: the same view always gives the same decisions. */
  decide(view: StrategyView<z.output<Schema>>): readonly StrategyDecision[]
  /** Returns one line on what the instance waits for, from the view of the turn, or undefined. Shown only; no backtest asks for it. Pure. */
  status?(view: StrategyView<z.output<Schema>>): StatusLine | undefined
}

/** Parts of a kind with a memory. */
export interface RememberingDefinition<Schema extends z.ZodType, Memory> extends DefinitionBase<Schema> {
  readonly memory: MemoryDefinition<Memory>
  /** True lets signals from outside be sent to its instances (docs/signals.md); they come in `view.signals`. */
  readonly takesSignals?: boolean
  /**
   * Returns the decisions to request, and the memory to save. Pure: the same view and memory always give the same result. The memory is durable in
   * the commit of the admitted decisions; denials return as events of the next turn.
   */
  decide(view: StrategyView<z.output<Schema>>, memory: Memory): Turn<Memory>
  /** As that of a kind without a memory; `memory` is the one that the turn returned. */
  status?(view: StrategyView<z.output<Schema>>, memory: Memory): StatusLine | undefined
}

/**
 * Makes a kind from its parts; the default export of a file of your own.
 *
 * @throws TypeError for a part that is missing, wrong or not known: types are stripped where a kind is loaded, not checked.
 */
export function defineStrategy<Schema extends z.ZodType, Memory>(
  definition: RememberingDefinition<Schema, Memory>,
): RememberingStrategy<z.output<Schema>, Memory>
export function defineStrategy<Schema extends z.ZodType>(
  definition: StrategyDefinition<Schema>,
): PlainStrategy<z.output<Schema>>
export function defineStrategy(
  definition: StrategyDefinition<z.ZodType> | RememberingDefinition<z.ZodType, unknown>,
): Strategy {
  checkDefinition(definition)
  const { kind, description, opensPositions = true, params } = definition
  const needs: Strategy['needs'] = (given, symbols) => definition.needs(given, symbols)
  const takesSignals = 'takesSignals' in definition && definition.takesSignals === true
  const parts = { kind, description, opensPositions, params, takesSignals, needs }
  if (!('memory' in definition) || definition.memory === undefined) {
    const plain = definition as StrategyDefinition<z.ZodType>
    const status = ifDefined(plain.status, () => (view: StrategyView) => plain.status?.(view))
    return { ...parts, ...defined({ status }), decide: (view) => plain.decide(view) }
  }
  const { memory } = definition
  const status = ifDefined(
    definition.status,
    () => (view: StrategyView, kept: unknown) => definition.status?.(view, kept),
  )
  return {
    ...parts,
    ...defined({ status }),
    memory,
    decide: (view, remembered) => definition.decide(view, remembered),
  }
}

/**
 * Returns the view of a snapshot for one instance. A test of a kind makes one from a test snapshot and hands it to `decide`: docs/own-kinds.md,
 * "Testing a kind".
 */
export function viewOf<Params>(parts: {
  readonly snapshot: Snapshot
  readonly params: Params
  readonly instance: StrategyInstance
  readonly openIntents: readonly OpenIntent[]
  /** The instance's own parts; when absent, nobody else trades there and every position is its own. */
  readonly own?: readonly OwnPosition[]
  /** None when absent. */
  readonly restingOrders?: readonly RestingOrder[]
  /** None when absent. */
  readonly tasks?: readonly OwnTask[]
  /** The account's own key signs when absent. */
  readonly approval?: SubaccountReport
  /** None when absent. */
  readonly strayOrders?: readonly Hex[]
  /** None when absent. */
  readonly events?: readonly OwnEvent[]
  readonly eventsMissed?: number
  /** None when absent. */
  readonly signals?: readonly GivenSignal[]
}): StrategyView<Params> {
  const { own = allAsOwn(parts.snapshot), ...given } = parts
  const market = (symbol: string): MarketView | undefined => {
    for (const view of given.snapshot.markets.values()) if (view.market.symbol === symbol) return view
    return undefined
  }
  /** Filters rows by market and side if given; returns none for a market that was not read. */
  function among<Row extends { readonly marketToken: Address; readonly direction: Direction }>(
    rows: readonly Row[],
    symbol?: string,
    direction?: Direction,
  ): readonly Row[] {
    const all = direction === undefined ? rows : rows.filter((row) => row.direction === direction)
    if (symbol === undefined) return all
    const view = market(symbol)
    if (view === undefined) return []
    const key = hexKey(view.market.marketToken)
    return all.filter(({ marketToken }) => hexKey(marketToken) === key)
  }
  return {
    restingOrders: [],
    tasks: [],
    strayOrders: [],
    events: [],
    eventsMissed: 0,
    signals: [],
    ...given,
    market,
    candles(symbol, period) {
      const view = market(symbol)
      const found = [view?.candles, ...(view?.moreCandles ?? [])].find(
        (each) => each !== undefined && (period === undefined || each.value.period === period),
      )
      return found === undefined ? undefined : { value: found.value.candles, atMs: found.atMs }
    },
    ownPositions: (symbol, direction) => among(own, symbol, direction),
    isBusy(symbol, direction) {
      if (symbol !== undefined && market(symbol) === undefined) return true
      return among(given.openIntents, symbol, direction).some(({ onlyExitsRest }) => !onlyExitsRest)
    },
    positions: (symbol, direction) => among(given.snapshot.positions.value, symbol, direction),
  }
}

/** Parts of a view that a test states. */
export interface TestViewParts<Params> extends TestWorldParts {
  readonly params: Params
  /** $200 at 2x, backed by the short token, when absent. */
  readonly size?: OrderSize
  /** Further parts of the view: intents, resting orders, tasks, events, signals; none when absent. */
  readonly more?: Partial<StrategyView>
}

/** Makes a view for a test of `decide` and `status`: docs/own-kinds.md, "Testing a kind". Throws RangeError for a price that is no positive number. */
export function testView<Params>({
  params,
  size,
  more,
  ...world
}: TestViewParts<Params>): StrategyView<Params> {
  const { symbol, snapshot, own } = testWorld(world)
  const usual: OrderSize = { usd: usd(200), leverageBps: 20_000, collateral: 'short' }
  const instance = { name: 'test', symbols: [symbol], size: size ?? usual }
  return viewOf({ openIntents: [], own, ...more, snapshot, params, instance })
}

/** Asks a kind for its status after a turn; `memory` is the one that the turn returned. */
export function statusAfter<Params>(
  strategy: Strategy<Params>,
  view: StrategyView<Params>,
  memory?: unknown,
): StatusLine | undefined {
  return strategy.status === undefined ? undefined : takenStatus(() => strategy.status?.(view, memory))
}

/** Address of the token that an instance's `size.collateral` means in a market. */
export function collateralTokenOf(view: MarketView, collateral: 'long' | 'short'): Address {
  return collateral === 'long' ? view.market.longToken : view.market.shortToken
}
