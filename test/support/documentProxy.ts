/** A process's way to a server made of the two documents: an HTTP proxy that shows what they show of each answer behind it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asDocumented } from './documentServer.ts'

/** A proxy before one origin. */
export interface DocumentProxy {
  /** The base address of a host behind it, as it is reached through it. */
  readonly through: (host: string) => string
  /** Paths that were asked for, without their queries. */
  readonly asked: ReadonlySet<string>
  close(): Promise<void>
}

/** Starts a proxy before `origin`. A route that is in no document is cut off, as a server without it would not. */
export async function startDocumentProxy(origin: string): Promise<DocumentProxy> {
  const asked = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        const { method = 'GET', url = '/' } = request
        asked.add(url.replace(/\?.*/, ''))
        const answer = await fetch(origin + url, {
          method,
          headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
          ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
        })
        const text = await answer.text()
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(answer.ok ? asDocumented(url, text) : text)
      } catch {
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    through: (host) => `http://127.0.0.1:${port}${new URL(host).pathname}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
