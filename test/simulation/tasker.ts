/**
 * A strategy that works by tasks (twap, ladder, accumulate, chase, rebalance): begins them as decisions, ends some itself, and has others
 * ended by the operator.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import {
  defineStrategy,
  type OwnTask,
  type StrategyDecision,
  type StrategyView,
  type TaskWish,
  z,
} from '../../src/strategy/strategy.ts'
import { usdc } from '../support/intents.ts'
import { loadedOf } from '../support/loaded.ts'
import { type ModelMarket, modelMarkets } from './engineMarkets.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'

/** The name of its instance. */
export const TASKER = 'tasker'

const kinds = ['twap', 'twap', 'ladder', 'ladder', 'accumulate', 'chase', 'chase', 'rebalance'] as const
/** Tasks begin in this share of the time in which decisions come, so that their time is over when faults are. */
const beginShare = 0.4

/** A task that is begun once it can be, and when the strategy ends it itself. Ms since the world began. */
interface Planned {
  readonly label: string
  readonly fromMs: number
  readonly untilMs: number
  readonly stopMs: number | undefined
  readonly wishOf: (view: StrategyView) => TaskWish | undefined
}

/** A wish as chance has it; its prices are those of the moment at which it is begun. */
function wishOf(random: Random, markets: readonly ModelMarket[]): Planned['wishOf'] {
  const kind = random.pick(kinds)
  const market = random.pick(markets)
  const direction: Direction = random.chance(0.7) ? 'long' : 'short'
  const sizeUsd = usd(random.pick([90, 200, 400, 900]))
  const isReduction = random.chance(0.3)
  const parts = random.int(2, 5)
  const everySeconds = random.int(10, 20)
  const isByPrice = random.chance(0.5)
  const isVenues = random.chance(0.2)
  const boundBps = random.pick([20, 100, 400])
  const shareBps = random.pick([2_500, 10_000])
  const nearBps = random.int(3, 40)
  const weightBps = random.int(-6_000, 6_000)
  const budget = {
    minutes: random.int(3, 5),
    ...(random.chance(0.3) ? { orders: random.int(1, parts) } : {}),
    ...(random.chance(0.2) ? { feesUsd: usd(random.int(6, 14)) } : {}),
  }
  return (view) => {
    const price = view.market(market.symbol)?.oraclePrice?.value.medianPrice
    if (price === undefined) return undefined
    const { marketToken } = market
    const side = { marketToken, direction, collateralToken: usdc, budget }
    const action = isReduction ? 'decrease' : 'increase'
    const leverage = isReduction ? {} : { leverageBps: 20_000 }
    const isWorseAbove = (direction === 'long') !== isReduction
    const worstPrice = at(price, isWorseAbove ? boundBps : -boundBps)
    switch (kind) {
      case 'twap':
        return {
          ...{ kind, ...side, action, ...leverage, sizeUsd, parts, minutes: 1, shareBps },
          ...(isVenues ? {} : { worstPrice, route: 'own' }),
        }
      case 'accumulate':
        return {
          ...{ kind, ...side, leverageBps: 20_000, targetUsd: sizeUsd, worstPrice, shareBps, everySeconds },
          leastUsd: usd(20),
        }
      case 'ladder':
        return {
          ...{ kind, ...side, leverageBps: 20_000, sizeUsd, rungs: parts },
          ...(isByPrice ? { stepBps: nearBps } : { everySeconds }),
        }
      case 'chase':
        return {
          ...{ kind, ...side, action, ...leverage, sizeUsd, worstPrice, minutes: 1 },
          ...{ offsetBps: nearBps, stepBps: 2, everySeconds },
        }
      case 'rebalance': {
        const weights = markets.map((each, index) => ({
          ...{ marketToken: each.marketToken, collateralToken: usdc },
          weightBps: index === 0 ? weightBps : Math.trunc(weightBps / -2),
        }))
        return { kind, budget, totalUsd: sizeUsd, leverageBps: 20_000, shareBps, weights }
      }
    }
  }
}

function at(price: Usd, awayBps: number): Usd {
  return (price * BigInt(10_000 + awayBps)) / 10_000n
}

/** What a tasker is made of. */
interface TaskerParts {
  readonly random: Random
  readonly spanMs: number
  readonly nowMs: () => number
  readonly isOver: () => boolean
  /** Told of what it sees of its tasks at each turn. */
  readonly shown: (tasks: readonly OwnTask[]) => void
}

/** The strategy. */
export function taskerOf({ random, spanMs, nowMs, isOver, shown }: TaskerParts): LoadedStrategy {
  const markets = modelMarkets.slice(0, random.int(1, 2))
  const plans = Array.from({ length: random.int(3, 6) }, (_, index): Planned => {
    const fromMs = index === 0 ? random.int(0, 5_000) : random.int(0, Math.floor(spanMs * beginShare))
    return {
      label: `task-${index}`,
      fromMs,
      untilMs: fromMs + 40_000,
      stopMs: random.chance(0.2) ? fromMs + random.int(5_000, 60_000) : undefined,
      wishOf: wishOf(random, markets),
    }
  })
  const symbols = markets.map(({ symbol }) => symbol)
  const strategy = defineStrategy({
    kind: TASKER,
    description: 'Begins tasks, and ends some of them.',
    params: z.strictObject({}),
    needs: () => ({ symbols }),
    decide(view): readonly StrategyDecision[] {
      shown(view.tasks)
      if (isOver()) return []
      return plans.flatMap(({ label, fromMs, untilMs, stopMs, wishOf: wish }): StrategyDecision[] => {
        const own = view.tasks.find((each) => each.label === label)
        if (stopMs !== undefined && nowMs() >= stopMs && own?.standing === 'running')
          return [{ kind: 'stop-task', label, reason: 'the seed does not want it any more' }]
        // Asked again once it began, it is the same one.
        const task = fromMs <= nowMs() && nowMs() < untilMs ? wish(view) : undefined
        return task === undefined
          ? []
          : [{ kind: 'start-task', label, task, reason: 'the seed wishes for it' }]
      })
    },
  })
  return loadedOf(strategy, TASKER, symbols, {
    instance: { name: TASKER, symbols, size: { usd: usd(500), leverageBps: 20_000, collateral: 'short' } },
    cadenceMs: random.pick([3_000, 5_000]),
  })
}

/** Has the operator end tasks of it while they run, at times that chance has. */
export function planTaskStops(parts: {
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Pick<Faults, 'isQuiet'>
  readonly spanMs: number
  readonly note: (text: string) => void
  /** The engine that runs, if one does, and what of the tasker's runs by its journal. */
  readonly now: () => { readonly engine: Engine; readonly running: readonly string[] } | undefined
  readonly fatal: () => (error: unknown) => void
  /** He was told that it makes no more orders. */
  readonly stopped: (taskId: string) => void
}): void {
  const { random, timeline, faults, spanMs, note } = parts
  for (let left = random.int(0, 3); left > 0; left -= 1) {
    timeline.after(random.int(5_000, spanMs), () => {
      const { engine, running = [] } = parts.now() ?? {}
      if (engine === undefined || faults.isQuiet || running.length === 0) return
      const task = random.pick(running)
      const fatal = parts.fatal()
      note(`operator task stop ${task}`)
      engine
        .operate({ type: 'task-stop', task, reason: 'not any more' }, { by: 'ops', via: 'control' })
        .then((answer) => {
          note(`answer ${answer.ok ? answer.statement : answer.code}`)
          if (answer.ok) parts.stopped(task)
        }, fatal)
    })
  }
}
