/** The operator of a world: commands at times that the seed chose, and the owner's losses and new configurations. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { usd } from '../../src/protocol/units.ts'
import type { MarketModel } from './engineMarkets.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import type { Truth } from './truth.ts'

/** What the operator works on. */
export interface OperatorParts {
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Faults
  readonly truth: Truth
  readonly market: MarketModel
  readonly strategies: readonly string[]
  readonly note: (text: string) => void
  /** The engine that runs, if one does. */
  readonly engine: () => Engine | undefined
  /** Whom the process of now tells what it cannot go on with. */
  readonly fatal: () => (error: unknown) => void
  /** Writes tighter limits, or looser ones, into the configuration. */
  readonly configure: (change: (limits: Limits) => Limits) => void
  /** A hold was put on, and the operator was told so. */
  readonly held: (scope: string, state: string) => void
  /** Chance of the orders that he does not want any more. */
  readonly later: Random
  /** Whether an order may be closed by the operator's word: nothing else closes it. */
  readonly closesByWord: boolean
}

/** Lays out what the operator does until `spanMs`. */
export function planOperator(parts: OperatorParts, spanMs: number): void {
  const { random, timeline, faults, note, market } = parts

  function command(asked: OperatorCommand): void {
    const engine = parts.engine()
    if (engine === undefined || faults.isQuiet) return
    note(`operator ${JSON.stringify(asked)}`)
    const fatal = parts.fatal()
    engine.operate(asked, { by: 'ops', via: 'control' }).then((answer) => {
      note(`answer ${answer.ok ? answer.statement : answer.code}`)
      // What he was told holds from now on, whatever happens to the process.
      if (answer.ok && asked.type === 'trading' && asked.state !== 'active')
        parts.held(asked.scope, asked.state)
    }, fatal)
  }

  const scopes = [
    'global',
    'global',
    'account',
    ...parts.strategies.map((name) => `strategy:${name}` as const),
  ] as const
  const often = (chance: number, most: number, run: () => void) => {
    if (!random.chance(chance)) return
    for (let left = random.int(1, most); left > 0; left -= 1) timeline.after(random.int(1_000, spanMs), run)
  }
  often(0.35, 2, () => {
    const scope = random.pick(scopes)
    command({
      type: 'trading',
      scope,
      state: random.pick(['reducing', 'halted'] as const),
      reason: 'a pause',
    })
    if (random.chance(0.75)) {
      timeline.after(random.int(1_000, 40_000), () =>
        command({
          type: 'trading',
          scope: random.pick([scope, 'global'] as const),
          state: 'active',
          reason: 'on',
        }),
      )
    }
  })
  often(0.4, 3, () => {
    // He lifts what he sees.
    const halts = parts.engine()?.status().halts ?? []
    if (halts.length === 0) return
    command({ type: 'trading', scope: random.pick(halts).scope, state: 'active', reason: 'lifted' })
  })
  often(0.25, 3, () =>
    command({ type: 'trading', scope: random.pick(scopes), state: 'active', reason: 'go on' }),
  )
  often(0.12, 1, () => {
    command({ type: 'kill', close: random.chance(0.5) })
    if (random.chance(0.3)) {
      timeline.after(random.int(1_000, 60_000), () =>
        command({ type: 'trading', scope: 'global', state: 'active', reason: 'after the kill' }),
      )
    }
  })
  often(0.4, 4, () => {
    const open = parts.engine()?.status().discrepancies ?? []
    if (open.length === 0) return
    const { discrepancyId } = random.pick(open).discrepancy
    command({ type: 'discrepancy', discrepancyId, as: random.pick(['adopted', 'ignored'] as const) })
  })
  often(0.3, 2, () => {
    parts.configure((limits) => ({
      ...limits,
      maxTotalExposureUsd: usd(random.pick([1_000, 2_000, 6_000])),
      maxPositionSizeUsd: usd(random.pick([500, 2_000, 4_000])),
    }))
    command({ type: 'limits', isConfirmed: random.chance(0.3) })
  })
  often(0.2, 1, () => {
    market.lose(random.pick([100, 2_000, 20_000]))
    note(`lost ${market.lostUsd}`)
  })
  unwinds()
  if (!parts.closesByWord) return
  often(0.3, 3, () => {
    const open = parts.engine()?.status().openIntents ?? []
    const decided = open.find(({ state }) => {
      const fate = parts.truth.fateOf(state.intent.intentId)
      return fate === 'dead' || fate === 'executed' || fate === 'cancelled'
    })
    if (decided === undefined) return
    const { intentId } = decided.state.intent
    const as = parts.truth.fateOf(intentId)
    if (as === 'dead' || as === 'executed' || as === 'cancelled') command({ type: 'resolve', intentId, as })
  })

  /** He does not want an order any more that is open: one in flight as a rule, or one that rests. */
  function unwinds(): void {
    const { later } = parts
    if (!later.chance(0.3)) return
    for (let left = later.int(1, 3); left > 0; left -= 1) lookOut(later.int(1_000, spanMs), 20)
  }

  /** Takes the next order that he sees, and looks again in a second when there is none. */
  function lookOut(afterMs: number, looks: number): void {
    timeline.after(afterMs, () => {
      const open = (parts.engine()?.status().openIntents ?? []).filter(
        ({ state, unwantedBy }) => state.intent.kind === 'increase' && unwantedBy === undefined,
      )
      if (open.length === 0) {
        if (looks > 1) lookOut(1_000, looks - 1)
        return
      }
      const { intentId } = parts.later.pick(open).state.intent
      command({ type: 'unwind', intentId, reason: 'not wanted any more' })
    })
  }
}
