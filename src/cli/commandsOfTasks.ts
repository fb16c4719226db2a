/** Commands about orders that take time: their flags and help. */
import type { Command } from './call/command.ts'

const byFlag = { name: 'by', value: 'NAME', doc: 'who says so; your user name when not given' } as const
const json = { name: 'json', doc: 'print JSON instead of text' } as const

/** Starts, lists and stops tasks. */
export const taskCommands: readonly Command[] = [
  {
    name: 'task start',
    isForRunning: true,
    summary: 'Start orders that take time, as a twap: a size in parts; shown, and confirmed.',
    details:
      "Each part walks the road of every order: limits, halts and budgets hold for it. A halt makes the task wait, a kill ends it,\na restart goes on with it. A twap goes to the venue as one message where the venue's own fits (up to 30 parts, no price\nbound, all of it within the share of the capacity); else perpd makes a part at a time, sized by the capacity of its moment.",
    positional: { name: 'kind', doc: 'a kind: twap' },
    more: [
      { name: 'market', doc: 'a market: its whole symbol, its address, or ETH where one market has it' },
      { name: 'direction', doc: 'long or short' },
    ],
    flags: [
      { name: 'size', value: 'USD', doc: 'all parts together' },
      { name: 'parts', value: 'N', doc: 'how many parts, 2 to 200' },
      { name: 'minutes', value: 'N', doc: 'from the first part to the end of the last' },
      { name: 'leverage', value: 'N', doc: 'size / collateral of each part; not with --reduce' },
      { name: 'reduce', doc: 'take off what is held instead of adding to it' },
      { name: 'collateral', value: 'SIDE', doc: "long or short: which token of the market's pool" },
      { name: 'price', value: 'PRICE', doc: 'no part while the price is worse; slippage is beyond it' },
      {
        name: 'share',
        value: 'PERCENT',
        doc: 'most of the available capacity for a part; 25 when not given',
      },
      { name: 'own', doc: "never the venue's own twap" },
      { name: 'max-orders', value: 'N', doc: 'budget: orders; twice the parts when not given' },
      {
        name: 'max-fees',
        value: 'USD',
        doc: 'budget: fees; the most that the parts may cost when not given',
      },
      { name: 'max-minutes', value: 'N', doc: 'budget: time; twice the minutes when not given' },
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
      'perpd task start twap ETH long --size 5000 --parts 10 --minutes 60 --leverage 2 --yes',
      'perpd task start twap ETH long --reduce --size 5000 --parts 10 --minutes 60 --yes',
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
