/** Commands about orders that take time: their flags and help. */
import type { Command } from './call/command.ts'

const byFlag = { name: 'by', value: 'NAME', doc: 'who says so; your user name when not given' } as const
const json = { name: 'json', doc: 'print JSON instead of text' } as const

const taskKindsText = [
  'Each order of a task walks the road of every order: limits, halts and budgets hold for it. A halt makes the task wait, a kill ends it,',
  'a restart goes on with it. It ends as done, stopped or out of budget. Exits of what it opened count against no budget, and stay.',
  "twap: a size in parts over a time; one message of the venue's own twap where that fits (up to 30 parts, no price bound, all of it",
  'within the share of the capacity), else parts sized by the capacity of their moment.',
  'accumulate: adds until the position has its target, while the price is within the bound.',
  'ladder: rungs at better prices (the first at the market, the others rest) or by time; the target follows the averaged entry, the stop',
  'stays; once an exit fills, nothing is added.',
  'chase: a limit that follows the price and never goes beyond the bound; what is left after the minutes is taken at the market.',
  'bracket: one entry that brings its stop and target in the same message; one exit cancels the other. Ended before, it leaves its exits.',
  'rebalance: brings positions to weights of a total once; what is too much is taken off before anything is added.',
].join('\n')

/** Starts, lists and stops tasks. */
export const taskCommands: readonly Command[] = [
  {
    name: 'task start',
    isForRunning: true,
    summary:
      'Start orders that take time: twap, accumulate, ladder, chase, bracket, rebalance; shown, and confirmed.',
    details: taskKindsText,
    positional: { name: 'task-kind', doc: 'a kind: twap, accumulate, ladder, chase, bracket or rebalance' },
    more: [
      {
        name: 'market',
        doc: 'a market: its whole symbol, its address, or ETH where one market has it; of a rebalance the weights, as "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%"',
      },
      { name: 'direction', doc: 'long or short; not of a rebalance', isOptional: true },
    ],
    flags: [
      { name: 'size', value: 'USD', doc: 'twap, ladder, chase, bracket: all of it together' },
      { name: 'target', value: 'USD', doc: 'accumulate: the size that the position is to have' },
      { name: 'total', value: 'USD', doc: 'rebalance: what the weights are shares of' },
      { name: 'leverage', value: 'N', doc: 'size / collateral of what opens; not with --reduce' },
      { name: 'reduce', doc: 'twap, chase: take off what is held instead of adding to it' },
      { name: 'parts', value: 'N', doc: 'twap: how many parts, 2 to 200' },
      { name: 'rungs', value: 'N', doc: 'ladder: how many rungs, 2 to 50' },
      {
        name: 'minutes',
        value: 'N',
        doc: 'twap: from the first part to the end of the last; chase: after which it takes the market',
      },
      {
        name: 'step',
        value: 'PERCENT',
        doc: 'ladder: between two rungs; chase: least move of the limit, 0.05 when not given',
      },
      {
        name: 'every',
        value: 'SECONDS',
        doc: 'ladder by time: between two rungs; accumulate (60), chase (15): between two orders or moves',
      },
      { name: 'growth', value: 'N', doc: 'ladder: each rung so many times the one before; 1 when not given' },
      { name: 'profit', value: 'PERCENT', doc: 'ladder: target, from the averaged entry' },
      { name: 'stop', value: 'PERCENT', doc: 'ladder: stop, from the price of the first rung' },
      {
        name: 'offset',
        value: 'PERCENT',
        doc: 'chase: how far the limit stays behind the price, 0.05 when not given',
      },
      { name: 'entry', value: 'PRICE', doc: 'bracket: the entry waits for it; at the market when not given' },
      { name: 'take-profit', value: 'PRICE', doc: 'bracket: its target' },
      { name: 'stop-loss', value: 'PRICE', doc: 'bracket: its stop' },
      {
        name: 'price',
        value: 'PRICE',
        doc: 'twap, accumulate, chase: no order while the price is worse; slippage is beyond it',
      },
      { name: 'collateral', value: 'SIDE', doc: "long or short: which token of the market's pool" },
      {
        name: 'share',
        value: 'PERCENT',
        doc: 'most of the available capacity for an order; 25 when not given',
      },
      { name: 'least', value: 'USD', doc: 'accumulate, rebalance: least size of an order' },
      {
        name: 'band',
        value: 'PERCENT',
        doc: 'rebalance: drift of the total that is left alone, 1 when not given',
      },
      { name: 'own', doc: "twap: never the venue's own twap" },
      {
        name: 'max-orders',
        value: 'N',
        doc: 'budget: orders without exits; twice what it takes when not given',
      },
      {
        name: 'max-fees',
        value: 'USD',
        doc: 'budget: fees of these; the most that they may cost when not given',
      },
      { name: 'max-minutes', value: 'N', doc: 'budget: time; docs/tasks.md says how long when not given' },
      { name: 'yes', doc: 'do not ask' },
      {
        name: 'id',
        value: 'ID',
        doc: 'asked again with the same id it is not done twice; random when not given',
      },
      byFlag,
      json,
    ],
    examples: [
      'perpd task start twap "ETH/USD [WETH-USDC]" long --size 5000 --parts 10 --minutes 60 --leverage 2 --yes',
      'perpd task start accumulate "ETH/USD [WETH-USDC]" long --target 5000 --price 1900 --leverage 2 --yes',
      'perpd task start ladder "ETH/USD [WETH-USDC]" long --size 1000 --rungs 5 --step 1% --profit 2% --stop 6% --leverage 2 --yes',
      'perpd task start chase "ETH/USD [WETH-USDC]" long --reduce --size 1000 --price 1700 --minutes 30 --yes',
      'perpd task start bracket "ETH/USD [WETH-USDC]" long --size 1000 --leverage 2 --stop-loss 1700 --take-profit 2100 --yes',
      'perpd task start rebalance "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%" --total 5000 --leverage 2 --yes',
    ],
    run: async (call) => (await import('./tasks/tasks.ts')).start(call),
  },
  {
    name: 'task list',
    isForRunning: true,
    summary: 'List tasks: how far each is, what it used of its budget, and what it waits for.',
    flags: [json],
    examples: ['perpd task list', 'perpd task list --json'],
    run: async (call) => (await import('./tasks/tasks.ts')).list(call),
  },
  {
    name: 'task stop',
    isForRunning: true,
    summary: 'End a task: it makes no more orders, and what of it rests is cancelled.',
    positional: { name: 'ID', doc: "a task's id, or its first characters (perpd task list)" },
    flags: [{ name: 'reason', value: 'TEXT', doc: 'why, for the journal' }, byFlag, json],
    examples: ['perpd task stop 3f2a --reason "no more of it"'],
    run: async (call) => (await import('./tasks/tasks.ts')).stop(call),
  },
]
