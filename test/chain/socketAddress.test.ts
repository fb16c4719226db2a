/** Where a WebSocket endpoint is connected to: no metadata address, whatever name leads there, and nowhere else than it says. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ResolveAll } from '../../src/base/networkAddress.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { createSocketTransport } from '../../src/chain/wire/socketTransport.ts'

async function served(): Promise<{ readonly port: number; readonly server: http.Server }> {
  const server = http.createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, server }
}

/** Resolves every name to this machine and, beside it, what is given. */
function resolvesTo(asked: (name: string) => void, ...others: string[]): ResolveAll {
  return (name, _options, done) => {
    const addresses = ['127.0.0.1', ...others].map((address) => ({ address, family: 4 }))
    setImmediate(() => {
      done(null, addresses)
      asked(name)
    })
  }
}

test('a name is connected to by the address that was checked, and not at all when one of its addresses is forbidden', async () => {
  const { port, server } = await served()
  const sockets = new WebSocketServer({ server })
  onTestFinished(() => void sockets.close())
  const connected = once(sockets, 'connection') as Promise<[WebSocket]>
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  const asked = Promise.withResolvers<string>()
  const bad = createSocketTransport(
    `ws://bad.example:${port}/`,
    systemClock,
    resolvesTo(asked.resolve, '169.254.169.254'),
  )
  onTestFinished(() => bad.close())
  expect(await asked.promise).toBe('bad.example')
  expect(connections).toBe(0)
  const literal = createSocketTransport(`ws://[::ffff:a9fe:a9fe]:${port}/`, systemClock)
  onTestFinished(() => literal.close())
  const good = createSocketTransport(
    `ws://good.example:${port}/`,
    systemClock,
    resolvesTo(() => undefined),
  )
  onTestFinished(() => good.close())
  await connected
  expect(connections).toBe(1)
})

test('an endpoint that sends elsewhere is not followed', async () => {
  const elsewhere = await served()
  let visits = 0
  elsewhere.server.on('connection', () => {
    visits += 1
  })
  const { port, server } = await served()
  // Asked a second time, the client has made what it makes of the first answer.
  const again = Promise.withResolvers<void>()
  let asked = 0
  server.on('upgrade', (_, socket) => {
    asked += 1
    if (asked === 2) again.resolve()
    socket.on('error', () => undefined)
    socket.end(
      `HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:${elsewhere.port}/\r\ncontent-length: 0\r\n\r\n`,
    )
  })
  const transport = createSocketTransport(`ws://127.0.0.1:${port}/`, systemClock)
  onTestFinished(() => transport.close())
  await again.promise
  expect(visits).toBe(0)
})
