/** The live stream over real sockets: nothing lost and nothing twice over a gap, and no reader holds the daemon up. */
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ControlServer } from '../../src/control/server.ts'
import { createLevelTable } from '../../src/monitor/log/levelTable.ts'
import { createLogRing } from '../../src/monitor/log/logRing.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { until } from '../support/until.ts'
import { ask, handClock, logIn, openConsole } from './browser.ts'
import { asOperator, asReader, engine, operateToken, readToken, status } from './door.ts'

interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** A listener that keeps what it was told. */
interface Listener {
  readonly status: number
  readonly events: StreamEvent[]
  readonly comments: string[]
  isOver: boolean
  close(): void
}

let clock: ReturnType<typeof handClock>
let log: ReturnType<typeof createLogRing>
let now: EngineStatus
let reads: number
let isBroken: boolean
let look: () => Promise<void>
let isStopped: boolean
let server: ControlServer

async function open(runId = 'run-1'): Promise<void> {
  log = createLogRing(runId)
  server = await openConsole(
    {
      clock,
      beat(given) {
        look = given
        return () => {
          isStopped = true
        }
      },
    },
    {
      engine: {
        ...engine,
        status: () => now,
        intents: (query) => {
          reads += 1
          return isBroken ? Promise.reject(new Error('no disk')) : engine.intents(query)
        },
      },
      recent: {
        ...{ log, levels: createLevelTable({ level: 'info', levels: [] }) },
        ...{ decisions: { all: () => [] }, hosts: { all: () => [] } },
        incidents: { open: () => [], blocking: () => [] },
      },
    },
  )
}

beforeEach(async () => {
  clock = handClock()
  now = status
  reads = 0
  isBroken = false
  isStopped = false
  await open()
})
afterEach(() => server.close())

const write = (text: string, level: 'debug' | 'info' | 'error' = 'info') =>
  log.keep({ atMs: 1, level, word: 'test', text, event: 'strategy.said' })
/** Resolves when this is so. */
const holds = (isSo: () => boolean | Promise<boolean>) =>
  until('what the stream tells', async () => ((await isSo()) ? true : undefined))
/** So many looks as one second has. */
const second = async () => {
  for (let beat = 0; beat < 4; beat++) await look()
}

