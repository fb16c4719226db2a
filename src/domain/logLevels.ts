/** Levels of the log, and the components that may have a separate level: the parts of events' names before their first dot. */

/** Levels, the least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** Severity of a line. */
export type LogLevel = (typeof logLevels)[number]

/** Every component that writes lines. */
export const logComponents = [
  'account',
  'capacity',
  'chain',
  'chat',
  'claim',
  'console',
  'daemon',
  'decision',
  'evidence',
  'feed',
  'files',
  'fleet',
  'host',
  'journal',
  'key',
  'kill',
  'limits',
  'listener',
  'log',
  'market',
  'notice',
  'operator',
  'order',
  'paper',
  'price',
  'recording',
  'rows',
  'signal',
  'strategy',
  'subaccount',
  'systemd',
  'task',
  'tick',
  'trace',
  'trading',
  'unwind',
  'watchdog',
  'windDown',
] as const

/** One of them. */
export type LogComponent = (typeof logComponents)[number]

/** The level of one component. */
export interface ComponentLevel {
  readonly component: LogComponent
  readonly level: LogLevel
}

/** `host=debug` as what it means; undefined when it names no component or no level. */
export function componentLevelOf(text: string): ComponentLevel | undefined {
  const [name, word, ...more] = text.split('=')
  const component = logComponents.find((each) => each === name)
  const level = logLevels.find((each) => each === word)
  return component === undefined || level === undefined || more.length > 0 ? undefined : { component, level }
}
