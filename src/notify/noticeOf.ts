/** Which events are told to people, under which kind and cause. The sentence is that of the log. Pure. */
import type { Discrepancy } from '../domain/account/accountRecord.ts'
import { releaseCommand } from '../domain/account/haltRelease.ts'
import type { ReleasedBy, TradingScope } from '../domain/account/tradingState.ts'
import type { Event, EventType } from '../domain/event.ts'
import { lastAttempt } from '../domain/order/intent.ts'
import { isFillTold } from '../domain/order/orderLegs.ts'
import type { LeftPosition } from '../domain/tasks/killState.ts'
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
    ...(positions.length === 0 ? {} : { action: 'Start perpd again, or look after what is held yourself.' }),
  }),
  'order.moved': movedOrder,
  'order.filled': ({ intent, leg, isTakenBack }) => ({
    kind: isTakenBack ? 'order-reverted' : 'order-executed',
    cause: `fill:${intent.intentId}:${leg.orderKey}:${isTakenBack}:${leg.isProvisional}`,
  }),
  'order.payload_rejected': ({ host }) => ({
    kind: 'payload-rejected',
    cause: `payload:${host}`,
    action: `Look at what ${host} answers before you trust it again.`,
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
            'If it was not you, the key is in other hands: perpd kill --close, and move what is left to another account.',
        }
      : {}),
  }),
  'account.booksDiffer': ({ marketToken, direction }) => ({
    kind: 'books-differ',
    cause: `books:${marketToken}:${direction}`,
    action: 'Report it with what perpd journal export prints.',
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
      : { action: 'Enable its strategy and start again, or close it: perpd close' }),
  }),
  'account.discrepanciesDeferred': ({ held, isJournalShort }) => {
    if (held === 0) return { kind: 'journal', cause: 'deferred', isEnd: true }
    return {
      kind: isJournalShort ? 'journal' : 'account-change',
      cause: 'deferred',
      action: isJournalShort ? 'Give the journal more space.' : 'Look at perpd discrepancies.',
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
    ...(outcome === 'given-up' ? { action: 'Look at the position; perpd kill --close closes all.' } : {}),
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
    action: `Read it, have the owner's wallet sign it, and bring the signature back: perpd subaccount approve --request ${file} --signature FILE`,
  }),
  'subaccount.unread': () => ({
    kind: 'key-approval',
    cause: 'approval-unread',
    action: 'Put the file of the approval right.',
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
    action: `Put the kind of ${strategy} right.`,
  }),
  'strategy.switched': ({ strategy, to }) => ({
    kind: 'strategy-paused',
    cause: pausedCause(strategy),
    ...(to === 'running' ? { isEnd: true } : { stage: 'operator' }),
  }),
  'strategy.unfit': ({ strategy }) => ({
    kind: 'strategy-unfit',
    cause: unfitCause(strategy),
    action: 'Put its kind right and take it over: perpd strategies reload',
  }),
  'signal.refused': ({ code, strategy, action }) => ({
    kind: 'signal-refused',
    cause: `signal:${strategy ?? ''}:${code}`,
    action:
      action === 'flat' || action === 'reverse'
        ? `Look at what ${strategy} holds (perpd positions), close it if it is to go, and put the sender right.`
        : 'Look at what its sender sends, and where: docs/signals.md.',
  }),
  'task.ended': ({ taskId }) => ({ kind: 'task-ended', cause: `task:${taskId}` }),
  'chat.failed': ({ sink, what }) => ({
    kind: 'chat-failed',
    cause: `chat:${sink}:${what}`,
    action:
      what === 'commands'
        ? 'Command perpd by its console or on its machine meanwhile. Check the token, and that nothing else asks for the messages of this bot.'
        : 'Look yourself whether what was commanded is done: perpd trading.',
  }),
  'chat.restored': ({ sink, what }) => ({ kind: 'chat-failed', cause: `chat:${sink}:${what}`, isEnd: true }),
  'daemon.portMoved': () => ({
    kind: 'control-port',
    cause: 'control-port',
    action: 'Look which program has the port, and restart perpd when it is free.',
  }),
  'daemon.clockSetBack': ({ against, backMs }) => ({
    kind: 'clock-set-back',
    cause: `clock:${against}:${backMs}`,
    action:
      "Look at this machine's clock and its time server: timedatectl, and compare it with the hosts: perpd doctor.",
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
  if (isPausing)
    return { action: `Say what it is: perpd discrepancies adopt|ignore ${discrepancyId} --by NAME` }
  if (kind !== 'liquidation' && kind !== 'adl') return {}
  return {
    action:
      'Look at what is near its liquidation now: perpd positions. To add nothing until it is understood: perpd trading reducing',
  }
}

/** Returns the action that a halt requires from a person; nothing where the end of its cause lifts it. */
function haltAction(releasedBy: ReleasedBy | undefined, scope: TradingScope): Pick<Judged, 'action'> {
  switch (releasedBy) {
    case 'operator':
      return { action: `Look at why: perpd trading. It stays until you lift it: ${releaseCommand(scope)}` }
    case 'next-day':
      return {
        action: `Look at why: perpd trading. The next day (UTC) lifts it by itself, you can before: ${releaseCommand(scope)}`,
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
        action: 'Look at perpd status; cancel and close by hand at the venue what it cannot.',
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
          'Look at the account at the venue, and at your chain endpoints: perpd doctor. Trading stays halted.',
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
      action: `Look at what was sent and asked, and whether chain endpoints lag: perpd explain ${id}, perpd status. perpd goes on asking; to have it closed if it lands: perpd orders unwind ${id} --by NAME`,
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
