/** One look at the chain for one attempt: the query, and the observation from its answer together with the host's statement. */

import { defined, ifDefined } from '../../base/defined.ts'
import type { AttemptQuery } from '../../domain/machine/chainReader.ts'
import type { ChainView } from '../../domain/machine/chainView.ts'
import { expectedOfSigned } from '../../domain/machine/expected.ts'
import type { HostAnswer, Observation } from '../../domain/machine/observation.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import type { HasClock, HasJournal } from '../context/executionParts.ts'

/**
 * Number of blocks before the newest block at arming from which a use of the digest is searched. That block was not final: a reorganisation can put
 * the transaction into a block of a lower number. No chain takes that many blocks to become final.
 */
const REORGANISED_BLOCKS_MAX = 10_000n

/** Returns the query to the chain about an intent's newest attempt; undefined while it is not armed. */
export function queryOf(state: IntentState, answer: HostAnswer | undefined): AttemptQuery | undefined {
  const attempt = lastAttempt(state)
  const armed = attempt?.armed
  if (attempt === undefined || armed === undefined) return undefined
  const { terms, account } = state.intent
  const { router, digest, signature, deadlineSeconds, userNonce, armBlockNumber } = armed
  const hints = [
    attempt.send?.txHash,
    ...(attempt.evidence?.transactionHashes ?? []),
    ...(answer?.kind === 'status' ? [answer.txHash, answer.createdTxnHash] : []),
  ].filter((hash): hash is Hex => hash !== undefined)
  const expected = expectedOfSigned(state.intent, armed)
  const changes = expected.changes.map(({ orderKey }) => orderKey)
  return {
    account,
    router,
    digest,
    signature,
    deadlineSeconds,
    userNonce,
    orderKeys: [...attempt.children.map(({ orderKey }) => orderKey), ...changes],
    transactionHashes: [...new Set(hints)],
    marketToken: terms.marketToken,
    indexTokenDecimals: terms.indexToken.decimals,
    expected,
    ...defined({ fromBlock: ifDefined(armBlockNumber, earliestAfter) }),
  }
}

function earliestAfter(armBlockNumber: bigint): bigint {
  return armBlockNumber > REORGANISED_BLOCKS_MAX ? armBlockNumber - REORGANISED_BLOCKS_MAX : 0n
}

/** A look at the chain with the newest word of the host, as the machine judges it. */
export function chainObservation(
  { clock, journal }: HasClock & HasJournal,
  state: IntentState,
  chain: ChainView,
  answer: HostAnswer | undefined,
): Observation {
  const created = new Set(
    chain.endpoints.flatMap(({ logs }) =>
      logs.flatMap(({ event, orderKey }) => (event === 'OrderCreated' ? [hexKey(orderKey)] : [])),
    ),
  )
  const explained = [...created].filter((orderKey) =>
    journal.explains(orderKey as Hex, state.intent.intentId),
  )
  const host = lastAttempt(state)?.host ?? ''
  return {
    atMs: clock.now(),
    answer: answer ?? { kind: 'silent', host, reason: 'no request was sent yet' },
    explained: new Set(explained),
    chain,
  }
}
