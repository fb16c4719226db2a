/**
 * A simulated day of the whole daemon at the paper venue: its engine, shell, client of both APIs and chain reader, wired as
 * src/daemon/run.ts does it with the settings of a live profile, against two hosts of each service and two endpoints, through a
 * road that lags and hosts that restart (road.ts). All of it runs in this process on simulated time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLabJournal } from '../../src/backtest/lab/labJournal.ts'
import { createLabTrader } from '../../src/backtest/lab/labTrader.ts'
import { createLife, createScheduler } from '../../src/backtest/lab/scheduler.ts'
import { LAB_ORIGIN, labHosts } from '../../src/backtest/lab/venueFetch.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { journalSides } from '../../src/domain/accountRecords/held.ts'
import { type Event, emitTo } from '../../src/domain/event.ts'
import { hasEnded, type IntentState } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { sameHex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { randomOf } from '../simulation/random.ts'
import { holdToRegister } from '../support/registeredLine.ts'
import { type Books, DAY_IS_OVER, type DayReport, tellerOf } from './report.ts'
import { createRoad, type Lie, planOutages } from './road.ts'
import { dayMarkets, dayStrategies } from './strategies.ts'

/** The venue's clock is ahead of the daemon's by this, ms. */
const VENUE_AHEAD_MS = 2_000
const signer = createLocalSigner(`0x${'11'.repeat(32)}`)
/** Longest that the end waits for orders that are on their way, ms. */
const ENDING_MS = 900_000

/** What a day is made from. */
export interface DayOptions {
  readonly seed: number
  readonly hours: number
  /** False: nothing lags and no host restarts. Default true. */
  readonly lags?: boolean
  /** True: no strategy has anything to do. */
  readonly isIdle?: boolean
  /** Of all strategies; default: as their files say. */
  readonly cadenceSeconds?: number
  /** Default: by the seed. */
  readonly lane?: LaneName
  /** What a host says that is not so; `atMs` is the time of the day. */
  readonly lie?: (atMs: number) => Lie | undefined
  /** True: the venue has its whole catalogue. */
  readonly hasAllMarkets?: boolean
  /** Told everything as it happens. */
  readonly onEvent?: (event: Event, atMs: number) => void
}

