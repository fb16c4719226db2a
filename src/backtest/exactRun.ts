/**
 * A backtest in exact mode: the daemon's own client, engine, order machine, signer and journal on jumping time, over the paper venue whose prices follow
 * history. A run lives in segments, each of which begins as a daemon that is started again does, so that a run that was stopped and resumed
 * is the run that was not.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { defined } from '../base/defined.ts'
import type { Config } from '../config/configTypes.ts'
import { limitsOf } from '../daemon/runSettings.ts'
import { type Event, emitTo } from '../domain/event.ts'
import type { IntentState } from '../domain/order/intent.ts'
import { createLocalSigner } from '../keys/local.ts'
import { historyPrices, type PriceHistory } from '../paper/catalog/historyPrices.ts'
import { createPrices, type Prices } from '../paper/catalog/prices.ts'
import { unit } from '../paper/math/random.ts'
import { createVenue, type Venue } from '../paper/server/venue.ts'
import type { FollowedMarkets } from '../paper/state/followedMarkets.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import { maxOf, parseUnits } from '../protocol/units.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { stopFirst } from './candleWay.ts'
import type { RecordTurn } from './check/recordedTurns.ts'
import { createQuietLife } from './fast/quietLife.ts'
import { watchTurns } from './fast/watchedTurns.ts'
import { createFillBook, type VenueFill } from './fillBook.ts'
import { directNodes } from './lab/directNode.ts'
import { createExecutionWatch } from './lab/executionWatch.ts'
import { createWrittenStates, openLabJournal, type WrittenStates } from './lab/labJournal.ts'
import { createLabTrader } from './lab/labTrader.ts'
import { accountWorth, amountsOf, indexPriceOf } from './lab/labWorth.ts'
import { createLife, createScheduler } from './lab/scheduler.ts'
import { labHosts, venueFetch } from './lab/venueFetch.ts'
import { labSettingsOf } from './labSettings.ts'
import { type EquityPoint, runFileNames } from './runFiles.ts'
import { inRun, marketsOfFile } from './runStrategies.ts'
import type { MadeUp, RunTerms } from './runTerms.ts'
import { isTradedAt, venueHours } from './tradingTimes.ts'

/** The key of every run: its account is the same in each, and nobody's. */
const signer = createLocalSigner(`0x${'5e'.repeat(32)}`)

/** The account that every run trades. */
export const runAccount = signer.address

/** Most points of equity of a run. */
const MOST_POINTS = 10_000
/** Requests and trades that the venue remembers: nobody asks for those of orders that ended, and a year has thousands of them. */
const [MOST_REQUESTS, MOST_TRADES] = [1_000, 500]
/** Markets that the fees of a message are swapped in. */
const feeMarkets = ['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]']

/** Inputs of a run. */
export interface ExactRun {
  /** Absent: the run leaves nothing, and is one segment. */
  readonly folder?: string
  readonly manifest: RunTerms
  readonly config: Config
  readonly strategies: readonly LoadedStrategy[]
  readonly histories: ReadonlyMap<string, PriceHistory>
  /** Markets that follow a recording; absent: none. */
  readonly followed?: FollowedMarkets
  /** Takes each turn, for checks of the kinds and for trials. */
  readonly record?: RecordTurn
  /** Absent: nothing but history happens. */
  readonly madeUp?: MadeUp
  /** False: reads take the client's whole way, as a test of the short one asks for; true when absent. */
  readonly readsDirectly?: boolean
  /** Told of each point of the equity that the run has lived through. */
  readonly told?: (doneSeconds: number) => void
}

/** Everything of a run that is not of its journal. */
export interface RunTally {
  /** Second up to which the run has lived. */
  readonly untilSeconds: number
  readonly fills: readonly VenueFill[]
  readonly equity: readonly EquityPoint[]
  readonly turns: number
  readonly decisions: number
  readonly denied: Readonly<Record<string, number>>
  /** Amounts outside of positions by token symbol, at the start and now. */
  readonly startAmounts: Readonly<Record<string, bigint>>
  readonly amounts: Readonly<Record<string, bigint>>
  readonly intents: readonly IntentState[]
}

type Kept = Omit<RunTally, 'intents'>

