/** The daemon's stream of events, read by `fetch`: an `EventSource` sends no header, and the session's half goes in one. */
import { routeOf } from '../pageAccount.ts'
import { createEventReader, type StreamEvent } from './eventText.ts'
import { pageKeyHeaders } from './pageKey.ts'

/** The listener. */
export interface StreamListener {
  opened(): void
  event(event: StreamEvent): void
  /** The connection is lost; it is tried again. */
  lost(): void
  /** The daemon answered with this status and no stream, and is asked no more. */
  refused(status: number): void
}

/** Between two tries to open it, ms. */
const retryMs = 3_000

/** Opens the stream, and again where the connection is lost, after the last event that was heard. Gives what closes it. */
export function openStream(path: string, listener: StreamListener): () => void {
  const closing = new AbortController()
  let lastId: string | undefined

  async function listen(): Promise<void> {
    const response = await fetch(routeOf(path), {
      headers: { ...pageKeyHeaders(), ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
      credentials: 'same-origin',
      cache: 'no-store',
      signal: closing.signal,
    })
    if (!response.ok || response.body === null) {
      closing.abort()
      return listener.refused(response.status)
    }
    listener.opened()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    const take = createEventReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      for (const event of take(part.value)) {
        lastId = event.id
        listener.event(event)
      }
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      // A connection that breaks off is the same as one that ends.
      await listen().catch(() => undefined)
      if (closing.signal.aborted) return
      listener.lost()
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }

  void run()
  return () => closing.abort()
}
