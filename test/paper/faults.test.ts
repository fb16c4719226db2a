/** Faults over real sockets, and a world that goes on after a restart. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const faults = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)
const record = async (): Promise<Any[]> => (await paper.call('GET', `${paper.control}/record`)).body

test('a submit that is never answered still works, and the record tells', async () => {
  await faults({ submit: 'accept-and-never-answer' })
  const prepared = (await paper.prepare({})).body
  const body = JSON.stringify(await paper.submitBody(prepared))
  await expect(
    fetch(`${paper.api}/orders/txns/submit`, { method: 'POST', body, signal: AbortSignal.timeout(400) }),
  ).rejects.toThrow('aborted due to timeout')
  paper.clock.move(2500)
  expect((await paper.status(prepared.requestId)).body.status).toBe('executed')
  expect(await record()).toMatchObject([
    {
      lane: 'order-chain',
      host: 'api/0',
      requestId: prepared.requestId,
      account: trader.address,
      result: 'accepted',
      operationStatus: 'executed',
      orders: [{ status: 'executed' }],
    },
  ])
})

test('503 after the work and 500 before it are told apart by the record', async () => {
  const first = (await paper.prepare({})).body
  await faults({ submit: '503-after-work', times: 1 })
  expect((await paper.submit(first)).status).toBe(503)
  const second = (await paper.prepare({})).body
  await faults({ submit: '500-before-work', times: 1 })
  expect((await paper.submit(second)).status).toBe(500)
  paper.clock.move(2500)
  expect((await paper.status(first.requestId)).body.status).toBe('executed')
  expect((await paper.status(second.requestId)).body.status).toBe('prepared')
  expect((await record()).map((entry) => entry.result)).toEqual(['accepted', 'received'])
  expect((await paper.submit(second)).status).toBe(200)
})

test('a poisoned prepare pays somebody else and is otherwise well formed', async () => {
  await faults({ prepare: 'foreign-receiver', times: 1 })
  const poisoned = (await paper.prepare({})).body
  const [order] = poisoned.payload.typedData.message.createOrderParamsList
  expect(order.addresses.receiver).not.toBe(trader.address)
  expect((await paper.submit(poisoned)).status).toBe(200)
  const clean = (await paper.prepare({})).body
  expect(clean.payload.typedData.message.createOrderParamsList[0].addresses.receiver).toBe(trader.address)
})

test('status can be unavailable, and a host can be down while its peer answers', async () => {
  const prepared = (await paper.prepare({})).body
  await faults({ status: 'unavailable', times: 1 })
  const answer = await paper.status(prepared.requestId)
  expect(answer.status).toBe(503)
  expect(answer.headers.get('x-trace-id')).toBeTruthy()
  await faults({ down: ['api/0'] })
  await expect(paper.get('/markets')).rejects.toThrow('fetch failed')
  expect((await paper.call('GET', `${paper.peer}/markets`)).status).toBe(200)
  await faults({ down: [] })
  expect((await paper.get('/markets')).status).toBe(200)
})

test('unknown faults are refused by name', async () => {
  expect((await faults({ submit: 'explode' })).body).toEqual({
    message: 'submit must be one of none, accept-and-never-answer, 503-after-work, 500-before-work',
  })
  expect((await faults({ gremlins: 1 })).body).toEqual({ message: 'unknown fault gremlins' })
})

test('a venue with a state file goes on where it stopped', async () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'paper-')), 'world.json')
  const one = await startVenue({ stateFile, seed: 11 })
  const first = await one.trade({})
  const waiting = (await one.prepare({})).body
  await one.submit(waiting)
  const before = await one.positions()
  const tickers = (await one.call('GET', `${one.oracle}/prices/tickers`)).body
  const balance = await one.balanceOf('USDC')
  await one.close()

  const clock = manualClock(one.clock.now())
  const venue = createVenue({ clock, chain: chains.arbitrum, seed: 99, stateFile })
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  const [api] = served.api
  const read = async (url: string, body?: unknown): Promise<Any> =>
    (await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })).json()
  expect(await read(`${served.oracle[0]}/prices/tickers`)).toEqual(tickers)
  expect(await read(`${api}/positions?address=${trader.address}`)).toEqual(before)
  const rows = await read(`${api}/balances/wallet?address=${trader.address}`)
  expect(BigInt(rows.find((row: Any) => row.symbol === 'USDC').balance)).toBe(balance)
  expect((await read(`${api}/orders/txns/status`, { requestId: first.requestId })).status).toBe('executed')
  clock.move(2500)
  expect((await read(`${api}/orders/txns/status`, { requestId: waiting.requestId })).status).toBe('executed')
  expect((await read(`${api}/positions?address=${trader.address}`))[0].sizeInUsd).toBe(usd(2000))
  expect((await read(`${served.control}/record`)).map((entry: Any) => entry.result)).toEqual([
    'accepted',
    'accepted',
  ])
  await served.close()
})

test('a venue that was killed keeps prepared requests and accepted orders, and ends the same', async () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'paper-')), 'world.json')
  const one = await startVenue({ stateFile, seed: 11 })
  const waiting = (await one.prepare({})).body
  const done = await one.trade({})
  const before = await one.positions()

  // No close and no save: a second venue finds what a kill would have left.
  const venue = createVenue({
    clock: one.clock,
    chain: chains.arbitrum,
    stateFile,
    settings: { keeperJitterMs: 0 },
  })
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  const [api] = served.api
  const read = async (path: string, body?: unknown): Promise<Any> =>
    (await fetch(api + path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })).json()
  expect(await read(`/positions?address=${trader.address}`)).toEqual(before)
  expect(await read('/orders/txns/status', { requestId: done.requestId })).toEqual(done)
  expect((await read('/orders/txns/status', { requestId: waiting.requestId })).status).toBe('prepared')
  expect((await read('/orders/txns/submit', await one.submitBody(waiting))).status).toBe('relay_accepted')
  await served.close()
  await one.close()
})

test('a state file that cannot be read is refused in plain words', () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'paper-')), 'world.json')
  writeFileSync(stateFile, '{')
  expect(() => createVenue({ clock: manualClock(), chain: chains.arbitrum, stateFile })).toThrow(
    `The paper venue's state file cannot be read: it is not JSON.\n  path: ${stateFile}\n  Nothing was changed. Move the file away to begin a new paper venue, or restore it from a copy.`,
  )
  expect(stranger.address).toMatch(/^0x/)
})
