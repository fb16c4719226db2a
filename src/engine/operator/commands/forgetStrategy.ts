/** Resets a strategy: its memory is dropped, with the events that it has not received yet. */
import { z } from 'zod'
import { byFlag, json, strategyName } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { type Commander, done, type OperatorAnswer, refusal } from '../operatorAnswer.ts'
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
      summary: "Drop a strategy's memory: it begins anew at its next turn.",
      details:
        'For a memory that fits its kind no longer, or that is wrong. Its orders and positions stay as they are; the strategy\nknows nothing of what it did before. Kept in the journal, with who said so.',
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
        ? `${strategy} remembers nothing yet`
        : `the kind ${kind} of ${strategy} keeps no memory, so there is nothing to forget`,
    )
  }
  await trading.accountJournal.write({ kind: 'strategy.forgotten', strategy, by })
  emit({ type: 'strategy.forgotten', strategy, by })
  return done(
    `the memory of ${strategy} is forgotten by ${by}: it begins anew at its next turn; its orders and positions stay as they are`,
  )
}
