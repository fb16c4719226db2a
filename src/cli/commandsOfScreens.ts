/** Commands that draw on the terminal: their flags and help. */
import type { OwnFlag } from '../operator/commandLine.ts'
import type { Call, Command } from './call/command.ts'

/** `status --watch`. */
export const watchFlag: OwnFlag = {
  name: 'watch',
  value: 'SECONDS',
  isValueOptional: true,
  doc: 'refresh continuously, as perpd top; every 2 s when not given',
}

/** Watches several accounts on one screen where this flag is given. */
export function watchedTogether(flag: string) {
  return (calls: readonly Call[]): Promise<number> | undefined =>
    calls.some(({ flags }) => flags.has(flag))
      ? import('./live/topCommand.ts').then(({ watchAll }) => watchAll(calls, flag))
      : undefined
}

/** The live screen. */
export const topCommand: Command = {
  name: 'top',
  isForRunning: true,
  summary: 'Show what the running daemon is doing on a live screen; q or Ctrl-C ends it.',
  details:
    'The facts of `perpd status`, refreshed every 2 seconds. Arrows move a line, space and b (or PgDn and PgUp) a page, g and G to either end.\nWithout a terminal each status is printed below the last one. NO_COLOR=1 turns colours off.',
  stray: [{ flag: 'every' }],
  flags: [
    { name: 'every', value: 'SECONDS', doc: 'seconds between two reads, 0.5 or more; 2 when not given' },
  ],
  examples: ['perpd top', 'perpd top --every 5'],
  run: async (call) => (await import('./live/topCommand.ts')).top(call),
  together: async (calls) => (await import('./live/topCommand.ts')).watchAll(calls, 'every'),
}
