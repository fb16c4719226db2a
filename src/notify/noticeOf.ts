/** Which events are told to people, under which kind and cause. The sentence is that of the log. Pure. */
import type { Discrepancy } from '../domain/accountRecords/accountRecord.ts'
import { releaseCommand } from '../domain/accountRecords/haltRelease.ts'
import type { ReleasedBy, TradingScope } from '../domain/accountRecords/tradingState.ts'
import type { Event, EventType } from '../domain/event.ts'
import { lastAttempt } from '../domain/order/intent.ts'
import { isFillTold } from '../domain/order/orderLegs.ts'
import type { LeftPosition } from '../domain/taskStates/killState.ts'
import type { Line } from '../monitor/log/line.ts'
import { phrase } from '../monitor/log/phrase.ts'
import type { Notice, NoticeKind } from './notice.ts'
import { pausedCause, unfitCause } from './pauseWatch.ts'

/** Fields of a notice that the log's line does not give; the line gives its sentence and level. */
interface Judged {
  readonly kind: NoticeKind
  readonly cause: string
  readonly stage?: string
  readonly isEnd?: true
  readonly action?: string
}

/** Judges of the event types that may be notified. */
type Judges = { readonly [T in EventType]?: (event: Extract<Event, { type: T }>) => Judged | undefined }

