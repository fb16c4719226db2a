/** Commands that look at what the daemon holds, and those that make orders by hand: their flags and help. */
import type { Command } from './call/command.ts'

const byFlag = { name: 'by', value: 'NAME', doc: 'who says so; your user name when not given' } as const
const json = { name: 'json', doc: 'print JSON instead of text' } as const
const csv = { name: 'csv', doc: 'print rows for a spreadsheet' } as const
const onceById = {
  name: 'id',
  value: 'ID',
  doc: 'asked again with the same id it is not done twice; 4 to 40 letters, digits, . _ or -; random when not given',
} as const
const noWait = { name: 'no-wait', doc: 'do not follow the order to its outcome' } as const
const collateralFlag = {
  name: 'collateral',
  value: 'SIDE',
  doc: "long or short: which token of the market's pool backs the position",
} as const
const marketName = {
  name: 'market',
  doc: 'a market: its whole symbol, as "ETH/USD [WETH-USDC]", its address, or ETH where one market has it',
} as const
const directionName = { name: 'direction', doc: 'long or short' } as const

/** Commands that show positions and activity. */
export const lookCommands: readonly Command[] = [
  {
    name: 'positions',
    isForRunning: true,
    summary: 'List what is held: size, prices, liquidation, PnL, and who manages it.',
    flags: [csv, json],
    examples: ['perpd positions', 'perpd positions --json', 'perpd positions --csv > positions.csv'],
    run: async (call) => (await import('./commands/positionsCommand.ts')).positions(call),
  },
  {
    name: 'balance',
    summary: 'Show what is in the wallet and in positions.',
    flags: [json],
    examples: ['perpd balance', 'perpd balance --json'],
    run: async (call) => (await import('./commands/balance.ts')).balance(call),
  },
  {
    name: 'strategies',
    summary: 'List strategies: state, last decision, and the positions each looks at.',
    flags: [json],
    details: 'The same is perpd strategies list.',
    examples: ['perpd strategies', 'perpd strategies --json'],
    run: async (call) => (await import('./commands/strategiesCommand.ts')).strategies(call),
  },
  {
    name: 'strategies forget',
    isForRunning: true,
    summary: "Drop a strategy's memory: it begins anew at its next turn.",
    details:
      'For a memory that fits its kind no longer, or that is wrong. Its orders and positions stay as they are; the strategy\nknows nothing of what it did before. Kept in the journal, with who said so.',
    positional: { name: 'NAME', doc: 'the strategy, as in perpd strategies' },
    flags: [byFlag, json],
    examples: ['perpd strategies forget eth-trend --by ann'],
    run: async (call) => (await import('./commands/strategiesCommand.ts')).forget(call),
  },
  {
    name: 'strategies set',
    isForRunning: true,
    summary: 'Change one field in the file of a strategy, and take it over; shown, and confirmed.',
    details:
      'The file keeps its comments; it is checked whole with the change before anything is written. Fields that only a restart takes\nover, lists and blocks are changed by hand. `enabled` switches it off and on again, over restarts too: its file says so.',
    positional: {
      name: 'NAME',
      doc: 'the name of a strategy that runs, or that is switched off in its file',
    },
    more: [
      { name: 'field', doc: 'a field, dotted: params.fastCandles, size.usd, limits.maxOrdersPerHour' },
      { name: 'value', doc: 'its value, as it is written in the file: 20, long, "09:00"' },
    ],
    flags: [
      { name: 'confirm', doc: 'let a looser limit take effect too' },
      { name: 'yes', doc: 'do not ask' },
      byFlag,
      json,
    ],
    examples: [
      'perpd strategies set eth-trend params.fastCandles 20 --yes',
      'perpd strategies set eth-trend size.usd 300',
      'perpd strategies set eth-trend enabled true --yes',
    ],
    run: async (call) => (await import('./strategies/reloadCommand.ts')).setStrategyField(call),
  },
  {
    name: 'strategies reload',
    isForRunning: true,
    summary: 'Have the running daemon take over strategy files that changed, came or went.',
    details:
      'All files are checked first; with anything wrong in one of them nothing changes. Each change holds from the next turn of its\nstrategy and is kept in the journal. Looser limits take effect at a restart, or with --confirm. The same without the port: kill\n-HUP PID. By itself: strategies.watch.',
    flags: [
      { name: 'dry-run', doc: 'only show what would be taken over' },
      { name: 'confirm', doc: 'loosen limits too' },
      byFlag,
      json,
    ],
    examples: ['perpd strategies reload --dry-run', 'perpd strategies reload --confirm --by ann'],
    run: async (call) => (await import('./strategies/reloadCommand.ts')).reload(call),
  },
  ...(['pause', 'resume'] as const).map(
    (word): Command => ({
      name: `strategies ${word}`,
      isForRunning: true,
      summary:
        word === 'pause'
          ? 'Pause a strategy: it is not asked any more; its orders and position stay.'
          : 'Let a paused strategy go on; what its protections count begins anew.',
      details:
        word === 'pause'
          ? 'Kept in the journal, so that a restart does not wake it. Orders in flight continue, exits rest at the venue, and exits that lost\ntheir position are cancelled. To have it reduce only: perpd trading reducing --scope NAME.'
          : 'It also lifts what `protect` of its file holds back: a drawdown that was realized, stops in a window, a cooldown.',
      positional: { name: 'NAME', doc: 'the strategy, as in perpd strategies' },
      flags: [{ name: 'reason', value: 'TEXT', doc: 'why, for the journal' }, byFlag, json],
      examples: [`perpd strategies ${word} eth-trend --by ann`],
      run: async (call) => (await import('./strategies/reloadCommand.ts')).switchStrategy(call, word),
    }),
  ),
  {
    name: 'console',
    isForRunning: true,
    summary: 'Print a link to the web console of the running daemon; it works once, for ten minutes.',
    details:
      'The link begins a session in the browser that opens it: 12 hours at most, one without a request. Give it to nobody.\nFrom another machine: ssh -L 9464:127.0.0.1:9464 HOST, and open it there. More: docs/console.md.',
    flags: [{ name: 'read', doc: 'for a session that sees everything and commands nothing' }, json],
    examples: ['perpd console', 'perpd console --read'],
    run: async (call) => (await import('./console/consoleCommand.ts')).consoleLink(call),
  },
  {
    name: 'logs',
    summary: "Print the newest lines of the running daemon's log; times are UTC.",
    details:
      'The daemon writes its log to standard output and keeps the newest 2,000 lines in\nmemory, which are shown here. Older ones: journalctl -u perpd, docker logs, the file of log.file.',
    stray: [{ flag: 'level' }],
    flags: [
      { name: 'follow', doc: 'go on with what comes' },
      {
        name: 'level',
        value: 'LEVEL',
        doc: 'debug, info, warn or error and above; info when not given',
      },
      { name: 'strategy', value: 'NAME', doc: 'only lines about this strategy and its orders' },
      { name: 'order', value: 'ID', doc: 'only lines about this order; the first characters of its id do' },
      { name: 'lines', value: 'N', doc: 'begin with so many lines; 50 when not given' },
      json,
    ],
    examples: [
      'perpd logs --follow',
      'perpd logs --level warn --lines 200',
      'perpd logs --strategy eth-trend --follow',
      'perpd logs --order 7944b4ff --level debug',
      'perpd logs --json',
    ],
    run: async (call) => (await import('./commands/logsCommand.ts')).logs(call),
  },
  {
    name: 'log level',
    isForRunning: true,
    summary: 'Show or change what the running daemon writes into its log, of one component or of all others.',
    details:
      'Without arguments it shows the level of every component now. Levels are debug, info, warn and error; components are the first words of events (docs/reference/events.md).\nIt holds until the settings are read anew (perpd limits apply, SIGHUP) or the daemon starts again; what is to\nstay is log.level and log.levels.',
    positional: { name: 'component', doc: 'a component, and a level; or a level alone', isOptional: true },
    more: [{ name: 'level', doc: 'debug, info, warn or error', isOptional: true }],
    flags: [{ name: 'by', value: 'NAME', doc: 'who says so; your user name when not given' }, json],
    examples: ['perpd log level', 'perpd log level host debug', 'perpd log level warn --by ann'],
    run: async (call) => (await import('./commands/logLevel.ts')).logLevel(call),
  },
]

