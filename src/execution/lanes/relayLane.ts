/**
 * The relay lane: calldata that perpd builds, handed to the generic relay.
 *
 * The order chain's host chooses deadline and nonce, and records the request; here we do, and there is no record. An unknown therefore closes within
 * minutes, and any host may be queried. A lost answer leaves no name to query by: then only the chain can show it (docs/sending.md, "Two lanes").
 */
import type { RelayStatus, RelayTask } from '../../api/orders/relayRequests.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { reasonOfBytes } from '../../protocol/protocolErrors.ts'
import type { Lane } from './lane.ts'
import { noAnswer } from './noAnswer.ts'
import { callOf, ownMessage } from './ownMessage.ts'

/**
 * The relay's statuses as the order chain names them, which is how the machine knows them (docs/reference/api-coverage.md POST
 * /relay/status). None for `unknown`: it says nothing, and the last word stands.
 */
const orderStatus: Readonly<Partial<Record<RelayStatus, string>>> = {
  pending: 'relay_pending',
  executed: 'created',
  reverted: 'relay_reverted',
  failed: 'relay_failed',
}

/** By the generic relay. */
export const relayLane: Lane = {
  make: ownMessage,

  async send({ api }, { signed, host }) {
    const { value } = await api.submitRelay(callOf(signed), { host })
    const status = orderStatus[value.status]
    return {
      // A refusal after the signature left: observed, and no proof of anything.
      result: value.status === 'failed' || value.status === 'reverted' ? 'refused' : 'accepted',
      taskId: value.taskId,
      ...defined({ status }),
    }
  },

  async ask({ api }, { armed, send }) {
    const taskId = send?.taskId
    // A lost answer or a crash leaves no task id behind.
    if (taskId === undefined) {
      const reason = 'the relay gave no task id, so only the chain can prove the end'
      return { kind: 'silent', host: armed.host, reason }
    }
    try {
      const { value, host, serverDateMs } = await api.getRelayStatus({ taskId })
      const status = orderStatus[value.status]
      if (status === undefined) {
        return { kind: 'silent', host, reason: `the relay reports ${value.status}, which is inconclusive` }
      }
      const error = errorOf(value)
      return {
        kind: 'status',
        host,
        status,
        orderKeys: [],
        ...defined({ txHash: value.txHash, error, serverDateMs }),
      }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return noAnswer(error, armed.host)
    }
  },
}

/** Returns the reason in the protocol's words where the revert's bytes have one, else in the relay's own. */
function errorOf({ status, reason, revertData }: RelayTask): string | undefined {
  if (status !== 'reverted' && status !== 'failed') return undefined
  const decoded = revertData === undefined ? '' : reasonOfBytes(revertData)
  return decoded === '' ? reason : decoded
}
