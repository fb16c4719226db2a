/**
 * Commands that an operator can give from the page. Each has its request, its effects in words, and the word to type where it cannot be undone. Pure:
 * a dialog shows a command and sends it.
 */

import type { Answer, LimitLine, Order, Status, Task } from './pageWire.ts'
import { usdText } from './shownAmount.ts'
import type { ShownPosition } from './shownFigures.ts'
import { type Halt, isOfOneStrategy, mayBeLifted } from './shownHalts.ts'
import { texts } from './texts.ts'

/** A field of a command's form. Values are texts; a command makes a body of them. */
export interface CommandField {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Values that the field accepts; absent: free text. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  /** Suggestions for the field; other values may be typed as well. */
  readonly suggestions?: readonly { readonly value: string; readonly label: string }[]
  readonly isOptional?: true
  /** Most characters; absent: the field does not say. */
  readonly most?: number
  /** Returns a sentence on the fault of a value, which is then not sent; undefined: there is none. */
  readonly problem?: (value: string) => string | undefined
  readonly hint?: string
  /** A number pad on a phone. */
  readonly isNumber?: true
}

/** Values of a form, by the names of its fields. */
export type FieldValues = Readonly<Record<string, string>>

/** A command, before it is sent. */
export interface PageCommand {
  readonly title: string
  /** Effects of the command, a sentence each. */
  readonly effects: readonly string[]
  readonly path: string
  /** Its body, but for `by`. */
  readonly body: (values: FieldValues) => Readonly<Record<string, unknown>>
  readonly fields: readonly CommandField[]
  /** Words on the button that sends it. */
  readonly send: string
  /** Word that must be typed before the command can be sent. */
  readonly typed?: string
  /** The body of the same command that only tells what it would do; it must be seen before it is sent. */
  readonly preview?: (values: FieldValues) => Readonly<Record<string, unknown>>
  /** The body of the same command that only tells what it would find, shown as soon as it is there: the command does not wait for it. */
  readonly shown?: (values: FieldValues) => Readonly<Record<string, unknown>>
  /** Word that must be typed as well because of the preview's result; undefined: none. */
  readonly typedFor?: (seen: Answer) => string | undefined
  readonly isDanger?: true
}

const { commands: words } = texts

const reasonField: CommandField = {
  name: 'reason',
  label: words.reason,
  value: '',
  isOptional: true,
  most: 200,
}

/** A reason is left out where none is given: the daemon has words of its own. */
function reasonOf({ reason = '' }: FieldValues): { readonly reason?: string } {
  return reason.trim() === '' ? {} : { reason: reason.trim() }
}

/**
 * Effects of resuming trading on these halts: the ones that it lifts and the ones that remain, a sentence each, by the daemon's own rules. `isMeant`:
 * tells whether the command reaches a halt at all.
 */
function liftingEffects(halts: readonly Halt[], isMeant: (halt: Halt) => boolean): readonly string[] {
  const isReleased = (halt: Halt) => isMeant(halt) && mayBeLifted(halt)
  const lifted = halts.filter(isReleased).map(({ cause }) => cause)
  const left = halts.filter((halt) => !isReleased(halt)).map(({ cause }) => texts.causes[cause])
  const isLoss = lifted.some((cause) => cause === 'daily-loss' || cause === 'drawdown')
  return [
    ...(lifted.includes('kill') ? [words.liftsKill] : []),
    ...(lifted.some((cause) => cause !== 'kill' && cause !== 'operator') ? [words.liftsBreakers] : []),
    ...(isLoss ? [words.acceptsLoss] : []),
    ...(left.length === 0 ? [] : [words.notLifted([...new Set(left)].join(', '))]),
  ]
}

/** Sets the trading state of all. Going on lifts what breakers and kills put on: that is typed. */
export function tradingCommand(
  state: 'active' | 'reducing' | 'halted',
  { halts, kill }: Pick<Status, 'halts' | 'kill'>,
): PageCommand {
  const isMeant = (halt: Halt) => !isOfOneStrategy(halt)
  const isLifting =
    state === 'active' &&
    halts.some((halt) => isMeant(halt) && mayBeLifted(halt) && halt.cause !== 'operator')
  const isKilling = state === 'active' && kill !== undefined && kill.endedAtMs === undefined
  return {
    title: words.trading[state].title,
    effects: [
      ...words.trading[state].effects,
      ...(state === 'active' ? liftingEffects(halts, isMeant) : []),
      ...(isKilling ? [words.endsKill] : []),
    ],
    path: '/api/trading',
    fields: [reasonField],
    body: (values) => ({ state, scope: 'global', ...reasonOf(values) }),
    send: words.trading[state].send,
    ...(isLifting || isKilling ? { typed: 'active' } : {}),
    ...(state === 'active' ? {} : { isDanger: true }),
  }
}

