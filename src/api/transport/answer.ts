/** Classifies one HTTP response: a value, a refusal, or "not now". Reads the error bodies of both APIs (documents, "Errors"). */
import { answerBounds, JsonBoundsError, parseBounded, shownValue } from '../../base/boundedJson.ts'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { Malformed } from '../decode/decode.ts'
import { parseExact } from '../decode/json.ts'
import {
  DecodeError,
  type FieldError,
  RefusedError,
  type RequestPlace,
  type Unavailability,
  UnreachableError,
} from './apiErrors.ts'
import type { HttpAnswer } from './httpRequest.ts'

/** The API's own error body, as far as it could be read. */
export interface ErrorBody {
  readonly isOwnBody: boolean
  readonly code?: string
  readonly message?: string
  readonly fieldErrors: readonly FieldError[]
  readonly details?: unknown
  readonly traceId?: string
}

const MAX_MESSAGE_LENGTH = 500
/** Refused fields that are kept of one body. */
const MOST_FIELD_ERRORS = 20

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_MESSAGE_LENGTH) : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}

/**
 * Reads an error body: `{message, code?, details?}`, `{message: {field: {message}}}`, `{error: {code, message}}`,
 * `{error: text}` or the oracle's `{errors: [text]}`. Never throws: anything else is not the API's own.
 */
function readErrorBody(body: string): ErrorBody {
  let parsed: unknown
  try {
    parsed = parseBounded(body, answerBounds)
  } catch {
    return { isOwnBody: false, fieldErrors: [] }
  }
  const fields = record(parsed)
  if (fields === undefined) return { isOwnBody: false, fieldErrors: [] }
  const inner = record(fields.error)
  const schema = record(fields.message)
  const fieldErrors = Object.entries(schema ?? {})
    .slice(0, MOST_FIELD_ERRORS)
    .map(fieldError)
  const listed = Array.isArray(fields.errors)
    ? fields.errors.slice(0, MOST_FIELD_ERRORS).filter((each) => typeof each === 'string')
    : []
  const code = text(fields.code) ?? text(inner?.code)
  const message =
    text(fields.message) ?? text(inner?.message) ?? text(fields.error) ?? text(listed.join('; ')) ?? undefined
  const details = fields.details ?? inner?.details
  const traceId = text(fields.traceId)
  return {
    isOwnBody: code !== undefined || message !== undefined || schema !== undefined,
    ...defined({ code, message }),
    fieldErrors,
    ...defined({ details, traceId }),
  }
}

function fieldError([name, complaint]: [string, unknown]): FieldError {
  const path = name.slice(0, MAX_MESSAGE_LENGTH)
  const parts = record(complaint)
  const field = path.slice(path.lastIndexOf('.') + 1)
  const message = text(complaint) ?? text(parts?.message) ?? shownValue(complaint)
  return {
    field: field === '' ? path : field,
    path,
    message,
    ...defined({ value: parts?.value }),
  }
}

/** Statuses that say "not now": the same request may succeed later. */
function isNotNow(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

function unavailabilityOf(
  status: number,
  code: string | undefined,
  unservedMeans: string | undefined,
): Unavailability | undefined {
  // A redirect that was not followed: the route is served elsewhere, and the host is well.
  if (status === 308 && unservedMeans !== undefined) return 'route'
  if (status !== 503) return undefined
  if (code === 'BACKEND_UNAVAILABLE') return 'backend'
  return unservedMeans === undefined ? 'server' : 'route'
}

/** The error that an answer outside 2xx stands for; `unservedMeans` is the route's own reason for a 503. */
export function errorOfStatus(
  place: RequestPlace,
  answer: HttpAnswer,
  attempts: number,
  unservedMeans?: string,
): RefusedError | UnreachableError {
  const { status, retryAfterMs } = answer
  const said = readErrorBody(answer.body)
  const traceId = answer.traceId ?? said.traceId
  // A redirect that nobody asked for is no word of the API either.
  if (isNotNow(status) || status < 400) {
    return new UnreachableError({
      ...place,
      silence: 'status',
      sent: 'maybe',
      attempts,
      status,
      serverCode: said.code,
      serverMessage: said.message,
      unavailability: unavailabilityOf(status, said.code, unservedMeans),
      unservedMeans,
      retryAfterMs,
      traceId,
    })
  }
  return new RefusedError({
    ...place,
    status,
    isOwnBody: said.isOwnBody,
    serverCode: said.code,
    serverMessage: said.message,
    fieldErrors: said.fieldErrors,
    serverDetails: said.details,
    traceId,
  })
}

/**
 * Decodes the body of a 2xx answer. Throws `DecodeError` and nothing else: whatever a decoder throws while it reads what came
 * from outside says that the answer cannot be read, and no more.
 */
export function decodeBody<T>(
  place: RequestPlace,
  body: string,
  decode: (body: unknown) => T,
  options: { readonly isExact: boolean; readonly traceId: string | undefined },
): T {
  let parsed: unknown
  try {
    parsed = options.isExact ? parseExact(body) : parseBounded(body, answerBounds)
  } catch (error) {
    const problem = error instanceof JsonBoundsError ? `cannot be read: ${error.message}` : 'is not JSON'
    throw new DecodeError({
      ...place,
      path: '',
      problem,
      value: body.slice(0, MAX_MESSAGE_LENGTH),
      traceId: options.traceId,
    })
  }
  try {
    return decode(parsed)
  } catch (error) {
    if (!(error instanceof Malformed)) {
      const problem = `broke its decoder: ${reasonOf(error)}`
      throw new DecodeError({
        ...place,
        path: '',
        problem,
        value: parsed,
        traceId: options.traceId,
        cause: error,
      })
    }
    const { path, problem, value, isOfAnother } = error
    throw new DecodeError({ ...place, path, problem, value, isOfAnother, traceId: options.traceId })
  }
}
