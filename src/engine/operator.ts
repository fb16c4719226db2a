/** What an operator may ask of the running daemon. Every command is in the journal, with who and how, before it is done. */
import { isoTime } from '../domain/clock.ts'
import { findingsNamed } from '../domain/findingId.ts'
import type { Intent } from '../domain/intent.ts'
import { holdsOn, stateOf, type TradingHold, type TradingScope } from '../domain/trading.ts'
import { changeLimits } from './changeLimits.ts'
import type { EngineContext } from './context.ts'
import type { EquityTracker } from './equity.ts'
import type { Flattener } from './flatten.ts'
import type { Kill } from './kill.ts'
import type { Manual } from './manual.ts'
import type { Commander, OperatorAnswer, OperatorCommand } from './operatorCommand.ts'
import type { Reconciler } from './reconcile.ts'
import { liftCommand, liftText, OPERATOR } from './trading.ts'
import { trustMarket } from './trustMarket.ts'

/** What commands are carried out with. */
export interface OperatorContext
  extends Pick<
    EngineContext,
    'trading' | 'limits' | 'readLimits' | 'emit' | 'shell' | 'strategies' | 'catalogue' | 'api'
  > {
  readonly kill: Kill
  readonly manual: Manual
  readonly flattener: Pick<Flattener, 'want'>
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
  // A preview makes and changes nothing.
  if (command.type === 'open' && command.isPreview) return await context.manual.carryOut(command, by)
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
    case 'market':
      return await trustMarket(context, command.market, by)
    case 'flatten':
      return await flattenOrder(context, command, by)
    case 'open':
    case 'close':
    case 'cancel':
      return await context.manual.carryOut(command, by)
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
  if (name !== undefined && name !== OPERATOR && !strategies.some((each) => each.name === name)) {
    const known = strategies.map((each) => each.name).join(', ')
    return refusal('STRATEGY_UNKNOWN', `there is no strategy ${name}; there are ${known}`)
  }
  if (state !== 'active') {
    const isOperators = (hold: TradingHold) => hold.scope === scope && hold.cause === 'operator'
    const before = trading.holds().find(isOperators)
    await trading.put({ scope, cause: 'operator', state, reason, by, lifts: 'operator' })
    const ofScope = trading.holds().filter((hold) => hold.scope === scope)
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
      `trading ${was} ${state} ${placeOf(scope)}, ${why}${other}${more}; it goes on with: ${liftCommand(scope)}`,
    )
  }
  // The whole daemon goes on only when nothing of the account holds it back either.
  const reach = (each: TradingScope) => each === scope || (scope === 'global' && each === 'account')
  const lifted = trading.holds().filter((hold) => reach(hold.scope) && hold.lifts !== 'itself')
  if (lifted.some(({ cause }) => cause === 'drawdown' || cause === 'daily-loss')) await equity.rebase()
  for (const hold of lifted) {
    if (hold.cause === 'kill') await kill.abandon(by)
    await trading.lift(hold, by, reason)
  }
  // What holds a strategy alone is not lifted with the daemon's: who says "active" of everything is told.
  const left = [
    ...holdsOn(trading.holds(), name),
    ...(name === undefined ? trading.holds().filter((hold) => hold.scope.startsWith('strategy:')) : []),
  ]
  if (left.length === 0) return done(`trading is active ${placeOf(scope)}`)
  const words = left
    .map(
      (hold) => `${hold.state} ${placeOf(hold.scope)} by ${hold.cause} (${hold.reason}; ${liftText(hold)})`,
    )
    .join('; ')
  const isActive = holdsOn(trading.holds(), name).length === 0
  return done(
    isActive
      ? `trading is active ${placeOf(scope)}; still ${words}`
      : `released what an operator may release; still ${words}`,
  )
}

async function settleFinding(
  { reconciler }: OperatorContext,
  { findingId, as }: Extract<OperatorCommand, { type: 'finding' }>,
  by: string,
): Promise<OperatorAnswer> {
  const found = findingsNamed(reconciler.open(), findingId)
  const [one] = found
  if (one === undefined || found.length > 1) {
    const problem = one === undefined ? 'no open discrepancy has' : `${found.length} open discrepancies have`
    return refusal(
      'FINDING_UNKNOWN',
      `${problem} an id that begins with ${findingId}; perpd discrepancies lists them`,
    )
  }
  await reconciler.settle(one.finding.findingId, as, by)
  return done(`${as} by ${by}: ${one.finding.statement}`)
}

/** The open intent of an id or of its beginning, or a refusal. */
function openIntent({ shell }: OperatorContext, intentId: string): Intent | OperatorAnswer {
  const found = shell.open().filter(({ state }) => state.intent.intentId.startsWith(intentId))
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

async function flattenOrder(
  context: OperatorContext,
  { intentId, reason }: Extract<OperatorCommand, { type: 'flatten' }>,
  by: string,
): Promise<OperatorAnswer> {
  const intent = openIntent(context, intentId)
  if ('ok' in intent) return intent
  const denial = await context.flattener.want(intent.intentId, { by, reason })
  if (denial !== undefined) return refusal(denial.code, denial.reason)
  return done(`${namesOf(intent)} is to be unwound: if it lands, what it opens is closed; by ${by}`)
}

async function resolveOrder(
  context: OperatorContext,
  { intentId, as }: Extract<OperatorCommand, { type: 'resolve' }>,
  by: string,
): Promise<OperatorAnswer> {
  const { shell } = context
  const intent = openIntent(context, intentId)
  if ('ok' in intent) return intent
  if (!(await shell.resolve(intent.intentId, as, by))) {
    return refusal('ORDER_NOT_SIGNED', `${intent.intentId} was never signed: it closes by itself`)
  }
  return done(`${namesOf(intent)} is closed as ${as}, by ${by}`)
}

/** Where a scope reaches, in words. */
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
