/**
 * The order chain: the message that a host prepared, handed in to that host by its request, whose state the host keeps until
 * its orders have ended. The host chooses deadline and nonce.
 */

import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { gaveUpStatuses } from '../../domain/machine/observation.ts'
import { hostMessage } from './hostMessage.ts'
import type { Lane } from './lane.ts'
import { noAnswer } from './noAnswer.ts'
import { refused } from './notMade.ts'

/** The venue's own way. */
export const orderChainLane: Lane = {
  async make(context, asked) {
    const { kind, lane } = asked.intent
    if (kind !== 'batch') return await hostMessage(context, asked)
    const reason = "a message of the caller's own is handed to the relay; no host of the order chain takes it"
    return refused(context, 'BATCH_NEEDS_RELAY', reason, { lane })
  },

  async send({ api }, { signed: { verified, signature } }) {
    const { prepared, intent, subaccountApproval } = verified
    if (prepared === undefined) throw new TypeError('submit: the message came from no host')
    const { value: answer } = await api.submitOrder(prepared, {
      signature,
      from: intent.account,
      echo: prepared.echo,
      ...defined({ subaccountApproval }),
    })
    return {
      result: gaveUpStatuses.has(answer.status) ? 'refused' : 'accepted',
      status: answer.status,
      ...defined({
        taskId: answer.taskId,
        txHash: answer.txHash,
        code: answer.error?.code,
        message: answer.error?.message,
        traceId: answer.traceId,
      }),
    }
  },

  async ask({ api }, { armed }) {
    const { host, requestId, idempotencyKey } = armed
    if (requestId === undefined) throw new TypeError('observe: the attempt has no request')
    const ticket = { host, requestId, ...defined({ idempotencyKey }) }
    try {
      const { value, serverDateMs } = await api.getOrderStatus(ticket)
      return {
        kind: 'status',
        host,
        status: value.status,
        orderKeys: value.orderKeys,
        ...defined({
          txHash: value.txHash,
          createdTxnHash: value.createdTxnHash,
          executionTxnHash: value.executionTxnHash,
          cancellationReason: value.cancellationReason,
          error:
            value.error === undefined
              ? undefined
              : [value.error.code, value.error.message].filter((text) => text !== undefined).join(': '),
          serverDateMs,
        }),
      }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return noAnswer(error, host)
    }
  },
}
