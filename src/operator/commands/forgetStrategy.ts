/** Resets a strategy: its memory is dropped, with the events that it has not received yet. */

import { z } from 'zod'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import { byFlag, json, strategyName } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { done, type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({})

/** The command. */
type ForgetCommand = CommandOf<'forget', typeof body, 'strategy'>

/** Its row. */
export const forgetStrategy: CommandRow<ForgetCommand> = {
  type: 'forget',
  route: '/api/strategies/:strategy/forget',
  body,
  run,
  api: { example: {} },
  cli: [
    {
      name: 'strategies forget',
      isForRunning: true,
      summary: "Discard a strategy's memory: it starts over at its next turn.",
      details:
        'For a memory that is wrong or incompatible with its kind. Orders and positions are untouched; the strategy\nloses all knowledge of its past. The journal records it with your name.',
      positional: strategyName,
      flags: [byFlag, json],
      examples: ['perpd strategies forget eth-trend --by ann'],
    },
  ],
}

async function run(
  { trading, emit, strategies }: OperatorContext,
  { strategy }: ForgetCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const { memories } = trading.accountJournal.state()
  if (memories?.has(strategy) !== true) {
    const running = strategies().find(({ name }) => name === strategy)
    if (running === undefined) {
      // One that does not run any more may have left a memory.
      const known = [...new Set([...strategies().map(({ name }) => name), ...(memories?.keys() ?? [])])]
      return refusal('STRATEGY_UNKNOWN', `there is no strategy ${strategy}; there are ${known.join(', ')}`)
    }
    const { kind, memory } = running.strategy
    const remembers = running.hosted?.remembers ?? memory !== undefined
    return refusal(
      'MEMORY_UNKNOWN',
      remembers
        ? `${strategy} has no memory yet`
        : `the kind ${kind} of ${strategy} has no memory, so there is nothing to discard`,
    )
  }
  await trading.accountJournal.write({ kind: 'strategy.forgotten', strategy, by })
  emit({ type: 'strategy.forgotten', strategy, by })
  return done(
    `${by} discarded the memory of ${strategy}: it starts over at its next turn; orders and positions are untouched`,
  )
}
