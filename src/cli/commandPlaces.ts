/** Every command in its place, its flags and its help; the code of each is loaded only when it runs. */
import { tradeFilters } from '../books/tradeFilter.ts'
import { csv, json, liveSubjects } from '../operator/commandLine.ts'
import { accountFlag } from './call/accountModes.ts'
import type { Command } from './call/command.ts'
import { type RowLines, type Sent, sent, withSent } from './call/sentCommands.ts'
import { handCommands, lookCommands } from './commandsByHand.ts'
import { dataCommands } from './commandsOfData.ts'
import { aboutCommands, firstCommands } from './commandsOfItself.ts'
import { keyCommands } from './commandsOfKeys.ts'
import { noticeCommands } from './commandsOfNotices.ts'
import { topCommand, watchedTogether, watchFlag } from './commandsOfScreens.ts'
import { authorCommands } from './commandsOfStrategies.ts'
import { taskCommands } from './commandsOfTasks.ts'

const configurationExit = {
  name: 'configuration-exit',
  value: 'CODE',
  doc: 'exit code when the configuration cannot be used; 4 when not given',
} as const
const table: readonly (Command | Sent)[] = [
  ...firstCommands,
  {
    name: 'run',
    summary: 'Run the daemon: trade the strategies until a signal stops it.',
    details:
      'The paper profile is the default: play money, a venue inside the daemon, no key and no account needed.\nOn the first SIGINT or SIGTERM it follows open orders for a while and exits; on the second it exits at once.',
    flags: [configurationExit],
    examples: [
      'perpd run',
      'perpd run --profile arbitrum --account.keystore var/live.json --account.owner 0xYOURS',
    ],
    run: async (call) => (await import('./verbs/runCommand.ts')).runCommand(call),
  },
  {
    name: 'standby',
    summary: 'Run the daemon on each of several machines: one trades, the others wait and take over.',
    details:
      'As run with journal.standby. It trades while no other perpd holds the journal in the database (journal.url); perpd status names the holder.\nIt takes over seconds after the holder stops or dies.',
    sets: ['--journal.standby=true'],
    flags: [configurationExit],
    examples: ['perpd standby', 'perpd standby --config /etc/perpd/perpd.json'],
    run: async (call) => (await import('./verbs/runCommand.ts')).runCommand(call),
  },
  {
    name: 'paper',
    summary: 'Serve the paper venue alone, over both APIs, until a signal stops it.',
    flags: [
      { name: 'print-hosts', doc: 'print the addresses it serves as JSON, by chain' },
      { name: 'print-config', doc: 'print a configuration for perpd that points at it, for --config' },
      {
        name: 'state',
        value: 'FILE',
        setting: 'paper.stateFile',
        doc: 'save the state in FILE and resume from it at the next start; short for --paper.stateFile',
      },
    ],
    examples: [
      'perpd paper --print-hosts',
      'perpd paper --print-config > venue.json',
      'perpd paper --state venue-state.json',
    ],
    run: async (call) => (await import('./verbs/paperCommand.ts')).paper(call),
  },
  {
    name: 'check',
    summary: 'Check the configuration and the strategy files, or one file; without network.',
    positional: { name: 'FILE', doc: 'a strategy file, as strategies/eth-trend.yaml', isOptional: true },
    flags: [json],
    examples: [
      'perpd check',
      'perpd check strategies/eth-trend.yaml',
      'perpd check --profile arbitrum --json',
    ],
    run: async (call) => (await import('./verbs/check.ts')).check(call),
  },
  {
    name: 'config',
    summary: 'Show the effective configuration, each value with its source.',
    details:
      'With a name: meaning, unit, range, value in force and origin of that setting, or of each one of that section.',
    positional: {
      name: 'SETTING',
      doc: "a setting's name, as risk.maxDailyLossUsd, or a section's, as risk",
      isOptional: true,
    },
    stray: [{ flag: 'search' }],
    flags: [{ name: 'search', value: 'TEXT', doc: 'only settings with this in their name, as risk' }, json],
    examples: [
      'perpd config',
      'perpd config risk.maxDailyLossUsd',
      'perpd config risk',
      'perpd config --search MaxUsd',
      'perpd config --profile arbitrum --json',
    ],
    run: async (call) => (await import('./verbs/showConfig.ts')).showConfig(call),
  },
  {
    name: 'status',
    isForRunning: true,
    summary: 'Show what the running daemon is doing.',
    stray: [{ flag: 'watch' }],
    flags: [
      watchFlag,
      {
        name: 'alive',
        doc: 'for probes: only check that it is alive, as /livez does; exit code 0 when it is, 1 when not',
      },
      json,
    ],
    examples: ['perpd status', 'perpd status --json', 'perpd status --watch 5', 'perpd status --alive'],
    run: async (call) => {
      if (call.flags.has('alive')) return (await import('./verbs/statusCommand.ts')).alive(call)
      return call.flags.has('watch')
        ? (await import('./live/topCommand.ts')).watchStatus(call, 'watch')
        : (await import('./verbs/statusCommand.ts')).status(call)
    },
    together: watchedTogether('watch'),
  },
  topCommand,
  ...lookCommands,
  ...authorCommands,
  ...dataCommands,
  ...handCommands,
  ...taskCommands,
  ...noticeCommands,
  sent('trading', async (call) => (await import('./verbs/tradingCommand.ts')).trading(call)),
  sent(
    'kill',
    async (call) => (await import('./verbs/killCommand.ts')).kill(call),
    async (calls) => (await import('./verbs/killCommand.ts')).killAll(calls),
  ),
  {
    name: 'limits',
    isForRunning: true,
    summary: 'Show the limits in force, and which are configured differently; nothing is changed.',
    elsewhere: { flags: ['confirm', 'by'], command: 'limits apply' },
    flags: [json],
    examples: ['perpd limits', 'perpd limits --json'],
    run: async (call) => (await import('./verbs/tradingCommand.ts')).limits(call),
  },
  sent('limits apply', async (call) => (await import('./verbs/tradingCommand.ts')).applyLimits(call)),
  sent('limits tighten', async (call) => (await import('./verbs/tradingCommand.ts')).tightenLimit(call)),
  {
    name: 'orders',
    isOfJournal: true,
    summary: 'List orders: those that rest, then all, newest first; works without the daemon too.',
    details:
      'A resting order has its type (stop, target, limit, stop entry), its trigger and how far that is from the mark, its size in force and\nits owner: an instance, a task, by hand, or others, whose client is not this perpd.',
    stray: [{ flag: 'strategy' }],
    flags: [
      { name: 'open', doc: 'only orders that have not ended' },
      { name: 'resting', doc: "only what rests at the venue, with orders of the account's other clients" },
      { name: 'strategy', value: 'NAME', among: 'strategies', doc: 'only orders of this strategy' },
      { name: 'limit', value: 'N', doc: 'at most this many; 50 when not given' },
      json,
    ],
    examples: [
      'perpd orders',
      'perpd orders --resting --json',
      'perpd orders --open --strategy eth-trend',
      'perpd orders --limit 500 --json',
    ],
    run: async (call) => (await import('./verbs/ordersCommand.ts')).orders(call),
  },
  {
    name: 'trades',
    isOfJournal: true,
    summary: 'List fills of orders, or closed trades, newest first; works without the daemon too.',
    details:
      'A closed trade is a round trip: a part of a position from opening to nothing left. Filters other than --strategy are of closed trades.\nIn a file of --csv amounts have all digits, and the last row is the sum.',
    stray: [{ flag: 'strategy' }],
    flags: [
      { name: 'limit', value: 'N', doc: 'at most this many; 50 when not given' },
      { name: 'round-trips', doc: 'closed trades, from opening to nothing left, with PnL after all costs' },
      ...tradeFilters.map(({ testOf: _, ...flag }) => flag),
      csv,
      json,
    ],
    examples: [
      'perpd trades',
      'perpd trades --strategy eth-trend --limit 100',
      'perpd trades --round-trips --from 7d --reason stop',
      'perpd trades --round-trips --csv > trades.csv',
    ],
    run: async (call) => (await import('./verbs/tradesCommand.ts')).trades(call),
  },
  {
    name: 'pnl',
    summary: 'Show the result of each strategy after all costs; works without the daemon too.',
    details:
      'Each strategy has its own book: strategies that share a position each have the PnL from their own entry. A part that no\nstrategy opened, or of unknown origin, is unattributed. The rules: docs/books.md.',
    stray: [{ flag: 'by' }],
    flags: [
      { name: 'by', value: 'WHAT', doc: 'strategy, market, day, week or month; strategy when not given' },
      { name: 'since', value: 'DAY', doc: 'from this day on (UTC), as 2027-01-15, or 7d for the last seven' },
      csv,
      json,
    ],
    examples: ['perpd pnl', 'perpd pnl --by day --since 7d', 'perpd pnl --by market --csv'],
    run: async (call) => (await import('./results/pnlCommand.ts')).pnl(call),
  },
  sent('orders resolve', async (call) => (await import('./verbs/resolveCommand.ts')).resolve(call)),
  sent('orders unwind', async (call) => (await import('./verbs/unwind.ts')).unwind(call)),
  {
    name: 'discrepancies',
    summary:
      'List discrepancies: changes of the account that the journal cannot explain; works without the daemon too.',
    flags: [{ name: 'all', doc: 'settled ones too' }, json],
    examples: ['perpd discrepancies', 'perpd discrepancies --all --json'],
    run: async (call) => (await import('./verbs/discrepancies.ts')).discrepancies(call),
  },
  ...(['adopt', 'ignore'] as const).map((word) =>
    sent(`discrepancies ${word}`, async (call) =>
      (await import('./verbs/discrepancies.ts')).settleDiscrepancy(
        call,
        word === 'adopt' ? 'adopted' : 'ignored',
      ),
    ),
  ),
  {
    name: 'markets',
    summary:
      'List markets: price, change, open interest, rates, capacity, fees, and why some block increases.',
    details:
      "shipped: facts came with perpd. proven: by the chain. trusted: by an operator. untrusted: hosts' statements only. contradicted: a host\ndisagrees with the pinned facts. Increases on the last two wait; reductions use the pinned facts.",
    positional: { name: 'TEXT', doc: 'only markets with this in their symbol, as BTC', isOptional: true },
    flags: [
      { name: 'search', value: 'TEXT', doc: 'the same as a flag' },
      {
        name: 'sort',
        value: 'WHAT',
        words: ['oi', 'change', 'capacity'],
        doc: 'oi, change or capacity, the largest first; by symbol when not given',
      },
      { name: 'open', doc: 'only markets that are open, and that increases may use' },
      { name: 'capacity', value: 'USD', doc: 'only markets with this capacity on a side, or more' },
      json,
    ],
    examples: [
      'perpd markets',
      'perpd markets --sort oi --open --capacity 1000000',
      'perpd markets ETH --json',
    ],
    run: async (call) => (await import('./verbs/marketsCommand.ts')).markets(call),
  },
  sent('markets trust'),
  ...keyCommands,
  {
    name: 'message',
    summary: 'Explain typed data of the venue before a wallet signs it: its effect, every field, its digest.',
    details:
      'Reads a file as wallets take it (eth_signTypedData_v4), and shows type, contract, every field, and the digest that perpd computes.\nNothing is signed or sent. Exit code 1, with the reasons, for data that the venue refuses, or that never expires.',
    positional: { name: 'FILE', doc: 'a file of typed data, as perpd subaccount approve --out writes it' },
    flags: [],
    examples: ['perpd message ask.json'],
    run: async (call) => (await import('./verbs/messageCommand.ts')).showMessage(call),
  },
  {
    name: 'journal verify',
    summary:
      'Check the whole journal: hashes, stories, tables, mark and snapshot; works while the daemon runs.',
    details: 'Exit code 0 when all checks pass, 1 when one fails; the first bad record is named.',
    flags: [json],
    examples: ['perpd journal verify', 'perpd journal verify --json'],
    run: async (call) => (await import('./verbs/journalCommand.ts')).journalVerify(call),
  },
  {
    name: 'journal export',
    summary: 'Print the records as JSON lines; works while the daemon runs.',
    flags: [
      { name: 'since', value: 'TIME', doc: 'only records from this time on, as 2027-01-15T08:00:00Z' },
      {
        name: 'intent',
        value: 'ID',
        among: 'orders',
        doc: 'only records of this order, by its id or its first characters',
      },
      {
        name: 'signatures',
        doc: 'include signatures: anyone who has one can send the order until its deadline',
      },
    ],
    examples: [
      'perpd journal export > records.jsonl',
      'perpd journal export --since 2027-01-15T08:00:00Z --intent 7944b4ff',
    ],
    run: async (call) => (await import('./verbs/journalCommand.ts')).journalExport(call),
  },
  {
    name: 'journal compact',
    summary: 'Read the whole journal and write a snapshot for a quick start; stop the daemon first.',
    details:
      'A running daemon does this every 10,000 records. No record is removed: the chain of hashes stays whole.',
    flags: [],
    examples: ['perpd journal compact'],
    run: async (call) => (await import('./verbs/journalCommand.ts')).journalCompact(call),
  },
  {
    name: 'journal copy',
    summary:
      'Copy all records between the file journal.path and the database journal.url; stop the daemon first.',
    details:
      'Both then have the same chain of hashes. What was cut off is resumed. To the database: the file stays, and perpd refuses it once the\ndatabase has more records. To the file: it must not exist yet; after it remove journal.url.',
    flags: [{ name: 'to', value: 'PLACE', doc: 'database or file' }],
    examples: ['perpd journal copy --to database', 'perpd journal copy --to file'],
    run: async (call) => (await import('./verbs/journalCommand.ts')).journalCopy(call),
  },
  {
    name: 'journal accept-loss',
    summary: 'Continue with a journal that lost records; stop the daemon first.',
    details:
      'For JOURNAL_ROLLED_BACK when no newer copy is left. A lost record may hold a signature that can still land, so perpd\nmakes no new orders until the longest possible deadline has passed. The journal records your name.',
    flags: [{ name: 'by', value: 'NAME', doc: 'name of who accepts it' }],
    examples: ['perpd journal accept-loss --by ann'],
    run: async (call) => (await import('./verbs/journalCommand.ts')).journalAcceptLoss(call),
  },
  {
    name: 'fleet',
    summary: 'Show the nodes of a fleet and who holds each account; needs no daemon.',
    details:
      'Asks the database of the journals. Exit code 1 when no node lives, and when an account is held by nobody or by a silent node.',
    flags: [json],
    examples: ['perpd fleet', 'perpd fleet --json'],
    run: async (call) => (await import('./live/fleetCommand.ts')).showFleet(call),
  },
  sent('fleet move', async (call) => (await import('./live/fleetCommand.ts')).sendFleet(call, 'moveAccount')),
  sent('fleet drain', async (call) => (await import('./live/fleetCommand.ts')).sendFleet(call, 'drainNode')),
  {
    name: 'explain',
    isOfJournal: true,
    summary: 'Explain one order: its reason, its size, the message sent, and the proof of its end.',
    positional: {
      name: 'intentId',
      among: 'orders',
      doc: "an order's id, or its first characters; perpd orders lists them",
    },
    flags: [json],
    examples: ['perpd explain 7944b4ff', 'perpd explain 7944b4ff --json'],
    run: async (call) => (await import('./story/explain.ts')).explain(call),
  },
  ...aboutCommands,
]

