/** Commands about orders that take time: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'
import { type Sent, sent } from './call/sentCommands.ts'

/** Starts, lists and stops tasks. */
export const taskCommands: readonly (Command | Sent)[] = [
  sent('task start', async (call) => (await import('./taskVerbs/tasks.ts')).start(call)),
  {
    name: 'task list',
    isForRunning: true,
    summary: 'List tasks with their progress, used budget and current wait.',
    flags: [json],
    examples: ['perpd task list', 'perpd task list --json'],
    run: async (call) => (await import('./taskVerbs/tasks.ts')).list(call),
  },
  sent('task stop'),
]
