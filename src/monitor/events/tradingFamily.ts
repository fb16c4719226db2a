/** Events of the permission to trade: kills, limits and halts. */
import { defined } from '../../base/defined.ts'
import type { AccountEvent, LeftPosition } from '../../domain/accountEvent.ts'
import { releaseCommand } from '../../domain/accountRecords/haltRelease.ts'
import type { TradingScope } from '../../domain/accountRecords/tradingState.ts'
import type { TradingState } from '../../domain/limits/limits.ts'
import { leftPositionText } from '../leftPositionText.ts'
import { counted, plain, tradingText } from '../text.ts'
import type { EventFamily, EventOf, NoticeFacts } from './eventRow.ts'

/** Events of kills, limits and halts. */
export const tradingFamily: EventFamily<
  Extract<AccountEvent, { type: `${'kill' | 'limits' | 'trading'}.${string}` }>
> = {
  rows: {
    'kill.step': {
      levels: ['warn', 'error'],
      level: ({ step }) => (step === 'stuck' || step === 'unproven' ? 'error' : 'warn'),
      meaning: 'Progress of a kill; at error, it makes none, or ended without proof.',
      word: 'kill',
      text: killStepText,
      fields: ['step', 'positions', 'reason'],
      notice: killNotice,
    },
    'limits.changed': {
      levels: ['warn'],
      meaning: 'An operator changed limits while perpd runs.',
      word: 'limits',
      text: ({ statement, by }) => `limits changed by ${plain(by)}: ${plain(statement)}`,
      fields: ['by'],
      notice: ({ by, statement }) => ({
        kind: 'limits-changed',
        cause: `limits:${by}:${statement}`,
        isEnd: true,
      }),
    },
    'limits.started': {
      levels: ['info', 'warn'],
      level: ({ isLooser }) => (isLooser ? 'warn' : 'info'),
      meaning: 'This run has other limits than the last; at warn, looser ones.',
      word: 'limits',
      text: ({ statement }) => `limits changed since the last run: ${plain(statement)}`,
      fields: ['is_looser'],
      notice: ({ statement }) => ({ kind: 'limits-changed', cause: `limits:${statement}` }),
    },
    'trading.state': {
      levels: ['info', 'warn'],
      level: ({ state }) => (state === 'active' ? 'info' : 'warn'),
      meaning: 'The trading state changed; at info, trading is active again.',
      word: 'trading',
      text: ({ scope, state, reason }) => `${tradingText(scope, state)}: ${plain(reason)}`,
      fields: ['scope', ['state_to', ({ state }) => state], 'reason'],
      // A scope may have several halts, each with a separate end; its reducing may become a halt. A halt that ends with its cause is
      // over once it has been for a minute; one that an operator or the next day lifts is over at once.
      notice: ({ scope, state, cause, isReleased, isPassing, releasedBy }) => ({
        kind: 'trading-state',
        cause: `trading:${scope}:${cause}`,
        ...(isReleased === true
          ? { isEnd: true }
          : { stage: state, ...(isOnAll(scope) && { blocks: true }) }),
        ...(isPassing === true && (isReleased === true ? { calmMs: CALM_MS } : { rank: ranks[state] })),
        ...haltAction(releasedBy, scope),
      }),
      late: { subject: ({ scope }) => scope, reword: endNow },
    },
  },
}

/** Tells whether a halt of this scope is on everything, and not on one strategy. */
function isOnAll(scope: TradingScope): boolean {
  return scope === 'global' || scope === 'account'
}

/** Time that a halt that ends with its cause must be over before its end is notified, ms. */
const CALM_MS = 60_000
const ranks = { active: 0, reducing: 1, halted: 2 } as const satisfies Record<TradingState, number>

/** The end of a halt with the state that its scope is in by now. */
function endNow(end: EventOf<'trading.state'>, newest: EventOf<'trading.state'>): EventOf<'trading.state'> {
  const { releasedBy: _, ...rest } = end
  const still = newest.state === 'active' ? '' : '; another halt remains'
  return {
    ...rest,
    state: newest.state,
    ...defined({ releasedBy: newest.releasedBy }),
    reason: `the halt by ${end.cause} has ended${still}`,
  }
}

function killStepText(event: EventOf<'kill.step'>): string {
  switch (event.step) {
    case 'cancelled':
      return event.close
        ? 'kill: cancelling every order that adds risk, then closing all positions; their exits stay until then'
        : `kill: cancelling every order that adds risk; ${staysText(event.stays)}`
    case 'closing':
      return `kill: closing ${counted(event.positions, 'position')} at the market`
    case 'stuck':
      return `the kill makes no progress: ${plain(event.reason)}. perpd keeps retrying`
    case 'done':
      return event.close
        ? 'the kill is done: no order rests and no position is open'
        : `the kill is done: no resting order adds risk; ${staysText(event.stays)}`
    case 'unproven':
      return `the kill ended without proof: ${plain(event.reason)}${event.close ? '' : `; ${staysText(event.stays)}`}`
    case 'abandoned':
      return 'the kill was abandoned: an operator resumed trading'
  }
}

/** The positions that a kill without closing leaves, and their protection. */
function staysText(stays: readonly LeftPosition[]): string {
  return stays.length === 0 ? 'no position is open' : `still open: ${stays.map(leftPositionText).join(', ')}`
}

/** A kill is one cause: its end is reported to all who received a step of it. */
function killNotice(event: EventOf<'kill.step'>): NoticeFacts {
  const common = { kind: 'kill-step', cause: 'kill' } as const
  switch (event.step) {
    case 'stuck':
      return {
        ...common,
        stage: 'stuck',
        action: 'Check perpd status; cancel and close at the venue by hand if perpd cannot.',
      }
    case 'closing':
      return { ...common, stage: 'closing' }
    case 'cancelled':
      return {
        ...common,
        stage: event.close ? 'cancelled to close' : 'cancelled',
        ...bareAction(event.stays),
      }
    case 'done':
      return { ...common, isEnd: true, ...bareAction(event.stays) }
    case 'unproven':
      return {
        ...common,
        isEnd: true,
        action:
          'Check the account at the venue and your chain endpoints: perpd doctor. Trading stays halted; to resume it: perpd trading active',
      }
    case 'abandoned':
      return { ...common, isEnd: true }
  }
}

/** The remedy for positions that a kill leaves without stop-losses for all of them; nothing for others. */
function bareAction(stays: readonly LeftPosition[]): Pick<NoticeFacts, 'action'> {
  const bare = stays.filter(({ uncoveredUsd }) => uncoveredUsd > 0n)
  if (bare.length === 0) return {}
  const names = bare.map(({ direction, symbol }) => `${direction} ${symbol}`).join(', ')
  return {
    action: `No stop-loss protects all of ${names} (perpd positions). Close all: perpd kill --close. Close one: perpd close MARKET SIDE. Or set a stop: perpd protect MARKET SIDE --stop-loss PRICE`,
  }
}

/** Returns the action that a halt requires from a person; nothing where the end of its cause lifts it. */
function haltAction(
  releasedBy: EventOf<'trading.state'>['releasedBy'],
  scope: EventOf<'trading.state'>['scope'],
): Pick<NoticeFacts, 'action'> {
  switch (releasedBy) {
    case 'operator':
      return {
        action: `Check the cause: perpd trading. It lasts until you release it: ${releaseCommand(scope)}`,
      }
    case 'next-day':
      return {
        action: `Check the cause: perpd trading. perpd releases it on the next day (UTC); to release it now: ${releaseCommand(scope)}`,
      }
    case 'itself':
    case undefined:
      return {}
  }
}