/** Lets one strategy go on: the daemon's own button leaves alone what holds one alone. What a breaker put on is typed. */
export function liftCommand(scope: string, halts: readonly Halt[]): PageCommand {
  const { lift: own } = words
  const name = scope.replace(/^strategy:/, '')
  const ofScope = halts.filter((halt) => halt.scope === scope)
  const isHeldStill =
    halts.some((halt) => !isOfOneStrategy(halt)) || ofScope.some((halt) => !mayBeLifted(halt))
  const isTyped = ofScope.some((halt) => halt.cause !== 'operator' && mayBeLifted(halt))
  return {
    title: own.title(name),
    effects: [...(isHeldStill ? own.effectsHeld : own.effects), ...liftingEffects(ofScope, () => true)],
    path: '/api/trading',
    fields: [reasonField],
    body: (values) => ({ state: 'active', scope, ...reasonOf(values) }),
    send: own.send,
    ...(isTyped ? { typed: 'active' } : {}),
  }
}

/** Kills: halts, cancels, and closes if asked. */
export function killCommand(
  isClosing: boolean,
  { positions, openIntents, othersOrders }: Pick<Status, 'positions' | 'openIntents' | 'othersOrders'>,
): PageCommand {
  const own = isClosing ? words.killClose : words.kill
  const resting = openIntents.flatMap(({ legs }) => legs.filter(({ status }) => status === 'resting')).length
  const inFlight = openIntents.filter(({ legs }) => legs.length === 0).length
  const body = ({ exits }: FieldValues) => ({
    close: isClosing,
    ...(exits === 'cancelled' ? { exits: true } : {}),
  })
  return {
    title: own.title,
    effects: [words.killCancels(resting, othersOrders, inFlight), own.leaves(positions.length)],
    path: '/api/kill',
    fields: isClosing
      ? []
      : [{ name: 'exits', label: words.killExits, value: 'stay', choices: words.killExitChoices }],
    body,
    shown: (values) => ({ ...body(values), preview: true }),
    send: own.send,
    typed: own.typed,
    isDanger: true,
  }
}

/**
 * Closes a position or a share of it, told apart by the token that backs it from another of its side. `id`: the order is carried out once
 * by it.
 */
export function closeCommand({ symbol, row, collateral }: ShownPosition, id: string): PageCommand {
  const body = ({ percent = '' }: FieldValues) => ({
    id,
    market: symbol,
    direction: row.direction,
    shareBps: percentBps(percent),
    ...(collateral === undefined ? {} : { collateral }),
  })
  return {
    title: words.close.title(row.direction, symbol),
    effects: [
      ...words.close.effects(usdText(row.sizeInUsd)),
      ...(collateral === undefined ? [] : [words.close.backed(collateral)]),
    ],
    path: '/api/positions/close',
    fields: [
      {
        ...{ name: 'percent', label: words.close.share, value: '100', isNumber: true },
        problem: (percent) => (isShare(percentBps(percent)) ? undefined : words.close.noShare),
      },
    ],
    body,
    preview: (values) => ({ ...body(values), preview: true }),
    send: words.close.send,
    typed: words.close.typed,
    isDanger: true,
  }
}

/** A percentage that was typed in basis points; what is none stays as it is typed, and the daemon refuses it by its value. */
export function percentBps(percent: string): number | string {
  const text = percent.trim()
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,3})(?:\.(\d{1,2}))?%?$/.exec(text) ?? []
  return whole === undefined ? text : Number(`${sign}${whole}${fraction.padEnd(2, '0')}`)
}

/** A whole number that was typed; what is none stays as it is typed, and the daemon refuses it by its value. */
export function wholeNumber(typed: string): number | string {
  return /^\d{1,9}$/.test(typed) ? Number(typed) : typed
}

function isShare(bps: number | string): boolean {
  return typeof bps === 'number' && bps >= 1 && bps <= 10_000
}

/** Cancels what rests of an order. */
export function cancelCommand(order: Order, id: string): PageCommand {
  return {
    title: words.cancel.title(order.intentId.slice(0, 8)),
    effects: words.cancel.effects(
      `${order.kind} ${order.direction} ${order.market} ${usdText(order.sizeDeltaUsd)}`,
    ),
    path: `/api/orders/${encodeURIComponent(order.intentId)}/cancel`,
    fields: [],
    body: () => ({ id }),
    preview: () => ({ id, preview: true }),
    typedFor: ({ isLastStop }) => (isLastStop === true ? words.cancel.typed : undefined),
    send: words.cancel.send,
    isDanger: true,
  }
}