const judges: Judges = {
  'daemon.started': () => ({ kind: 'daemon-started', cause: 'start', isEnd: true }),
  'daemon.stopped': ({ positions }) => ({
    kind: 'daemon-stopped',
    cause: 'stop',
    isEnd: true,
    ...(positions.length === 0 ? {} : { action: 'Restart perpd, or manage the positions yourself.' }),
  }),
  'order.moved': movedOrder,
  'order.filled': ({ intent, leg, isTakenBack }) => ({
    kind: isTakenBack ? 'order-reverted' : 'order-executed',
    cause: `fill:${intent.intentId}:${leg.orderKey}:${isTakenBack}:${leg.isProvisional}`,
  }),
  'order.payload_rejected': ({ host }) => ({
    kind: 'payload-rejected',
    cause: `payload:${host}`,
    action: `Check the responses of ${host} before you trust it again.`,
  }),
  'account.discrepancy': ({ discrepancy, isPausing }) => ({
    kind: 'account-change',
    cause: `discrepancy:${discrepancy.discrepancyId}`,
    ...discrepancyAction(discrepancy, isPausing),
  }),
  'account.discrepancySettled': ({ discrepancy }) => ({
    kind: 'account-settled',
    cause: `discrepancy:${discrepancy.discrepancyId}`,
    isEnd: true,
  }),
  'account.transferred': ({ amountUsd, afterUsd }) => ({
    kind: 'account-transfer',
    cause: `transfer:${amountUsd}:${afterUsd}`,
    ...(amountUsd < 0n
      ? {
          action:
            'If it was not you, the key is stolen: perpd kill --close, then move the funds to another account.',
        }
      : {}),
  }),
  'account.booksDiffer': ({ marketToken, direction }) => ({
    kind: 'books-differ',
    cause: `books:${marketToken}:${direction}`,
    action: 'Report it with the output of perpd journal export.',
  }),
  'account.booksAgree': ({ marketToken, direction }) => ({
    kind: 'books-differ',
    cause: `books:${marketToken}:${direction}`,
    isEnd: true,
  }),
  'account.unmanaged': ({ symbol, direction, isOver }) => ({
    kind: 'position-unmanaged',
    cause: `unmanaged:${symbol}:${direction}`,
    ...(isOver === true
      ? { isEnd: true }
      : { action: 'Enable its strategy and restart perpd, or close it: perpd close' }),
  }),
  'account.discrepanciesDeferred': ({ held, isJournalShort }) => {
    if (held === 0) return { kind: 'journal', cause: 'deferred', isEnd: true }
    return {
      kind: isJournalShort ? 'journal' : 'account-change',
      cause: 'deferred',
      action: isJournalShort ? 'Free space for the journal.' : 'Check perpd discrepancies.',
    }
  },
  // A scope may have several holds, each with an end of its own; one that goes on is written once, and its reducing may become a halt.
  'trading.state': ({ scope, state, cause, isReleased, releasedBy }) => ({
    kind: 'trading-state',
    cause: `trading:${scope}:${cause}`,
    ...(isReleased === true ? { isEnd: true } : { stage: state }),
    ...haltAction(releasedBy, scope),
  }),
  'order.untidy': ({ orderKey, cause, isOver }) => ({
    kind: 'order-untidy',
    cause: `untidy:${orderKey}:${cause}`,
    ...(isOver
      ? { isEnd: true }
      : { action: `Change it at the venue, or cancel it: perpd cancel ${orderKey}` }),
  }),
  'unwind.ended': ({ intentId, outcome }) => ({
    kind: 'unwind-ended',
    cause: `unwind:${intentId}`,
    ...(outcome === 'given-up'
      ? { action: 'Check the position; perpd kill --close closes all positions.' }
      : {}),
  }),
  'subaccount.low': () => ({
    kind: 'key-approval',
    cause: 'approval-low',
    action: 'Renew it: perpd subaccount approve',
  }),
  'subaccount.renewed': () => ({ kind: 'key-approval', cause: 'approval-low', isEnd: true }),
  'subaccount.renewal': ({ file }) => ({
    kind: 'key-approval',
    cause: `renewal:${file}`,
    isEnd: true,
    action: `Read it, sign it with the owner's wallet, and import the signature: perpd subaccount approve --request ${file} --signature FILE`,
  }),
  'subaccount.unread': () => ({
    kind: 'key-approval',
    cause: 'approval-unread',
    action: 'Correct the file of the approval.',
  }),
  'subaccount.fileRight': () => ({ kind: 'key-approval', cause: 'approval-unread', isEnd: true }),
  'claim.prepared': ({ file }) => ({
    kind: 'claim',
    cause: `claim:${file}`,
    action: `Read ${file}, and send its calls from the owner's wallet.`,
  }),
  'claim.over': ({ file }) => ({ kind: 'claim', cause: `claim:${file}`, isEnd: true }),
  'strategy.paused': ({ strategy }) => ({
    kind: 'strategy-paused',
    cause: pausedCause(strategy),
    stage: 'failed',
    action: `Correct the kind of ${strategy}.`,
  }),
  'strategy.switched': ({ strategy, to }) => ({
    kind: 'strategy-paused',
    cause: pausedCause(strategy),
    ...(to === 'running' ? { isEnd: true } : { stage: 'operator' }),
  }),
  'strategy.unfit': ({ strategy }) => ({
    kind: 'strategy-unfit',
    cause: unfitCause(strategy),
    action: 'Correct its kind and load it: perpd strategies reload',
  }),
  'signal.refused': ({ code, strategy, action }) => ({
    kind: 'signal-refused',
    cause: `signal:${strategy ?? ''}:${code}`,
    action:
      action === 'flat' || action === 'reverse'
        ? `Check the position of ${strategy} (perpd positions), close it if you want, and correct the sender.`
        : 'Check the content and the address of the sender: docs/signals.md.',
  }),
  'task.ended': ({ taskId }) => ({ kind: 'task-ended', cause: `task:${taskId}` }),
  'chat.failed': ({ sink, what }) => ({
    kind: 'chat-failed',
    cause: `chat:${sink}:${what}`,
    action:
      what === 'commands'
        ? 'Use the console or the command line meanwhile. Check the token, and that no other program reads the messages of this bot.'
        : 'Check whether the command was carried out: perpd trading.',
  }),
  'chat.restored': ({ sink, what }) => ({ kind: 'chat-failed', cause: `chat:${sink}:${what}`, isEnd: true }),
  'daemon.portMoved': () => ({
    kind: 'control-port',
    cause: 'control-port',
    action: 'Find the program that uses the port, and restart perpd when it is free.',
  }),
  'daemon.clockSetBack': ({ against, backMs }) => ({
    kind: 'clock-set-back',
    cause: `clock:${against}:${backMs}`,
    action:
      "Check this machine's clock and its time server (timedatectl), and compare it with the hosts: perpd doctor.",
  }),
  'log.output': ({ state }) => ({
    kind: 'log-output',
    cause: 'log-output',
    ...(state === 'taken' ? { isEnd: true } : { stage: state }),
  }),
  'kill.step': killStep,
  'limits.changed': ({ by, statement }) => ({
    kind: 'limits-changed',
    cause: `limits:${by}:${statement}`,
    isEnd: true,
  }),
  'limits.started': ({ statement }) => ({ kind: 'limits-changed', cause: `limits:${statement}` }),
}

