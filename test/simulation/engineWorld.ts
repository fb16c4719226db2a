/** What outlives the processes of a world of the whole daemon: market, strategies and their files, the operator, the judges. */

import type { ConfiguredLimits } from '../../src/account/limitsInForce.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { usd } from '../../src/protocol/units.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { type ClimberChecks, climberOf, createClimberChecks } from './climber.ts'
import type { DaemonParts } from './daemon.ts'
import { createEngineChecks, type EngineChecks } from './engineChecks.ts'
import { createStrategyFolder, type StrategyFolder } from './engineFiles.ts'
import { createMarketModel, type MarketModel } from './engineMarkets.ts'
import { planOperator } from './engineOperator.ts'
import { eagersOf, planWishes, strategyOf } from './engineStrategy.ts'
import { createExecutorChecks, type ExecutorChecks } from './executorChecks.ts'
import { createExitChecks, type ExitChecks } from './exitChecks.ts'
import { storyLimits, storyStrategy } from './exitStory.ts'
import type { SignedMessage } from './httpVenue.ts'
import { createRosterChecks, type RosterChecks } from './rosterChecks.ts'
import { simulatedAccount } from './shellDaemon.ts'
import { planTaskStops, taskerOf } from './tasker.ts'
import { livelySpanMs } from './worldFaults.ts'

/** Decisions and commands come in this time, ms; for longer in a lively world. Faults go on for longer in most. */
const usualSpanMs = 120_000

/** Where all is to be filled that strategies ask for. */
const wideLimits: Limits = {
  maxTotalExposureUsd: usd(6_000),
  maxPositionSizeUsd: usd(6_000),
  maxDataAgeMs: 10_000,
  maxPriceDivergenceBps: 300,
  reduceAgainAfterMs: 20_000,
  capacityHeadroomBps: 0,
}

/** What outlives the processes of a world. */
export interface EngineWorld {
  readonly market: MarketModel
  readonly checks: EngineChecks
  /** What a process begins with. */
  readonly strategies: () => readonly LoadedStrategy[]
  /** The files of the strategies; absent in a world of before there were any. */
  readonly folder: StrategyFolder | undefined
  /** Judge exits, protections and the running set, where there are files. */
  readonly exits: ExitChecks | undefined
  readonly roster: RosterChecks | undefined
  /** Judges the strategy with a memory, where there is one. */
  readonly climber: ClimberChecks | undefined
  /** Judges the strategy that works by tasks, where there is one. */
  readonly executors: ExecutorChecks | undefined
  readonly signatures: Map<string, SignedMessage>
  readonly lane: LaneName
  readonly intentExpiryMs: number
  /** As they are configured now. */
  readonly configured: () => ConfiguredLimits
  engine: Engine | undefined
  /** The newest process: it has the journal. */
  newestEpoch: number
  /** Told what the process of now cannot go on with. */
  fatal: (error: unknown) => void
}

const worlds = new WeakMap<object, EngineWorld>()

