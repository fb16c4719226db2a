/**
 * Claimer: checks the amounts that the venue put aside for the account: funding that positions earned, and a referrer's rewards. Once they are
 * enough, it has their claim prepared. It trades nothing and signs nothing: the claim is a file of calls for the owner's wallet (docs/keepers.md,
 * "Claims").
 */
import { usd } from '../../protocol/units.ts'
import { usdField } from '../fields.ts'
import { defineStrategy, type Strategy, z } from '../strategy.ts'

const schema = z.strictObject({
  aboveUsd: usdField({ minUsd: 1 })
    .default(usd(25))
    .describe('worth of what is due from which on its claim is prepared, US dollars (25)'),
})

/** The kind `claimer`. */
export const claimer: Strategy<z.output<typeof schema>> = defineStrategy({
  kind: 'claimer',
  description: 'Prepares the claim of funding and rebates that are due, for the owner to send.',
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols }),
  decide: ({ params: { aboveUsd } }) => [
    { kind: 'prepare-claim', aboveUsd, reason: 'What is due to the account is looked at.' },
  ],
})
