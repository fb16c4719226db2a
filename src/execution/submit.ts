/** Armed to SendResult: one send by the attempt's lane, and one reading of its outcome. Nothing here or below retries. */

import { proves, RefusedError, UnreachableError } from '../api/transport/apiErrors.ts'
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import type { SendFacts } from '../domain/order/intent.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import type { Armed } from './lanes/armed.ts'
import type { Lanes } from './lanes/lane.ts'
import { laneOf } from './lanes/shippedLanes.ts'

/** Sends it and returns the proof of its answer; never throws because of the network. */
export async function submit(context: ExecutionContext, lanes: Lanes, armed: Armed): Promise<SendFacts> {
  const startedMs = context.clock.monotonicMs()
  try {
    const facts = await laneOf(lanes, armed.signed.verified.intent.lane).send(context, armed)
    return { ...facts, durationMs: context.clock.monotonicMs() - startedMs }
  } catch (error) {
    const durationMs = context.clock.monotonicMs() - startedMs
    const proof = proves(error)
    const result = proof === 'not-sent' ? 'not-sent' : proof === 'refused' ? 'refused' : 'unanswered'
    return { result, durationMs, message: reasonOf(error), ...serverFacts(error) }
  }
}

function serverFacts(error: unknown): Pick<SendFacts, 'httpStatus' | 'code' | 'traceId'> {
  if (error instanceof RefusedError) {
    return {
      httpStatus: error.status,
      ...defined({ code: error.serverCode, traceId: error.traceId }),
    }
  }
  if (error instanceof UnreachableError) {
    return {
      ...defined({ httpStatus: error.status, traceId: error.traceId }),
    }
  }
  return {}
}
