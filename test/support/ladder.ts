/** A kind with a memory for tests: opens rung after rung, each of a size of its own, and counts what is told to it. */

import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import type { MemoryDefinition } from '../../src/strategy/kindMemory.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { loadedOf } from './loaded.ts'

/** The market of the ladder. */
const ladderSymbol = 'ETH/USD [WETH-USDC]'

/** What it remembers. */
export interface LadderMemory {
  /** Rungs that were decided. */
  readonly rungs: number
  /** Fills that were told, and taken back. */
  readonly fills: number
  /** USD of all fills. */
  readonly filledUsd: bigint
  /** Codes of denials, in order. */
  readonly denied: readonly string[]
  readonly closed: number
}

const schema: z.ZodType<LadderMemory> = z.strictObject({
  rungs: z.number(),
  fills: z.number(),
  filledUsd: z.bigint(),
  denied: z.array(z.string()),
  closed: z.number(),
})

/** How the ladder's memory is defined. */
export const ladderMemory: MemoryDefinition<LadderMemory> = {
  version: 1,
  schema,
  first: { rungs: 0, fills: 0, filledUsd: 0n, denied: [], closed: 0 },
}

/** Size of a rung, counted from 0: no two are equal. */
export function rungUsd(rung: number): bigint {
  return usd(100 + 10 * rung)
}

/** The memory with what was told since. */
export function told(memory: LadderMemory, { events }: Pick<StrategyView, 'events'>): LadderMemory {
  let next = memory
  for (const event of events) {
    if (event.kind === 'denied') next = { ...next, denied: [...next.denied, event.code] }
    else if (event.kind === 'closed') next = { ...next, closed: next.closed + 1 }
    else {
      const sign = event.kind === 'filled' ? 1 : -1
      const sizeUsd = BigInt(sign) * (event.sizeDeltaUsd ?? 0n)
      next = { ...next, fills: next.fills + sign, filledUsd: next.filledUsd + sizeUsd }
    }
  }
  return next
}

/** One rung. */
export function rungDecision(view: StrategyView, rung: number): StrategyDecision | undefined {
  const market = view.market(ladderSymbol)
  if (market === undefined) return undefined
  return {
    kind: 'increase',
    marketToken: market.market.marketToken,
    // One order of a side is under way at a time.
    direction: rung % 2 === 0 ? 'long' : 'short',
    sizeDeltaUsd: rungUsd(rung),
    leverageBps: 50_000,
    collateralToken: collateralTokenOf(market, 'short'),
    reason: `rung ${rung}`,
  }
}

/** A running instance of a kind with a memory. */
export function loadedMemory<Memory>(
  memory: MemoryDefinition<Memory>,
  decide: (view: StrategyView, memory: Memory) => { decisions: readonly StrategyDecision[]; memory: Memory },
  kind = 'ladder',
): LoadedStrategy {
  const symbols = [ladderSymbol]
  const strategy = defineStrategy({
    kind,
    description: 'Opens rung after rung.',
    params: z.strictObject({}),
    memory,
    needs: () => ({ symbols }),
    decide: (view, given) => decide(view, given),
  })
  return loadedOf(strategy, 'ladder', symbols, { cadenceMs: 1_000 })
}

/** The ladder: `each` turn it opens two rungs when nothing of it is open, until there are `most`. */
export function ladder(most: number, each = 2): LoadedStrategy {
  return loadedMemory(ladderMemory, (view, memory) => {
    const next = told(memory, view)
    if (view.openIntents.length > 0 || next.rungs >= most) return { decisions: [], memory: next }
    const decisions = Array.from({ length: Math.min(each, most - next.rungs) }, (_, index) =>
      rungDecision(view, next.rungs + index),
    ).filter((decision) => decision !== undefined)
    return { decisions, memory: { ...next, rungs: next.rungs + decisions.length } }
  })
}
