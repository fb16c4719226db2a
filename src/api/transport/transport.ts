import { defined } from '../../base/defined.ts'
import type { BaseError } from '../../base/errors.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import { decodeBody, errorOfStatus } from './answer.ts'
import { DecodeError, RefusedError, type RequestPlace, type Sent, UnreachableError } from './apiErrors.ts'
import { createCoalescer } from './coalesce.ts'
import { baseAddress, createHosts, type HostFailure } from './hosts.ts'
import { type HttpAnswer, httpRequest } from './httpRequest.ts'
import { type Redirected, redirected } from './redirect.ts'
import { type ApiLimits, defaultApiLimits } from './requestLimits.ts'
import { createRequestQueue } from './requestQueue.ts'
import { type CallOptions, type Read, type Route, targetOf, urlOf } from './route.ts'
import type { AttemptOutcome, Transport, TransportOptions } from './transportTypes.ts'

/** Makes a transport over a handed-in fetch and clock. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, random, onAttempt } = options
  const limits: ApiLimits = { ...defaultApiLimits, ...options.limits }
  const hosts = createHosts({
    hosts: options.hosts,
    clock,
    limits,
    onCooldown: options.onCooldown ?? (() => {}),
    ...defined({ onPrices: options.onPrices }),
  })
  const coalescer = createCoalescer(clock)
  const serverDates = createDateReader()
  const queue = createRequestQueue({ hosts, clock, limits })

  /** Until when hosts asked to be left alone (`Retry-After`), monotonic ms: by host, or by host and route. */
  const askedToWait = new Map<string, number>()

  /** Returns the time for which a host must still be left alone, ms. */
  function mustWaitMs(host: string, path: string): number {
    const untilMs = Math.max(askedToWait.get(host) ?? 0, askedToWait.get(`${host} ${path}`) ?? 0)
    return Math.max(0, untilMs - clock.monotonicMs())
  }

  /** One request to one host, decoded and reported. */
  async function attemptOnce<Input, Value>(
    route: Route<Input, Value>,
    input: Input,
    place: RequestPlace,
    attempt: number,
    timeoutMs: number,
    follows?: Redirected,
  ): Promise<Read<Value>> {
    const { host } = place
    const content = route.body?.(input)
    const request = {
      url: follows?.url ?? urlOf(route, input, host),
      body: content === undefined ? undefined : JSON.stringify(content),
      timeoutMs,
    }
    const startMs = clock.monotonicMs()
    let answer: HttpAnswer | undefined
    let failure: unknown
    let movedTo: Redirected | undefined
    // A redirect is followed once.
    const mayFollow =
      follows === undefined &&
      route.followsRedirect === true &&
      route.kind === 'read' &&
      route.method === 'GET'
    try {
      const ended = route.kind === 'read' ? hosts.began(host) : undefined
      answer = await httpRequest(options, place, request, attempt).finally(ended)
      const serverDateMs = serverDates(host, answer.date)
      if (serverDateMs !== undefined) hosts.sawClock(host, serverDateMs, answer)
      if (mayFollow) movedTo = redirected(answer, request.url, host, hosts.isKnown)
      if (movedTo === undefined) {
        if (answer.status < 200 || answer.status > 299) {
          throw errorOfStatus(place, answer, attempt, route.unservedMeans)
        }
        const { traceId } = answer
        const missing: MissingRow[] = []
        let foreign = 0
        const dropForeign = () => {
          foreign += 1
        }
        const value = decodeBody(
          place,
          answer.body,
          (body) => route.decode(body, { input, missing, dropForeign }),
          { isExact: route.isExact === true, traceId },
        )
        hosts.succeeded(host)
        if (foreign > 0) options.onForeign?.({ route: place.route, host, rows: foreign })
        if (missing.length > 0) options.onMissing?.({ route: place.route, host, rows: missing })
        const madeAtMs = route.madeAtMs?.(value)
        if (madeAtMs !== undefined) {
          hosts.sawPrices(host, priceAgeOf(madeAtMs, answer.leftAtMs, serverDateMs), madeAtMs)
        }
        return {
          value,
          readAtMs: answer.leftAtMs,
          host,
          ...defined({ serverDateMs, missing: missing.length === 0 ? undefined : missing }),
        }
      }
      hosts.succeeded(host)
    } catch (error) {
      failure = error
      noteHealth(host, error)
      throw error
    } finally {
      if (onAttempt !== undefined) {
        const traceId = traceIdOf(failure) ?? answer?.traceId
        onAttempt({
          route: place.route,
          method: place.method,
          host,
          attempt,
          durationMs: clock.monotonicMs() - startMs,
          outcome: movedTo === undefined ? outcomeOf(failure) : 'redirected',
          ...defined({ status: answer?.status, traceId, isResting: hosts.isCoolingDown(host) || undefined }),
        })
      }
    }
    hosts.takeTurn(movedTo.host)
    return attemptOnce(route, input, { ...place, host: movedTo.host }, attempt, timeoutMs, movedTo)
  }

  function noteHealth(host: string, error: unknown): void {
    if (error instanceof UnreachableError) {
      if (error.status === 429) {
        hosts.coolDown(
          host,
          Math.min(error.retryAfterMs ?? limits.cooldownMs, limits.cooldownMaxMs),
          'answered 429',
          false,
        )
      } else if (error.unavailability === 'backend' || error.unavailability === 'route') {
        // The route is not served there; the host may be well for all others.
        hosts.released(host)
      } else {
        hosts.failed(host, failureOf(error, error.silence === 'timeout'))
      }
      noteWait(host, error)
    } else if (error instanceof DecodeError && (error.path === '' || error.isOfAnother)) {
      hosts.failed(host, failureOf(error, false))
    } else {
      // It answered in its own words: the host is well.
      hosts.succeeded(host)
    }
  }

  /** Keeps how long a host asked to be left alone, whoever is asked meanwhile; of a route that it does not serve, the route. */
  function noteWait(host: string, { status, retryAfterMs, route, unavailability }: UnreachableError): void {
    if (retryAfterMs === undefined) return
    const waitMs = Math.min(retryAfterMs, limits.cooldownMaxMs)
    const isOfRoute = unavailability === 'backend' || unavailability === 'route'
    askedToWait.set(isOfRoute ? `${host} ${route}` : host, clock.monotonicMs() + waitMs)
    if (!isOfRoute && status !== 429 && waitMs > 0) hosts.coolDown(host, waitMs, `answered ${status}`, false)
  }

  /** A request beside another one, to see whether a host is back: nobody waits for it. */
  function probe<Input, Value>(
    route: Route<Input, Value>,
    input: Input,
    host: string,
    timeoutMs: number,
  ): void {
    const place = { route: route.path, method: route.method, kind: route.kind, host }
    // The attempt has noted what it shows about the host; nobody needs its value.
    queue
      .enqueue(place, route.isHistory === true, () => attemptOnce(route, input, place, 1, timeoutMs))
      .catch(() => {})
  }

  /** Attempts until one succeeds, one is final, or there are no more. */
  async function persist<Input, Value>(
    route: Route<Input, Value>,
    input: Input,
    callOptions: CallOptions,
  ): Promise<Read<Value>> {
    const { path, method, kind } = route
    const bases = hosts.basesOf(route)
    const most = kind === 'submit' ? 1 : (callOptions.attempts ?? limits.attempts)
    const timeoutMs = timeoutOf(route, callOptions, limits)
    const pinned = callOptions.host === undefined ? undefined : baseAddress(callOptions.host)
    const needsTrust = kind === 'prepare' || kind === 'submit'
    const failed = new Set<string>()
    let sent: Sent = 'no'
    let best: Read<Value> | undefined
    for (let attempt = 1; ; attempt++) {
      const away = new Set([...failed, ...bases.filter((base) => mustWaitMs(base, path) > 0)])
      const host =
        pinned ??
        (best === undefined
          ? hosts.choose(route, { avoid: away, needsTrust })
          : hosts.another(route, away, route.madeAtMs?.(best.value)))
      const place = { route: path, method, kind, host: host ?? bases.join(', ') }
      if (host === undefined) {
        if (best !== undefined) return best
        const silence = bases.length === 0 ? 'no-host' : 'resting'
        throw new UnreachableError({ ...place, silence, sent, attempts: attempt - 1 })
      }
      const leaveMs = pinned === undefined ? mustWaitMs(host, path) : 0
      if (leaveMs > limits.retryAfterMaxMs) {
        const told = { silence: 'resting', sent, attempts: attempt - 1, retryAfterMs: leaveMs } as const
        throw new UnreachableError({ ...place, ...told })
      }
      if (leaveMs > 0) await clock.sleep(leaveMs)
      const due = kind === 'read' && pinned === undefined ? hosts.probeBeside(route, host) : undefined
      if (due !== undefined) probe(route, input, due, timeoutMs)
      try {
        const read = await queue.enqueue(place, route.isHistory === true, () =>
          attemptOnce(route, input, place, attempt, timeoutMs),
        )
        best = best === undefined || isBetter(route, read, best) ? read : best
        failed.add(host)
        if (pinned !== undefined || attempt >= most || isGood(route, best)) return best
      } catch (error) {
        failed.add(host)
        if (best !== undefined) continue
        const hasOther = pinned === undefined && bases.some((base) => !failed.has(base))
        const unreachable = error instanceof UnreachableError ? error : undefined
        if (unreachable?.sent === 'maybe') sent = 'maybe'
        const waitMs = Math.max(backoffMs(attempt), hasOther ? 0 : (unreachable?.retryAfterMs ?? 0))
        const isRepeated =
          attempt < most &&
          (unreachable !== undefined || (error instanceof DecodeError && hasOther)) &&
          waitMs <= Math.max(limits.retryAfterMaxMs, limits.backoffMaxMs)
        if (!isRepeated) throw unreachable === undefined ? error : unreachable.withSent(sent)
        await clock.sleep(waitMs)
      }
    }
  }

  /** Tells whether no other host could do better: every row was readable, and its prices are fresh. */
  function isGood<Value>(route: Route<never, Value>, read: Read<Value>): boolean {
    return read.missing === undefined && !isOld(route, read)
  }

  function isOld<Value>(route: Route<never, Value>, read: Read<Value>): boolean {
    const madeAtMs = route.madeAtMs?.(read.value)
    return (
      madeAtMs !== undefined && priceAgeOf(madeAtMs, read.readAtMs, read.serverDateMs) > limits.maxPriceAgeMs
    )
  }

  /** Tells whether the first of two responses is better: the one with fresh prices, then the one with younger prices, then the more complete one. */
  function isBetter<Value>(route: Route<never, Value>, one: Read<Value>, other: Read<Value>): boolean {
    if (isOld(route, one) || isOld(route, other)) {
      return (route.madeAtMs?.(one.value) ?? 0) > (route.madeAtMs?.(other.value) ?? 0)
    }
    return (one.missing?.length ?? 0) < (other.missing?.length ?? 0)
  }

  function backoffMs(attempt: number): number {
    return random() * Math.min(limits.backoffMs * 2 ** (attempt - 1), limits.backoffMaxMs)
  }

  return {
    hosts: hosts.lists,
    limits,
    call(route, input, callOptions = {}) {
      if (route.kind !== 'read') return persist(route, input, callOptions)
      const windowMs = typeof route.cacheMs === 'function' ? route.cacheMs(input) : (route.cacheMs ?? 0)
      const key = questionKey(route, input, callOptions)
      return coalescer.get(key, windowMs, callOptions.isFresh === true, () =>
        persist(route, input, callOptions),
      )
    },
    coolDown: (host, restMs, reason) => hosts.coolDown(baseAddress(host), restMs, reason, true),
    isCoolingDown: (host) => hosts.isCoolingDown(baseAddress(host)),
    clockSkewMs: (host) => hosts.clockSkewMs(host),
  }
}

