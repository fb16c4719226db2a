/** Tells whether a byte of a failed request may have left this machine. */
import type { Sent } from './apiErrors.ts'

/**
 * Codes that name lookup and connecting give before there is a connection. Others (EHOSTUNREACH, ETIMEDOUT, TLS errors)
 * can come later too, so they count only from a fetch that watched the connection itself.
 */
const beforeConnectCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'])

/** A failure of one request, from a fetch that knows whether its bytes had a connection to leave by. */
export class RequestFailed extends Error {
  readonly sent: Sent
  /** The system's code, `ECONNRESET`, where there is one. */
  readonly code: string | undefined

  constructor(message: string, options: { sent: Sent; code?: string | undefined }) {
    super(message)
    this.name = 'RequestFailed'
    this.sent = options.sent
    this.code = options.code
  }
}

/** `no` only when it is certain that nothing left: the fetch says so, or the code cannot come later than connecting. */
export function sentOf(error: unknown): Sent {
  if (error instanceof RequestFailed) return error.sent
  let current = error
  for (let depth = 0; depth < 4 && current instanceof Error; depth++) {
    const { code } = current as { code?: unknown }
    if (typeof code === 'string') return beforeConnectCodes.has(code) ? 'no' : 'maybe'
    current = current.cause
  }
  return 'maybe'
}
