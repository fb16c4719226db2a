/** Reads the strategy files anew; looser limits take effect only when that is confirmed. */
import { z } from 'zod'
import { confirm } from '../../base/bodyFields.ts'
import { byFlag, json } from '../commandLine.ts'
import { type CommandOf, type CommandRow, tighteningForm } from '../commandRow.ts'

const body = z.strictObject({ confirm })

/** The command. */
type ReloadCommand = CommandOf<'reload', typeof body>

const common = {
  effect:
    'Loads strategy files that were changed, added or removed. If one of them is invalid, nothing changes.',
  send: 'Reload',
  place: 'strategies',
} as const

/** Its row. */
export const reloadFiles: CommandRow<ReloadCommand> = {
  type: 'reload',
  route: '/api/strategies/reload',
  body,
  preview: ({ reload }, command, commander) => reload.carryOut(command, commander),
  run: ({ reload }, command, commander) => reload.carryOut(command, commander),
  // It records its changes, and nothing without a change: perpd may look at its files often.
  isRecordedByItself: true,
  isConfirmedOrPreviewed: true,
  api: {
    example: { confirm: false },
    note: 'answers with `strategies` (each change with its file and fields) and `waiting` (looser limits)',
  },
  forms: {
    reload: tighteningForm({ ...common, title: 'Reload strategy files', button: 'Reload files…' }),
    reloadLooser: tighteningForm(
      { ...common, title: 'Reload strategy files, looser limits too', button: 'Reload, looser limits too…' },
      true,
    ),
  },
  cli: [
    {
      name: 'strategies reload',
      isForRunning: true,
      summary: 'Reload changed, added and removed strategy files in the running daemon.',
      details:
        'perpd checks all files first; if one is invalid, nothing changes. Each change applies from the next turn of its\nstrategy, and the journal records it. Looser limits take effect at a restart, or with --confirm. Without the port: kill\n-HUP PID. Automatically: strategies.watch.',
      flags: [
        { name: 'dry-run', doc: 'only show the changes' },
        { name: 'confirm', doc: 'loosen limits too' },
        byFlag,
        json,
      ],
      examples: ['perpd strategies reload --dry-run', 'perpd strategies reload --confirm --by ann'],
    },
  ],
}
