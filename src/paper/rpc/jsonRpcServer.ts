/** JSON-RPC 2.0: one call or a batch as text in, the answer as text out, over HTTP and WebSocket alike. */
import { fileBounds, parseBounded } from '../../base/boundedJson.ts'
import { defined } from '../../base/defined.ts'
import { isObject } from '../../base/isObject.ts'
import { invalidParams, RpcError, rpcCodes } from '../blocks/rpcError.ts'
import { stringify } from '../http/http.ts'
import type { VenueState } from '../state/venueState.ts'
import { methodOf } from './rpcMethods.ts'

/** Most calls of one batch. */
const MAX_BATCH = 1000
/** Longest request, characters. */
export const MAX_REQUEST_LENGTH = 2_000_000

/** Methods that belong to a connection, asked before the others; undefined when it has no such method. */
export type ConnectionMethods = (
  name: string,
  params: readonly unknown[],
) => { readonly result: unknown } | undefined

function failure(id: unknown, error: RpcError) {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: error.code,
      message: error.message,
      ...defined({ data: error.data }),
    },
  }
}

function idOf(call: unknown): string | number | null | undefined {
  if (!isObject(call) || call.id === undefined) return undefined
  const { id } = call
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function answer(venueState: VenueState, call: unknown, own: ConnectionMethods): unknown {
  const id = idOf(call)
  if (!isObject(call) || call.jsonrpc !== '2.0' || typeof call.method !== 'string') {
    return failure(id ?? null, new RpcError(rpcCodes.invalidRequest, 'invalid request'))
  }
  if (call.id !== undefined && call.id !== null && id === null) {
    return failure(
      null,
      new RpcError(rpcCodes.invalidRequest, 'invalid request: id must be a string or a number'),
    )
  }
  try {
    const { method, params = [] } = call
    if (!Array.isArray(params)) throw invalidParams('non-array args')
    const result = own(method, params)?.result ?? run(venueState, method, params)
    // A call without an id is a notification: done, and not answered.
    return id === undefined ? undefined : { jsonrpc: '2.0', id, result }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return id === undefined ? undefined : failure(id, error)
  }
}

function run(venueState: VenueState, name: string, params: readonly unknown[]): unknown {
  const method = methodOf(name)
  if (method !== undefined) return method(venueState, params)
  throw new RpcError(rpcCodes.methodNotFound, `the method ${name} does not exist/is not available`)
}

/** HTTP has no subscriptions. */
const noConnection: ConnectionMethods = (name) => {
  if (name !== 'eth_subscribe' && name !== 'eth_unsubscribe') return undefined
  throw new RpcError(rpcCodes.methodNotFound, 'notifications not supported')
}

/** Answers a text; undefined when it held notifications only. */
export function answerRpc(
  venueState: VenueState,
  text: string,
  own: ConnectionMethods = noConnection,
): string | undefined {
  const refuse = (code: number, message: string): string =>
    stringify(failure(null, new RpcError(code, message)))
  if (text.length > MAX_REQUEST_LENGTH) return refuse(rpcCodes.invalidRequest, 'request too large')
  let request: unknown
  try {
    request = parseBounded(text, fileBounds)
  } catch {
    return refuse(rpcCodes.parse, 'parse error')
  }
  if (!Array.isArray(request)) {
    const one = answer(venueState, request, own)
    return one === undefined ? undefined : stringify(one)
  }
  if (request.length === 0) return refuse(rpcCodes.invalidRequest, 'empty batch')
  if (request.length > MAX_BATCH) return refuse(rpcCodes.invalidRequest, 'batch too large')
  const answers = request.map((call) => answer(venueState, call, own)).filter((one) => one !== undefined)
  return answers.length === 0 ? undefined : stringify(answers)
}
