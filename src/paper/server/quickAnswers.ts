/**
 * Answers that leave without a Request and a Response in between, which cost more than most of what the venue does: hot reads from kept
 * bytes, and posted bodies. They are the same as over `fetch`, and what is out of the ordinary is left to it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dateHeader } from '../http/dateHeader.ts'
import { MAX_BODY_BYTES } from '../http/http.ts'
import { failing } from '../http/portFailures.ts'
import { ConnectionCut } from '../venue/venueParts.ts'
import type { PlainAnswer, Posted } from './app.ts'
import type { Venue } from './venue.ts'

/** Answers from the kept bytes of a hot read; false: there are none. */
export function answerQuick(venues: readonly Venue[], path: string, response: ServerResponse): boolean {
  for (const venue of venues) {
    if (!path.startsWith(venue.paths.prefix)) continue
    const body = venue.quick(path)
    if (body === undefined) continue
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'X-Trace-Id',
      'server-timing': 'venue;dur=0.001',
      date: dateHeader(venue.venueState.clock.now()),
    })
    response.end(body)
    return true
  }
  return false
}

/** A Host header that names a host and perhaps a port, in whose place no other is to be read. */
const plainHost = /^[a-z0-9.-]+(?::\d+)?$/i

/** Answers a posted body whose length is said and within the limit, at a path that the venue answers at once; false: it is left alone. */
export function answerPosted(
  venues: readonly Venue[],
  request: IncomingMessage,
  response: ServerResponse,
  onError: (error: unknown) => void,
): boolean {
  const { url = '', headers } = request
  if (!(Number(headers['content-length']) <= MAX_BODY_BYTES) || !plainHost.test(headers.host ?? ''))
    return false
  for (const venue of venues) {
    const answer = url.startsWith(venue.paths.prefix) ? venue.posted(url) : undefined
    if (answer === undefined) continue
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A client that goes away before its body has come gets no answer.
    request.once('error', () => undefined)
    request.once('end', () => void sendAnswer(answer, textOf(chunks), response, onError))
    return true
  }
  return false
}

// As a Request reads its text: without a mark of the byte order, and with a sign for what is no UTF-8.
const decoder = new TextDecoder()

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks
  return decoder.decode(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks))
}

async function sendAnswer(
  answer: Posted,
  text: string,
  response: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  const startedMs = performance.now()
  try {
    const made = await answer(text)
    const timing = `venue;dur=${(performance.now() - startedMs).toFixed(3)}`
    await send(response, made, { 'Server-Timing': timing })
  } catch (error) {
    if (error instanceof ConnectionCut) {
      response.socket?.destroy()
      return
    }
    onError(error)
    await send(response, failing(500, 'Internal Server Error'), {})
  }
}

async function send(
  response: ServerResponse,
  made: PlainAnswer | Response,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  const { status } = made
  const body = made instanceof Response ? await made.text() : made.body
  const headers = made instanceof Response ? Object.fromEntries(made.headers) : made.headers
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  response.writeHead(status, { ...headers, ...more, 'Content-Length': length })
  // As many bytes as characters: all are ASCII, and of one byte each in this encoding too, which is faster to write.
  response.end(body, length === body.length ? 'latin1' : 'utf8')
}
