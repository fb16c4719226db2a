/** A proxy in front of a server that loses one request, or its answer, and then breaks the connection. */
import { connect, createServer, type Socket } from 'node:net'

/** A running proxy. */
export interface Proxy {
  readonly port: number
  /** Loses the answer of the next request in which this text stands, or of the prepared statement that was made of it; what follows goes through. */
  loseAnswerOf(text: string): void
  /** Loses the request itself. */
  loseRequestOf(text: string): void
  close(): Promise<void>
}

/** Starts one. */
export async function startProxy(toPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let wanted: { readonly text: string; readonly loses: 'answer' | 'request' } | undefined
  /** Once a text was sent, its statement is called by its name. */
  const named = new Map<string, string>()
  const server = createServer((client) => {
    const upstream = connect(toPort, '127.0.0.1')
    let swallows = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => {
      const text = data.toString('latin1')
      const [, name] = /(perpd_[a-z]+)\0WITH|(?:^|\0)(perpd_[a-z]+)\0/.exec(text) ?? []
      if (wanted !== undefined && name !== undefined && text.includes(wanted.text))
        named.set(wanted.text, name)
      const isIt =
        wanted !== undefined &&
        (text.includes(wanted.text) || text.includes(`${named.get(wanted.text) ?? 'perpd_append'}\0`))
      if (!isIt) {
        upstream.write(data)
        return
      }
      const { loses } = wanted as { readonly loses: string }
      wanted = undefined
      swallows = true
      if (loses === 'request') client.destroy()
      else upstream.write(data)
    })
    upstream.on('data', (data) => {
      // The server has answered: it is done, and nobody hears of it.
      if (swallows) client.destroy()
      else client.write(data)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    loseAnswerOf(text) {
      wanted = { text, loses: 'answer' }
    },
    loseRequestOf(text) {
      wanted = { text, loses: 'request' }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