/** The world of a process: the first one makes it. */
export function worldOf(parts: DaemonParts): EngineWorld {
  const known = worlds.get(parts.truth)
  if (known !== undefined) return known
  const {
    chain,
    truth,
    faults,
    random,
    climbing,
    tasking,
    filing,
    prices,
    isLively,
    isCrowded,
    note,
    rules,
  } = parts
  const spanMs = isLively ? livelySpanMs : usualSpanMs
  // A world of before there were files ended with its first process.
  const timeline = prices === undefined ? parts.timeline : parts.worldTimeline
  const isOver = () => faults.isQuiet
  // Worlds without a tasker are what they were before there was one. One with it has one other at most: all wait for one slot of a side.
  const hasTasks = parts.tasks !== 'none'
  const isDeep = isLively || parts.tasks === 'calm'
  const market = createMarketModel({
    timeline,
    chain,
    random,
    account: simulatedAccount,
    isDeep,
    ...(prices === undefined ? {} : { prices }),
  })
  const { story } = parts
  const names = story === undefined ? ['one', 'two', 'three'].slice(0, isLively ? 1 : random.int(1, 3)) : []
  const planned = names.map((name) =>
    strategyOf({
      name,
      wishes: planWishes(random, spanMs, prices === undefined ? undefined : filing),
      limits: {
        ...(random.chance(0.3) ? { maxPositionSizeUsd: usd(1_000) } : {}),
        ...(random.chance(0.4) ? { maxOrdersPerHour: random.int(2, 6) } : {}),
      },
      cadenceMs: random.pick([4_000, 5_000, 10_000]),
      nowMs: () => timeline.nowMs,
      isOver,
    }),
  )
  const strategies = planned.slice(0, hasTasks ? 1 : planned.length)
  const climber =
    story !== undefined
      ? [storyStrategy(story, timeline)]
      : !hasTasks && climbing.chance(0.4)
        ? [climberOf({ random: climbing, isOver })]
        : []
  const account: Limits = {
    maxTotalExposureUsd: usd(random.pick([2_000, 4_000, 6_000])),
    maxPositionSizeUsd: usd(random.pick([1_500, 3_000])),
    ...(random.chance(0.5) ? { maxMarketExposureUsd: usd(2_500) } : {}),
    ...(random.chance(0.5) ? { maxOrdersPerHour: random.int(4, 15) } : {}),
    ...(random.chance(0.5) ? { attemptsPerCause: random.int(1, 3) } : {}),
    capacityHeadroomBps: random.pick([0, 500, 2_000]),
    maxDataAgeMs: 10_000,
    maxPriceDivergenceBps: 300,
    reduceAgainAfterMs: 20_000,
    ...(random.chance(0.3) ? { maxDailyLossUsd: usd(1_000) } : {}),
  }
  const eager =
    prices !== undefined && story === undefined && !hasTasks && (isLively || filing.chance(0.75))
      ? eagersOf({ random: filing, isLively, isCrowded, spanMs, nowMs: () => timeline.nowMs, isOver })
      : []
  const executors = hasTasks ? createExecutorChecks({ timeline, chain, truth }) : undefined
  const tasker =
    executors === undefined
      ? []
      : [
          taskerOf({
            ...{ random: tasking, spanMs, nowMs: () => timeline.nowMs, isOver },
            shown: (tasks) => executors.shown(tasks),
          }),
        ]
  const folder =
    prices === undefined
      ? undefined
      : createStrategyFolder({
          ...{ random: filing, timeline, isLively, isCrowded, spanMs, isOver, note },
          strategies: [...strategies, ...eager, ...tasker],
          others: climber,
          withExits: new Set(eager.map(({ name }) => name)),
        })
  const lane = random.pick(['order-chain', 'order-chain', 'relay'] as const)
  const intentExpiryMs = random.int(10, 60) * 1000
  let configured: ConfiguredLimits = {
    account: story !== undefined ? storyLimits : isDeep ? wideLimits : account,
    markets: {},
    strategies: Object.fromEntries(strategies.map(({ name, limits }) => [name, limits])),
    breakers: breakersOf(story === undefined && !isDeep && random.chance(0.6)),
  }
  const exits = folder === undefined ? undefined : createExitChecks({ timeline, chain, truth })
  const world: EngineWorld = {
    market,
    checks: createEngineChecks({
      timeline,
      chain,
      truth,
      market,
      ownParts: exits,
      isClockSteady: () => !faults.counts.has('clock-jump'),
    }),
    strategies: () => folder?.whole() ?? [...strategies, ...climber],
    folder,
    exits,
    roster: folder === undefined ? undefined : createRosterChecks({ timeline, truth }),
    climber: story !== undefined || climber.length === 0 ? undefined : createClimberChecks(truth),
    executors,
    signatures: new Map(),
    lane,
    intentExpiryMs,
    configured() {
      if (folder === undefined) return configured
      const ofFiles = folder.whole().map(({ name, limits }) => [name, limits])
      return { ...configured, strategies: Object.fromEntries(ofFiles) }
    },
    engine: undefined,
    newestEpoch: parts.process.epoch,
    fatal: parts.fatal,
  }
  worlds.set(truth, world)
  if (executors !== undefined) {
    planTaskStops({
      ...{ random: tasking, timeline, faults, spanMs, note },
      now() {
        const { engine } = world
        return engine === undefined ? undefined : { engine, running: executors.running() }
      },
      fatal: () => world.fatal,
      stopped: (taskId) => executors.stopped(taskId),
    })
  }
  if (story !== undefined || (isLively && filing.chance(0.7))) return world
  planOperator(
    {
      random,
      timeline,
      faults,
      truth,
      market,
      strategies: names,
      note,
      engine: () => world.engine,
      fatal: () => world.fatal,
      configure(change) {
        configured = { ...configured, account: change(configured.account) }
      },
      held: (scope, state) => world.checks.held(scope, state),
      later: parts.later,
      closesByWord: rules.source === 'api' && !rules.trustVenue,
    },
    spanMs,
  )
  return world

  function breakersOf(isOn: boolean): BreakerSettings {
    if (!isOn) return { sets: {} }
    return {
      maxDrawdownBps: 500,
      rejectsInRow: random.int(2, 4),
      payloadMismatchesPerDay: random.int(2, 5),
      unknownAgeMs: random.int(20, 60) * 1000,
      staleMs: 30_000,
      openDiscrepancies: random.int(1, 3),
      sets: random.chance(0.3) ? { unknowns: 'halted', 'stale-data': 'halted' } : {},
    }
  }
}
