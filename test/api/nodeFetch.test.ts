import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { proves, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import type { Connection } from '../../src/api/transport/connections.ts'
import { Exchange } from '../../src/api/transport/exchange.ts'
import { createNodeFetch, type NodeFetch, type NodeFetchOptions } from '../../src/api/transport/nodeFetch.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Route } from '../../src/api/transport/route.ts'
import { createTransport } from '../../src/api/transport/transport.ts'
import { failureOf, realClock } from './support.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function nodeFetch(options?: NodeFetchOptions): NodeFetch {
  const made = createNodeFetch(options)
  closers.push(() => made.close())
  return made
}

async function listening(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const post = (signal?: AbortSignal) => ({
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: '{"size":"1"}',
  ...(signal === undefined ? {} : { signal }),
})

test('a request and its answer cross a real connection, umlauts and all', async () => {
  const port = await listening(
    http.createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        response.writeHead(201, { 'X-Trace-Id': 't-1' })
        response.end(
          JSON.stringify([
            request.method,
            request.url,
            String(Buffer.concat(chunks)),
            request.headers.length,
          ]),
        )
      })
    }),
  )
  const answer = await nodeFetch().fetch(`http://127.0.0.1:${port}/v1/x?symbol=ETH%2FUSD`, {
    method: 'POST',
    headers: {},
    body: '{"ä":"€"}',
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-TRACE-id')).toBe('t-1')
  expect(answer.headers.get('absent')).toBeNull()
  expect(JSON.parse(await answer.text())).toEqual(['POST', '/v1/x?symbol=ETH%2FUSD', '{"ä":"€"}', null])
})

test('a connection is used again', async () => {
  const ports = new Set<number | undefined>()
  const port = await listening(
    http.createServer((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('{}')
    }),
  )
  const { fetch } = nodeFetch()
  for (let index = 0; index < 3; index++) {
    await (await fetch(`http://127.0.0.1:${port}/`, { method: 'GET', headers: {} })).text()
  }
  expect(ports.size).toBe(1)
})

test('a refused connection and an unknown name left nothing', async () => {
  const { fetch } = nodeFetch()
  const refused = await failureOf(fetch(`http://127.0.0.1:${await freePort()}/`, post()))
  expect(refused).toBeInstanceOf(RequestFailed)
  expect(refused).toMatchObject({ sent: 'no', code: 'ECONNREFUSED' })
  const unknown = await failureOf(fetch('http://perpd.invalid/', post()))
  expect(unknown).toMatchObject({ sent: 'no' })
})

test('a connection that breaks after the request was written may have carried it', async () => {
  const port = await listening(
    net.createServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy())
    }),
  )
  const error = await failureOf(nodeFetch().fetch(`http://127.0.0.1:${port}/`, post()))
  expect(error).toMatchObject({ sent: 'maybe', code: 'ECONNRESET' })
})

test('an answer that breaks off in its body is no answer', async () => {
  const port = await listening(
    net.createServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"status":"relay')
        setImmediate(() => socket.destroy())
      })
    }),
  )
  const error = await failureOf(nodeFetch().fetch(`http://127.0.0.1:${port}/`, post()))
  expect(error).toMatchObject({ name: 'RequestFailed', sent: 'maybe' })
})

test('a kept connection that the server closed may have carried the request', async () => {
  let requests = 0
  const port = await listening(
    net.createServer((socket) => {
      socket.on('data', () => {
        requests += 1
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
        else socket.destroy()
      })
    }),
  )
  const { fetch } = nodeFetch()
  await fetch(`http://127.0.0.1:${port}/`, post())
  const error = await failureOf(fetch(`http://127.0.0.1:${port}/`, post()))
  expect(error).toMatchObject({ sent: 'maybe' })
  expect(requests).toBe(2)
})

test('an idle connection is closed in time, a slow answer is waited for', async () => {
  const closed = Promise.withResolvers<void>()
  const port = await listening(
    http.createServer((request, response) => {
      request.socket.once('close', () => closed.resolve())
      setTimeout(() => response.end('{}'), 250)
    }),
  )
  const answer = await nodeFetch({ idleMs: 50 }).fetch(`http://127.0.0.1:${port}/`, post())
  expect(await answer.text()).toBe('{}')
  await closed.promise
})

