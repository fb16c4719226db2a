/** Observation after a failed status request. */
import { RefusedError } from '../../api/transport/apiErrors.ts'
import { defined } from '../../base/defined.ts'
import { type BaseError, reasonOf } from '../../base/errors.ts'
import type { HostAnswer } from '../../domain/machine/observation.ts'

/** The observation that a fault makes: a 404, which may only be early, or silence. Neither proves anything. */
export function noAnswer(error: BaseError, host: string): Exclude<HostAnswer, { kind: 'status' }> {
  const notFound = error instanceof RefusedError && error.status === 404
  const traceId = error.facts.traceId
  return {
    kind: notFound ? 'not-found' : 'silent',
    host,
    reason: reasonOf(error),
    ...defined({ traceId: typeof traceId === 'string' ? traceId : undefined }),
  }
}