/** Lives through a run, from where its folder says that it was stopped. Throws what stops the daemon. */
export async function liveExactRun(run: ExactRun): Promise<RunTally> {
  let kept = resumed(run)
  let intents: readonly IntentState[] = []
  const states = createWrittenStates()
  const { toSeconds } = run.manifest
  while (kept.untilSeconds < toSeconds) {
    const segment = await liveSegment(run, kept, states)
    kept = segment.kept
    intents = segment.intents
    if (kept.untilSeconds >= toSeconds) break
    if (run.folder !== undefined) keep(run.folder, kept)
  }
  return { ...kept, intents }
}

const stateFolder = (folder: string): string => join(folder, 'state')
const venueFile = (folder: string): string => join(folder, 'venue', 'venue.json')

/** Puts what a resumed run needs beside it, whole or not at all. */
function keep(folder: string, kept: Kept): void {
  const fresh = `${stateFolder(folder)}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh)
  for (const name of readdirSync(folder))
    if (name.startsWith(runFileNames.journal) || name === 'venue')
      cpSync(join(folder, name), join(fresh, name), { recursive: true })
  writeFileSync(join(fresh, 'tally.json'), tallyJson(kept))
  rmSync(stateFolder(folder), { recursive: true, force: true })
  renameSync(fresh, stateFolder(folder))
}

function tallyJson(kept: Kept): string {
  return JSON.stringify(kept, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/** The beginning, or what the last whole segment left; files of a segment that was cut off are taken away. */
function resumed({ folder, manifest }: ExactRun): Kept {
  const none = { fills: [], equity: [], turns: 0, decisions: 0, denied: {}, startAmounts: {}, amounts: {} }
  const fresh = { untilSeconds: manifest.fromSeconds, ...none }
  if (folder === undefined) return fresh
  for (const name of readdirSync(folder))
    if (name.startsWith(runFileNames.journal) || name === 'venue')
      rmSync(join(folder, name), { recursive: true })
  const state = stateFolder(folder)
  if (!existsSync(state)) return fresh
  for (const name of readdirSync(state))
    if (name !== 'tally.json') cpSync(join(state, name), join(folder, name), { recursive: true })
  return JSON.parse(readFileSync(join(state, 'tally.json'), 'utf8'), (_name, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as Kept
}

/** The histories with the way inside their candles. `world`: the venue, once it is there. */
function followedHistories(
  { manifest, histories }: ExactRun,
  world: () => VenueState | undefined,
  nowSeconds: () => number,
): ReadonlyMap<string, PriceHistory> {
  if (manifest.model.path !== 'stop first') return histories
  return new Map(
    [...histories].map(([asset, history]) => {
      const way = stopFirst(world, nowSeconds, runAccount, asset, history.periodSeconds)
      return [asset, { ...history, wayOf: way }]
    }),
  )
}

/** The prices of a run at the beginnings of candles, where no way inside them matters. */
function knownPrices({ histories, manifest }: ExactRun, { catalog }: VenueState): Prices {
  const seeded = createPrices({ seed: manifest.seed, epochSeconds: manifest.fromSeconds, catalog })
  return historyPrices(seeded, histories, catalog)
}

function venueOf(run: ExactRun, clock: ReturnType<ReturnType<typeof createScheduler>['clock']>): Venue {
  const { manifest, config, folder, followed } = run
  const { delayMs, delaysMs = [], skewBps, impact, gasPriceGwei } = manifest.model
  const { chain } = config.venue
  const isLong = manifest.toSeconds - manifest.fromSeconds > manifest.segmentSeconds
  const stateFile = folder !== undefined && isLong ? venueFile(folder) : undefined
  const markets = manifest.strategies.flatMap((each) => each.markets)
  const always = chain.name === 'arbitrum' ? feeMarkets : []
  if (stateFile !== undefined) mkdirSync(dirname(stateFile), { recursive: true })
  let made: Venue | undefined
  const nowSeconds = (): number => Math.floor(clock.now() / 1000)
  made = createVenue({
    clock,
    chain,
    seed: manifest.seed,
    epochSeconds: manifest.fromSeconds,
    ...defined({ stateFile, scenario: run.madeUp?.scenario }),
    // A run continues from the ends of its segments alone.
    isLogged: false,
    settings: {
      onlyMarkets: always.length === 0 ? [] : [...new Set([...always, ...markets])],
      startBalances: manifest.balances,
      history: followedHistories(run, () => made?.venueState, nowSeconds),
      skewBps,
      hasPriceImpact: impact !== 'none',
      marketHours: venueHours(manifest.inputs),
      // A recording has no shifts of vaults.
      ...defined({ followed, jitPoolShareBps: impact === 'recorded' ? 0 : undefined }),
      relayDelayMs: 500,
      keeperDelayMs: delayMs.least,
      keeperJitterMs: delayMs.most - delayMs.least,
      keeperDelaysMs: delaysMs,
      mostRequests: MOST_REQUESTS,
      mostTrades: MOST_TRADES,
      gasPriceWei: parseUnits(gasPriceGwei, 9),
      ...run.madeUp?.venue,
    },
  })
  return made
}

/** Even numbers in [0, 1), the same each time. */
function drawsFrom(seed: number, start: number): () => number {
  let draws = start
  return () => {
    draws += 1
    return unit(seed, draws)
  }
}

/** Sends reads to the venue directly where that is asked for; faults of a made-up world lie on the wire to the chain's endpoints. */
function directness({ readsDirectly = true, madeUp }: ExactRun, venue: Venue, look: () => void) {
  const isDirect = readsDirectly && madeUp?.scenario === undefined
  return { readsDirectly, ...defined({ aroundNode: isDirect ? directNodes(venue, look) : undefined }) }
}

async function liveSegment(
  run: ExactRun,
  before: Kept,
  states: WrittenStates,
): Promise<{ readonly kept: Kept; readonly intents: readonly IntentState[] }> {
  const { folder, manifest, config } = run
  const { fromSeconds, toSeconds } = manifest
  const start = before.untilSeconds
  const end = Math.min(toSeconds, start + manifest.segmentSeconds)
  const scheduler = createScheduler(start * 1000)
  const clock = scheduler.clock()
  const chain = { ...config.venue.chain }
  const venue = venueOf(run, clock)
  const { venueState } = venue
  const { fatal, until } = createLife(scheduler)
  const journal = openLabJournal(folder, { scheduler, clock, states, holder: signer.address })
  const watch = watchRun(run, venue, before)
  const turns = manifest.strategies.map(({ turnSeconds }) => turnSeconds)
  const turnMs = Math.min(...turns) * 1000
  const isPriced = (symbol: string, atMs: number): boolean =>
    isTradedAt(venueState, manifest.inputs, symbol, Math.floor(atMs / 1000))
  const watched = run.strategies.map(watchTurns)
  const limits = limitsOf(config, run.strategies)
  const { config: own, settings } = labSettingsOf(config, turnMs)
  const lab = createLabTrader({
    ...{ chain, config: own, clock, journal, signer, fatal },
    // All hosts are this one venue: a second one would say the same.
    hosts: labHosts(venue.paths, 1, 1),
    fetch: venueFetch({ scheduler, venue, look: watch.look }),
    random: drawsFrom(manifest.seed, start),
    strategies: watched.map(({ loaded }, at) =>
      inRun(loaded, turns[at] ?? 60, { scheduler, isPriced, record: run.record }),
    ),
    isPaper: true,
    ...directness(run, venue, watch.look),
    emit: emitTo([watch.listen, listen, (event) => quiet?.listen(event)], (error) => {
      throw error
    }),
    own: () => ({ settings }),
  })
  const executions = createExecutionWatch({
    ...{ scheduler, venue, clock },
    executed() {
      for (const { state } of lab.trader.orders.open()) lab.trader.orders.pollSoon(state.intent.intentId)
    },
  })
  function listen(event: Event): void {
    if (event.type === 'journal.committed') executions.arm()
    run.madeUp?.listen?.(event)
  }
  const quiet =
    manifest.mode === 'exact'
      ? undefined
      : createQuietLife({
          ...{ scheduler, venue, clock, journal, executions, account: runAccount },
          trader: lab.trader,
          prices: knownPrices(run, venueState),
          priceSeconds: [...run.histories.values()].map(({ periodSeconds }) => periodSeconds),
          instances: watched.map((each, at) => ({
            watched: each,
            turnSeconds: turns[at] ?? 60,
            isPriced: (atMs) => marketsOfFile(each.loaded).every((symbol) => isPriced(symbol, atMs)),
          })),
          losses: { ...limits.account, ...limits.breakers },
          highestUsd: before.equity.reduce((most, { equityUsd }) => maxOf(most, equityUsd), 0n),
        })
  try {
    run.madeUp?.begin?.({ venueState, trader: lab.trader, scheduler, clock, fatal })
    lab.trader.start().catch(fatal)
    // Orders that rested at the end of the segment before execute in this one.
    executions.arm()
    const everySeconds = pointSeconds(toSeconds - fromSeconds, turnMs / 1000)
    const nextFrom = (second: number): number => nextPoint(second, fromSeconds, everySeconds)
    const points = { nextFrom, note: watch.sample }
    let second = start
    while (second < end) {
      await until((second - start) * 1000)
      if (nextFrom(second) === second) watch.sample(second)
      run.told?.(second)
      second = quiet?.passFrom(second, end, points, watch.passed) ?? second
      const nextSecond = nextFrom(second + 1)
      second = Math.min(end, nextSecond, quiet?.nextTurn(second) ?? nextSecond)
    }
    await until((end - start) * 1000)
    if (end === toSeconds) watch.sample(end)
    watch.look()
  } finally {
    lab.close()
  }
  const intents = end < toSeconds ? [] : await journal.intents()
  await journal.close()
  venue.save()
  return { kept: watch.kept(end), intents }
}

/** Time between two points of equity: a turn, or as many as leave no more points than are wanted. */
function pointSeconds(spanSeconds: number, turnSeconds: number): number {
  return turnSeconds * Math.max(1, Math.ceil(spanSeconds / turnSeconds / MOST_POINTS))
}

/** The first point at or after a moment. */
function nextPoint(second: number, fromSeconds: number, everySeconds: number): number {
  return fromSeconds + Math.ceil((second - fromSeconds) / everySeconds) * everySeconds
}

/** Follows a segment: fills, worth, turns and decisions. */
function watchRun({ manifest }: ExactRun, { venueState }: Venue, before: Kept) {
  const periods = new Map(manifest.inputs.map(({ market, periodSeconds }) => [market, periodSeconds]))
  const book = createFillBook(venueState, runAccount, (market) => periods.get(market) ?? 60)
  const equity = [...before.equity]
  const denied: Record<string, number> = { ...before.denied }
  let { turns, decisions } = before
  const symbols = manifest.inputs.map(({ market }) => market)
  const amounts = (): Record<string, bigint> =>
    Object.fromEntries(
      [...amountsOf(venueState, runAccount)].flatMap(([key, amount]) => {
        const symbol = venueState.catalog.tokenByAddress.get(key)?.symbol
        return symbol === undefined ? [] : [[symbol, amount]]
      }),
    )
  const startAmounts = equity.length === 0 ? amounts() : before.startAmounts
  const firstPrices = symbols.map((symbol) => indexPriceOf(venueState, symbol, manifest.fromSeconds))
  function holdUsd(startUsd: bigint, second: number): bigint {
    const part = startUsd / BigInt(symbols.length)
    const parts = symbols.map(
      (symbol, at) => (part * indexPriceOf(venueState, symbol, second)) / (firstPrices[at] ?? 1n),
    )
    return parts.reduce((sum, each) => sum + each, 0n)
  }
  return {
    look: book.look,
    listen(event: Parameters<Parameters<typeof emitTo>[0][number]>[0]): void {
      if (event.type === 'tick.done') turns += 1
      if (event.type === 'decision.made') decisions += 1
      if (event.type === 'decision.denied') {
        const { code } = event.denial
        denied[code] = (denied[code] ?? 0) + 1
      }
    },
    /** Turns passed at which nothing was decided. */
    passed(count: number): void {
      turns += count
    },
    sample(second: number): void {
      const { equityUsd, longUsd, shortUsd } = accountWorth(venueState, runAccount, second)
      const startUsd = equity[0]?.equityUsd ?? equityUsd
      equity.push({ second, equityUsd, holdUsd: holdUsd(startUsd, second), longUsd, shortUsd })
    },
    kept: (untilSeconds: number): Kept => ({
      untilSeconds,
      fills: [...before.fills, ...book.fills],
      equity,
      turns,
      decisions,
      denied,
      startAmounts,
      amounts: amounts(),
    }),
  }
}
