/**
 * Claimer: checks the amounts that the venue put aside for the account: funding that positions earned, and a referrer's rewards. Once they are
 * enough, it has their claim prepared. It trades nothing and signs nothing: the claim is a file of calls for the owner's wallet (docs/keepers.md,
 * "Claims").
 */
import { formatDollars, usd } from '../../protocol/units.ts'
import { usdField } from '../fields.ts'
import { defineStrategy, type Strategy, z } from '../strategy.ts'

const schema = z.strictObject({
  aboveUsd: usdField({ minUsd: 1 })
    .default(usd(25))
    .describe('value of the due amounts at which it prepares a claim, US dollars (25)'),
})

/** The kind `claimer`. */
export const claimer: Strategy<z.output<typeof schema>> = defineStrategy({
  kind: 'claimer',
  description: 'Prepares a claim of due funding and rebates for the owner to send.',
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols }),
  decide: ({ params: { aboveUsd } }) => [
    { kind: 'prepare-claim', aboveUsd, reason: 'Checks the amounts due to the account.' },
  ],
  status: ({ params: { aboveUsd } }) => ({ text: `waits for ${formatDollars(aboveUsd)} of due amounts` }),
})
