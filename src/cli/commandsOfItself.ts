/** Commands to begin with, and those about perpd itself: their flags and help. */
import type { Command } from './call/command.ts'

const json = { name: 'json', doc: 'print JSON instead of text' } as const

/** What a new folder begins with. */
export const firstCommands: readonly Command[] = [
  {
    name: 'init',
    summary: 'Put the shipped strategy files into ./strategies, to begin in an empty folder.',
    details: 'A file that is there is never replaced.',
    flags: [],
    examples: ['perpd init'],
    run: async (call) => (await import('./commands/init.ts')).init(call),
  },
  {
    name: 'doctor',
    isBare: true,
    summary: 'Look at all that perpd stands on: files, disk, journal, hosts, chain, account; with remedies.',
    details:
      'Each line passes, warns or fails, and says what to do. Nothing is changed, sent or started, and no key is opened; each check ends\nwithin seconds. It works before the first start and beside a running daemon. Exit code 1 when one fails, 4 when it is the configuration.',
    flags: [json],
    examples: ['perpd doctor', 'perpd doctor --profile arbitrum --json'],
    run: async (call) => (await import('./doctor/doctorCommand.ts')).doctor(call),
  },
]

/** What perpd is, and what a shell needs of it. */
export const aboutCommands: readonly Command[] = [
  {
    name: 'version',
    isBare: true,
    summary: 'Print the version; with --json also Node, platform, schema of the journal and commit.',
    flags: [json],
    examples: ['perpd version', 'perpd version --json'],
    run: async (call) => (await import('./setup/versionCommand.ts')).printVersion(call),
  },
]