/** Returns the action that a change of the account not made by perpd requires from a person. */
function discrepancyAction({ kind, discrepancyId }: Discrepancy, isPausing: boolean): Pick<Judged, 'action'> {
  if (isPausing) return { action: `Settle it: perpd discrepancies adopt|ignore ${discrepancyId} --by NAME` }
  if (kind !== 'liquidation' && kind !== 'adl') return {}
  return {
    action:
      'Check which positions are near their liquidation: perpd positions. To block new exposure meanwhile: perpd trading reducing',
  }
}

/** Returns the action that a halt requires from a person; nothing where the end of its cause lifts it. */
function haltAction(releasedBy: ReleasedBy | undefined, scope: TradingScope): Pick<Judged, 'action'> {
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

/** A kill is one cause: that it is done, or abandoned, is told to all who were told of a step of it. */
function killStep(event: Extract<Event, { type: 'kill.step' }>): Judged {
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
          'Check the account at the venue and your chain endpoints: perpd doctor. Trading stays halted.',
      }
    case 'abandoned':
      return { ...common, isEnd: true }
  }
}

/** The remedy for positions that a kill leaves without stop-losses for all of them; nothing for others. */
function bareAction(stays: readonly LeftPosition[]): Pick<Judged, 'action'> {
  const bare = stays.filter(({ uncoveredUsd }) => uncoveredUsd > 0n)
  if (bare.length === 0) return {}
  const names = bare.map(({ direction, symbol }) => `${direction} ${symbol}`).join(', ')
  return {
    action: `No stop-loss protects all of ${names} (perpd positions). Close it: perpd kill --close, or perpd close for single ones; or set stops at the venue.`,
  }
}

/** The end of an order. What failed is told by its cause, whichever order it was; what was filled is always told. */
function movedOrder(event: Extract<Event, { type: 'order.moved' }>): Judged | undefined {
  const { intent, from, to, state } = event
  if (to === 'planned' || to === 'pending' || to === 'resting') {
    return from === 'unknown'
      ? { kind: 'order-proven', cause: `unknown:${intent.intentId}`, isEnd: true }
      : undefined
  }
  if (from === 'unknown') return { kind: 'order-proven', cause: `unknown:${intent.intentId}`, isEnd: true }
  if (to === 'unknown') {
    const id = intent.intentId.slice(0, 8)
    return {
      kind: 'order-unknown',
      cause: `unknown:${intent.intentId}`,
      action: `Check its history and whether chain endpoints lag: perpd explain ${id}, perpd status. perpd keeps checking; to close it if it lands: perpd orders unwind ${id} --by NAME`,
    }
  }
  const fills = (lastAttempt(state)?.children ?? []).filter(({ phase }) => phase === 'EXECUTED')
  if (to === 'executed') {
    // Each of its fills was told by itself.
    if (fills.some((child) => isFillTold(state, child))) return undefined
    return { kind: 'order-executed', cause: `executed:${intent.intentId}` }
  }
  const code = state.closing?.code ?? to
  return { kind: `order-${to}`, cause: `${to}:${intent.strategy}:${intent.terms.symbol}:${code}` }
}

/** The notice of an event, or undefined when nobody is to be told of it. */
export function noticeOf<T extends EventType>(event: Extract<Event, { type: T }>): Notice | undefined {
  const judge = judges[event.type] as ((event: Event) => Judged | undefined) | undefined
  const judged = judge?.(event)
  if (judged === undefined) return undefined
  const { level, text }: Line = phrase(event)
  // A debug line repeats what was already notified in other words.
  return level === 'debug' ? undefined : { ...judged, level, text }
}
