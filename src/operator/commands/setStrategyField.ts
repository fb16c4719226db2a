/** Changes one field in the file of a strategy, and takes it over. */
import { z } from 'zod'
import { confirm, line } from '../../base/bodyFields.ts'
import { byFlag, json, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'

const body = z.strictObject({
  /** Dotted: `params.fastCandles`. */
  field: line(120),
  /** As it is written in the file. */
  value: line(200),
  /** Written value that the requester expects in the file: another value is not overwritten. Absent: any value. */
  was: line(200).exactOptional(),
  confirm,
})

/** The command. */
type SetFieldCommand = CommandOf<'set-field', typeof body, 'strategy'>

/** Its row. */
export const setStrategyField: CommandRow<SetFieldCommand> = {
  type: 'set-field',
  route: '/api/strategies/:strategy/set',
  body,
  preview: ({ reload }, command, commander) => reload.set(command, commander),
  run: ({ reload }, command, commander) => reload.set(command, commander),
  isRecordedByItself: true,
  api: {
    example: { field: 'size.usd', value: '300' },
    note: '`was`: refused where the file says another value; `confirm`: a looser limit too, which is refused without it, and nothing is written then',
  },
  forms: {
    setField: {
      title: 'Edit the file of {strategy}',
      effects: [
        'Changes one field in the strategy file and loads it at the next turn; comments stay. perpd checks all files first.',
        'A file that ships with perpd stays as it is: the change goes into a copy beside the journal, which runs in its place.',
        'A looser limit is refused without a confirmation; then nothing is written.',
      ],
      fields: [
        { name: 'field', label: 'Field', hint: 'as in the file: size.usd, params.fastCandles' },
        { name: 'value', label: 'Value', hint: 'as it is written there: 20, long, "09:00"' },
        {
          name: 'confirm',
          label: 'Confirmation of a looser limit',
          hint: 'type loosen for a looser limit: more may be lost from then on. Otherwise leave it empty',
          isOptional: true,
          as: 'loosen',
        },
      ],
      preview: 'first',
      send: 'Change file',
    },
  },
  cli: [
    {
      name: 'strategies set',
      isForRunning: true,
      summary: 'Change one field in the file of a strategy and load it; asks for a confirmation.',
      details:
        'The file keeps its comments; perpd checks the whole file before it writes. Change lists, blocks and fields that need\na restart by hand. `enabled` disables and enables the strategy in its file, so it survives restarts.',
      positional: {
        name: 'NAME',
        among: 'strategies',
        doc: 'the name of a running strategy, or of one that its file disables',
      },
      more: [
        { name: 'field', doc: 'a field, dotted: params.fastCandles, size.usd, limits.maxOrdersPerHour' },
        { name: 'value', doc: 'its value, as it is written in the file: 20, long, "09:00"' },
      ],
      flags: [{ name: 'confirm', doc: 'apply a looser limit too' }, yesFlag, byFlag, json],
      examples: [
        'perpd strategies set eth-trend params.fastCandles 20 --yes',
        'perpd strategies set eth-trend size.usd 300',
        'perpd strategies set eth-trend enabled true --yes',
      ],
    },
  ],
}
