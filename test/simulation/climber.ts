/**
 * A strategy with a memory in a world, and what must hold of it whatever ends its process:
 *
 * E11 it climbs rung after rung on each side and takes none twice; what it remembers is never ahead of what was accepted nor behind
 * it; and with what it was not told yet it has counted every fill of its own once.
 */
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { filledOrders } from '../../src/domain/accountRecords/fills.ts'
import type { OwnEvent } from '../../src/domain/memory/ownEvent.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { OwnEvents } from '../../src/journal/journal.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, type StrategyDecision, z } from '../../src/strategy/strategy.ts'
import { usdc } from '../support/intents.ts'
import { type ModelMarket, modelMarkets } from './engineMarkets.ts'
import type { Random } from './random.ts'
import type { Truth } from './truth.ts'

/** The name of its instance. */
export const CLIMBER = 'climber'

const directions: readonly Direction[] = ['long', 'short']
const schema = z.strictObject({
  next: z.strictObject({ long: z.number(), short: z.number() }),
  fills: z.number(),
  filledUsd: z.bigint(),
  closed: z.number(),
})
type Memory = z.infer<typeof schema>

const first: Memory = { next: { long: 0, short: 0 }, fills: 0, filledUsd: 0n, closed: 0 }

/** The memory with what was told: a denied rung is taken again. */
function remember(memory: Memory, events: readonly OwnEvent[]): Memory {
  let { next, fills, filledUsd, closed } = memory
  for (const event of events) {
    if (event.kind === 'denied') {
      const side = event.direction ?? 'long'
      next = { ...next, [side]: next[side] - 1 }
    } else if (event.kind === 'closed') closed += 1
    else {
      const sign = event.kind === 'filled' ? 1 : -1
      fills += sign
      filledUsd += BigInt(sign) * (event.sizeDeltaUsd ?? 0n)
    }
  }
  return { next, fills, filledUsd, closed }
}

/** The strategy; both sides in one turn, so that one turn has two acceptances. */
export function climberOf(parts: {
  readonly random: Random
  readonly isOver: () => boolean
}): LoadedStrategy {
  const { random, isOver } = parts
  const market: ModelMarket = random.pick(modelMarkets)
  const most = random.int(2, 6)
  const sizeDeltaUsd = usd(random.pick([200, 1_100]))
  const symbols = [market.symbol]
  const strategy = defineStrategy({
    kind: CLIMBER,
    description: 'Opens rung after rung on both sides.',
    params: z.strictObject({}),
    memory: { version: 1, schema, first },
    needs: () => ({ symbols }),
    decide(view, memory: Memory) {
      const now = remember(memory, view.events)
      const wanted = directions.filter(
        (direction) =>
          !isOver() &&
          now.next[direction] < most &&
          view.openIntents.every((open) => open.direction !== direction),
      )
      const decisions = wanted.map(
        (direction): StrategyDecision => ({
          kind: 'increase',
          marketToken: market.marketToken,
          direction,
          sizeDeltaUsd,
          leverageBps: 20_000,
          collateralToken: usdc,
          reason: `rung ${now.next[direction]}`,
        }),
      )
      const next = { ...now.next }
      for (const direction of wanted) next[direction] += 1
      return { decisions, memory: { ...now, next } }
    },
  })
  return {
    name: CLIMBER,
    path: `/strategies/${CLIMBER}.yaml`,
    strategy,
    params: {},
    instance: {
      name: CLIMBER,
      symbols,
      size: { usd: sizeDeltaUsd, leverageBps: 20_000, collateral: 'short' },
    },
    needs: { symbols },
    symbols,
    cadenceMs: random.pick([3_000, 5_000]),
    limits: {},
    symbolPlaces: [],
    onRemove: 'keep' as const,
    written: {},
  }
}

/** The judge of a world's climber. */
export interface ClimberChecks {
  durable(record: JournalRecord | AccountRecord): void
  /** `states`: all intents of the journal. */
  finish(states: readonly IntentState[], memory: unknown, untold: OwnEvents): void
}

/** Makes it. */
export function createClimberChecks(truth: Truth): ClimberChecks {
  const accepted = { long: 0, short: 0 }
  return {
    durable(record) {
      if (record.kind === 'intent.accepted' && record.intent.strategy === CLIMBER) {
        const { decision, terms } = record.intent
        const rung = accepted[terms.direction]
        if (decision.reason !== `rung ${rung}`)
          truth.fail('E11', `${decision.reason} ${terms.direction} is taken where rung ${rung} is next`)
        accepted[terms.direction] += 1
      }
      if (record.kind !== 'strategy.remembered' || record.strategy !== CLIMBER) return
      const { next } = record.memory as Memory
      for (const direction of directions) {
        const denied = record.denied.filter((each) => (each.direction ?? 'long') === direction).length
        if (next[direction] - denied !== accepted[direction])
          truth.fail(
            'E11',
            `it remembers ${next[direction]} rungs ${direction} less ${denied} denied, and ${accepted[direction]} are accepted`,
          )
      }
    },
    finish(states, memory, untold) {
      const own = states.filter(({ intent }) => intent.strategy === CLIMBER)
      const fills = own.flatMap(filledOrders)
      const filledUsd = fills.reduce((sum, { sizeDeltaUsd = 0n }) => sum + sizeDeltaUsd, 0n)
      const closed = own.filter(({ closing }) => closing !== undefined).length
      const told = remember((memory ?? first) as Memory, untold.events)
      if (told.fills !== fills.length || told.filledUsd !== filledUsd)
        truth.fail(
          'E11',
          `it was told of ${told.fills} fills over ${told.filledUsd}; there are ${fills.length} over ${filledUsd}`,
        )
      if (told.closed !== closed) truth.fail('E11', `it was told of ${told.closed} ends; there are ${closed}`)
    },
  }
}
