/** Commands about what people outside are told: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

/** Tries the sinks of notices. */
export const noticeCommands: readonly Command[] = [
  {
    name: 'notify test',
    summary: 'Send a test message to every sink of notify.sinks, or to one, and report the result.',
    details: 'It is sent from here, whether the daemon runs or not (docs/notifications.md).',
    positional: { name: 'sink', doc: 'name of a sink; all when not given', isOptional: true },
    flags: [json],
    examples: ['perpd notify test', 'perpd notify test telegram --json'],
    run: async (call) => (await import('./setup/notifyCommand.ts')).notifyTest(call),
  },
]
