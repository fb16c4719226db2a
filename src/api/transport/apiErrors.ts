/**
 * Errors of a request, separated by what they show. The server refused (`RefusedError`), nothing conclusive came back (`UnreachableError`), or a
 * response could not be read (`DecodeError`). None of them closes a signed attempt; `proves` says what each one shows about one request.
 */
import { shownValue } from '../../base/boundedJson.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { causeOfCode } from './unreachedCauses.ts'

/** Kind of a route, which decides whether it may be repeated: reads and prepare may, a submit may not. */
export type RouteKind = 'read' | 'prepare' | 'submit' | 'status'

/** Where a request went. */
export interface RequestPlace {
  /** Path template, `/orders/txns/prepare`. */
  readonly route: string
  readonly method: string
  readonly kind: RouteKind
  /** Base address of the API that was asked. */
  readonly host: string
}

/** One complaint about a parameter, from the API's schema check (docs/reference/api-coverage.md A26 to A33). */
export interface FieldError {
  /** The parameter's own name: the last part of `path`. */
  readonly field: string
  /** The key as the server sent it; may carry a prefix such as `requestBody.`. */
  readonly path: string
  readonly message: string
  /** The value complained about, where the server repeats it. */
  readonly value?: unknown
}

/** Options of `RefusedError`. */
export interface RefusedErrorOptions extends RequestPlace {
  readonly status: number
  /** True when the body is the API's own error body; false for the page of a proxy in between. */
  readonly isOwnBody: boolean
  readonly serverCode?: string | undefined
  readonly serverMessage?: string | undefined
  readonly fieldErrors?: readonly FieldError[] | undefined
  readonly serverDetails?: unknown
  readonly traceId?: string | undefined
  readonly requestId?: string | undefined
}

/** The server answered with a 4xx: an observation, and no more than that once a signature has left. */
export class RefusedError extends BaseError {
  readonly route: string
  readonly method: string
  readonly kind: RouteKind
  readonly host: string
  readonly status: number
  readonly isOwnBody: boolean
  /** The API's code, `INSUFFICIENT_LIQUIDITY`; many refusals carry none. */
  readonly serverCode: string | undefined
  readonly serverMessage: string | undefined
  readonly fieldErrors: readonly FieldError[]
  /** The body's `details`, as it came. */
  readonly serverDetails: unknown
  readonly traceId: string | undefined
  readonly requestId: string | undefined

  constructor(options: RefusedErrorOptions) {
    const fields = options.fieldErrors ?? []
    const complaint =
      options.serverMessage ?? fields.map(({ path, message }) => `${path}: ${message}`).join('; ')
    const said = [options.serverCode, complaint].filter(Boolean).join(': ')
    super(
      `${hostName(options.host)} refused ${options.method} ${options.route}${said === '' ? '' : `: ${said}`}.`.replace(
        /\.\.$/,
        '.',
      ),
      {
        code: 'API_REFUSED',
        facts: {
          status: options.status,
          host: options.host,
          serverDetails: options.serverDetails === undefined ? undefined : shownValue(options.serverDetails),
          requestId: options.requestId,
          traceId: options.traceId,
        },
        details: refusedAdvice[options.kind],
      },
    )
    this.route = options.route
    this.method = options.method
    this.kind = options.kind
    this.host = options.host
    this.status = options.status
    this.isOwnBody = options.isOwnBody
    this.serverCode = options.serverCode
    this.serverMessage = options.serverMessage
    this.fieldErrors = fields
    this.serverDetails = options.serverDetails
    this.traceId = options.traceId
    this.requestId = options.requestId
  }
}

const refusedAdvice: Readonly<Record<RouteKind, string>> = {
  read: 'perpd does not repeat the request. Check its market, token and account.',
  prepare: 'Nothing was signed, and perpd does not request the same order again.',
  submit:
    'perpd sent the signed order once and never sends it again; it follows the order until its fate is proven.',
  status: 'perpd draws no conclusion from this and requests the status again.',
}

/** Says whether a byte of the request may have left this machine. */
export type Sent = 'no' | 'maybe'

/** Why there is no conclusive answer. */
export type Silence = 'timeout' | 'network' | 'status' | 'resting' | 'queue' | 'no-host'

