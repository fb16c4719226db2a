/** Answers and requests of the venue's HTTP: bodies, error forms, headers, query and body reading. */
import { getAddress, isAddress } from 'viem/utils'
import { fileBounds, JsonBoundsError, parseBounded } from '../../base/boundedJson.ts'
import type { Address } from '../../protocol/address.ts'

/** A JSON value on the wire; amounts have already become decimal strings. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** One refused field of a schema failure. */
export interface FieldError {
  readonly message: string
  readonly value?: Json
}

/** A failing answer, thrown by handlers and written by the venue (docs/reference/api-coverage.md A26 to A33). */
export class HttpFailure extends Error {
  readonly status: number
  readonly body: Json

  constructor(status: number, body: Json) {
    super(`answer ${status}`)
    this.name = 'HttpFailure'
    this.status = status
    this.body = body
  }
}

/** 400 with a code, and details when given. */
export function refused(code: string, message: string, details?: Json): HttpFailure {
  return new HttpFailure(400, details === undefined ? { code, message } : { code, message, details })
}

/** 400 with a plain message. */
export function badRequest(message: string): HttpFailure {
  return new HttpFailure(400, { message })
}

/** 400 in the form of a schema failure: `message` is an object keyed by field. */
export function badFields(fields: Readonly<Record<string, FieldError>>): HttpFailure {
  const message: Record<string, Json> = {}
  for (const [name, { message: text, value }] of Object.entries(fields)) {
    message[name] = value === undefined ? { message: text } : { message: text, value }
  }
  return new HttpFailure(400, { message })
}

/** 404 with a plain message. */
export function notFound(message: string): HttpFailure {
  return new HttpFailure(404, { message })
}

/** JSON that was written before. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON that was written before, as the bytes that leave. */
export class JsonBytes {
  readonly bytes: Buffer<ArrayBuffer>

  constructor(bytes: Buffer<ArrayBuffer>) {
    this.bytes = bytes
  }
}

/** JSON of a 200 as it was made, for a reader in this process, which must not change it. */
export class JsonValue {
  readonly value: Json

  constructor(value: Json) {
    this.value = value
  }
}

/** JSON of an object of which some fields were written before. */
export function objectText(fields: Readonly<Record<string, Json | JsonText | undefined>>): JsonText {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${stringify(value)}`
  }
  return new JsonText(text === '' ? '{}' : `${text}}`)
}

/** JSON text; bigints become decimal strings. Most answers hold none, and writing those plainly is much faster. */
export function stringify(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (value instanceof JsonBytes) return value.bytes.toString()
  if (value instanceof JsonValue) return stringify(value.value)
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    )
  }
}

/** Addresses that were read last, by the text that they were: one order names its account three times. */
const readAddresses = new Map<string, Address>()
const MAX_READ_ADDRESSES = 4096

/** Checksummed form of any valid address, or undefined. */
export function parseAddress(value: unknown): Address | undefined {
  if (typeof value !== 'string') return undefined
  const known = readAddresses.get(value)
  if (known !== undefined) return known
  if (!isAddress(value, { strict: false })) return undefined
  const address = getAddress(value)
  if (readAddresses.size >= MAX_READ_ADDRESSES) readAddresses.clear()
  readAddresses.set(value, address)
  return address
}

/** A required address of the query. Throws HttpFailure 400 naming the field. */
export function requiredAddress(query: URLSearchParams, name: string): Address {
  const value = query.get(name)
  const address = parseAddress(value)
  if (address === undefined) {
    throw badFields({
      [name]:
        value === null
          ? { message: `'${name}' is required` }
          : { message: `'${name}' is not an address`, value },
    })
  }
  return address
}

/** Whole seconds of a query or body, or undefined when absent. Throws HttpFailure 400 with the documented message. */
export function timestampOf(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds <= 2_147_483_647)) throw badRequest(`Invalid ${name} timestamp: whole seconds expected`)
  return seconds
}

/** A whole number of a query or body within a range. Throws HttpFailure 400. */
export function integerOf(
  value: unknown,
  name: string,
  range: { readonly min: number; readonly max: number; readonly default: number },
): number {
  if (value === undefined || value === null) return range.default
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const number = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= range.min && number <= range.max)) {
    throw badFields({
      [name]: { message: `'${name}' must be an integer from ${range.min} to ${range.max}`, value: text },
    })
  }
  return number
}

/** Longest request body, bytes. */
export const MAX_BODY_BYTES = 1_048_576

/** The source of a body: a Request, or its stand-in. */
export interface BodySource {
  readonly headers: Pick<Headers, 'get'>
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

/** Bytes of a body as text. One over the limit is read to its end without being kept, so that its connection stays good. */
async function textOf(request: BodySource): Promise<string> {
  const stated = request.headers.get('content-length')
  if (stated !== null && Number(stated) <= MAX_BODY_BYTES) return request.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) text += decoder.decode(chunk, { stream: true })
  }
  if (bytes > MAX_BODY_BYTES) {
    throw badRequest(`The request body is too large: at most ${MAX_BODY_BYTES} bytes`)
  }
  return text + decoder.decode()
}

/** The JSON value of a request body. Throws HttpFailure 400 when there is none, or it is too large or nests too deep. */
export async function jsonOf(request: BodySource): Promise<unknown> {
  let text: string
  try {
    text = await textOf(request)
  } catch (error) {
    if (error instanceof HttpFailure) throw error
    throw badRequest('The request body cannot be read')
  }
  try {
    return parseBounded(text, fileBounds)
  } catch (error) {
    throw badRequest(
      error instanceof JsonBoundsError
        ? `The request body cannot be taken: ${error.message}`
        : 'The request body is not JSON',
    )
  }
}

/** The JSON object of a request body. Throws HttpFailure 400 when there is none. */
export async function bodyOf(request: BodySource): Promise<Readonly<Record<string, unknown>>> {
  const value = await jsonOf(request)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The request body must be a JSON object')
  }
  return value as Readonly<Record<string, unknown>>
}
