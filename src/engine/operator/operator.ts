/** Commands of an operator to the running daemon. The journal records every command, with its author and channel, before it is carried out. */

import { isoTime } from '../../base/clock.ts'
import { discrepanciesNamed } from '../../domain/account/discrepancyId.ts'
import { releaseCommand, releaseText } from '../../domain/account/haltRelease.ts'
import { haltsOn, stateOf, type TradingHalt, type TradingScope } from '../../domain/account/tradingState.ts'
import type { Intent } from '../../domain/order/intent.ts'
import { encodeExact } from '../../domain/records.ts'
import type { EquityTracker } from '../account/equity.ts'
import { OPERATOR } from '../account/tradingHalts.ts'
import type { Unwinder } from '../account/unwinder.ts'
import type { EngineContext } from '../context/engineContext.ts'
import type { Reconciler } from '../watch/reconciler.ts'
import { changeLimits, previewLimits, tightenLimit } from './changeLimits.ts'
import type { Kill } from './kill.ts'
import type { Manual } from './manualOrders.ts'
import type { Commander, KillCommand, OperatorAnswer, OperatorCommand } from './operatorCommand.ts'
import type { Reloaded } from './reloadStrategies.ts'
import { startTask, stopTask, type TaskContext } from './startTask.ts'
import { switchStrategy } from './switchStrategy.ts'
import { trustMarket } from './trustMarket.ts'

/** Dependencies of the commands. */
export interface OperatorContext
  extends Pick<
    EngineContext,
    'trading' | 'limits' | 'readLimits' | 'emit' | 'orderManager' | 'strategies' | 'catalogue' | 'api'
  > {
  readonly kill: Kill
  readonly manual: Manual
  readonly tasks: TaskContext
  readonly unwinder: Pick<Unwinder, 'request'>
  readonly reconciler: Reconciler
  readonly reload: Pick<Reloaded, 'carryOut' | 'set'>
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
  // A preview makes and changes nothing.
  const isByHand = command.type === 'open' || command.type === 'close' || command.type === 'cancel'
  if (isByHand && command.isPreview === true) return await context.manual.carryOut(command, by)
  if (command.type === 'task' && command.isPreview) return await startTask(context.tasks, command, by)
  if (command.type === 'kill' && command.isPreview === true) return await previewKill(context, command)
  if (command.type === 'limits' && command.isPreview === true) return await previewLimits(context)
  if (command.type === 'tighten' && command.isPreview === true)
    return await tightenLimit(context, command, { by, via })
  // It records its changes, and nothing without a change: perpd may look at its files often.
  if (command.type === 'reload') return await context.reload.carryOut(command, { by, via })
  if (command.type === 'set-field') return await context.reload.set(command, { by, via })
  const { type, ...detail } = command
  await context.trading.accountJournal.write({
    kind: 'operator.command',
    command: type,
    // Amounts of a command to come may be bigints, which JSON.stringify throws at.
    detail: encodeExact(detail),
    by,
    via,
  })
  switch (command.type) {
    case 'trading':
      return await setTrading(context, command, by)
    case 'kill':
      await context.kill.begin(by, command)
      return done(killStatement(command))
    case 'limits':
      return await changeLimits(context, command.isConfirmed, { by, via })
    case 'tighten':
      return await tightenLimit(context, command, { by, via })
    case 'discrepancy':
      return await settleDiscrepancy(context, command, by)
    case 'market':
      return await trustMarket(context, command.market, by)
    case 'unwind':
      return await unwindOrder(context, command, by)
    case 'forget':
      return await forgetMemory(context, command.strategy, by)
    case 'switch':
      return await switchStrategy(context, command, by)
    case 'open':
    case 'close':
    case 'cancel':
      return await context.manual.carryOut(command, by)
    case 'task':
      return await startTask(context.tasks, command, by)
    case 'task-stop':
      return await stopTask(context.tasks, command, by)
    case 'log':
      // Written down here; the log is the daemon's, which sets it once this is answered.
      return done(
        `${command.component === undefined ? 'components without a level of their own' : command.component} ${command.component === undefined ? 'write' : 'writes'} lines from ${command.level} on, until the settings are read anew or perpd starts again`,
      )
    case 'resolve':
      return await resolveOrder(context, command, by)
  }
}

function killStatement({ close, exits }: KillCommand): string {
  if (close) return 'halted; resting orders are being cancelled and positions closed'
  return exits
    ? 'halted; every resting order is being cancelled, exits too'
    : 'halted; resting orders that add risk are being cancelled, and exits of what is held stay'
}

async function previewKill({ kill }: OperatorContext, command: KillCommand): Promise<OperatorAnswer> {
  const killing = await kill.preview(command)
  return { ok: true, statement: 'nothing is done yet', killing }
}

