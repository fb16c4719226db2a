/** Records of the limits in force: a start compares them with those of the run before. */
import { type Commander, LIMITS_IN_FORCE } from '../domain/accountRecords/tradingState.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'
import type { HasLimits, HasTrading } from './accountParts.ts'
import { changesOf, changeText, type Figures, figuresOf } from './liveLimits.ts'

/**
 * Records the limits in force at a start, when they differ from the run before. A restart may loosen limits; the loosened ones are reported and
 * persisted.
 */
export async function recordStartLimits(context: HasEmit & HasLimits & HasTrading): Promise<void> {
  const { limits, trading, emit } = context
  const now = figuresOf(limits.current())
  const before = trading.accountJournal.state().trading.limits
  if (before !== undefined) {
    // A strategy that came or went changes no limit of another.
    const scopes = strategiesOf(before).filter((scope) => strategiesOf(now).includes(scope))
    const isMeant = ({ scope }: { readonly scope: string }): boolean =>
      !scope.startsWith(strategyPrefix) || scopes.includes(scope)
    const changes = changesOf(before, now).filter(isMeant)
    const texts = (isTighter: boolean): string =>
      changes
        .filter((change) => change.isTighter === isTighter)
        .map(changeText)
        .join(', ')
    const words = [
      ...(texts(false) === '' ? [] : [`looser by this start: ${texts(false)}`]),
      ...(texts(true) === '' ? [] : [`tighter: ${texts(true)}`]),
    ].join('; ')
    if (words !== '') {
      emit({ type: 'limits.started', statement: words, isLooser: texts(false) !== '' })
      const command = { command: 'limits.changed', detail: words, by: starter.by, via: starter.via } as const
      await trading.accountJournal.write({ kind: 'operator.command', ...command })
    }
    if (changesOf(before, now).length === 0) return
  }
  await recordLimits(context, starter)
}

const starter: Commander = { by: 'the start', via: 'cli' }
const strategyPrefix = 'strategy '

/** Writes down the limits in force. Throws what the journal throws. */
export async function recordLimits(
  { limits, trading }: HasLimits & HasTrading,
  commander: Commander,
): Promise<void> {
  const detail = JSON.stringify(figuresOf(limits.current()))
  await trading.accountJournal.write({
    kind: 'operator.command',
    command: LIMITS_IN_FORCE,
    detail,
    ...commander,
  })
}

function strategiesOf(figures: Figures): readonly string[] {
  return [...new Set(Object.keys(figures).map((key) => key.slice(0, key.lastIndexOf('|'))))].filter((scope) =>
    scope.startsWith(strategyPrefix),
  )
}
