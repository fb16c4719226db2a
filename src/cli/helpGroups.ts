/** The list of all commands in the help, in groups of what they are for. */
import type { Command } from './call/command.ts'
import { columns } from './output/table.ts'

/** Groups in the order of the help, each with the first words of its commands. A command of none stands in the last one. */
const groups: readonly (readonly [title: string, ...words: string[]])[] = [
  [
    'Set up and run',
    'init',
    'doctor',
    'check',
    'config',
    'run',
    'standby',
    'paper',
    'console',
    'completion',
    'version',
  ],
  ['Look', 'status', 'top', 'positions', 'orders', 'trades', 'pnl', 'balance', 'markets', 'explain', 'logs'],
  ['Trade by hand', 'open', 'close', 'protect', 'move', 'cancel', 'task'],
  ['Strategies and backtests', 'strategies', 'backtest', 'report', 'data', 'record'],
  ['Risk', 'trading', 'kill', 'limits', 'discrepancies'],
  ['Keys and delegation', 'keys', 'subaccount', 'message'],
  ['Operations', 'log', 'notify', 'journal', 'fleet'],
]

/** Every command with its summary, one a row below the title of its group. */
export function groupedCommands(commands: readonly Pick<Command, 'name' | 'summary'>[]): string {
  const last = groups.length - 1
  const placeOf = (name: string): readonly [group: number, place: number] => {
    const [first = ''] = name.split(' ')
    const group = groups.findIndex(([, ...words]) => words.includes(first))
    return group < 0 ? [last, groups.length] : [group, groups[group]?.indexOf(first) ?? 0]
  }
  const rows = groups.flatMap(([title], at) => {
    const own = commands
      .filter(({ name }) => placeOf(name)[0] === at)
      .toSorted((one, other) => placeOf(one.name)[1] - placeOf(other.name)[1])
    return [[`${at === 0 ? '' : '\n'}${title}`], ...own.map(({ name, summary }) => [`  ${name}`, summary])]
  })
  return columns(rows)
}