/**
 * Meaning of a 503, by the body's code and the route (docs/reference/api-coverage.md A26 to A33).
 * - `backend`: the pool behind the host does not serve the route.
 * - `route`: the route itself is not served here or not ready, as the document says for stats, earnings and Solana pairs. A 308 of stats that was not
 * followed means the same.
 * - `server`: anything else, among it a request beyond the server's 60 s.
 * Only `server` says something about the host.
 */
export type Unavailability = 'backend' | 'route' | 'server'

/** Options of `UnreachableError`. */
export interface UnreachableErrorOptions extends RequestPlace {
  readonly silence: Silence
  /** `no` only when it is certain of every attempt. */
  readonly sent: Sent
  readonly attempts: number
  /** Status of the last answer: 408, 425, 429 or 5xx. */
  readonly status?: number | undefined
  readonly serverCode?: string | undefined
  readonly serverMessage?: string | undefined
  readonly traceId?: string | undefined
  /** Meaning of a 503, or of a 308 that was not followed. */
  readonly unavailability?: Unavailability | undefined
  /** Meaning of a 503 of this route according to the document. */
  readonly unservedMeans?: string | undefined
  /** Wait that the server requested, ms. */
  readonly retryAfterMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly cause?: unknown
}

/** No conclusive answer: silence, a broken connection, or a status that says "not now". */
export class UnreachableError extends BaseError {
  readonly route: string
  readonly method: string
  readonly kind: RouteKind
  readonly host: string
  readonly silence: Silence
  readonly sent: Sent
  readonly attempts: number
  /** Status of the last answer: 408, 425, 429 or 5xx. */
  readonly status: number | undefined
  readonly serverCode: string | undefined
  readonly serverMessage: string | undefined
  readonly traceId: string | undefined
  /** Which kind of 503 it was, if it was one; `route` for a redirect of stats that was not followed. */
  readonly unavailability: Unavailability | undefined
  readonly retryAfterMs: number | undefined
  readonly #options: UnreachableErrorOptions

  constructor(options: UnreachableErrorOptions) {
    const who = options.silence === 'no-host' ? 'No host' : hostName(options.host)
    super(`${who} ${silenceText(options)} ${options.method} ${options.route}${causeText(options)}.`, {
      code: 'API_UNREACHABLE',
      facts: {
        host: options.host === '' ? undefined : options.host,
        attempts: options.attempts,
        reached: reachedText(options),
        means: unavailableText(options),
        serverMessage: [options.serverCode, options.serverMessage].filter(Boolean).join(': ') || undefined,
        traceId: options.traceId,
        cause: options.cause === undefined ? undefined : reasonOf(options.cause),
      },
      details: unreachableAdvice(options),
      ...defined({ cause: options.cause }),
    })
    this.route = options.route
    this.method = options.method
    this.kind = options.kind
    this.host = options.host
    this.silence = options.silence
    this.sent = options.sent
    this.attempts = options.attempts
    this.status = options.status
    this.serverCode = options.serverCode
    this.serverMessage = options.serverMessage
    this.traceId = options.traceId
    this.unavailability = options.unavailability
    this.retryAfterMs = options.retryAfterMs
    this.#options = options
  }

