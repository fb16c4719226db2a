/** Describes for people the event that lifts a halt. Pure. */
import type { ReleasedBy, TradingScope } from './tradingState.ts'

/** Describes for people the event that lifts a halt, with the command of its scope. */
export function releaseText({
  releasedBy,
  scope,
}: {
  readonly releasedBy: ReleasedBy
  readonly scope: TradingScope
}): string {
  switch (releasedBy) {
    case 'itself':
      return 'perpd releases it when the cause ends'
    case 'operator':
      return `an operator releases it: ${releaseCommand(scope)}`
    case 'next-day':
      return `perpd releases it on the next day (UTC), or an operator earlier: ${releaseCommand(scope)}`
  }
}

/** Returns the command that lifts a scope's halt, as far as an operator may. Halts of the account need the daemon's command. */
export function releaseCommand(scope: TradingScope): string {
  const name = scope.startsWith('strategy:') ? scope.slice('strategy:'.length) : undefined
  return `perpd trading active${name === undefined ? '' : ` --scope ${name}`}`
}
