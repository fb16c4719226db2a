/** Pauses and resumes one strategy for an operator: persisted in the journal, so that no restart forgets it. */
import type { EngineContext } from '../context/engineContext.ts'
import type { OperatorAnswer, OperatorCommand } from './operatorCommand.ts'

/** Carries out a pause or its end. Throws what the journal throws. */
export async function switchStrategy(
  { trading, emit, strategies }: Pick<EngineContext, 'trading' | 'emit' | 'strategies'>,
  { strategy, to, reason }: Extract<OperatorCommand, { readonly type: 'switch' }>,
  by: string,
): Promise<OperatorAnswer> {
  const { accountJournal } = trading
  const names = strategies().map(({ name }) => name)
  if (!names.includes(strategy)) {
    const known = names.length === 0 ? 'none runs' : `those that run are ${names.join(', ')}`
    return { ok: false, code: 'STRATEGY_UNKNOWN', reason: `no strategy ${strategy} runs; ${known}` }
  }
  const paused = accountJournal.state().strategies?.get(strategy)?.paused
  if (to === 'paused' && paused !== undefined) {
    const statement = `${strategy} was paused already, by ${paused.by}: ${paused.reason}`
    return { ok: true, statement }
  }
  await accountJournal.write({ kind: 'strategy.switched', strategy, to, reason, by })
  emit({ type: 'strategy.switched', strategy, to, reason, by })
  if (to === 'paused') {
    const statement = `${strategy} is paused by ${by}: it is not asked until perpd strategies resume ${strategy}; its orders and position stay as they are`
    return { ok: true, statement }
  }
  const was = paused === undefined ? 'was not paused' : `was paused by ${paused.by}`
  const protect = 'what its protections count begins anew'
  return { ok: true, statement: `${strategy} ${was} and goes on, by ${by}; ${protect}` }
}
