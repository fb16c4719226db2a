/** Commands that look at what the daemon holds, and those that make orders by hand: their flags and help. */
import { csv, json } from '../operator/commandLine.ts'
import type { Command } from './call/command.ts'
import { type Sent, sent } from './call/sentCommands.ts'

/** Commands that show positions and activity. */
export const lookCommands: readonly (Command | Sent)[] = [
  {
    name: 'positions',
    isForRunning: true,
    summary: 'List positions: size, prices, liquidation, PnL, and their strategies.',
    flags: [csv, json],
    examples: ['perpd positions', 'perpd positions --json', 'perpd positions --csv > positions.csv'],
    run: async (call) => (await import('./verbs/positionsCommand.ts')).positions(call),
  },
  {
    name: 'balance',
    summary: 'Show the tokens in the wallet and in positions.',
    flags: [json],
    examples: ['perpd balance', 'perpd balance --json'],
    run: async (call) => (await import('./verbs/balance.ts')).balance(call),
  },
  {
    name: 'strategies',
    summary: 'List strategies: state, last decision, and positions.',
    flags: [json],
    details: 'The same is perpd strategies list.',
    examples: ['perpd strategies', 'perpd strategies --json'],
    run: async (call) => (await import('./verbs/strategiesCommand.ts')).strategies(call),
  },
  sent('strategies forget'),
  sent('strategies set', async (call) =>
    (await import('./strategies/reloadCommand.ts')).setStrategyField(call),
  ),
  sent('strategies reload', async (call) => (await import('./strategies/reloadCommand.ts')).reload(call)),
  sent('strategies pause'),
  sent('strategies resume'),
  {
    name: 'console',
    isForRunning: true,
    summary: 'Print a link to the web console of the running daemon; it works once, for ten minutes.',
    details:
      'The link opens a session in your browser: it ends after 12 hours, or after one hour without a request. Share it with nobody.\nFrom another machine: ssh -L 9464:127.0.0.1:9464 HOST, and open it there. More: docs/console.md.',
    flags: [{ name: 'read', doc: 'for a read-only session' }, json],
    examples: ['perpd console', 'perpd console --read'],
    run: async (call) => (await import('./live/consoleCommand.ts')).consoleLink(call),
  },
  {
    name: 'logs',
    summary: "Print the newest lines of the running daemon's log; times are UTC.",
    details:
      'The daemon writes its log to standard output and keeps the newest 2,000 lines in\nmemory, which are shown here. Older ones: journalctl -u perpd, docker logs, the file of log.file.',
    stray: [{ flag: 'level' }],
    flags: [
      { name: 'follow', doc: 'keep printing new lines' },
      {
        name: 'level',
        value: 'LEVEL',
        doc: 'debug, info, warn or error and above; info when not given',
      },
      {
        name: 'strategy',
        value: 'NAME',
        among: 'strategies',
        doc: 'only lines about this strategy and its orders',
      },
      {
        name: 'order',
        value: 'ID',
        among: 'orders',
        doc: 'only lines about this order; the first characters of its id suffice',
      },
      { name: 'lines', value: 'N', doc: 'number of stored lines to begin with; 50 when not given' },
      json,
    ],
    examples: [
      'perpd logs --follow',
      'perpd logs --level warn --lines 200',
      'perpd logs --strategy eth-trend --follow',
      'perpd logs --order 7944b4ff --level debug',
      'perpd logs --json',
    ],
    run: async (call) => (await import('./verbs/logsCommand.ts')).logs(call),
    together: (calls) =>
      calls.some(({ flags }) => flags.has('follow'))
        ? import('./verbs/logsCommand.ts').then(({ logsOfAll }) => logsOfAll(calls))
        : undefined,
  },
  sent('log level', async (call) => (await import('./verbs/logLevel.ts')).logLevel(call)),
]

/** Orders by hand. */
export const handCommands: readonly (Command | Sent)[] = [
  sent('open', async (call) => (await import('./verbs/manualOrderCommand.ts')).open(call)),
  sent('close', async (call) =>
    call.flags.has('all')
      ? (await import('./verbs/closeAllCommand.ts')).closeAll(call)
      : (await import('./verbs/manualOrderCommand.ts')).close(call),
  ),
  sent('protect'),
  sent('move', async (call) => (await import('./verbs/manualOrderCommand.ts')).move(call)),
  sent('cancel', async (call) => (await import('./verbs/manualOrderCommand.ts')).cancel(call)),
]
