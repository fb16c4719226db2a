/** Reads the configured limits anew: tighter ones take effect at once, looser ones only when that is confirmed. */
import { z } from 'zod'
import { confirm } from '../../base/bodyFields.ts'
import { changeLimits, previewLimits } from '../changeLimits.ts'
import { byFlag, json } from '../commandLine.ts'
import { type CommandOf, type CommandRow, tighteningForm } from '../commandRow.ts'

const body = z.strictObject({ confirm })

/** The command. */
type LimitsCommand = CommandOf<'limits', typeof body>

const common = {
  effect: 'Reloads the settings and the strategy files; tighter limits hold from the next decision.',
  send: 'Apply',
  place: 'limits',
} as const

/** Its row. */
export const applyLimits: CommandRow<LimitsCommand> = {
  type: 'limits',
  route: '/api/limits',
  body,
  preview: (context) => previewLimits(context),
  run: (context, { isConfirmed }, commander) => changeLimits(context, isConfirmed, commander),
  isConfirmedOrPreviewed: true,
  api: { example: { confirm: false }, note: 'a preview answers with `limits` and `waiting`' },
  forms: {
    limits: tighteningForm({ ...common, title: 'Apply limits', button: 'Apply limits…' }),
    limitsLooser: tighteningForm(
      { ...common, title: 'Apply limits, looser ones too', button: 'Apply, looser too…' },
      true,
    ),
  },
  cli: [
    {
      name: 'limits apply',
      summary: 'Reload the limits of the running daemon; tighter ones apply at once.',
      details:
        'Looser limits take effect at a restart, or with --confirm. Without the port: kill -HUP PID tightens.',
      flags: [{ name: 'confirm', doc: 'loosen too' }, byFlag, json],
      examples: ['perpd limits apply --by ann', 'perpd limits apply --confirm --by ann'],
    },
  ],
}