/** A text that is the same for the same question: those who ask it may share an answer. */
function questionKey<Input>(route: Route<Input, unknown>, input: Input, options: CallOptions): string {
  const where = options.host === undefined ? route.service : baseAddress(options.host)
  const body = route.body === undefined ? '' : JSON.stringify(route.body(input))
  // Whoever gives up sooner does not give up for others.
  const patience = `${options.attempts ?? ''} ${options.timeoutMs ?? ''}`
  return `${where} ${route.version ?? ''} ${route.method} ${targetOf(route, input)} ${patience} ${body}`
}

function timeoutOf(route: Route<never, unknown>, options: CallOptions, limits: ApiLimits): number {
  if (options.timeoutMs !== undefined) return options.timeoutMs
  if (route.kind === 'prepare') return limits.prepareTimeoutMs
  if (route.kind === 'submit') return limits.submitTimeoutMs
  return Math.min(route.timeoutMs ?? limits.timeoutMs, limits.timeoutMs)
}

/** Greatest difference between a host's clock and ours up to which the host's own age of its prices is accepted, ms. */
const TRUSTED_SKEW_MS = 30_000

/**
 * Age of a stamp, ms: by the clock of its host, and no less than by ours and the difference that two honest clocks may have. A
 * proxy that serves an answer of yesterday serves its `Date` too.
 */