/** Pauses a strategy, or lets it go on. */
export function switchCommand(strategy: string, to: 'pause' | 'resume'): PageCommand {
  return {
    title: words[to].title(strategy),
    effects: words[to].effects,
    path: `/api/strategies/${encodeURIComponent(strategy)}/${to}`,
    fields: [reasonField],
    body: reasonOf,
    send: words[to].send,
  }
}

/** Changes one field of a strategy's file; what it would come to is shown first. `field` and `value` stand in the form at first. */
export function setFieldCommand(strategy: string, field = '', value = ''): PageCommand {
  const { setField: own } = words
  const body = (values: FieldValues) => ({
    field: values.field?.trim() ?? '',
    value: values.value?.trim() ?? '',
    ...(values.confirm?.trim() === words.loosenTyped ? { confirm: true } : {}),
  })
  return {
    title: own.title(strategy),
    effects: own.effects,
    path: `/api/strategies/${encodeURIComponent(strategy)}/set`,
    fields: [
      { name: 'field', label: own.field, value: field, hint: own.fieldHint },
      { name: 'value', label: own.value, value, hint: own.valueHint },
      {
        name: 'confirm',
        label: own.confirm,
        value: '',
        hint: own.confirmHint(words.loosenTyped),
        isOptional: true,
      },
    ],
    body,
    preview: (values) => ({ ...body(values), preview: true }),
    send: own.send,
  }
}

/** Ends a task. */
export function stopTaskCommand({ taskId, asked }: Task): PageCommand {
  return {
    title: words.stopTask.title(taskId),
    effects: words.stopTask.effects(asked),
    path: '/api/tasks/stop',
    fields: [reasonField],
    body: (values) => ({ task: taskId, ...reasonOf(values) }),
    send: words.stopTask.send,
    isDanger: true,
  }
}

/**
 * Says what settling a discrepancy of this kind counts. A trade was counted when it was found; an unexplained position is counted when an operator
 * settles it.
 */
function settledEffect(
  kind: Status['discrepancies'][number]['discrepancy']['kind'],
  as: 'adopted' | 'ignored',
): string {
  const { settle: own } = words
  if (kind === 'unexplained-position') return own[as].position
  if (kind === 'unexplained-order') return own.order
  return kind === 'changed-order' ? own.changedOrder : own.trade
}

/** Settles a discrepancy. */
export function settleCommand(
  { discrepancy }: Status['discrepancies'][number],
  as: 'adopted' | 'ignored',
): PageCommand {
  const own = words.settle[as]
  return {
    title: own.title,
    effects: [discrepancy.statement, settledEffect(discrepancy.kind, as), words.settle.goesOn],
    path: `/api/discrepancies/${encodeURIComponent(discrepancy.discrepancyId)}`,
    fields: [],
    body: () => ({ as }),
    send: own.send,
    typed: own.typed,
  }
}

/** Makes one limit of the account tighter; what it would come to is shown first. */
export function tightenCommand(limits: readonly LimitLine[]): PageCommand {
  const { tighten: own } = words
  const body = (values: FieldValues) => ({
    limit: values.limit?.trim() ?? '',
    value: values.value?.trim() ?? '',
  })
  return {
    title: own.title,
    effects: own.effects,
    path: '/api/limits/tighten',
    fields: [
      {
        ...{ name: 'limit', label: own.limit, value: '', hint: own.limitHint },
        suggestions: limits
          .filter(({ scope }) => scope === 'account')
          .map((line) => ({ value: line.limit, label: own.now(line.value) })),
      },
      { name: 'value', label: own.value, value: '', hint: own.valueHint, isNumber: true },
    ],
    body,
    preview: (values) => ({ ...body(values), preview: true }),
    send: own.send,
  }
}

/** Reads strategy files anew, or limits; what is looser is taken over only where it is confirmed, and that is typed. */
export function takeOverCommand(what: 'reload' | 'limits', isLoosening: boolean): PageCommand {
  const own = words[what]
  return {
    title: isLoosening ? own.looserTitle : own.title,
    effects: isLoosening ? [...own.effects, words.loosens] : own.effects,
    path: what === 'limits' ? '/api/limits' : '/api/strategies/reload',
    fields: [],
    body: () => ({ confirm: isLoosening }),
    preview: () => ({ preview: true }),
    send: own.send,
    ...(isLoosening ? { typed: words.loosenTyped } : {}),
  }
}
