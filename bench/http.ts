/**
 * What can make the transport's requests, against each other on loopback: the global fetch, `createNodeFetch` (undici's
 * clients, dispatched to directly) and undici.request. By hand: `node bench/http.ts [requests] [rounds]`.
 *
 * The server is another process that answers at once. Each round gives every candidate its turn; the figures are medians
 * of rounds. CPU is that of this process, all threads.
 *
 * Over node:http, as it was before, `createNodeFetch` took 160 us of processor a request at one in flight and 105 at 8 and at 32,
 * where it now takes 62, 36 and 50 (2 cores, loaded, alternating rounds).
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request as undiciRequest } from 'undici'
import { createNodeFetch } from '../src/api/transport/nodeFetch.ts'
import type { Fetch } from '../src/api/transport/route.ts'

// About what a status answer and a submit body have.
const answer = JSON.stringify({ requestId: 'b7e1f0', status: 'executed', text: 'x'.repeat(600) })
const body = JSON.stringify({ mode: 'express', text: 'y'.repeat(1500) })

if (process.argv[2] === 'serve') serve()
else await measureAll(Number(process.argv[2] ?? 2000), Number(process.argv[3] ?? 7))

function serve(): void {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
      response.end(answer)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.once('disconnect', () => process.exit())
}

async function portOf(child: ChildProcess): Promise<number> {
  const [port] = (await once(child, 'message')) as [number]
  return port
}

interface Figures {
  readonly wallUs: number
  readonly cpuUs: number
}

async function measure(
  fetch: Fetch,
  url: string,
  method: 'GET' | 'POST',
  inFlight: number,
  requests: number,
): Promise<Figures> {
  const headers: Record<string, string> =
    method === 'GET'
      ? { accept: 'application/json' }
      : { accept: 'application/json', 'content-type': 'application/json' }
  let left = requests
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1
        const got = await fetch(url, method === 'GET' ? { method, headers } : { method, headers, body })
        if (got.status !== 200) throw new Error(`status ${got.status}`)
        JSON.parse(await got.text())
      }
    }),
  )
  const wallUs = ((performance.now() - startMs) * 1000) / requests
  const { user, system } = process.cpuUsage(cpu)
  return { wallUs, cpuUs: (user + system) / requests }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

async function measureAll(requests: number, rounds: number): Promise<void> {
  const child = fork(import.meta.filename, ['serve'])
  const url = `http://127.0.0.1:${await portOf(child)}/orders/txns/status`
  const nodeFetch = createNodeFetch({ idlePerHost: 32 })
  const dispatcher = new Agent({ connections: 32 })
  const undiciFetch: Fetch = async (target, init) => {
    const got = await undiciRequest(target, {
      method: init.method,
      headers: init.headers,
      body: init.body ?? null,
      dispatcher,
    })
    return { status: got.statusCode, headers: { get: () => null }, text: () => got.body.text() }
  }
  const candidates: readonly (readonly [string, Fetch])[] = [
    ['global fetch', globalThis.fetch],
    ['createNodeFetch', nodeFetch.fetch],
    ['undici.request', undiciFetch],
  ]
  process.stdout.write(
    `${requests} requests a round, medians of ${rounds} rounds\nmethod  in flight  ${'candidate'.padEnd(16)} wall us  CPU us  requests/s\n`,
  )
  for (const method of ['GET', 'POST'] as const) {
    for (const inFlight of [1, 32]) {
      const figures = new Map<string, Figures[]>(candidates.map(([name]) => [name, []]))
      for (let round = -1; round < rounds; round++) {
        for (const [name, fetch] of candidates) {
          const figure = await measure(fetch, url, method, inFlight, requests)
          // The first round is the compiler's.
          if (round >= 0) figures.get(name)?.push(figure)
        }
      }
      for (const [name, each] of figures) {
        const wallUs = median(each.map((figure) => figure.wallUs))
        const cpuUs = median(each.map((figure) => figure.cpuUs))
        process.stdout.write(
          `${method.padEnd(7)} ${String(inFlight).padStart(9)}  ${name.padEnd(16)} ${wallUs.toFixed(0).padStart(7)} ${cpuUs.toFixed(0).padStart(7)} ${(1e6 / wallUs).toFixed(0).padStart(11)}\n`,
        )
      }
    }
  }
  nodeFetch.close()
  await dispatcher.close()
  child.disconnect()
}
