/** Defines notices to people outside: their kinds and their levels. */

/** Levels, the least first. */
export const noticeLevels = ['info', 'warn', 'error'] as const

/** Importance of a notice. */
export type NoticeLevel = (typeof noticeLevels)[number]

/** Every kind of notice, by the name that settings use, with what it is for docs/reference/notifications.md. */
export const noticeKinds = {
  'order-executed': 'an order, or an exit of it, was filled',
  'order-reverted': 'a reorganisation of the chain removed the transaction or a fill',
  'order-failed': 'an order had no effect',
  'order-cancelled': 'an order was cancelled',
  'order-expired': 'an order expired before it was relayed',
  'order-refused': 'a host refused an order',
  'order-unknown': 'the fate of an order is unknown',
  'order-proven': 'evidence closed an order with an unknown fate',
  'payload-rejected': 'a host prepared a message that does not match the order',
  'account-change': 'a liquidation, or another change that perpd did not make',
  'account-settled': 'such a discrepancy was settled',
  'account-transfer': 'a deposit or withdrawal that no order explains',
  'books-differ': "perpd's books do not balance, or balance again",
  'position-unmanaged': 'a position is unmanaged; or a strategy manages it again, or it is closed',
  'position-without-stop':
    'stop-losses do not cover a whole position at two checks half a minute apart; or the gap doubled; or they cover it again',
  'trading-state':
    'a halt, a kill, a breaker, or its release; a halt that ends with its cause is reported as released after one minute',
  'kill-step': 'progress of a kill: orders cancelled, positions closing, done, or no progress for a minute',
  'order-untidy': 'an order janitor reports a useless resting order, or its end',
  'unwind-ended': 'an order was unwound, or could not be',
  'hosts-down': 'all API hosts are in cooldown',
  'hosts-up': 'a host responded, and for a minute not all were in cooldown',
  'prices-stale': 'prices of one or all oracle hosts are stale; or fresh again for a minute',
  'market-contradicted':
    'a host contradicts the pinned facts of a market; or it no longer does, or an operator settled it',
  journal: 'the journal is short of space, or its server replicates asynchronously',
  'key-approval':
    'the approval of a delegated key ends soon or was renewed; its file is unusable, or usable again',
  claim: 'amounts due to the account are large enough to claim, or were claimed',
  'strategy-paused':
    'a strategy failed repeatedly or an operator paused it; or no turn failed for ten minutes, or an operator resumed it',
  'strategy-unfit': 'the saved memory of a strategy is incompatible with its kind; or the strategy resumes',
  'signal-refused': 'a signal from outside was refused; an error if it was meant to close a position',
  'task-ended': 'a task ended',
  'chat-failed':
    'commands of a chat cannot be read or answered; or reading worked for a minute, or a command was answered',
  'control-port': 'the control port could not be opened, so perpd uses another',
  'clock-set-back': "this machine's clock went back while perpd runs or before a start",
  'log-output': 'no program reads standard output; or one does again',
  'limits-changed': 'limits changed while perpd runs, or differ from those of the last run',
  'day-summary': 'the summary of a day, at the hour of `notify.summaryHourUtc`',
  'daemon-started': 'perpd started',
  'daemon-stopped': 'perpd stopped normally',
  'daemon-crashed': 'perpd stops because of a fault',
  test: 'the message of `perpd notify test`',
} as const

/** Name of a kind. */
export type NoticeKind = keyof typeof noticeKinds

/** Kinds that last until their end. */
export const incidentKinds = [
  'order-unknown',
  'account-change',
  'books-differ',
  'position-unmanaged',
  'position-without-stop',
  'trading-state',
  'kill-step',
  'order-untidy',
  'hosts-down',
  'prices-stale',
  'market-contradicted',
  'journal',
  'key-approval',
  'claim',
  'strategy-paused',
  'strategy-unfit',
  'chat-failed',
  'log-output',
] as const satisfies readonly NoticeKind[]

/** Name of a kind of incident. */
export type IncidentKind = (typeof incidentKinds)[number]

const incidentNames: ReadonlySet<string> = new Set(incidentKinds)

/** Tells whether a kind lasts until its end. */
export function isIncidentKind(kind: NoticeKind): kind is IncidentKind {
  return incidentNames.has(kind)
}

/** Something to be told. */
export interface Notice {
  readonly kind: NoticeKind
  readonly level: NoticeLevel
  /** The same for all that has the same cause: it is told less and less often. */
  readonly cause: string
  /** Stage of its cause: another stage is notified as a new cause, though the cause continues. */
  readonly stage?: string
  /** It is the end of its cause: told wherever its beginning was, and the next of that cause is a first one. */
  readonly isEnd?: true
  /** Event, its order, and perpd's next step. */
  readonly text: string
  /** Action that a person must take; absent: none. */
  readonly action?: string
}

/** Compares two levels: negative when the first matters less, 0 when they are equal, positive when it matters more. */
export function compareLevels(one: NoticeLevel, other: NoticeLevel): number {
  return noticeLevels.indexOf(one) - noticeLevels.indexOf(other)
}

/** The one of two levels that matters more. */
export function higherLevel(one: NoticeLevel, other: NoticeLevel): NoticeLevel {
  return compareLevels(one, other) < 0 ? other : one
}
