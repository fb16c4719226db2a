/** Pauses and resumes one strategy: persisted in the journal, so that no restart forgets it. */

import { z } from 'zod'
import { reason } from '../../base/bodyFields.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import { byFlag, json, reasonFlag, strategyName } from '../commandLine.ts'
import { type CommandOf, type CommandRow, reasonField } from '../commandRow.ts'
import type { OperatorAnswer } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({ reason })

/** The command. */
type SwitchCommand = CommandOf<'switch', typeof body, 'strategy'> & { readonly to: 'paused' | 'running' }

const formsOf = {
  pause: {
    title: 'Pause {strategy}',
    effects: [
      'The strategy makes no decisions, over restarts too. Orders in flight continue, and its exits rest at the venue.',
    ],
    send: 'Pause strategy',
  },
  resume: {
    title: 'Resume {strategy}',
    effects: ['The strategy decides again from its next turn; the counters of its protections start anew.'],
    send: 'Resume strategy',
  },
} as const

/** The row of a pause. */
export const pauseStrategy: CommandRow<SwitchCommand> = {
  ...rowOf('pause', 'paused'),
  cli: [
    {
      ...lineOf('pause'),
      summary: 'Pause a strategy: it makes no decisions; its orders and position stay.',
      details:
        'The journal records it, so a restart does not resume it. Orders in flight continue, exits rest at the venue, and exits without\na position are cancelled. To allow only reductions: perpd trading reducing --scope NAME.',
    },
  ],
}

/** The row of its end. */
export const resumeStrategy: CommandRow<SwitchCommand> = {
  ...rowOf('resume', 'running'),
  cli: [
    {
      ...lineOf('resume'),
      summary: 'Resume a paused strategy and reset the counters of its protections.',
      details:
        'It also releases the blocks of `protect` in its file: a realized drawdown, stops in a window, a cooldown.',
    },
  ],
}

function rowOf(word: 'pause' | 'resume', to: SwitchCommand['to']) {
  return {
    type: 'switch',
    route: `/api/strategies/:strategy/${word}`,
    body,
    fixed: { to },
    forms: { [word]: { ...formsOf[word], fields: [reasonField] } },
    run,
    api: { example: { reason: '...' } },
  } as const
}

function lineOf(word: 'pause' | 'resume') {
  return {
    name: `strategies ${word}`,
    isForRunning: true,
    positional: strategyName,
    flags: [reasonFlag, byFlag, json],
    examples: [`perpd strategies ${word} eth-trend --by ann`],
  } as const
}

/** Carries out a pause or its end. Throws what the journal throws. */
async function run(
  { trading, emit, strategies }: OperatorContext,
  { strategy, to, reason: why }: SwitchCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const { accountJournal } = trading
  const names = strategies().map(({ name }) => name)
  if (!names.includes(strategy)) {
    const known = names.length === 0 ? 'none runs' : `those that run are ${names.join(', ')}`
    return { ok: false, code: 'STRATEGY_UNKNOWN', reason: `no strategy ${strategy} runs; ${known}` }
  }
  const paused = accountJournal.state().strategies?.get(strategy)?.paused
  if (to === 'paused' && paused !== undefined) {
    const statement = `${strategy} was paused already, by ${paused.by}: ${paused.reason}`
    return { ok: true, statement }
  }
  await accountJournal.write({ kind: 'strategy.switched', strategy, to, reason: why, by })
  emit({ type: 'strategy.switched', strategy, to, reason: why, by })
  if (to === 'paused') {
    const statement = `${strategy} is paused by ${by} until perpd strategies resume ${strategy}; orders and position are untouched`
    return { ok: true, statement }
  }
  const was = paused === undefined ? 'was not paused' : `was paused by ${paused.by}`
  const protect = 'the counters of its protections were reset'
  return { ok: true, statement: `${strategy} ${was} and was resumed by ${by}; ${protect}` }
}
