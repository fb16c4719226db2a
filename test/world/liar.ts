/** A hostile proxy in front of one host of the application API: it passes everything on but what it lies about. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Rewrites the answer to a GET; undefined passes it on as it is. `path` has the query. */
export type Lie = (path: string, body: unknown) => unknown

/** A proxy that lies while `lie` is set. */
export interface Liar {
  /** Its base address, with the version segment of the host behind it. */
  readonly host: string
  lie: Lie | undefined
  /** Whether it takes signed messages and never passes them on, and how many it took so far. */
  withholds: boolean
  readonly withheld: number
  /** Signed messages are passed on once it is over. */
  until: Promise<void> | undefined
  close(): Promise<void>
}

/** Starts a proxy in front of `host`. */
export async function startLiar(host: string): Promise<Liar> {
  const { origin, pathname } = new URL(host)
  const liar: Pick<Liar, 'lie' | 'withholds' | 'until'> & { withheld: number } = {
    lie: undefined,
    withholds: false,
    withheld: 0,
    until: undefined,
  }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        const path = request.url ?? ''
        const { method = 'GET' } = request
        if (liar.withholds && path.endsWith('/submit')) {
          liar.withheld += 1
          const { requestId } = Object(parsed(Buffer.concat(chunks).toString())) as { requestId?: string }
          const taskId = `0x${'ab'.repeat(32)}`
          const taken =
            requestId === undefined ? { status: 'pending' } : { requestId, status: 'relay_accepted' }
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ ...taken, taskId }))
          return
        }
        if (path.endsWith('/submit')) await liar.until
        const answer = await fetch(origin + path, {
          method,
          headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
          ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
        })
        let text = await answer.text()
        const lied =
          method === 'GET' && answer.ok ? liar.lie?.(path.slice(pathname.length), parsed(text)) : undefined
        if (lied !== undefined) text = JSON.stringify(lied)
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? 'application/json',
        })
        response.end(text)
      } catch {
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    host: `http://127.0.0.1:${port}${pathname}`,
    get lie() {
      return liar.lie
    },
    set lie(lie) {
      liar.lie = lie
    },
    get withholds() {
      return liar.withholds
    },
    set withholds(withholds) {
      liar.withholds = withholds
    },
    get withheld() {
      return liar.withheld
    },
    get until() {
      return liar.until
    },
    set until(until) {
      liar.until = until
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Hides every position and every order that rests. */
export const hidesHoldings: Lie = (path) => (/^\/(positions|orders)(\?|$)/.test(path) ? [] : undefined)
