/**
 * A simulated month of one kind: the whole daemon's engine, order machine, journal and client of both APIs over the paper venue, in this
 * process, on time that jumps to whatever happens next. Everything looks at the market once a minute in place of every few seconds
 * (`cadenceSeconds`); the venue's own keeper still looks at every second. Faults: hosts restart, answers are lost after their work
 * was done, and connections are cut.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLabJournal } from '../../src/backtest/lab/labJournal.ts'
import { createLabTrader } from '../../src/backtest/lab/labTrader.ts'
import { createLife, createScheduler } from '../../src/backtest/lab/scheduler.ts'
import { labHosts } from '../../src/backtest/lab/venueFetch.ts'
import { bookRows } from '../../src/books/bookView.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { limitsOf, traderSettingsOf } from '../../src/daemon/runSettings.ts'
import { createClaims } from '../../src/daemon/signers/claims.ts'
import { emitTo } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { planOutages } from '../day/road.ts'
import { randomOf } from '../simulation/random.ts'
import { paidMarket, payForBalance } from './balancePaid.ts'
import { createCrowd } from './crowd.ts'
import { type MonthStrategies, monthStrategies } from './monthKinds.ts'
import { createMonthOwner, delegate, type MonthOwner } from './monthOwner.ts'
import { createMonthRoad } from './monthRoad.ts'
import { createMonthTally, type MonthReport } from './monthTally.ts'
import { strayOf, taskCount, taskMarket, taskOf } from './monthTasks.ts'

const DAY_MS = 86_400_000
/** Time between two looks at what is held, ms. */
const SAMPLE_MS = 600_000
/** Longest that the end waits for orders that are on their way, ms. */
const ENDING_MS = 1_800_000
/** An operator forgets an entry this often where a janitor is to find it, ms. */
const STRAY_MS = 2 * DAY_MS
/** An outside sender tells a kind that takes signals something new this often, ms. */
const SIGNAL_MS = 43_200_000
const ownKey = `0x${'22'.repeat(32)}` as const
const signer = createLocalSigner(ownKey)

/** What a month is made from. */
export interface MonthOptions {
  readonly kind: string
  readonly seed: number
  readonly days: number
  /** Time between two turns, two looks at the account and two looks of the venue, s. Default 60. */
  readonly cadenceSeconds?: number
  /** False: no host restarts and nothing is lost. Default true. */
  readonly faults?: boolean
  /** Candles in the place of the seeded prices, and the market (full symbol) that they are of. */
  readonly replay?: { readonly prices: PriceReplay; readonly market: string }
  /** Whether the venue has every market, and not only those that are traded, which comes to the same at a multiple of the work. */
  readonly hasAllMarkets?: boolean
  /** Limits that the judge holds in the place of the account's own, to see that what they forbid is noticed. */
  readonly judgedBy?: Limits
  /** Done to the venue before each look at what is held, to see that it is noticed. */
  readonly tamper?: (venue: Venue) => void
}

/** Markets that a month needs: those of the files and of the task, and what the fees of a message are swapped in. */
function marketsOf({ loaded }: MonthStrategies): readonly string[] {
  const always = [taskMarket, 'ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]']
  return [...new Set([...always, ...loaded.flatMap(({ symbols }) => symbols)])]
}

