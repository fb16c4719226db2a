/** Commands that draw on the terminal: their flags and help. */
import type { OwnFlag } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

/** `status --watch`. */
export const watchFlag: OwnFlag = {
  name: 'watch',
  value: 'SECONDS',
  isValueOptional: true,
  doc: 'show it again and again, as perpd top; every 2 s when not given',
}

/** The live screen. */
export const topCommand: Command = {
  name: 'top',
  isForRunning: true,
  summary: 'Show what the running daemon is doing on a live screen; q or Ctrl-C ends it.',
  details:
    'The facts of `perpd status`, read anew every 2 seconds. Arrows and space move where they do not fit. Without a terminal\none status is printed below the other. NO_COLOR=1 leaves colours out.',
  stray: [{ flag: 'every' }],
  flags: [{ name: 'every', value: 'SECONDS', doc: 'time between two looks, 0.5 or more; 2 when not given' }],
  examples: ['perpd top', 'perpd top --every 5'],
  run: async (call) => (await import('./live/topCommand.ts')).top(call),
}
