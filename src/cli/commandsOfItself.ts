/** Commands to begin with, and those about perpd itself: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

/** Commands that set up a new folder. */
export const firstCommands: readonly Command[] = [
  {
    name: 'init',
    isBare: true,
    takesNoSettings: true,
    summary:
      'Set up a folder with perpd.json and strategy files, with at most seven questions; paper by default.',
    details:
      'At a terminal it asks, unless --yes is given; a flag answers its question. It replaces an existing file only with --force,\nand writes the place of the key, never the key.',
    flags: [
      { name: 'yes', doc: 'ask nothing; without other flags: a trend follower on paper' },
      { name: 'profile', value: 'NAME', doc: 'paper, or the chain to trade real money on' },
      { name: 'kind', value: 'KIND', doc: 'the strategy, as trend (perpd strategies describe)' },
      { name: 'market', value: 'MARKET', doc: 'its whole symbol, or ETH where one market has it' },
      { name: 'size', value: 'USD', doc: 'size of one order' },
      {
        name: 'max-loss',
        value: 'USD',
        doc: 'daily loss at which increases stop',
      },
      {
        name: 'key',
        value: 'PLACE',
        doc: 'path of an encrypted key file, or PERPD_PRIVATE_KEY; never a key',
      },
      {
        name: 'rpc',
        value: 'URL',
        doc: 'an endpoint of the chain, or none; written only when it is a plain scheme and host, as https://arb1.example.org; any other part may be a key and belongs into PERPD__RPC__HTTP',
      },
      { name: 'force', doc: 'replace existing files' },
    ],
    examples: [
      'perpd init',
      'perpd init --yes',
      'perpd init --yes --kind grid --market "ETH/USD [WETH-USDC]" --size 200',
      'perpd init --yes --profile arbitrum --key var/live.json --max-loss 50',
    ],
    run: async (call) => (await import('./setup/init.ts')).init(call),
  },
  {
    name: 'doctor',
    isBare: true,
    summary: 'Check everything that perpd needs: files, disk, journal, hosts, chain, account; with remedies.',
    details:
      'Each check passes, warns or fails, with a remedy, within seconds. Nothing is changed, sent or started, and no key is opened.\nIt works before the first start and while a daemon runs. Exit code 1 when a check fails, 4 when the configuration does.',
    flags: [json],
    examples: ['perpd doctor', 'perpd doctor --profile arbitrum --json'],
    run: async (call) => (await import('./doctor/doctorCommand.ts')).doctor(call),
  },
]

/** Commands about perpd itself, and for the shell. */
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
