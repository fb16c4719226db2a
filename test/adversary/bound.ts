/** The bound that the judge holds a liar to: the product's own figure. */
import { lossTermsOf } from '../../src/cli/verbs/lossTerms.ts'
import type { Config } from '../../src/config/configTypes.ts'
import type { Usd } from '../../src/protocol/units.ts'
import { lossBoundOf } from '../../src/risk/lossBound.ts'
import type { LiarKind } from './lies.ts'

/** The most that a day may cost with this liar. Throws RangeError for settings that give no bound. */
export function boundOf(config: Config, kind: LiarKind, endpoints: number): Usd {
  const bound = lossBoundOf(lossTermsOf(config, endpoints > 0), kind === 'nobody' ? 'prepare' : kind)
  if (bound === undefined) throw new RangeError('these settings give no bound')
  return bound.dayUsd
}
