/** One case through the product: decode, verify, and what that says beside what the case expects. */
import { Malformed } from '../../src/api/decode/decode.ts'
import { orderPayload } from '../../src/api/orders/orderPayload.ts'
import type { Difference } from '../../src/domain/orderEvent.ts'
import { type Rejection, verify } from '../../src/execution/verify/verify.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { intentOfCase } from './intent.ts'
import type { MessageCase, RefusalClass } from './schema.ts'
import { feeEstimateOf, policyOf } from './world.ts'

/** What became of a case. */
export interface Judged {
  readonly verdict: 'sign' | RefusalClass | 'position-moved'
  readonly differences: readonly Difference[]
  /** Why admission did not make its intent; absent where it did. */
  readonly byHand?: string
  /** Absent when it agrees with what the case expects. */
  readonly disagreement?: string
}

const classes: Readonly<Record<Rejection['code'], Exclude<Judged['verdict'], 'sign'>>> = {
  TYPED_DATA_MISMATCH: 'tampered',
  PRICE_OUT_OF_BOUNDS: 'price-moved',
  PRICE_CONTESTED: 'price-moved',
  FEE_ABOVE_LIMIT: 'too-dear',
  POSITION_MOVED: 'position-moved',
  OFFER_EXPIRED: 'expired',
}

/** Judges one case. Throws an Error for a case that cannot be read. */
export function judge(one: MessageCase): Judged {
  const { intent, byHand } = intentOfCase(one)
  const said = verdictOf(one, intent)
  const expected = one.expect === 'sign' ? 'sign' : (one.refusal?.class ?? 'tampered')
  const isDigestSame = said.digest === undefined || said.digest === one.digest
  const disagreement = !isDigestSame
    ? `its digest is ${said.digest}, expected ${one.digest}`
    : said.verdict === expected
      ? undefined
      : `${said.verdict}, expected ${expected}`
  return {
    verdict: said.verdict,
    differences: said.differences,
    ...(byHand === undefined ? {} : { byHand }),
    ...(disagreement === undefined ? {} : { disagreement }),
  }
}

function verdictOf(
  one: MessageCase,
  intent: Parameters<typeof verify>[1],
): Pick<Judged, 'verdict' | 'differences'> & { readonly digest?: string } {
  let payload: ReturnType<typeof orderPayload>
  try {
    payload = orderPayload(one.prepared)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return {
      verdict: 'tampered',
      differences: [{ field: error.path, expected: 'readable', found: error.message }],
    }
  }
  const prepared = { ...payload, host: 'https://host.example/v1' }
  const message = { batch: payload.typedData.batch, relayParams: payload.relayParams }
  const policy = { ...policyOf(one), feeEstimate: feeEstimateOf(one, intent, message) }
  const outcome = verify(chains[one.chain], intent, prepared, policy, one.state.blockTime)
  return 'kind' in outcome
    ? { verdict: classes[outcome.code], differences: outcome.differences }
    : { verdict: 'sign', differences: [], digest: outcome.digest }
}