/** Orders by hand. */
export const handCommands: readonly Command[] = [
  {
    name: 'open',
    summary: 'Open or add to a position by hand; shown with its costs, and confirmed.',
    details:
      'Limits, halts and budgets apply to it as to a strategy; it is made whole or not\nat all. No strategy owns it. Exit code 0: filled or resting; 1: refused, or it\ncame to nothing; 5: its end is not known after a minute.\n\nExits close at most what this order adds: of a position that is added to, the size\nthat was held before keeps the exits it has. Those of an order that waits (--limit,\n--stop) rest from the start: on a side that is held already, one whose price is\nreached first closes a part of that.',
    positional: marketName,
    more: [directionName],
    stray: [{ flag: 'size' }, { flag: 'leverage', initial: '2' }],
    flags: [
      { name: 'size', value: 'USD', doc: 'size of the position to add' },
      { name: 'leverage', value: 'N', doc: 'size / collateral, 1 or more: 2.5' },
      { ...collateralFlag, doc: `${collateralFlag.doc}; short when not given` },
      { name: 'limit', value: 'PRICE', doc: 'wait for a better price' },
      { name: 'stop', value: 'PRICE', doc: 'wait for a worse price; fills at any price then' },
      { name: 'take-profit', value: 'PRICE', doc: 'close the added size at this price' },
      { name: 'stop-loss', value: 'PRICE', doc: 'close the added size at this price' },
      { name: 'yes', doc: 'do not ask' },
      onceById,
      noWait,
      byFlag,
      json,
    ],
    examples: [
      'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2',
      'perpd open "ETH/USD [WETH-USDC]" short --size 100 --leverage 2 --limit 2100 --stop-loss 2200 --take-profit 1900',
      'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2 --yes --json --id morning-1',
    ],
    run: async (call) => (await import('./commands/manualOrderCommand.ts')).open(call),
  },
  {
    name: 'close',
    isForRunning: true,
    summary: 'Close a position, a share of it, or all positions at the market; ignores every halt.',
    details:
      'At a terminal it asks first, unless --yes is given; a script is asked nothing, but needs --yes with --all.\nWith --all it shows what is held, asks once, and says what became of each. To halt and\ncancel what rests besides: perpd kill --close.',
    positional: { ...marketName, isOptional: true },
    more: [directionName],
    stray: [{ flag: 'share' }],
    flags: [
      { name: 'all', doc: 'every position' },
      { name: 'yes', doc: 'do not ask' },
      { name: 'share', value: 'PERCENT', doc: 'how much of it; 100 when not given' },
      collateralFlag,
      onceById,
      noWait,
      byFlag,
      json,
    ],
    examples: [
      'perpd close "ETH/USD [WETH-USDC]" long',
      'perpd close "ETH/USD [WETH-USDC]" long --share 50',
      'perpd close --all --yes',
    ],
    run: async (call) =>
      call.flags.has('all')
        ? (await import('./commands/closeAllCommand.ts')).closeAll(call)
        : (await import('./commands/manualOrderCommand.ts')).close(call),
  },
  {
    name: 'cancel',
    isForRunning: true,
    summary: 'Cancel what rests of an order at the venue, whoever made it.',
    positional: {
      name: 'order',
      doc: "an order's id, or its first characters (perpd orders); or its key at the venue, 0x...",
    },
    flags: [onceById, noWait, byFlag, json],
    examples: ['perpd cancel 7944b4ff', 'perpd cancel 7944b4ff --no-wait --json'],
    run: async (call) => (await import('./commands/manualOrderCommand.ts')).cancel(call),
  },
]