/** Lives through a day and tells what happened. Throws what stops the daemon. */
export async function liveDay(options: DayOptions): Promise<DayReport> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-day-'))
  try {
    return await dayIn(folder, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function dayIn(folder: string, options: DayOptions): Promise<DayReport> {
  const { seed, hours, lags = true } = options
  const lengthMs = hours * 3_600_000
  const lane = options.lane ?? (seed % 2 === 0 ? 'order-chain' : 'relay')
  const random = randomOf(seed, 'outages')
  const time = createScheduler()
  const [clock, venueClock] = [time.clock(), time.clock(VENUE_AHEAD_MS)]
  const venue = createVenue({
    clock: venueClock,
    chain: arbitrum,
    seed,
    settings: {
      startBalances: { USDC: '100000', ETH: '10' },
      safeLagBlocks: 20,
      onlyMarkets: options.hasAllMarkets === true ? [] : dayMarkets,
    },
  })
  time.every(1_000, () => venue.advance())
  const outages = planOutages(
    random,
    lags ? ['api/0', 'oracle/0', 'api/1', 'rpc/1', 'oracle/1', 'rpc/0'] : [],
    lengthMs,
  )
  const { lie } = options
  const road = createRoad({
    time,
    clock: venueClock,
    venue,
    random: randomOf(seed, 'road'),
    outages,
    lags,
    lie: () => lie?.(time.nowMs),
  })
  const { config } = loadConfig({
    argv: [
      '--profile=arbitrum',
      `--account.lane=${lane}`,
      ...venue.paths.rpc.map((path) => `--rpc.http=${LAB_ORIGIN}${path}`),
      // A day of so many orders costs more than the shipped budgets allow.
      '--risk.executionFeesPerDay=5',
      '--risk.relayFeesPerDayUsd=5000',
      '--risk.reductionFeesPerDayUsd=5000',
      '--risk.maxDailyLossUsd=5000',
      '--risk.maxOrdersPerHour=200',
    ],
    env: {},
    cwd: folder,
  })
  const strategies = await dayStrategies(folder, options)
  const teller = tellerOf(() => time.nowMs)
  const emit = emitTo(
    [holdToRegister, teller.listen, (event) => options.onEvent?.(event, time.nowMs)],
    (error) => {
      throw error
    },
  )
  const chain = { ...arbitrum }
  const { fatal, until } = createLife(time)
  const journal = openLabJournal(folder, { scheduler: time, clock, holder: signer.address })
  const lab = createLabTrader({
    ...{ chain, config, clock, journal, signer, strategies, emit, fatal },
    hosts: labHosts(venue.paths, venue.paths.rpc.length),
    fetch: road.fetch,
    random: randomOf(seed, 'client').next,
    isPaper: false,
  })
  const running = lab.trader
  try {
    const started = running.start()
    started.catch(fatal)
    await until(lengthMs)
    // New risk is over; what is on its way comes to its end, so that both books can be laid side by side.
    await Promise.all([
      running.operate(
        { type: 'trading', state: 'halted', scope: 'global', reason: DAY_IS_OVER },
        { by: 'day', via: 'cli' },
      ),
      until(lengthMs + 1_000),
    ])
    let atMs = lengthMs + 1_000
    const isOnItsWay = (): boolean => running.status().openIntents.some(({ label }) => label !== 'resting')
    // An exit may be hit at any time, and lists and endpoint tell it later: the books are laid side by side a while after the last.
    const fillsNow = (): number =>
      venue.venueState.trades.filter((each) => sameHex(each.account, signer.address)).length
    let [fills, sinceMs] = [fillsNow(), lengthMs]
    const isFresh = (): boolean => {
      if (fillsNow() !== fills) [fills, sinceMs] = [fillsNow(), atMs]
      return atMs < sinceMs + 60_000
    }
    while (atMs < lengthMs + ENDING_MS && (isFresh() || isOnItsWay())) {
      atMs += 5_000
      await until(atMs)
    }
    const status = running.status()
    return {
      seed,
      hours,
      lane,
      ...teller.told(),
      stories: journal.recentIntents(),
      status,
      books: booksNow(status),
      requests: road.requests,
      lateAnswers: road.lateAnswers,
      refusedConnections: road.refusedConnections,
      outages: [...outages.values()].reduce((sum, each) => sum + each.length, 0),
    }
  } finally {
    lab.close()
    await journal.close()
  }

  /** Sizes and resting orders by the journal and by the venue. */
  function booksNow(status: EngineStatus): Books {
    const open = running.orders.open().map(({ state }) => state)
    const sides = journalSides([...journal.closedFills(), ...open.flatMap(fillsOf)], journal.account())
    const byJournal = [...sides.values()]
      .filter(({ sizeUsd }) => sizeUsd !== 0n)
      .map(({ marketToken, direction, sizeUsd }) => `${marketToken.toLowerCase()} ${direction} ${sizeUsd}`)
    const ofVenue = positionsOfAccount(venue.venueState, signer.address).map(
      ({ marketKey, state }) => `${marketKey} ${state.side} ${state.sizeInUsd}`,
    )
    const shown = status.positions.map(
      ({ marketToken, direction, sizeInUsd }) => `${marketToken.toLowerCase()} ${direction} ${sizeInUsd}`,
    )
    const restingOf = ({ attempts }: IntentState): readonly string[] =>
      attempts.flatMap(({ children }) =>
        children.filter((child) => !hasEnded(child)).map(({ orderKey }) => orderKey.toLowerCase()),
      )
    return {
      journal: byJournal.sort(),
      shown: shown.sort(),
      venue: ofVenue.sort(),
      restingByJournal: open.flatMap(restingOf).sort(),
      restingByVenue: [...venue.venueState.orders.values()].map(({ key }) => key.toLowerCase()).sort(),
    }
  }
}