/** A server that counts its connections, and a fetch by clocks that go when told. */
async function counted(keepAliveTimeout: number, options: NodeFetchOptions = {}) {
  let connections = 0
  const waiting: http.ServerResponse[] = []
  let together = 1
  const server = http.createServer({ keepAliveTimeout }, (_, response) => {
    waiting.push(response)
    if (waiting.length === together) for (const each of waiting.splice(0)) each.end('{}')
  })
  server.on('connection', () => {
    connections += 1
  })
  const url = `http://127.0.0.1:${await listening(server)}/`
  const time = { wallMs: 1_000_000, monotonicMs: 5_000 }
  const { fetch } = nodeFetch({
    ...options,
    clock: { now: () => time.wallMs, monotonicMs: () => time.monotonicMs },
  })
  return {
    time,
    /** Sends so many requests, of which none is answered before all are there; the connections so far. */
    async ask(requests = 1): Promise<number> {
      together = requests
      await Promise.all(Array.from({ length: requests }, () => fetch(url, post())))
      return connections
    },
  }
}

test.each(['wallMs', 'monotonicMs'] as const)(
  'a connection that idled too long by %s while the process was held up is not used again',
  async (clock) => {
    const { time, ask } = await counted(120_000, { idleMs: 40_000 })
    expect(await ask()).toBe(1)
    time[clock] += 39_999
    expect(await ask()).toBe(1)
    time[clock] += 40_000
    expect(await ask()).toBe(2)
    expect(await ask()).toBe(2)
  },
)

test('a connection idles no longer than its server says, less the second that the answer may have taken', async () => {
  const { time, ask } = await counted(30_000, { idleMs: 40_000 })
  expect(await ask()).toBe(1)
  time.monotonicMs += 28_999
  expect(await ask()).toBe(1)
  time.monotonicMs += 29_000
  expect(await ask()).toBe(2)
})

test('of several idle connections those that idled too long are closed and the others used', async () => {
  const { time, ask } = await counted(120_000, { idleMs: 40_000 })
  expect(await ask(3)).toBe(3)
  time.monotonicMs += 25_000
  expect(await ask(2)).toBe(3)
  time.monotonicMs += 25_000
  expect(await ask(2)).toBe(3)
  expect(await ask(3)).toBe(4)
  time.monotonicMs += 40_000
  expect(await ask(3)).toBe(7)
})

test('a wall clock that is set back keeps no connection beyond its time', async () => {
  const { time, ask } = await counted(120_000, { idleMs: 40_000 })
  expect(await ask()).toBe(1)
  time.wallMs -= 3_600_000
  time.monotonicMs += 40_000
  expect(await ask()).toBe(2)
})

test('an answer larger than the limit is broken off', async () => {
  const port = await listening(http.createServer((_, response) => response.end('x'.repeat(5_000))))
  const error = await failureOf(nodeFetch({ maxBodyBytes: 4_999 }).fetch(`http://127.0.0.1:${port}/`, post()))
  expect(error).toMatchObject({ sent: 'maybe', message: 'the answer is larger than 4999 bytes' })
  const { fetch } = nodeFetch({ maxBodyBytes: 5_000 })
  expect((await (await fetch(`http://127.0.0.1:${port}/`, post())).text()).length).toBe(5_000)
})

test('a redirect is an answer and is not followed', async () => {
  let requests = 0
  const port = await listening(
    http.createServer((_, response) => {
      requests += 1
      response.writeHead(308, { Location: '/elsewhere' }).end()
    }),
  )
  const answer = await nodeFetch().fetch(`http://127.0.0.1:${port}/`, post())
  expect([answer.status, answer.headers.get('location'), requests]).toEqual([308, '/elsewhere', 1])
})

