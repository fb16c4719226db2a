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
    examples: ['perpd strategies describe', 'perpd strategies describe trend'],
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
    examples: [
      'perpd strategies new trend --market "BTC/USD [BTC-USDC]"',
      'perpd strategies new ./mine.ts --out strategies/mine.yaml',
    ],
    run: async (call) => (await import('./strategies/newCommand.ts')).writeNew(call),
  },
  {
    name: 'strategies test',
    summary: 'Try a strategy file in made-up situations: what it decides, what is refused, what it comes to.',
    details:
      'Trend up and down, chop, a gap, a crash, a squeeze, stale data, no capacity: 240 turns each, the same each time. Nothing is\nread, sent or kept, and a file that is off is tried too. Exit code 1 when its kind throws or decides what is no decision.',
    positional: { name: 'FILE', doc: 'a strategy file, as strategies/eth-trend.yaml' },
    stray: [{ flag: 'situation' }],
    flags: [
      {
        name: 'situation',
        value: 'NAME',
        doc: 'this one alone, with all its decisions: trend-up, crash, ...',
      },
      json,
    ],
    examples: [
      'perpd strategies test strategies/eth-trend.yaml',
      'perpd strategies test strategies/eth-trend.yaml --situation crash',
    ],
    run: async (call) => (await import('./trial/testCommand.ts')).testStrategy(call),
  },
]