/** Lives through a month and tells what it came to. Throws what stops the daemon. */
export async function liveMonth(options: MonthOptions): Promise<MonthReport> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-month-'))
  try {
    return await monthIn(folder, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function monthIn(folder: string, options: MonthOptions): Promise<MonthReport> {
  const { kind, seed, days, cadenceSeconds = 60, faults = true, replay } = options
  const lengthMs = days * DAY_MS
  const time = createScheduler()
  const clock = time.clock()
  const chain = { ...arbitrum }
  // Candles are of a market that is too deep for it.
  const isPaidForBalance = kind === 'impact-capture' && replay === undefined
  const market = isPaidForBalance ? paidMarket : replay?.market
  const strategies = await monthStrategies(folder, kind, {
    cadenceSeconds,
    ...(market === undefined ? {} : { market }),
  })
  const venue = createVenue({
    clock,
    chain,
    seed,
    settings: {
      onlyMarkets: options.hasAllMarkets === true ? [] : marketsOf(strategies),
      startBalances: { USDC: '100000', USDE: '10000', ETH: '10' },
      ...(replay === undefined ? {} : { replay: replay.prices }),
    },
  })
  if (isPaidForBalance) payForBalance(venue)
  const crowd = createCrowd(venue, seed)
  const outages = planOutages(
    randomOf(seed, 'outages'),
    faults ? ['api/0', 'oracle/0', 'api/1', 'oracle/1'] : [],
    lengthMs,
  )
  const road = createMonthRoad({
    time,
    clock,
    venue,
    random: randomOf(seed, 'road'),
    outages,
    loses: faults,
    watch: () => tally.watch(),
  })
  // What rests is asked after as seldom as all else: polls of every ten seconds would be most of what a month does.
  const pollMs = Math.min(600, Math.max(10, cadenceSeconds)) * 1000
  const argv = ['--profile=paper', `--execution.statusPollMaxMs=${pollMs}`]
  const { config } = loadConfig({ argv, env: {}, cwd: folder })
  const limits = limitsOf(config, strategies.loaded)
  const tally = createMonthTally({
    strategies,
    venue,
    account: signer.address,
    nowMs: () => time.nowMs,
    clockNow: clock.now,
    limits: { ...limits.account, ...options.judgedBy },
    maxDrawdownBps: limits.breakers?.maxDrawdownBps,
    readTimes: () => road.readTimes,
  })
  const emit = emitTo([tally.listen], (error) => {
    throw error
  })
  const { fatal, until } = createLife(time)
  const journal = openLabJournal(folder, { scheduler: time, clock, holder: signer.address })
  // A keeper of approvals has one to keep.
  let approver: MonthOwner | undefined
  const lab = createLabTrader({
    ...{ chain, config, clock, journal, emit, fatal },
    // Only the chain's events tell the funding that a position received.
    hosts: labHosts(venue.paths, 1),
    fetch: road.fetch,
    random: randomOf(seed, 'client').next,
    signer: kind === 'approval-keeper' ? delegate : signer,
    strategies: strategies.loaded,
    isPaper: true,
    own({ api, clients }) {
      if (kind === 'approval-keeper')
        approver = createMonthOwner({ key: ownKey, folder, chain, api, clock, config, emit })
      const settings = traderSettingsOf(config, 'chain')
      return {
        ...(approver === undefined ? {} : { owner: approver.owner }),
        prepareClaim: createClaims({
          ...{ chain, api, clock, emit, account: signer.address, file: join(folder, 'claim.json'), clients },
        }),
        settings: {
          ...settings,
          engine: {
            ...settings.engine,
            watchMs: cadenceSeconds * 1000,
            heartbeatMs: Number.POSITIVE_INFINITY,
          },
        },
      }
    },
  })
  const running = lab.trader
  const sample = (): void => {
    const { positions } = running.status()
    tally.sample(bookRows(journal.books().all(), positions))
  }
  const actions = ['long', 'flat', 'short', 'reverse'] as const
  const takesSignals = strategies.loaded.some(({ strategy }) => strategy.kind === 'signal')
  const tell = async (turn: number): Promise<void> => {
    const action = actions[turn % actions.length] ?? 'flat'
    const sentAtMs = clock.now()
    await running.signal({
      terms: { strategy: strategies.name, action, sentAtMs },
      ttlMs: 600_000,
      nonce: `month-${turn}`,
      windowMs: 60_000,
    })
  }
  /** Tasks begin one after the other, evenly over the month. */
  const nextTaskMs = (number: number): number => (lengthMs * (number + 0.5)) / (taskCount + 0.5)
  const begun: string[] = []
  try {
    running.start().catch(fatal)
    for (let atMs = SAMPLE_MS; atMs <= lengthMs; atMs += SAMPLE_MS) {
      await until(atMs)
      crowd.step(clock.now())
      if (kind === 'order-janitor' && atMs % STRAY_MS === SAMPLE_MS && atMs < lengthMs - 3_600_000) {
        running.operate(strayOf(Math.floor(atMs / STRAY_MS), venue), { by: 'month', via: 'cli' }).catch(fatal)
      }
      options.tamper?.(venue)
      approver?.step()
      sample()
      if (begun.length < taskCount && atMs >= nextTaskMs(begun.length)) {
        const task = taskOf(begun.length, venue)
        running.operate(task, { by: 'month', via: 'cli' }).catch(fatal)
        begun.push(`${task.kind}:${task.id}`)
      }
      if (takesSignals && atMs % SIGNAL_MS === SAMPLE_MS) tell(Math.floor(atMs / SIGNAL_MS)).catch(fatal)
    }
    const halt = { type: 'trading', state: 'halted', scope: 'global', reason: 'the month is over' } as const
    running.operate(halt, { by: 'month', via: 'cli' }).catch(fatal)
    // A ladder or a bracket runs as long as its exits rest.
    for (const task of begun) {
      const stop = { type: 'task-stop', task, reason: 'the month is over' } as const
      running.operate(stop, { by: 'month', via: 'cli' }).catch(fatal)
    }
    let atMs = lengthMs
    const isOnItsWay = (): boolean => {
      const { openIntents, tasksRunning } = running.status()
      return (
        openIntents.some(({ label }) => label !== 'resting') ||
        Object.values(tasksRunning).some((count) => count > 0)
      )
    }
    do {
      atMs += 120_000
      await until(atMs)
      // What rests may just have been filled: it is asked after twice.
    } while (atMs < lengthMs + ENDING_MS && (atMs < lengthMs + 2 * pollMs || isOnItsWay()))
    sample()
    const told = tally.told(
      running.status(),
      journal,
      running.orders.open().map(({ state }) => state),
    )
    return {
      kind,
      seed,
      days,
      ...told,
      problems: [...told.problems, ...(approver?.problems() ?? [])],
      requests: road.requests,
      lost: road.lost,
    }
  } finally {
    lab.close()
    await journal.close()
  }
}
