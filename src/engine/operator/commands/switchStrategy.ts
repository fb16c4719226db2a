/** Pauses and resumes one strategy: persisted in the journal, so that no restart forgets it. */
import { z } from 'zod'
import { reason } from '../../../base/bodyFields.ts'
import { byFlag, json, reasonFlag, strategyName } from '../commandLine.ts'
import { type CommandOf, type CommandRow, reasonField } from '../commandRow.ts'
import type { Commander, OperatorAnswer } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({ reason })

/** The command. */
type SwitchCommand = CommandOf<'switch', typeof body, 'strategy'> & { readonly to: 'paused' | 'running' }

const formsOf = {
  pause: {
    title: 'Pause {strategy}',
    effects: [
      'The strategy is not asked any more, over restarts too. Orders on their way go on, and its exits rest at the venue.',
    ],
    send: 'Pause strategy',
  },
  resume: {
    title: 'Resume {strategy}',
    effects: [
      'The strategy is asked again from its next turn on; what protect of its file counted begins anew.',
    ],
    send: 'Resume strategy',
  },
} as const

/** The row of a pause. */
export const pauseStrategy: CommandRow<SwitchCommand> = {
  ...rowOf('pause', 'paused'),
  cli: [
    {
      ...lineOf('pause'),
      summary: 'Pause a strategy: it is not asked any more; its orders and position stay.',
      details:
        'Kept in the journal, so that a restart does not wake it. Orders in flight continue, exits rest at the venue, and exits that lost\ntheir position are cancelled. To have it reduce only: perpd trading reducing --scope NAME.',
    },
  ],
}

/** The row of its end. */
export const resumeStrategy: CommandRow<SwitchCommand> = {
  ...rowOf('resume', 'running'),
  cli: [
    {
      ...lineOf('resume'),
      summary: 'Let a paused strategy go on; what its protections count begins anew.',
      details:
        'It also lifts what `protect` of its file holds back: a drawdown that was realized, stops in a window, a cooldown.',
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
    const statement = `${strategy} is paused by ${by}: it is not asked until perpd strategies resume ${strategy}; its orders and position stay as they are`
    return { ok: true, statement }
  }
  const was = paused === undefined ? 'was not paused' : `was paused by ${paused.by}`
  const protect = 'what its protections count begins anew'
  return { ok: true, statement: `${strategy} ${was} and goes on, by ${by}; ${protect}` }
}
