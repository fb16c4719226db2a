/**
 * What a simulated daemon does to the world outside of it, line by line: the requests that it makes, the records that its
 * journal keeps and the signatures that its key makes, each at its virtual time. Two versions of the source that behave alike
 * give the same lines, however their files, symbols, events and sentences are called: fields stand in the order of their names,
 * and what is said in words to a reader is left out.
 */
import { createHash } from 'node:crypto'

/** How many lines there are of each sort. */
export interface TranscriptCounts {
  /** Requests to hosts of the venue. */
  readonly requests: number
  /** Requests to endpoints of the chain; the core looks at its model without any. */
  readonly calls: number
  readonly records: number
  readonly signatures: number
}

/** Takes note of what leaves the daemons of one world and of what they keep. Times are those of the world, ms. */
export interface Transcript {
  /** A request to a host, of a tier without HTTP by its own name; `body` is JSON. */
  request(atMs: number, method: string, url: string, body: string | undefined): void
  /** A request to an endpoint of the chain, in JSON-RPC where the tier has a wire; `body` is JSON. */
  call(atMs: number, url: string, body: string): void
  /** A record as the journal stores it. */
  record(atMs: number, body: string): void
  signature(atMs: number, digest: string, signature: string): void
  readonly counts: TranscriptCounts
  /** Hash of all lines up to now. */
  sha256(): string
}

/** Fields of records that hold sentences. */
const wordFields: ReadonlySet<string> = new Set(['detail', 'message', 'reason', 'statement'])

/** Makes an empty transcript; `onLine` is told each line. */
export function createTranscript(onLine?: (line: string) => void): Transcript {
  const hash = createHash('sha256')
  const counts = { requests: 0, calls: 0, records: 0, signatures: 0 }
  function add(sort: keyof TranscriptCounts, atMs: number, text: string): void {
    counts[sort] += 1
    const line = `${atMs} ${text}`
    hash.update(`${line}\n`)
    onLine?.(line)
  }
  return {
    counts,
    request: (atMs, method, url, body) =>
      add('requests', atMs, `${method} ${url}${body === undefined ? '' : ` ${ordered(JSON.parse(body))}`}`),
    call: (atMs, url, body) => add('calls', atMs, `RPC ${url} ${ordered(JSON.parse(body))}`),
    record: (atMs, body) => add('records', atMs, `record ${ordered(withoutWords(JSON.parse(body)))}`),
    signature: (atMs, digest, signature) => add('signatures', atMs, `signature ${digest} ${signature}`),
    sha256: () => hash.copy().digest('hex'),
  }
}

/** JSON with the fields of each object in the order of their names. */
function ordered(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}

/** A record with a mark in the place of each sentence. A code, or settings kept as JSON, are facts and stay. */
function withoutWords(record: unknown): unknown {
  return JSON.parse(JSON.stringify(record), (key, value: unknown) =>
    typeof value === 'string' && wordFields.has(key) && /\s/.test(value) && !isJson(value)
      ? '(words)'
      : value,
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
