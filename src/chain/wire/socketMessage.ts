/** Classifies one message of a WebSocket endpoint from its text alone. */
import { answerBounds, parseBounded } from '../../base/boundedJson.ts'
import { isObject } from '../../base/isObject.ts'

/** A pushed head, an answer to a request, or nothing that anybody waits for. */
export type SocketMessage =
  | { readonly kind: 'head'; readonly head: unknown }
  /** `id`: the lowest of its answers, which names the batch; undefined for a refusal of a whole request. */
  | { readonly kind: 'answer'; readonly id: number | undefined }
  | { readonly kind: 'none' }

const none: SocketMessage = { kind: 'none' }

/** Reads a message. Never throws: what is no message of JSON-RPC answers nothing, and whoever waits runs into his time limit. */
export function readSocketMessage(text: string): SocketMessage {
  let value: unknown
  try {
    value = parseBounded(text, answerBounds)
  } catch {
    return none
  }
  const rows: readonly unknown[] = Array.isArray(value) ? value : [value]
  const [first] = rows
  if (!isObject(first)) return none
  if (first.method === 'eth_subscription') {
    return isObject(first.params) ? { kind: 'head', head: first.params.result } : none
  }
  // A batch is answered whole; its answers may come in any order.
  let lowest: number | undefined
  for (const row of rows) {
    const id = isObject(row) ? row.id : undefined
    if (typeof id === 'number' && (lowest === undefined || id < lowest)) lowest = id
  }
  if (lowest === undefined && first.id !== null) return none
  return { kind: 'answer', id: lowest }
}
