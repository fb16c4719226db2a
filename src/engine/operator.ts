/** What an operator may ask of the running daemon. Every command is in the journal, with who and how, before it is done. */
import type { FindingEnd } from '../domain/accountRecord.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { TradingState } from '../domain/limits.ts'
import { type CommandDoor, holdsOn, stateOf, type TradingScope } from '../domain/trading.ts'
import { formatUsd } from '../domain/units.ts'
import type { EngineContext } from './context.ts'
import type { EquityTracker } from './equity.ts'
import type { Kill } from './kill.ts'
import type { AppliedChange } from './liveLimits.ts'
import type { Reconciler } from './reconcile.ts'
import { liftWords } from './trading.ts'

/** A command. */
export type OperatorCommand =
  | {
      readonly type: 'trading'
      readonly scope: TradingScope
      readonly state: TradingState
      readonly reason: string
    }
  | { readonly type: 'kill'; readonly close: boolean }
  /** Reads the configured limits anew; the looser ones take effect only when it is confirmed. */
  | { readonly type: 'limits'; readonly isConfirmed: boolean }
  /** `findingId` and `intentId`: whole, or the first characters of one. */
  | { readonly type: 'finding'; readonly findingId: string; readonly as: Exclude<FindingEnd, 'gone'> }
  | {
      readonly type: 'resolve'
      readonly intentId: string
      readonly as: 'dead' | 'executed' | 'cancelled'
    }

/** Who commands, and how the command came. */
export interface Commander {
  readonly by: string
  readonly via: CommandDoor
}

/** What became of a command: a sentence, or a refusal with a code. */
export type OperatorAnswer =
  | { readonly ok: true; readonly statement: string }
  | { readonly ok: false; readonly code: string; readonly reason: string }

/** What commands are carried out with. */
export interface OperatorContext
  extends Pick<EngineContext, 'trading' | 'limits' | 'readLimits' | 'shell' | 'strategies'> {
  readonly kill: Kill
  readonly reconciler: Reconciler
  readonly equity: EquityTracker
  /** False while the engine cannot take commands. */
  readonly isTaking: () => boolean
}

/** Carries out one command. Throws what the journal throws. */
export async function operate(
  context: OperatorContext,
  command: OperatorCommand,
  { by, via }: Commander,
): Promise<OperatorAnswer> {
  if (!context.isTaking()) return refusal('STOPPING', 'perpd is stopping; it takes no commands')
  const { type, ...detail } = command
  await context.trading.book.write({
    kind: 'operator.command',
    command: type,
    detail: JSON.stringify(detail),
    by,
    via,
  })
  switch (command.type) {
    case 'trading':
      return await setTrading(context, command, by)
    case 'kill':
      await context.kill.begin(by, command.close)
      return done(
        command.close
          ? 'halted; resting orders are cancelled and positions closed'
          : 'halted; resting orders are cancelled',
      )
    case 'limits':
      return await changeLimits(context, command.isConfirmed, { by, via })
    case 'finding':
      return await settleFinding(context, command, by)
    case 'resolve':
      return await resolveOrder(context, command, by)
  }
}

async function setTrading(
  { trading, kill, equity, strategies }: OperatorContext,
  { scope, state, reason }: Extract<OperatorCommand, { type: 'trading' }>,
  by: string,
): Promise<OperatorAnswer> {
  const name = scope.startsWith('strategy:') ? scope.slice('strategy:'.length) : undefined
  if (name !== undefined && !strategies.some((each) => each.name === name)) {
    const known = strategies.map((each) => each.name).join(', ')
    return refusal('STRATEGY_UNKNOWN', `there is no strategy ${name}; there are ${known}`)
  }
  if (state !== 'active') {
    await trading.put({ scope, cause: 'operator', state, reason, by, lifts: 'operator' })
    return done(`${scope} is ${stateOf(trading.holds().filter((hold) => hold.scope === scope))}`)
  }
  // The whole daemon goes on only when nothing of the account holds it back either.
  const reach = (each: TradingScope) => each === scope || (scope === 'global' && each === 'account')
  const lifted = trading.holds().filter((hold) => reach(hold.scope) && hold.lifts !== 'itself')
  if (lifted.some(({ cause }) => cause === 'drawdown' || cause === 'daily-loss')) await equity.rebase()
  for (const hold of lifted) {
    if (hold.cause === 'kill') await kill.abandon(by)
    await trading.lift(hold, by, reason)
  }
  const left = holdsOn(trading.holds(), name)
  if (left.length === 0) return done(`${scope} is active`)
  const words = left.map(
    (hold) => `${hold.scope} is ${hold.state} by ${hold.cause} (${hold.reason}; ${liftWords[hold.lifts]})`,
  )
  return done(`lifted what an operator may lift; still ${words.join('; ')}`)
}