function listen(headers: Readonly<Record<string, string>> = asReader, query = ''): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: server.port, path: `/api/stream${query}`, headers: { ...headers } },
      (response) => {
        let rest = ''
        const heard: Listener = {
          status: response.statusCode ?? 0,
          events: [],
          comments: [],
          isOver: false,
          close: () => sent.destroy(),
        }
        response.setEncoding('utf8').on('data', (part: string) => {
          const blocks = `${rest}${part}`.split('\n\n')
          rest = blocks.pop() ?? ''
          for (const block of blocks) {
            if (block.startsWith(':')) heard.comments.push(block)
            else heard.events.push(eventOf(block))
          }
        })
        response.on('error', () => undefined)
        response.on('close', () => {
          heard.isOver = true
        })
        resolve(heard)
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

function eventOf(block: string): StreamEvent {
  const [id = '', event = '', data = '', ...more] = block.split('\n')
  if (!id.startsWith('id: ') || more.length > 0) throw new Error(`no event: ${block}`)
  return { id: id.slice(4), event: event.slice('event: '.length), data: data.slice('data: '.length) }
}

const names = ({ events }: Listener) => events.map(({ event }) => event)
const lines = (events: readonly StreamEvent[]) =>
  events.filter(({ event }) => event === 'log').map(({ data }) => (JSON.parse(data) as { text: string }).text)
/** A listener that was told how things stand. */
async function begun(headers?: Readonly<Record<string, string>>, query?: string): Promise<Listener> {
  const heard = await listen(headers, query)
  await holds(() => heard.events.length >= 4)
  return heard
}

test('whoever comes first is told how things stand, as the routes tell it', async () => {
  const { events } = await begun()
  expect(events.map(({ event }) => event)).toEqual(['reset', 'status', 'orders', 'tasks'])
  expect(JSON.parse(events[0]?.data ?? '')).toEqual({ reason: 'first', runId: 'run-1' })
  for (const [at, path] of [
    [1, '/api/status'],
    [2, '/api/orders'],
    [3, '/api/tasks'],
  ] as const) {
    const { text } = await ask(server, 'GET', path, asReader)
    expect(JSON.parse(events[at]?.data ?? '')).toEqual(JSON.parse(text))
  }
})

test('a line of the log is told as the log shows it, from the level that was asked for', async () => {
  const info = await begun()
  const errors = await begun(asReader, '?level=error')
  write('quiet', 'debug')
  write('one\u202etwo')
  write('loud', 'error')
  await look()
  await holds(() => info.events.length === 6 && errors.events.length === 5)
  expect(lines(info.events)).toEqual(['one\u202etwo', 'loud'])
  expect(info.events[4]?.data).not.toContain('\u202e')
  expect(lines(errors.events)).toEqual(['loud'])
  const shown = await ask(server, 'GET', '/api/logs', asReader)
  expect((JSON.parse(shown.text) as { lines: unknown[] }).lines).toEqual(
    info.events.slice(4).map(({ data }) => JSON.parse(data)),
  )
  expect((await ask(server, 'GET', '/api/stream?level=loud', asReader)).error).toBe('BAD_QUERY')
})

test('the status is told when it changes, at most once a second, and when ten seconds went by', async () => {
  const heard = await begun()
  await second()
  now = { ...now, nowMs: now.nowMs + 1 }
  await second()
  now = { ...now, tradingState: 'reducing' }
  await look()
  now = { ...now, tradingState: 'halted' }
  await look()
  await look()
  await look()
  now = { ...now, nowMs: now.nowMs + 10_000 }
  await second()
  write('last')
  await look()
  await holds(() => names(heard).at(-1) === 'log')
  const told = heard.events.slice(4).filter(({ event }) => event === 'status')
  expect(told.map(({ data }) => (JSON.parse(data) as EngineStatus).tradingState)).toEqual([
    'halted',
    'halted',
  ])
})

test('orders are read again when the journal has grown, and told when they changed', async () => {
  await begun()
  const before = reads
  await second()
  expect(reads).toBe(before)
  now = { ...now, journal: { ...now.journal, records: now.journal.records + 1 } }
  await second()
  expect(reads).toBe(before + 1)
})

test('whoever comes back after a gap is told what it missed, once, and in order', async () => {
  const first = await begun()
  write('one')
  await look()
  await holds(() => first.events.length === 5)
  const { id } = first.events.at(-1) ?? { id: '' }
  first.close()
  write('two')
  write('three')
  now = { ...now, tradingState: 'halted' }
  const later = await listen({ ...asReader, 'last-event-id': id })
  await holds(() => later.events.length >= 3)
  write('four')
  await look()
  await holds(() => later.events.length >= 4)
  expect(names(later)).toEqual(['log', 'log', 'status', 'log'])
  expect(lines(later.events)).toEqual(['two', 'three', 'four'])
  const ids = [...first.events, ...later.events].map((each) => each.id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('wherever a connection is cut, what both parts were told is the whole, without doubles', async () => {
  const whole = await begun()
  const told = Array.from({ length: 12 }, (_, at) => `line ${at}`)
  for (const [at, text] of told.entries()) {
    write(text)
    if (at % 3 === 0) now = { ...now, unresolved: at }
    await second()
  }
  await holds(() => lines(whole.events).length === told.length)
  const changes = (events: readonly StreamEvent[]) =>
    events
      .filter(({ event }) => event === 'status')
      .map(({ data }) => (JSON.parse(data) as EngineStatus).unresolved)
  const all = [...whole.events]
  for (let cut = 3; cut < all.length; cut++) {
    const before = all.slice(0, cut + 1)
    const after = await listen({ ...asReader, 'last-event-id': before.at(-1)?.id ?? '' })
    write(`end ${cut}`)
    await look()
    await holds(() => lines(after.events).at(-1) === `end ${cut}`)
    after.close()
    const both = [...lines(before), ...lines(after.events)]
    expect(both.filter((text) => !text.startsWith('end'))).toEqual(told)
    // Of a status only the newest is told again; what was told before is not.
    const last = changes(before).at(-1) === 9 ? [] : [9]
    expect(changes(after.events)).toEqual(last)
  }
})

test('a gap that is longer than what is kept, a restart and an id of nobody begin anew', async () => {
  const heard = await begun()
  const { id } = heard.events.at(-1) ?? { id: '' }
  heard.close()
  const reasonOf = async (last: string) => {
    const again = await listen({ ...asReader, 'last-event-id': last })
    await holds(() => again.events.length >= 4)
    again.close()
    const [{ event, data } = { event: '', data: '{}' }] = again.events
    expect(names(again)).toEqual(['reset', 'status', 'orders', 'tasks'])
    return [event, (JSON.parse(data) as { reason: string }).reason]
  }
  expect(await reasonOf('run-1:999:1')).toEqual(['reset', 'gap'])
  expect(await reasonOf('run-1:0:999')).toEqual(['reset', 'gap'])
  expect(await reasonOf('<script>')).toEqual(['reset', 'first'])
  for (let at = 0; at < 2_001; at++) write('x')
  expect(await reasonOf(id)).toEqual(['reset', 'gap'])
  await server.close()
  await open('run-2')
  expect(await reasonOf(id)).toEqual(['reset', 'restart'])
})

test('more lines at once than are kept are told as a gap to whoever listens', async () => {
  const heard = await begun()
  for (let at = 0; at < 2_001; at++) write('x')
  await look()
  await holds(() => heard.events.length === 8)
  expect(names(heard).slice(4)).toEqual(['reset', 'status', 'orders', 'tasks'])
  write('after it')
  await look()
  await holds(() => lines(heard.events).length === 1)
})

test('a reader that takes nothing is cut off, and the others are told everything', async () => {
  const heard = await begun()
  const slow = connect(server.port, '127.0.0.1')
  slow.write(`GET /api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${readToken}\r\n\r\n`)
  slow.pause()
  let [isCut, taken] = [false, 0]
  slow.on('error', () => undefined)
  slow.on('data', ({ length }) => {
    taken += length
  })
  slow.once('close', () => {
    isCut = true
  })
  // More than what the kernel keeps for both ends.
  const [blocks, inBlock, length] = [60, 100, 4_000]
  for (let block = 1; block <= blocks; block++) {
    for (let at = 0; at < inBlock; at++) write('y'.repeat(length))
    await look()
    await holds(
      () => lines(heard.events.slice(-1)).length === 1 && heard.events.length === 4 + block * inBlock,
    )
  }
  slow.resume()
  await holds(() => isCut)
  expect(taken).toBeLessThan((blocks * inBlock * length) / 2)
  expect(heard.isOver).toBe(false)
})

test('sixteen of a role may listen, and one more when one of them leaves', async () => {
  const all = await Promise.all(Array.from({ length: 16 }, () => begun()))
  const refused = await ask(server, 'GET', '/api/stream', asReader)
  expect([refused.status, refused.error]).toEqual([503, 'TOO_MANY_STREAMS'])
  // Those who may only read take nothing from operators.
  const operator = await begun(asOperator)
  expect(operator.status).toBe(200)
  all[0]?.close()
  await holds(async () => {
    const next = await listen()
    next.close()
    return next.status === 200
  })
})

test('every fifteen seconds there is a sign of life', async () => {
  const heard = await begun()
  for (let at = 0; at < 15; at++) await second()
  await holds(() => heard.comments.length === 1)
  expect(heard.comments).toEqual([': alive'])
})

test('a stream needs a token or a session, and ends with its session', async () => {
  expect((await ask(server, 'GET', '/api/stream')).status).toBe(401)
  const { reading, writing } = await logIn(server, operateToken)
  const { writing: other } = await logIn(server, operateToken)
  const heard = await begun(reading)
  const idle = await begun(other)
  expect((await ask(server, 'DELETE', '/console/session', writing)).status).toBe(200)
  await look()
  await holds(() => heard.isOver)
  expect(idle.isOver).toBe(false)
  clock.pass(3_600_000)
  await look()
  await holds(() => idle.isOver)
})

test('a stream that somebody holds is not cut for connections that do nothing', async () => {
  const heard = await begun()
  const idle = Array.from({ length: 300 }, () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    return socket
  })
  await holds(() => idle.filter(({ destroyed }) => destroyed).length >= 40)
  write('still here')
  await look()
  await holds(() => lines(heard.events).length === 1)
  for (const socket of idle) socket.destroy()
  expect(heard.isOver).toBe(false)
})

test('closing the port ends the streams and stops looking', async () => {
  const heard = await begun(asOperator)
  await server.close()
  await holds(() => heard.isOver)
  expect(isStopped).toBe(true)
  await open()
})

test('a journal that cannot be read keeps what was told, and the stream goes on', async () => {
  const heard = await begun()
  now = { ...now, journal: { ...now.journal, records: 99 } }
  isBroken = true
  await second()
  write('told')
  await look()
  await holds(() => lines(heard.events).length === 1)
  expect(names(heard)).toEqual(['reset', 'status', 'orders', 'tasks', 'status', 'log'])
})
