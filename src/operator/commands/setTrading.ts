/** Sets the trading state of the daemon, the account or one strategy; `active` releases the halts that an operator may release. */

import { z } from 'zod'
import { OPERATOR } from '../../account/halts/tradingHalts.ts'
import { line, reason } from '../../base/bodyFields.ts'
import { isoTime } from '../../base/clock.ts'
import { releaseCommand, releaseText } from '../../domain/accountRecords/haltRelease.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import {
  haltsOn,
  scopeOf,
  stateOf,
  type TradingHalt,
  type TradingScope,
} from '../../domain/accountRecords/tradingState.ts'
import { byFlag, json, reasonFlag } from '../commandLine.ts'
import { type CommandOf, type CommandRow, reasonField } from '../commandRow.ts'
import { done, type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({
  scope: line(120).default('global').transform(scopeOf),
  state: z.enum(['active', 'reducing', 'halted']),
  reason,
})

/** The command. */
type TradingCommand = CommandOf<'trading', typeof body>

/** Its row. */
export const setTrading: CommandRow<TradingCommand> = {
  type: 'trading',
  route: '/api/trading',
  body,
  run,
  api: { example: { state: 'halted', scope: 'global', reason: '...' } },
  forms: {
    active: {
      title: 'Resume trading',
      effects: ['Strategies may open and add again from their next turn.'],
      fields: [reasonField],
      body: { state: 'active', scope: 'global' },
      send: 'Resume trading',
    },
    reducing: {
      title: 'Only reduce',
      effects: ['perpd makes nothing that adds risk. Exits and reductions continue.'],
      fields: [reasonField],
      body: { state: 'reducing', scope: 'global' },
      send: 'Only reduce',
      isDanger: true,
    },
    halted: {
      title: 'Halt trading',
      effects: [
        'perpd makes no orders at all, not even exits. Orders that rest at the venue stay there.',
        'Signed orders count as sent, and perpd follows them.',
      ],
      fields: [reasonField],
      body: { state: 'halted', scope: 'global' },
      send: 'Halt trading',
      isDanger: true,
    },
    lift: {
      title: 'Resume {strategy}',
      effects: ['{effect}'],
      fields: [reasonField],
      body: { state: 'active' },
      send: 'Resume',
    },
  },
  cli: [
    {
      name: 'trading',
      isForRunning: true,
      summary: 'Set the trading state: trade, only reduce, or no orders at all; lists the halts.',
      details:
        'The journal records the state, so it survives restarts. `active` releases every halt that an operator may release: it\naccepts losses and ends a kill. Without a state it lists the halts. Without the port: kill -USR2 PID halts.',
      positional: { name: 'state', doc: 'active, reducing or halted', isOptional: true },
      stray: [{ flag: 'scope' }],
      flags: [
        {
          name: 'scope',
          value: 'SCOPE',
          doc: 'global, account, or the name of a strategy; global when not given',
        },
        reasonFlag,
        byFlag,
        json,
      ],
      examples: [
        'perpd trading',
        'perpd trading reducing --by ann --reason "the news at eight"',
        'perpd trading halted --scope eth-trend --by ann',
        'perpd trading active --by ann',
      ],
    },
  ],
}

async function run(
  { trading, kill, equity, strategies }: OperatorContext,
  { scope, state, reason: given }: TradingCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const name = scope.startsWith('strategy:') ? scope.slice('strategy:'.length) : undefined
  if (name !== undefined && name !== OPERATOR && !strategies().some((each) => each.name === name)) {
    const known = strategies()
      .map((each) => each.name)
      .join(', ')
    return refusal('STRATEGY_UNKNOWN', `there is no strategy ${name}; there are ${known}`)
  }
  if (state !== 'active') {
    const isOperators = (halt: TradingHalt) => halt.scope === scope && halt.cause === 'operator'
    const before = trading.halts().find(isOperators)
    await trading.halt({ scope, cause: 'operator', state, reason: given, by, releasedBy: 'operator' })
    const ofScope = trading.halts().filter((halt) => halt.scope === scope)
    const stands = ofScope.find(isOperators)
    const was = before?.state === state ? 'was already' : 'is'
    const since = isoTime(stands?.sinceMs ?? 0)
      .replace(/\.\d+Z$/, ' UTC')
      .replace('T', ' ')
    const why = `since ${since} by ${stands?.by ?? by}: ${stands?.reason ?? given}`
    const other =
      stands === undefined || stands.reason === given
        ? ''
        : `; that reason remains, and the new one ("${given}") is ignored`
    const stricter = stateOf(ofScope)
    const more = stricter === state ? '' : `; it is still ${stricter}, because of another halt`
    return done(
      `trading ${was} ${state} ${placeOf(scope)}, ${why}${other}${more}; to resume: ${releaseCommand(scope)}`,
    )
  }
  // The whole daemon resumes only when no halt of the account remains either.
  const reach = (each: TradingScope) => each === scope || (scope === 'global' && each === 'account')
  const lifted = trading.halts().filter((halt) => reach(halt.scope) && halt.releasedBy !== 'itself')
  if (lifted.some(({ cause }) => cause === 'drawdown' || cause === 'daily-loss')) await equity.rebase()
  for (const halt of lifted) {
    if (halt.cause === 'kill') await kill.abandon(by)
    await trading.release(halt, by, given)
  }
  // A halt of a single strategy is not lifted with the daemon's: whoever sets everything to "active" is notified of it.
  const left = [
    ...haltsOn(trading.halts(), name),
    ...(name === undefined ? trading.halts().filter((halt) => halt.scope.startsWith('strategy:')) : []),
  ]
  if (left.length === 0) return done(`trading is active ${placeOf(scope)}`)
  const words = left
    .map(
      (halt) =>
        `${halt.state} ${placeOf(halt.scope)} by ${halt.cause} (${halt.reason}; ${releaseText(halt)})`,
    )
    .join('; ')
  const isActive = haltsOn(trading.halts(), name).length === 0
  return done(
    isActive
      ? `trading is active ${placeOf(scope)}; still ${words}`
      : `released every halt that an operator may release; still ${words}`,
  )
}

/** Describes the reach of a scope. */
function placeOf(scope: TradingScope): string {
  if (scope === 'global') return 'everywhere (scope global)'
  if (scope === 'account') return 'on the account (scope account)'
  return `for ${scope.slice('strategy:'.length)} (scope ${scope})`
}