/** All commands, in the order of the help. `rows`: the lines of operator commands. */
export function commandsWith(rows: readonly RowLines[]): readonly Command[] {
  const completion: Command = {
    name: 'completion',
    isBare: true,
    isForProgram: true,
    summary: 'Print shell completion for perpd: commands, flags, and the names that the running daemon has.',
    details:
      "For bash: source <(perpd completion bash). For zsh: source <(perpd completion zsh), behind compinit. For fish: perpd completion fish | source.\nPut that line into your shell's start-up file. Its script asks the running daemon for orders, strategies, tasks, discrepancies and markets,\nas perpd completion orders does: a name on each line, and what it is behind a tab. Without a daemon there are none, and no error.",
    positional: { name: 'shell', doc: `bash, zsh or fish; or ${liveSubjects.join(', ')}` },
    flags: [],
    examples: ['perpd completion bash', 'perpd completion zsh', 'perpd completion fish'],
    run: async (call) => {
      const subject = liveSubjects.find((each) => each === call.positionals[0])
      // Someone waits at a prompt: the words of a script are not loaded for the names of a running daemon.
      if (subject !== undefined) return (await import('./setup/liveNames.ts')).printNames(call, subject)
      const withAccounts = all.map((each) =>
        each.accounts === undefined ? each : { ...each, flags: [...each.flags, accountFlag] },
      )
      return (await import('./setup/completionCommand.ts')).completion(call, withAccounts)
    },
  }
  const all = withSent([...table, completion], rows)
  return all
}
