/** Commands for who writes strategies: their flags and help. */
import type { Command } from './call/command.ts'

const json = { name: 'json', doc: 'print JSON instead of text' } as const

/** Describes kinds, and begins files. They need no daemon. */
export const authorCommands: readonly Command[] = [
  {
    name: 'strategies describe',
    summary: 'Describe a kind of strategy: parameters with units and ranges, what it reads, an example.',
    positional: {
      name: 'KIND',
      doc: 'a kind, as trend; all of them are listed without it',
      isOptional: true,
    },
    flags: [json],
    run: async (call) => (await import('./strategies/describeCommand.ts')).describe(call),
  },
  {
    name: 'strategies new',
    summary: 'Write a commented strategy file to begin with; it is off until you turn it on.',
    details: 'A file that is there is never replaced without --force.',
    positional: { name: 'KIND', doc: 'a kind, as trend, or a file of your own, as ./mine.ts' },
    stray: [{ flag: 'market' }],
    flags: [
      {
        name: 'market',
        value: 'MARKET',
        doc: 'its whole symbol, or ETH where one market has it; "ETH/USD [WETH-USDC]" when not given',
      },
      { name: 'out', value: 'FILE', doc: 'where; strategies/MARKET-KIND.yaml when not given' },
      { name: 'force', doc: 'replace a file that is there' },
    ],
    run: async (call) => (await import('./strategies/newCommand.ts')).writeNew(call),
  },
]