test('a name that resolves to a metadata address, and such an address itself, is never connected to', async () => {
  let connections = 0
  const server = http.createServer((_, response) => response.end('{}'))
  server.on('connection', () => {
    connections += 1
  })
  const port = await listening(server)
  const names: string[] = []
  const { fetch } = nodeFetch({
    resolve: (name, _options, done) => {
      names.push(name)
      const inner = { address: '127.0.0.1', family: 4 }
      const bad = { address: '169.254.169.254', family: 4 }
      setImmediate(() => done(null, name === 'good.example' ? [inner] : [inner, bad]))
    },
  })
  const error = await failureOf(fetch(`http://bad.example:${port}/`, post()))
  expect(error).toMatchObject({
    sent: 'no',
    code: 'ADDRESS_FORBIDDEN',
    message: 'bad.example (169.254.169.254) is a link-local or metadata address; perpd connects to none',
  })
  for (const host of ['169.254.169.254', '2852039166', '[::ffff:a9fe:a9fe]', '[fe80::1]']) {
    const refused = await failureOf(fetch(`http://${host}:${port}/`, post()))
    expect(refused).toMatchObject({ sent: 'no', code: 'ADDRESS_FORBIDDEN' })
  }
  expect(connections).toBe(0)
  expect((await fetch(`http://good.example:${port}/`, post())).status).toBe(200)
  expect([names, connections]).toEqual([['bad.example', 'good.example'], 1])
})

test('an abort while waiting may have sent, and ends the request at the server', async () => {
  const arrived = Promise.withResolvers<http.IncomingMessage>()
  const port = await listening(http.createServer((request) => arrived.resolve(request)))
  const controller = new AbortController()
  const failure = failureOf(nodeFetch().fetch(`http://127.0.0.1:${port}/`, post(controller.signal)))
  const request = await arrived.promise
  controller.abort()
  expect(await failure).toMatchObject({ sent: 'maybe', message: 'aborted while waiting for the answer' })
  if (!request.destroyed) await once(request.socket, 'close')
})

test('a server that does not speak TLS gets no byte of the request', async () => {
  let received = ''
  const port = await listening(
    net.createServer((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1')
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      })
    }),
  )
  const error = await failureOf(nodeFetch().fetch(`https://127.0.0.1:${port}/`, post()))
  expect(error).toMatchObject({ sent: 'no' })
  expect(received).not.toContain('POST')
})

test('an abort while TLS is not established left nothing, and gives the connection up', async () => {
  const connected = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const port = await listening(
    net.createServer((socket) => {
      socket.once('data', () => connected.resolve())
      socket.once('close', () => ended.resolve())
    }),
  )
  const controller = new AbortController()
  const failure = failureOf(nodeFetch().fetch(`https://127.0.0.1:${port}/`, post(controller.signal)))
  await connected.promise
  controller.abort()
  expect(await failure).toMatchObject({ sent: 'no', message: 'aborted while connecting' })
  await ended.promise
})

test('a request that is begun a second time ends before a byte of it is written again', async () => {
  const failures: RequestFailed[] = []
  const exchange = new Exchange({
    connection: { close: () => {} } as Connection,
    signal: undefined,
    maxBodyBytes: 1,
    resolve: () => {},
    reject: (failure) => failures.push(failure),
  })
  const begin = () => {
    let reason: Error | undefined
    exchange.onRequestStart({
      abort: (error) => {
        reason = error
      },
    })
    if (reason !== undefined) exchange.onResponseError(undefined, reason)
    return reason?.message
  }
  expect(begin()).toBeUndefined()
  expect(begin()).toBe('a request is written at most once')
  expect(failures).toMatchObject([{ sent: 'maybe' }])
})