async function setTrading(
  { trading, kill, equity, strategies }: OperatorContext,
  { scope, state, reason }: Extract<OperatorCommand, { type: 'trading' }>,
  by: string,
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
    await trading.halt({ scope, cause: 'operator', state, reason, by, releasedBy: 'operator' })
    const ofScope = trading.halts().filter((halt) => halt.scope === scope)
    const stands = ofScope.find(isOperators)
    const was = before?.state === state ? 'was already' : 'is'
    const since = isoTime(stands?.sinceMs ?? 0)
      .replace(/\.\d+Z$/, ' UTC')
      .replace('T', ' ')
    const why = `since ${since} by ${stands?.by ?? by}: ${stands?.reason ?? reason}`
    const other =
      stands === undefined || stands.reason === reason
        ? ''
        : `; that reason stands, and the new one ("${reason}") is not kept`
    const stricter = stateOf(ofScope)
    const more = stricter === state ? '' : `; it is ${stricter} all the same, by another hold`
    return done(
      `trading ${was} ${state} ${placeOf(scope)}, ${why}${other}${more}; it goes on with: ${releaseCommand(scope)}`,
    )
  }
  // The whole daemon resumes only when no halt of the account remains either.
  const reach = (each: TradingScope) => each === scope || (scope === 'global' && each === 'account')
  const lifted = trading.halts().filter((halt) => reach(halt.scope) && halt.releasedBy !== 'itself')
  if (lifted.some(({ cause }) => cause === 'drawdown' || cause === 'daily-loss')) await equity.rebase()
  for (const halt of lifted) {
    if (halt.cause === 'kill') await kill.abandon(by)
    await trading.release(halt, by, reason)
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
      : `released what an operator may release; still ${words}`,
  )
}

async function forgetMemory(
  { trading, emit, strategies }: OperatorContext,
  strategy: string,
  by: string,
): Promise<OperatorAnswer> {
  const { memories } = trading.accountJournal.state()
  if (memories?.has(strategy) !== true) {
    const running = strategies().find(({ name }) => name === strategy)
    if (running === undefined) {
      // One that does not run any more may have left a memory.
      const known = [...new Set([...strategies().map(({ name }) => name), ...(memories?.keys() ?? [])])]
      return refusal('STRATEGY_UNKNOWN', `there is no strategy ${strategy}; there are ${known.join(', ')}`)
    }
    const { kind, memory } = running.strategy
    const remembers = running.hosted?.remembers ?? memory !== undefined
    return refusal(
      'MEMORY_UNKNOWN',
      remembers
        ? `${strategy} remembers nothing yet`
        : `the kind ${kind} of ${strategy} keeps no memory, so there is nothing to forget`,
    )
  }
  await trading.accountJournal.write({ kind: 'strategy.forgotten', strategy, by })
  emit({ type: 'strategy.forgotten', strategy, by })
  return done(
    `the memory of ${strategy} is forgotten by ${by}: it begins anew at its next turn; its orders and positions stay as they are`,
  )
}

async function settleDiscrepancy(
  { reconciler }: OperatorContext,
  { discrepancyId, as }: Extract<OperatorCommand, { type: 'discrepancy' }>,
  by: string,
): Promise<OperatorAnswer> {
  const found = discrepanciesNamed(reconciler.open(), discrepancyId)
  const [one] = found
  if (one === undefined || found.length > 1) {
    const problem = one === undefined ? 'no open discrepancy has' : `${found.length} open discrepancies have`
    return refusal(
      'DISCREPANCY_UNKNOWN',
      `${problem} an id that begins with ${discrepancyId}; perpd discrepancies lists them`,
    )
  }
  await reconciler.settle(one.discrepancy.discrepancyId, as, by)
  return done(`${as} by ${by}: ${one.discrepancy.statement}`)
}

/** The open intent of an id or of its beginning, or a refusal. */
function openIntent({ orderManager }: OperatorContext, intentId: string): Intent | OperatorAnswer {
  const found = orderManager.open().filter(({ state }) => state.intent.intentId.startsWith(intentId))
  const [one] = found
  if (one !== undefined && found.length === 1) return one.state.intent
  const problem = one === undefined ? 'no open order has' : `${found.length} open orders have`
  return refusal(
    'ORDER_NOT_FOUND',
    `${problem} an id that begins with ${intentId}; perpd orders --open lists them`,
  )
}

function namesOf({ intentId, kind, terms }: Intent): string {
  return `${intentId} (${kind} ${terms.direction} ${terms.symbol})`
}

async function unwindOrder(
  context: OperatorContext,
  { intentId, reason }: Extract<OperatorCommand, { type: 'unwind' }>,
  by: string,
): Promise<OperatorAnswer> {
  const intent = openIntent(context, intentId)
  if ('ok' in intent) return intent
  const denial = await context.unwinder.request(intent.intentId, { by, reason })
  if (denial !== undefined) return refusal(denial.code, denial.reason)
  return done(`${namesOf(intent)} is to be unwound: if it lands, what it opens is closed; by ${by}`)
}

async function resolveOrder(
  context: OperatorContext,
  { intentId, as }: Extract<OperatorCommand, { type: 'resolve' }>,
  by: string,
): Promise<OperatorAnswer> {
  const { orderManager } = context
  const intent = openIntent(context, intentId)
  if ('ok' in intent) return intent
  if (!(await orderManager.resolve(intent.intentId, as, by))) {
    return refusal('ORDER_NOT_SIGNED', `${intent.intentId} was never signed: it closes by itself`)
  }
  return done(`${namesOf(intent)} is closed as ${as}, by ${by}`)
}

/** Describes the reach of a scope. */
function placeOf(scope: TradingScope): string {
  if (scope === 'global') return 'everywhere (scope global)'
  if (scope === 'account') return 'on the account (scope account)'
  return `for ${scope.slice('strategy:'.length)} (scope ${scope})`
}

function done(statement: string): OperatorAnswer {
  return { ok: true, statement }
}

function refusal(code: string, reason: string): OperatorAnswer {
  return { ok: false, code, reason }
}