function priceAgeOf(madeAtMs: number, readAtMs: number, serverDateMs: number | undefined): number {
  const byOursMs = readAtMs - madeAtMs
  return serverDateMs === undefined ? byOursMs : Math.max(serverDateMs - madeAtMs, byOursMs - TRUSTED_SKEW_MS)
}

function failureOf(error: BaseError, isHung: boolean): HostFailure {
  return { reason: error.shortMessage, outcome: outcomeOf(error), isHung }
}

function outcomeOf(error: unknown): AttemptOutcome {
  if (error === undefined) return 'ok'
  if (error instanceof RefusedError) return 'refused'
  if (!(error instanceof UnreachableError)) return 'undecodable'
  if (error.sent === 'no') return 'not-sent'
  if (error.silence === 'timeout') return 'timeout'
  return error.silence === 'status' ? 'not-now' : 'network'
}

function traceIdOf(error: unknown): string | undefined {
  if (error instanceof RefusedError || error instanceof UnreachableError) return error.traceId
  return undefined
}

/** A host sends the same `Date` for a second at a time; parsing it once is enough. */
function createDateReader(): (host: string, header: string | null) => number | undefined {
  const seen = new Map<string, { readonly header: string; readonly ms: number }>()
  return (host, header) => {
    if (header === null) return undefined
    const last = seen.get(host)
    if (last?.header === header) return last.ms
    const ms = Date.parse(header)
    if (Number.isNaN(ms)) return undefined
    seen.set(host, { header, ms })
    return ms
  }
}
