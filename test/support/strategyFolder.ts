/** Strategy files that a test changes while an engine runs them, and a kind to see it by. */

import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import type { StrategyFiles } from '../../src/operator/reloadStrategies.ts'
import { bps, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy, LoadResult } from '../../src/strategy/files/load.ts'
import type { StrategyFileError } from '../../src/strategy/files/problem.ts'
import { collateralTokenOf, defineStrategy, type StrategyDecision, z } from '../../src/strategy/strategy.ts'
import { loadedOf } from './loaded.ts'
import { testTrader } from './trader.ts'
import { settle, venueBench } from './venue.ts'

/** The market of all of them. */
const symbol = 'ETH/USD [WETH-USDC]'
/** Who commands. */
export const ann = { by: 'ann', via: 'control' } as const
/** A reading of the files. */
export const reload: OperatorCommand = { type: 'reload', isConfirmed: false }

const params = z.strictObject({ rests: z.boolean().default(false), stop: z.boolean().default(false) })

/** Opens its size long once: at the market, or below it where it rests. */
const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params,
  memory: { version: 1, schema: z.strictObject({ opened: z.number() }), first: { opened: 0 } },
  needs: () => ({ symbols: [symbol] }),
  decide(view, memory) {
    const opened = memory.opened - view.events.filter(({ kind }) => kind === 'denied').length
    const market = view.market(symbol)
    const price = market?.oraclePrice?.value.medianPrice
    const { size } = view.instance
    const wanted = view.params.rests ? 2 : 1
    if (market === undefined || price === undefined || size === undefined || opened >= wanted)
      return { decisions: [], memory: { opened } }
    const decision: StrategyDecision = {
      kind: 'increase',
      marketToken: market.market.marketToken,
      direction: 'long',
      sizeDeltaUsd: size.usd,
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'once',
      ...(opened === 1 ? { orderType: 'limit' as const, triggerPrice: price - bps(price, 900) } : {}),
      ...(view.params.stop && opened === 0
        ? { tpsl: [{ type: 'stop-loss' as const, triggerPrice: price - bps(price, 1_500) }] }
        : {}),
    }
    return { decisions: [decision], memory: { opened: opened + 1 } }
  },
})

/** An instance of a kind that opens its size once, as its file would be loaded. */
export function file(name: string, sizeUsd: number, more: Partial<LoadedStrategy> = {}): LoadedStrategy {
  return loadedOf(opener as unknown as LoadedStrategy['strategy'], name, [symbol], {
    path: `/strategies/${name}.yaml`,
    params: params.parse({}),
    cadenceMs: 1_000,
    instance: {
      name,
      symbols: [symbol],
      size: { usd: usd(sizeUsd), leverageBps: 20_000, collateral: 'short' },
    },
    written: { kind: '"opener"', 'size.usd': String(sizeUsd), ...more.written },
    ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== 'written')),
  })
}

/** A folder of files, and what reads it. */
export function folder(...first: readonly LoadedStrategy[]) {
  const files = new Map(first.map((each) => [each.name, each]))
  const problems: StrategyFileError[] = []
  const disabled: string[] = []
  const read = async (): Promise<LoadResult> => ({
    strategies: [...files.values()].filter(({ name }) => !disabled.includes(name)),
    disabled,
    problems,
  })
  const source: StrategyFiles = {
    read,
    textOf: () => '',
    replace: () => undefined,
    isGone: (path) => ![...files.values()].some((each) => each.path === path),
  }
  return { files, problems, disabled, source, put: (each: LoadedStrategy) => files.set(each.name, each) }
}

/** A venue whose orders are executed at once. */
export function bench() {
  return venueBench({ settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 }, settled: () => settle(10) })
}

/** Limits of their files. */
const limitsOf = (strategies: readonly LoadedStrategy[]) => ({
  strategies: Object.fromEntries(strategies.map(({ name, limits }) => [name, limits])),
})

/** A running engine over a folder. */
export async function running(
  of: ReturnType<typeof folder>,
  journal: Journal = createMemoryJournal(),
  venue = bench(),
) {
  const strategies = (await of.source.read()).strategies
  const made = testTrader({
    ...venue,
    journal,
    strategies,
    limits: limitsOf(strategies),
    strategyFiles: of.source,
  })
  await made.trader.start()
  return { ...made, ...venue, ask: (command: OperatorCommand) => made.trader.operate(command, ann) }
}
