/** Defines notices to people outside: their kinds, their levels, and the ones that a sink takes. */

/** Levels, the least first. */
export const noticeLevels = ['info', 'warn', 'error'] as const

/** Importance of a notice. */
export type NoticeLevel = (typeof noticeLevels)[number]

/** Every kind of notice, by the name that settings use, with what it is for docs/reference/notifications.md. */
export const noticeKinds = {
  'order-executed': 'an order, or an exit of it, was filled',
  'order-reverted': 'the chain took the transaction back, or a fill',
  'order-failed': 'an order had no effect',
  'order-cancelled': 'an order was cancelled',
  'order-expired': 'an order was not relayed in its time',
  'order-refused': 'a host refused an order',
  'order-unknown': 'it is unknown whether an order landed',
  'order-proven': 'an unknown order was closed by evidence',
  'payload-rejected': 'a host prepared something else than was asked',
  'account-change': 'a liquidation, or another change that is not by perpd',
  'account-settled': 'such a change was settled',
  'account-transfer': 'money came into the account or left it, and no order explains it',
  'books-differ': "perpd's own books do not add up, or do again",
  'position-unmanaged': 'a position has no running strategy; or it has one again, or is closed',
  'position-without-stop':
    'no stop-losses rest for all of a position, at two looks half a minute apart; or for twice as much as reported; or they do again',
  'trading-state':
    'a halt, a kill, a breaker, or its release; of a hold that ends with its cause once it was over for a minute',
  'kill-step':
    'a kill: every order is cancelled, positions are being closed, it is done, or it made no progress for a minute',
  'order-untidy': 'an order janitor reports a useless resting order, or its end',
  'unwind-ended': 'an order was unwound, or could not be',
  'hosts-down': 'all API hosts are in cooldown',
  'hosts-up': 'one of them answers, and not all were in cooldown for a minute',
  'prices-stale': 'the prices of an oracle host, or of all, stand still; or they moved on for a minute',
  'market-contradicted':
    'a host says of a market what the facts of perpd do not; or it says it right again, or an operator settled it',
  journal: 'the journal is short of room',
  'key-approval':
    'the approval of a delegated key ends or was renewed; its file cannot be used, or can again',
  claim: 'what is due to the account is enough to be claimed, or was claimed',
  'strategy-paused':
    'a strategy failed again and again, or an operator paused it; or no turn failed for ten minutes, or an operator resumed it',
  'strategy-unfit': 'the saved memory of a strategy is incompatible with its kind; or it resumes',
  'signal-refused':
    'a signal from outside was refused; as an error where it was to close something, since that stays held',
  'task-ended': 'a task ended',
  'chat-failed':
    'commands of a chat cannot be read, or not be answered; or they could be read for a minute, or one was answered',
  'control-port': 'the control port could not be opened, and perpd serves at another',
  'clock-set-back': "this machine's clock went back: while perpd runs, or before a start",
  'log-output': 'nobody reads standard output; or somebody does again',
  'limits-changed': 'limits were changed while perpd runs, or a start has others than the run before',
  'day-summary': 'the summary of a day, at the hour of `notify.summaryHourUtc`',
  'daemon-started': 'perpd started',
  'daemon-stopped': 'perpd stopped in good order',
  'daemon-crashed': 'perpd stops because of a fault',
  test: 'what `perpd notify test` sends',
} as const

/** Name of a kind. */
export type NoticeKind = keyof typeof noticeKinds

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

/** Rule of a sink for a kind of notice: send it, send it without a sound, or drop it. */
export const noticeRules = ['on', 'silent', 'off'] as const

/** One of them. */
export type NoticeRule = (typeof noticeRules)[number]

/** Which notices a sink takes. */
export interface NoticeFilter {
  /** The least level that it takes; a kind that `events` names is taken at any level. */
  readonly level: NoticeLevel
  readonly events: Readonly<Partial<Record<NoticeKind, NoticeRule>>>
}

/** Compares two levels: negative when the first matters less, 0 when they are equal, positive when it matters more. */
export function compareLevels(one: NoticeLevel, other: NoticeLevel): number {
  return noticeLevels.indexOf(one) - noticeLevels.indexOf(other)
}

/** The one of two levels that matters more. */
export function higherLevel(one: NoticeLevel, other: NoticeLevel): NoticeLevel {
  return compareLevels(one, other) < 0 ? other : one
}

/** Returns the rule of a sink for a notice alone, whatever it received before. */
export function ruleFor(filter: NoticeFilter, { kind, level }: Notice): NoticeRule {
  return filter.events[kind] ?? (compareLevels(level, filter.level) < 0 ? 'off' : 'on')
}