test('an abort before the start left nothing', async () => {
  const error = await failureOf(nodeFetch().fetch('http://127.0.0.1:9/', post(AbortSignal.abort())))
  expect(error).toMatchObject({ sent: 'no' })
})

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test.skipIf(!hasOpenssl)('a certificate that is not trusted gets no byte of the request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-tls-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  const key = join(folder, 'key.pem')
  const cert = join(folder, 'cert.pem')
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes', '-newkey', 'rsa:2048']
  execFileSync('openssl', ['req', '-x509', '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  let requests = 0
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
    requests += 1
    response.end('{}')
  })
  server.on('tlsClientError', () => {})
  const port = await listening(server)
  const error = await failureOf(nodeFetch().fetch(`https://localhost:${port}/`, post()))
  expect(error).toMatchObject({ sent: 'no', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(requests).toBe(0)
})

const submit: Route<undefined, unknown> = {
  path: '/submit',
  method: 'POST',
  service: 'api',
  kind: 'submit',
  body: () => ({ requestId: 'r' }),
  decode: (body) => body,
}

function transportOver(fetch: NodeFetch['fetch'], host: string, submitTimeoutMs = 5_000) {
  return createTransport({
    hosts: { api: [host], oracle: [] },
    fetch,
    clock: realClock,
    random: () => 0,
    limits: { submitTimeoutMs },
  })
}

test('a submit over real connections: refused proves not sent, silence proves nothing and arrived once', async () => {
  let arrived = 0
  const port = await listening(
    http.createServer((request) => {
      arrived += 1
      request.on('error', () => {})
    }),
  )
  const { fetch } = nodeFetch()
  const silent = await failureOf(transportOver(fetch, `http://127.0.0.1:${port}`, 50).call(submit, undefined))
  expect([proves(silent), arrived]).toEqual(['nothing', 1])
  expect(silent).toMatchObject({ silence: 'timeout' })

  const nobody = `http://127.0.0.1:${await freePort()}`
  const refused = await failureOf(transportOver(fetch, nobody).call(submit, undefined))
  expect(proves(refused)).toBe('not-sent')
  expect((refused as Error).message.replaceAll(nobody.slice(7), 'HOST')).toMatchInlineSnapshot(`
    "HOST could not be reached for POST /submit: it refuses the connection (ECONNREFUSED).
      host: http://HOST
      attempts: 1
      reached: no, nothing was sent
      cause: connect ECONNREFUSED HOST
      The signed order did not leave this machine."
  `)
})

test('a timeout while TLS is not established proves that nothing was sent', async () => {
  const port = await listening(net.createServer(() => {}))
  const { fetch } = nodeFetch()
  const error = await failureOf(transportOver(fetch, `https://127.0.0.1:${port}`, 50).call(submit, undefined))
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ silence: 'timeout', sent: 'no' })
})

test('the global fetch fits, and says not sent only for names and refused connections', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`
  expect(proves(await failureOf(transportOver(globalThis.fetch, nobody).call(submit, undefined)))).toBe(
    'not-sent',
  )
  const port = await listening(
    net.createServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy())
    }),
  )
  const reset = await failureOf(
    transportOver(globalThis.fetch, `http://127.0.0.1:${port}`).call(submit, undefined),
  )
  expect(proves(reset)).toBe('nothing')
})

test('path, query, name and password of the address reach the server as they are', async () => {
  const seen: (string | undefined)[] = []
  const server = http.createServer((request, response) => {
    seen.push(request.url, request.headers.host, request.headers.authorization)
    response.end('{}')
  })
  const port = await listening(server)
  const { fetch } = nodeFetch()
  await fetch(`http://me:a%3Ab@127.0.0.1:${port}/v1/orders?address=0x1&symbols=ETH%2FUSD`, {
    method: 'GET',
    headers: {},
  })
  expect(seen).toEqual([
    '/v1/orders?address=0x1&symbols=ETH%2FUSD',
    `127.0.0.1:${port}`,
    `Basic ${Buffer.from('me:a:b').toString('base64')}`,
  ])
})

test('an IPv6 address in brackets is an address, not a name to look up', async () => {
  const failure = await failureOf(
    nodeFetch().fetch(`http://[::1]:${await freePort()}/`, { method: 'GET', headers: {} }),
  )
  expect(failure).toBeInstanceOf(RequestFailed)
  // A machine without IPv6 has no such address; neither looks a name up.
  expect((failure as RequestFailed).code).toMatch(/^(?:ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT|ENETUNREACH)$/)
})
