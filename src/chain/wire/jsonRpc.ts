/**
 * JSON-RPC 2.0 against one endpoint: calls in one batch, answers by id. Everything is bounded and nothing is believed: an
 * answer of another shape, with an id that was not asked, or with an answer missing is a fault of the endpoint.
 */
import { answerBounds, JsonBoundsError, parseBounded } from '../../base/boundedJson.ts'
import type { Clock } from '../../base/clock.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { isObject } from '../../base/isObject.ts'

/** One call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The endpoint's result of one call, or its refusal. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly refused: { readonly code: number; readonly message: string } }

/** Carries texts to an endpoint and back. */
export interface RpcTransport {
  /** The answer to a text. Rejects when there is none; the signal ends the wait. */
  send(text: string, signal: AbortSignal): Promise<string>
  close(): void
}

/** One endpoint to call. */
export interface RpcClient {
  /** Name for people and evidence: never a whole address, because keys stand in them. */
  readonly name: string
  /** Requests sent since the start. */
  requests(): number
  /**
   * Answers in the order of the calls, all of one batch.
   *
   * @throws BaseError RPC_UNANSWERED when there was no answer in time, RPC_UNREADABLE when it is none of JSON-RPC
   */
  request(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly RpcAnswer[]>
  close(): void
}

/** Limits of a client. */
export interface RpcLimits {
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  /** Most calls of one batch; more are sent one batch after the other. */
  readonly batchSize: number
}

/** Longest text of an endpoint that is kept of one refusal, characters. */
const MAX_MESSAGE = 160

/** A fault of an endpoint: what it answered cannot be used. */
export function unreadable(endpoint: string, why: string): BaseError {
  return new BaseError(`The chain endpoint ${endpoint} gave an unusable response: ${why}.`, {
    code: 'RPC_UNREADABLE',
    facts: { endpoint },
    details: 'perpd ignored it and retries.',
  })
}

/** A fault of an endpoint: it refused a call that it must be able to answer. */
export function refusedBy(endpoint: string, method: string, code: number, message: string): BaseError {
  return new BaseError(`The chain endpoint ${endpoint} refused ${method}: ${message} (${code}).`, {
    code: 'RPC_REFUSED',
    facts: { endpoint, method, rpcCode: code },
    details: 'perpd ignored it and retries.',
  })
}

/** Makes a client over a transport. */
export function createRpcClient(
  name: string,
  transport: RpcTransport,
  clock: Clock,
  limits: RpcLimits,
): RpcClient {
  let nextId = 1
  let requests = 0

  async function batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly RpcAnswer[]> {
    const firstId = nextId
    nextId += calls.length
    requests += 1
    const body = calls.map(({ method, params }, index) => ({
      jsonrpc: '2.0',
      id: firstId + index,
      method,
      params,
    }))
    // A single call goes as itself: some endpoints take no batches.
    const text = await answerInTime(JSON.stringify(body.length === 1 ? body[0] : body), signal)
    return readAnswers(name, text, firstId, calls.length)
  }

  async function answerInTime(text: string, signal: AbortSignal): Promise<string> {
    const over = new AbortController()
    const timer = new AbortController()
    const cancel = (): void => over.abort()
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) over.abort()
    const timeout = clock.sleep(limits.timeoutMs, timer.signal).then(() => {
      if (timer.signal.aborted) return new Promise<never>(() => undefined)
      over.abort()
      throw Object.assign(new Error(`no answer within ${limits.timeoutMs} ms`), { code: 'ETIMEDOUT' })
    })
    // The loser of the race may fail later; nobody waits for it then.
    timeout.catch(() => undefined)
    const sent = transport.send(text, over.signal)
    sent.catch(() => undefined)
    try {
      return await Promise.race([sent, timeout])
    } catch (error) {
      throw new BaseError(`The chain endpoint ${name} did not answer: ${plain(reasonOf(error))}.`, {
        code: 'RPC_UNANSWERED',
        facts: { endpoint: name, reason: codeOf(error) },
        details: 'perpd retries; orders do not change until it responds.',
      })
    } finally {
      // Without a reason one is made up, with a trace of the stack.
      timer.abort('answered')
      signal.removeEventListener('abort', cancel)
    }
  }

  return {
    name,
    requests: () => requests,
    async request(calls, signal) {
      const answers: RpcAnswer[] = []
      for (let at = 0; at < calls.length; at += limits.batchSize) {
        answers.push(...(await batch(calls.slice(at, at + limits.batchSize), signal)))
      }
      return answers
    },
    close: () => transport.close(),
  }
}

function readAnswers(name: string, text: string, firstId: number, count: number): readonly RpcAnswer[] {
  let value: unknown
  try {
    value = parseBounded(text, answerBounds)
  } catch (error) {
    throw unreadable(name, error instanceof JsonBoundsError ? error.message : 'it is not JSON')
  }
  const rows: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (rows.length > count) throw unreadable(name, `${rows.length} answers to ${count} calls`)
  const answers: (RpcAnswer | undefined)[] = Array.from({ length: count })
  for (const row of rows) {
    if (!isObject(row)) throw unreadable(name, 'an answer is no object')
    const { id, error } = row
    const isWhole = !Array.isArray(value) && id === null
    // A refusal of the whole request has no id of ours.
    if (isWhole && isObject(error)) return Array.from({ length: count }, () => refusal(error))
    const index = typeof id === 'number' ? id - firstId : -1
    if (!Number.isInteger(index) || index < 0 || index >= count || answers[index] !== undefined) {
      throw unreadable(name, 'an answer has an id that was not asked')
    }
    if (error !== undefined && error !== null) {
      answers[index] = isObject(error) ? refusal(error) : refusal({})
    } else if ('result' in row) answers[index] = { result: row.result }
    else throw unreadable(name, 'an answer has neither result nor error')
  }
  return answers.map((answer) => {
    if (answer === undefined) throw unreadable(name, 'an answer is missing')
    return answer
  })
}

function refusal({ code, message }: Readonly<Record<string, unknown>>): RpcAnswer {
  return {
    refused: {
      code: typeof code === 'number' ? code : 0,
      message: plain(typeof message === 'string' ? message : 'no reason given'),
    },
  }
}

/** The code that the system, Node or OpenSSL gives to what went wrong; undefined without one. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an endpoint's text may hold anything
  const one = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/\b[a-z]+:\/\/\S+/gi, '(an address)')
  return one.length <= MAX_MESSAGE ? one : `${one.slice(0, MAX_MESSAGE)}…`
}
