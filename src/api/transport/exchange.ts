/**
 * One request over one connection, and what its failure shows.
 *
 * **"Not sent".** undici calls `onRequestStart` once the connection stands (over TLS: once the certificate was accepted), right
 * before it writes the first byte. A failure before that (name not found, connection refused, host unreachable, TLS not
 * established, aborted while connecting) left no byte of the request. From then on it may have left.
 *
 * **Written at most once.** undici writes a request again only if its connection was given up for another reason while it was
 * pending there, which cannot be with one request at a time. Should it begin a second time all the same, the exchange ends
 * before a byte is written.
 */
import type { Dispatcher } from 'undici'
import type { Connection } from './connections.ts'
import { RequestFailed } from './requestFailed.ts'
import type { FetchAnswer } from './route.ts'

const once = { once: true } as const

/** Inputs of an exchange. */
export interface ExchangeParts {
  readonly connection: Connection
  readonly signal: AbortSignal | undefined
  readonly maxBodyBytes: number
  readonly resolve: (answer: FetchAnswer) => void
  readonly reject: (failure: RequestFailed) => void
}

/** One request and its answer, as undici reports them. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts
  /** True once a byte of the request may have been written. */
  #hasStarted = false
  #isDone = false
  /** HTTP status of the answer; 0 before its head. */
  #status = 0
  #headers: Readonly<Record<string, string | string[] | undefined>> = {}
  readonly #chunks: Buffer[] = []
  #length = 0

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    parts.signal?.addEventListener('abort', this, once)
  }

  onRequestStart(controller: Pick<Dispatcher.DispatchController, 'abort'>): void {
    if (this.#hasStarted || this.#isDone) controller.abort(new Error('a request is written at most once'))
    this.#hasStarted = true
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#length += chunk.length
    const { maxBodyBytes } = this.#parts
    if (this.#length > maxBodyBytes) this.#fail(`the answer is larger than ${maxBodyBytes} bytes`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#isDone) return
    this.#settle()
    const headers = this.#headers
    this.#parts.connection.release(headerOf(headers, 'keep-alive') ?? undefined)
    const status = this.#status
    const chunks = this.#chunks
    const length = this.#length
    this.#parts.resolve({
      status,
      headers: { get: (name) => headerOf(headers, name) },
      text: () =>
        Promise.resolve(
          chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks, length).toString('utf8'),
        ),
    })
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(this.#status === 0 ? error.message : `the answer broke off: ${error.message}`, error)
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.#fail(this.#hasStarted ? 'aborted while waiting for the answer' : 'aborted while connecting')
  }

  #settle(): void {
    this.#isDone = true
    this.#parts.signal?.removeEventListener('abort', this)
  }

  #fail(message: string, cause?: Error): void {
    if (this.#isDone) return
    this.#settle()
    this.#parts.reject(
      new RequestFailed(message, { sent: this.#hasStarted ? 'maybe' : 'no', code: codeOf(cause) }),
    )
    this.#parts.connection.close()
  }
}

function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | null {
  const value = headers[name.toLowerCase()]
  if (value === undefined) return null
  return Array.isArray(value) ? value.join(', ') : value
}

function codeOf(cause: unknown): string | undefined {
  const { code } = (cause ?? {}) as { code?: unknown }
  // undici's own word for a connection that the other side ended.
  if (code === 'UND_ERR_SOCKET') return 'ECONNRESET'
  return typeof code === 'string' ? code : undefined
}
