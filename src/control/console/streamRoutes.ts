/** `GET /api/stream`: what happens, as server-sent events over one connection that stays open. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import type { Level } from '../../monitor/events/eventRow.ts'
import { no, type Proven } from '../guard/requestGuard.ts'
import { beatMs, type LiveStream, mostReaders, type Reader } from './liveStream.ts'
import type { Sessions } from './sessions.ts'

/** Parts that the route uses. */
export interface StreamParts {
  readonly stream: LiveStream
  readonly sessions: Sessions
  /** Told of sockets that stay open on purpose. */
  readonly hold: (socket: Socket) => void
}

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** Adds the route. */
export function streamRoutes(app: Hono<Proven>, { stream, sessions, hold }: StreamParts): void {
  app.get('/api/stream', async (c) => {
    const level = levels.find((each) => each === (c.req.query('level') ?? 'info'))
    if (level === undefined) return no(c, 400, 'BAD_QUERY', `expected a level of ${levels.join(', ')}.`)
    // The proof of an answer is over all of it, and this one has no end.
    if (c.get('asked') !== undefined)
      return no(c, 400, 'STREAM_NOT_PROVABLE', 'A stream is asked for with a token or by a session.')
    const outgoing = outgoingOf(c)
    if (c.req.method !== 'GET' || outgoing === undefined) return c.body(null, 200)
    const { session, role = 'read' } = c.var
    if (!stream.hasRoom(role))
      return no(c, 503, 'TOO_MANY_STREAMS', `At most ${mostReaders} streams of each role are open at once.`)
    const isAllowed = () => session === undefined || sessions.isOpen(session.id)
    const reader = readerOf(outgoing, { role, level, isAllowed })
    outgoing.once('close', () => stream.leave(reader))
    if (outgoing.socket !== null) hold(outgoing.socket)
    outgoing.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      // A proxy that collects answers would keep these.
      'X-Accel-Buffering': 'no',
    })
    outgoing.flushHeaders()
    await stream.join(reader, c.req.header('last-event-id'))
    if (outgoing.destroyed) stream.leave(reader)
    return RESPONSE_ALREADY_SENT
  })
}

/** Looks for what is new, until the stop that it gives is called. */
export type Beat = (look: () => Promise<void>) => () => void

/** By a timer of this process, which does not keep it alive. */
export const systemBeat: Beat = (look) => {
  const timer = setInterval(() => look(), beatMs).unref()
  return () => clearInterval(timer)
}

function readerOf(outgoing: ServerResponse, who: Pick<Reader, 'role' | 'level' | 'isAllowed'>): Reader {
  return {
    ...who,
    write(text) {
      if (!outgoing.destroyed && !outgoing.writableEnded) outgoing.write(text)
    },
    waiting: () => outgoing.writableLength,
    cut: () => outgoing.destroy(),
  }
}

function outgoingOf(c: Context<Proven>): ServerResponse | undefined {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  return outgoing !== undefined && 'flushHeaders' in outgoing ? (outgoing as ServerResponse) : undefined
}
