/**
 * Commands of the command line that come from the rows of operator commands. Their help is printed into `commandLines.json` by `npm run docs`, since a
 * short command is mostly loading: the rows themselves are loaded by a command that sends one.
 */

import { defined } from '../../base/defined.ts'
import type { CommandLine } from '../../operator/commandLine.ts'
import type { CommandName } from '../../operator/commands/index.ts'
import { type AccountMode, accountModeOf } from './accountModes.ts'
import type { AccountCommand, Call, Command } from './command.ts'

/** The lines of a row. */
export interface RowLines {
  /** Absent: its commands are about no account, and are no request to the daemon: each has its own code. */
  readonly row?: CommandName
  readonly lines: readonly CommandLine[]
}

/** The place of a row's command in the table. */
export interface Sent {
  /** Its name. */
  readonly sent: string
  readonly isBare?: never
  /** Its own code; absent: its row is enough to send it. */
  readonly run?: (call: Call) => Promise<number>
  /** Runs it for several accounts together; absent: it is run for one after the other. */
  readonly together?: (calls: readonly Call[]) => Promise<number>
}

/** Places the command of that name. */
export function sent(name: string, run?: Sent['run'], together?: Sent['together']): Sent {
  return { sent: name, ...defined({ run, together }) }
}

/** The choice of a command among accounts. */
function modeOf(name: string, isSent: boolean): { readonly accounts?: AccountMode } {
  return defined({ accounts: accountModeOf(name, isSent) })
}

/**
 * The table with the commands of rows in their places; one without a place comes after the last command of its first word, else at the end. Throws
 * TypeError where no row has a placed command.
 */
export function withSent(table: readonly (Command | Sent)[], rows: readonly RowLines[]): readonly Command[] {
  const known = new Map(
    rows.flatMap(({ row, lines }) => lines.map((line) => [line.name, { row, line }] as const)),
  )
  const commandOf = (name: string, run?: Sent['run']): AccountCommand => {
    const found = known.get(name)
    if (found === undefined) throw new TypeError(`No row has the command ${name}.`)
    const { row, line } = found
    if (row === undefined) {
      if (run === undefined) throw new TypeError(`The command ${name} has no code.`)
      return { ...line, run, ...modeOf(name, false) }
    }
    const send = async (call: Call) => (await import('./sendRow.ts')).sendRow(call, row, line)
    return { ...line, run: run ?? send, ...modeOf(name, true) }
  }
  const all = table.map((each): Command => {
    if ('sent' in each) return { ...commandOf(each.sent, each.run), ...defined({ together: each.together }) }
    return each.isBare === true ? each : { ...each, ...modeOf(each.name, false) }
  })
  for (const name of known.keys()) {
    if (all.some((each) => each.name === name)) continue
    const [word] = name.split(' ')
    const at = all.findLastIndex((each) => each.name.split(' ')[0] === word)
    all.splice(at < 0 ? all.length : at + 1, 0, commandOf(name))
  }
  return all
}