async function changeLimits(
  { trading, limits, readLimits }: OperatorContext,
  isConfirmed: boolean,
  commander: Commander,
): Promise<OperatorAnswer> {
  if (readLimits === undefined) return refusal('LIMITS_FIXED', 'limits cannot be read anew here')
  let next: ReturnType<typeof readLimits>
  try {
    next = readLimits()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return refusal(
      'CONFIG_INVALID',
      `the configuration cannot be used, nothing is changed: ${reasonOf(error)}`,
    )
  }
  const changes = limits.compare(next, isConfirmed)
  if (changes.length === 0) return done('the limits in force are the configured ones')
  const applied = changes.filter((change) => change.isApplied).map(changeText)
  const waiting = changes.filter((change) => !change.isApplied).map(changeText)
  const statement = [
    applied.length === 0 ? 'nothing is tighter' : `in force: ${applied.join(', ')}`,
    ...(waiting.length === 0
      ? []
      : [`looser, so only after a restart or with --confirm: ${waiting.join(', ')}`]),
  ].join('; ')
  await trading.book.write({
    kind: 'operator.command',
    command: 'limits.changed',
    detail: statement,
    ...commander,
  })
  limits.replace(next, isConfirmed)
  return done(statement)
}

function changeText({ limit, market, from, to }: AppliedChange): string {
  const text = (value: bigint | number | undefined): string =>
    value === undefined ? 'none' : typeof value === 'bigint' ? formatUsd(value) : String(value)
  return `${market === undefined ? '' : `${market} `}${limit} ${text(from)} -> ${text(to)}`
}

async function settleFinding(
  { reconciler }: OperatorContext,
  { findingId, as }: Extract<OperatorCommand, { type: 'finding' }>,
  by: string,
): Promise<OperatorAnswer> {
  const found = reconciler.open().filter(({ finding }) => finding.findingId.startsWith(findingId))
  const [one] = found
  if (one === undefined || found.length > 1) {
    const problem = one === undefined ? 'no open finding has' : `${found.length} open findings have`
    return refusal(
      'FINDING_UNKNOWN',
      `${problem} an id that begins with ${findingId}; perpd findings lists them`,
    )
  }
  await reconciler.settle(one.finding.findingId, as, by)
  return done(`${as} by ${by}: ${one.finding.statement}`)
}

async function resolveOrder(
  { shell }: OperatorContext,
  { intentId, as }: Extract<OperatorCommand, { type: 'resolve' }>,
  by: string,
): Promise<OperatorAnswer> {
  const found = shell.open().filter(({ state }) => state.intent.intentId.startsWith(intentId))
  const [one] = found
  if (one === undefined || found.length > 1) {
    const problem = one === undefined ? 'no open order has' : `${found.length} open orders have`
    return refusal(
      'ORDER_NOT_FOUND',
      `${problem} an id that begins with ${intentId}; perpd orders --open lists them`,
    )
  }
  const { intent } = one.state
  if (!(await shell.resolve(intent.intentId, as, by))) {
    return refusal('ORDER_NOT_SIGNED', `${intent.intentId} was never signed: it closes by itself`)
  }
  return done(
    `${intent.intentId} (${intent.kind} ${intent.terms.direction} ${intent.terms.symbol}) is closed as ${as}, by ${by}`,
  )
}

function done(statement: string): OperatorAnswer {
  return { ok: true, statement }
}

function refusal(code: string, reason: string): OperatorAnswer {
  return { ok: false, code, reason }
}
