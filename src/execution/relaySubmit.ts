/** The generic relay's side of an attempt: the one POST of our calldata, and how it fares by the relay's word. */
import type { RelayStatus, RelayTask } from '../api/relay.ts'
import { reasonOfBytes } from '../chains/protocolErrors.ts'
import { encodeBatchCall } from '../chains/relayCalldata.ts'
import { BaseError } from '../domain/errors.ts'
import type { ArmedFacts, Attempt, SendFacts } from '../domain/intent.ts'
import type { HostAnswer } from '../domain/machine/observation.ts'
import type { ExecutionContext } from './context.ts'
import { noAnswer } from './noAnswer.ts'
import type { Signed } from './sign.ts'

/**
 * The relay's words in the order chain's, which is how the machine knows them (docs/api-coverage.md POST
 * /orders/txns/status). None for `unknown`: it says nothing, and the last word stands.
 */
const orderStatus: Readonly<Partial<Record<RelayStatus, string>>> = {
  pending: 'relay_pending',
  executed: 'created',
  reverted: 'relay_reverted',
  failed: 'relay_failed',
}

/** Hands the calldata in at `host`: one POST. Throws what it throws; what that proves is the caller's to say. */
export async function submitRelay(
  { api }: Pick<ExecutionContext, 'api'>,
  { verified, signature }: Signed,
  host: string,
): Promise<Pick<SendFacts, 'result' | 'status' | 'taskId'>> {
  const { router, intent, relayParams, batch, subaccountApproval } = verified
  const data = encodeBatchCall({
    account: intent.account,
    relayParams,
    signature,
    batch,
    ...(subaccountApproval === undefined ? {} : { subaccountApproval }),
  })
  const { value } = await api.submitRelay({ to: router, data }, { host })
  const status = orderStatus[value.status]
  return {
    // A refusal after the signature left: observed, and no proof of anything.
    result: value.status === 'failed' || value.status === 'reverted' ? 'refused' : 'accepted',
    taskId: value.taskId,
    ...(status === undefined ? {} : { status }),
  }
}

/**
 * Asks how an operation fares, at any host. Without a task id, which a lost answer or a crash leaves behind, there is
 * nothing to ask by. Never throws for anything the network did.
 */
export async function askRelay(
  { api }: Pick<ExecutionContext, 'api'>,
  armed: Pick<ArmedFacts, 'host'>,
  send: Attempt['send'],
): Promise<HostAnswer> {
  const taskId = send?.taskId
  if (taskId === undefined) {
    const reason = 'the relay gave no task id to ask by: only the chain can tell'
    return { kind: 'silent', host: armed.host, reason }
  }
  try {
    const { value, host, serverDateMs } = await api.getRelayStatus({ taskId })
    const status = orderStatus[value.status]
    if (status === undefined) {
      return { kind: 'silent', host, reason: `the relay says ${value.status}, which is inconclusive` }
    }
    const error = errorOf(value)
    return {
      kind: 'status',
      host,
      status,
      orderKeys: [],
      ...(value.txHash === undefined ? {} : { txHash: value.txHash }),
      ...(error === undefined ? {} : { error }),
      ...(serverDateMs === undefined ? {} : { serverDateMs }),
    }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return noAnswer(error, armed.host)
  }
}

/** Why, in the protocol's words where the revert's bytes have one, else in the relay's own. */
function errorOf({ status, reason, revertData }: RelayTask): string | undefined {
  if (status !== 'reverted' && status !== 'failed') return undefined
  const decoded = revertData === undefined ? '' : reasonOfBytes(revertData)
  return decoded === '' ? reason : decoded
}
