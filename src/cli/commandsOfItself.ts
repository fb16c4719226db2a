/** Commands to begin with, and those about perpd itself: their flags and help. */
import { json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'

/** Commands that set up a new folder. */
export const firstCommands: readonly Command[] = [
  {
    name: 'init',
    isBare: true,
    takesNoSettings: true,
    summary: 'Begin a folder: perpd.json and strategy files, by at most seven questions; paper first.',
    details:
      'At a terminal it asks, unless --yes is given; what a flag says is not asked. A file that is there is never replaced without --force,\nand no key is written: only where it is.',
    flags: [
      { name: 'yes', doc: 'ask nothing; what no flag says is as usual: a trend follower on paper' },
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
        doc: 'an endpoint of the chain, or none; written only when it is a scheme and a host of words, as https://arb1.example.org: what else it has may be a key, which goes into PERPD__RPC__HTTP',
      },
      { name: 'force', doc: 'replace files that are there' },
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
      'Each line passes, warns or fails, and says what to do. Nothing is changed, sent or started, and no key is opened; each check ends\nwithin seconds. It works before the first start and while a daemon runs. Exit code 1 when one fails, 4 when it is the configuration.',
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
