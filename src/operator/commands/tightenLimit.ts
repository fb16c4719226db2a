/** Makes one limit of the account tighter, at once and until a restart. */
import { z } from 'zod'
import { line } from '../../base/bodyFields.ts'
import { tightenLimit as tighten } from '../changeLimits.ts'
import { byFlag, json } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'

const body = z.strictObject({
  /** Its name under `risk`, or the code's: `maxLeverage`. */
  limit: line(60),
  /** As it is written under `risk`: `2500` dollars, `2.5` times, `300` basis points. */
  value: line(60),
})

/** The command. */
type TightenCommand = CommandOf<'tighten', typeof body>

/** Its row. */
export const tightenLimit: CommandRow<TightenCommand> = {
  type: 'tighten',
  route: '/api/limits/tighten',
  body,
  preview: tighten,
  run: tighten,
  api: {
    example: { limit: 'maxLeverage', value: '2.5' },
    note: 'a limit and its value as under `risk`; a preview answers with `waiting`',
  },
  forms: {
    tighten: {
      title: 'Tighten a limit',
      effects: [
        'One limit of the account is tighter from the next decision. It holds until a restart, which reads the files.',
        'A looser value is refused: set it in the configuration, and load it with “Apply, looser too…”.',
      ],
      fields: [
        { name: 'limit', label: 'Limit', hint: 'as under risk: maxPositionSizeUsd, maxLeverage' },
        {
          name: 'value',
          label: 'Value',
          hint: 'as under risk: 2500 dollars, 2.5 times, 300 basis points, 15000 ms',
          isNumber: true,
        },
      ],
      preview: 'first',
      send: 'Tighten limit',
      place: 'limits',
      button: 'Tighten…',
    },
  },
  cli: [
    {
      name: 'limits tighten',
      isForRunning: true,
      summary: 'Make one limit of the account tighter in the running daemon, from its next decision on.',
      details:
        'The journal records it, and it lasts until a restart, which reads the files. A looser value is refused: set it in the\nconfiguration and run perpd limits apply --confirm.',
      positional: {
        name: 'NAME',
        doc: 'the limit, as under risk: maxPositionSizeUsd, maxLeverage',
        field: 'limit',
      },
      more: [{ name: 'value', doc: 'its value, as under risk: 2500 dollars, 2.5 times, 300 basis points' }],
      flags: [{ name: 'dry-run', doc: 'only show what would change' }, byFlag, json],
      examples: [
        'perpd limits tighten maxPositionSizeUsd 1000 --by ann',
        'perpd limits tighten maxLeverage 2.5',
      ],
    },
  ],
}