  /** The same error where an earlier attempt may have sent what this one did not. */
  withSent(sent: Sent): UnreachableError {
    return sent === this.sent ? this : new UnreachableError({ ...this.#options, sent })
  }
}

function reachedText({ silence, sent }: UnreachableErrorOptions): string {
  if (sent === 'no') return 'no, nothing was sent'
  return silence === 'status' ? 'yes' : 'perhaps'
}

function unavailableText({ unavailability, unservedMeans }: UnreachableErrorOptions): string | undefined {
  if (unavailability === 'backend') return 'the request reached a pool that does not serve this route'
  return unavailability === 'route' ? unservedMeans : undefined
}

function silenceText(options: UnreachableErrorOptions): string {
  switch (options.silence) {
    case 'timeout':
      return `did not answer within ${options.timeoutMs ?? 0} ms to`
    case 'network':
      return options.sent === 'no' ? 'could not be reached for' : 'broke the connection during'
    case 'status':
      return `answered ${options.status ?? 0} to`
    case 'resting':
      return 'and its peers are in cooldown, so no request was sent for'
    case 'no-host':
      return 'is configured, so no request was sent for'
    case 'queue':
      return 'has too many requests waiting; none was sent for'
  }
}

/** Describes why there was no connection, after a colon, where the fault's code gives a reason. */
function causeText({ silence, cause }: UnreachableErrorOptions): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const named = silence === 'network' && typeof code === 'string' ? causeOfCode(code) : undefined
  return named === undefined ? '' : `: ${named.text}`
}

function unreachableAdvice(options: UnreachableErrorOptions): string {
  if (options.silence === 'no-host')
    return 'Configure a host that serves this route, or do not use the feature.'
  if (options.kind === 'submit' && options.sent === 'maybe') {
    return 'The signed order may have arrived. perpd does not send it again and follows it until its fate is proven.'
  }
  if (options.kind === 'submit') return 'The signed order did not leave this machine.'
  if (options.kind === 'prepare') return 'Nothing was signed. A later decision may retry.'
  return 'perpd retries at the next need. Check the network and the venue if this persists.'
}

/** Options of `DecodeError`. */
export interface DecodeErrorOptions extends RequestPlace {
  /** Path inside the body, `[3].capacityLong.availableLiquidity`; empty for the body as a whole. */
  readonly path: string
  /** Fault of the value there, as a clause: `is not a whole number text`. */
  readonly problem: string
  readonly value: unknown
  /** True when the response answers another request: a fault of the host. */
  readonly isOfAnother?: boolean | undefined
  readonly traceId?: string | undefined
  /** Error that the decoder threw, unless it was the decoder's own complaint about the body. */
  readonly cause?: unknown
}

/** A 2xx answer that does not have the shape it must have. Of a submit it proves nothing. */
export class DecodeError extends BaseError {
  readonly route: string
  readonly method: string
  readonly kind: RouteKind
  readonly host: string
  readonly path: string
  readonly problem: string
  readonly value: unknown
  /** True when the response answers another request: a fault of the host. */
  readonly isOfAnother: boolean
  readonly traceId: string | undefined

  constructor(options: DecodeErrorOptions) {
    super(
      `The answer of ${hostName(options.host)} to ${options.method} ${options.route} cannot be read: ${
        options.path === '' ? 'the body' : options.path
      } ${options.problem}.`,
      {
        code: 'API_UNDECODABLE',
        facts: { host: options.host, value: shownValue(options.value), traceId: options.traceId },
        details:
          options.kind === 'submit'
            ? 'The venue may have accepted the signed order. perpd does not send it again and follows it until its fate is proven.'
            : 'perpd ignored this response. If it persists, the venue changed its API: look for a newer perpd.',
        ...defined({ cause: options.cause }),
      },
    )
    this.route = options.route
    this.method = options.method
    this.kind = options.kind
    this.host = options.host
    this.path = options.path
    this.problem = options.problem
    this.value = options.value
    this.isOfAnother = options.isOfAnother === true
    this.traceId = options.traceId
  }
}

/** Host name and port of a base address, for people; the address itself when it is no URL. */
export function hostName(base: string): string {
  return /^[a-z]+:\/\/([^/]+)/i.exec(base)?.[1] ?? base
}

const inconclusiveStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * Says what one failed request shows about that request (docs/reference/evidence.md, "What closes an order").
 *
 * `not-sent`: not a byte left. `refused`: the API itself refused (which closes nothing on chain once a signature has left).
 * `nothing`: everything else: 408, 409, 425, 429, 5xx, timeouts, resets, undecodable responses, and the page of a proxy.
 * A 404 to a request for status and errors of any other class count as `nothing` too.
 */
export function proves(error: unknown): 'not-sent' | 'refused' | 'nothing' {
  if (error instanceof UnreachableError) return error.sent === 'no' ? 'not-sent' : 'nothing'
  if (!(error instanceof RefusedError)) return 'nothing'
  if (!error.isOwnBody || error.status < 400 || error.status > 499) return 'nothing'
  if (inconclusiveStatuses.has(error.status)) return 'nothing'
  if (error.status === 404 && error.kind === 'status') return 'nothing'
  return 'refused'
}
