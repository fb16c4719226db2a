/**
 * A request is written at most once, one that is judged not sent never arrived, and no answer is taken for another request's:
 * over real connections to servers that do everything that a server, a proxy or a dying machine may do to one.
 */
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import { type Random, randomOf } from '../simulation/random.ts'

type Behaviour = (socket: Socket, id: string) => void

const body = (id: string) => JSON.stringify({ id })
const head = (id: string, more = '') =>
  `HTTP/1.1 200 OK\r\n${more}Content-Length: ${Buffer.byteLength(body(id))}\r\n\r\n`
const whole = (id: string, more?: string) => head(id, more) + body(id)

/** What the server does once it has read a request. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  answers: (socket, id) => socket.write(whole(id)),
  'answers in chunks': (socket, id) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write(`${Buffer.byteLength(body(id)).toString(16)}\r\n${body(id)}\r\n0\r\n\r\n`)
  },
  'answers and says that it closes': (socket, id) => socket.end(whole(id, 'Connection: close\r\n')),
  'answers and closes unsaid': (socket, id) => socket.end(whole(id)),
  'answers and resets': (socket, id) => socket.write(whole(id), () => socket.resetAndDestroy()),
  'answers and keeps the connection for no time': (socket, id) =>
    socket.write(whole(id, 'Keep-Alive: timeout=0\r\n')),
  'answers until it closes': (socket, id) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body(id)}`),
  'answers twice': (socket, id) => socket.write(whole(id) + whole('stale')),
  'says more than its length': (socket, id) => socket.write(`${whole(id)}{"id":"stale"}`),
  'continues first': (socket, id) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${whole(id)}`),
  'hints first': (socket, id) => socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${whole(id)}`),
  'switches protocols': (socket) =>
    socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  'closes unanswered': (socket) => socket.end(),
  'resets unanswered': (socket) => socket.resetAndDestroy(),
  'breaks off in its head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'breaks off in its body': (socket, id) => socket.end(head(id) + body(id).slice(0, 3)),
  'resets in its body': (socket, id) =>
    socket.write(head(id) + body(id).slice(0, 3), () => socket.resetAndDestroy()),
  'breaks off in a chunk': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"id"'),
  'speaks no HTTP': (socket) => socket.write('220 mail.example ESMTP\r\n'),
  'has two lengths': (socket, id) => socket.write(whole(id, 'Content-Length: 3\r\n')),
  'has a length and chunks': (socket, id) => socket.write(whole(id, 'Transfer-Encoding: chunked\r\n')),
  'has a head without end': (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(70_000)}`),
  'is silent': () => {},
}

/** Requests whose server is silent, and what gives each of them up. */
type GiveUp = Map<string, () => void>

/** A server that does to each request what its id says, and to some connections something before one. */
async function oddServer(random: Random, giveUp: GiveUp) {
  const arrived: string[] = []
  const open = new Set<Socket>()
  const server = net.createServer((socket) => {
    const at = arrived.push('') - 1
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    const begins = random.next()
    if (begins < 0.05) socket.end()
    else if (begins < 0.1) socket.resetAndDestroy()
    let seen = 0
    socket.on('data', (bytes) => {
      arrived[at] += bytes.toString('latin1')
      const text = arrived[at] ?? ''
      for (const [, id = '', name = ''] of text.slice(seen).matchAll(/\{"id":"(\d+ ([^"]+))"\}/g)) {
        seen = text.length
        behaviours[name]?.(socket, id)
        if (name === 'is silent') giveUp.get(id)?.()
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Counts how often a request arrived, on all connections. */
    timesOf() {
      const text = arrived.join('')
      return (id: string) => text.split(body(id)).length - 1
    },
  }
}

const REQUESTS = 300
const AT_ONCE = 8

test.each([1, 2])('whatever a server does, a POST is written once or not at all (seed %i)', async (seed) => {
  const random = randomOf(seed, 'requests')
  const giveUp: GiveUp = new Map()
  const { url, timesOf } = await oddServer(randomOf(seed, 'connections'), giveUp)
  const { fetch, close } = createNodeFetch()
  onTestFinished(close)
  const names = Object.keys(behaviours)
  const ids = Array.from(
    { length: REQUESTS },
    (_, number) => `${number} ${random.chance(0.3) ? 'answers' : random.pick(names)}`,
  )
  const answered: string[] = []
  const notSent: string[] = []
  const unknown: string[] = []

  async function ask(id: string): Promise<void> {
    const controller = new AbortController()
    const abort = () => controller.abort()
    giveUp.set(id, abort)
    const isGivenUp = random.chance(0.1)
    const asked = fetch(url, { method: 'POST', headers: {}, body: body(id), signal: controller.signal })
    if (isGivenUp) random.chance(0.5) ? abort() : setImmediate(abort)
    try {
      const answer = await asked
      expect(await answer.text()).toBe(body(id))
      answered.push(id)
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      ;(error.sent === 'no' ? notSent : unknown).push(id)
    }
  }
  const left = [...ids]
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) await ask(id)
    }),
  )
  const times = timesOf()
  expect(answered.filter((id) => times(id) !== 1)).toEqual([])
  expect(notSent.filter((id) => times(id) !== 0)).toEqual([])
  expect(unknown.filter((id) => times(id) > 1)).toEqual([])
  expect(Math.min(answered.length, notSent.length, unknown.length)).toBeGreaterThan(5)
})
