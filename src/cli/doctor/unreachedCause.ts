/** Why a host or an endpoint could not be reached, from the code of the error below. */
import { UnreachableError } from '../../api/transport/apiErrors.ts'
import { RequestFailed } from '../../api/transport/requestFailed.ts'
import { causeOfCode, lateCause, type UnreachedCause } from '../../api/transport/unreachedCauses.ts'
import type { BaseError } from '../../base/errors.ts'

/**
 * The cause of a failed request to a host or an endpoint; undefined where its error names none, as for an answer that cannot be used.
 */
export function unreachedCause(error: BaseError): UnreachedCause | undefined {
  const code = codeOf(error)
  if (error instanceof UnreachableError && error.silence === 'timeout') return lateCause
  return code === undefined ? undefined : causeOfCode(code)
}

/** The code below a host's silence, or that an endpoint's fault has among its facts. */
function codeOf(error: BaseError): string | undefined {
  if (error instanceof UnreachableError)
    return error.cause instanceof RequestFailed ? error.cause.code : undefined
  const { reason } = error.code === 'RPC_UNANSWERED' ? error.facts : {}
  return typeof reason === 'string' ? reason : undefined
}
