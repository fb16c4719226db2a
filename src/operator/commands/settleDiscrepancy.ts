/** Settles a discrepancy: it is adopted, or ignored. */

import { z } from 'zod'
import { discrepanciesNamed } from '../../domain/accountRecords/discrepancyId.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import { type CommandLine, namedBy } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { done, type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({ as: z.enum(['adopted', 'ignored']) })

/** The command. `discrepancyId`: whole, or the first characters of one. */
type SettleCommand = CommandOf<'discrepancy', typeof body, 'discrepancyId'>

const goesOn = 'Increases on its market resume, unless something else blocks them.'

/** Its row. */
export const settleDiscrepancy: CommandRow<SettleCommand> = {
  type: 'discrepancy',
  route: '/api/discrepancies/:discrepancyId',
  body,
  run,
  api: { example: { as: 'adopted' } },
  forms: {
    adopted: {
      title: 'Adopt the discrepancy',
      effects: ['{statement}', '{effect}', goesOn],
      body: { as: 'adopted' },
      send: 'Adopt',
      typed: 'adopt',
    },
    ignored: {
      title: 'Ignore the discrepancy',
      effects: ['{statement}', '{effect}', goesOn],
      body: { as: 'ignored' },
      send: 'Ignore',
      typed: 'ignore',
    },
  },
  cli: (['adopt', 'ignore'] as const).map(
    (word): CommandLine => ({
      name: `discrepancies ${word}`,
      summary:
        word === 'adopt'
          ? 'Adopt a discrepancy as yours; with or without the daemon.'
          : 'Ignore a discrepancy; with or without the daemon.',
      details: `Increases on its market resume afterwards, unless another discrepancy blocks them. ${
        word === 'adopt'
          ? 'An unexplained position counts\nin the book "unattributed" from now on'
          : 'An unexplained position counts in no\nbook from now on'
      }; a trade was counted when it was found, and an order stays at the venue as it is.
The statement and the name are kept in the journal. START means what was there before perpd first looked at the account.`,
      positional: {
        name: 'discrepancyId',
        among: 'discrepancies',
        doc: "a discrepancy's id, or its first characters; perpd discrepancies lists them",
        isOptional: true,
      },
      flags: [
        { name: 'all', doc: 'every open discrepancy' },
        {
          name: 'before',
          value: 'START|TIME',
          doc: 'with --all: START, or older than a time',
        },
        namedBy,
      ],
      examples: [
        `perpd discrepancies ${word} 3f2a --by ann`,
        `perpd discrepancies ${word} --all --before START --by ann`,
      ],
    }),
  ),
}

async function run(
  { reconciler }: OperatorContext,
  { discrepancyId, as }: SettleCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const found = discrepanciesNamed(reconciler.open(), discrepancyId)
  const [one] = found
  if (one === undefined || found.length > 1) {
    const problem = one === undefined ? 'no open discrepancy has' : `${found.length} open discrepancies have`
    return refusal(
      'DISCREPANCY_UNKNOWN',
      `${problem} an id that begins with ${discrepancyId}; perpd discrepancies lists them`,
    )
  }
  await reconciler.settle(one.discrepancy.discrepancyId, as, by)
  return done(`${as} by ${by}: ${one.discrepancy.statement}`)
}
