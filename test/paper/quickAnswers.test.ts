/** Posted bodies are answered without a Request in between, and the answers are those of the way with one. */
import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { takeState } from '../../src/paper/venue/savedState.ts'
import { encodeState } from '../../src/paper/venue/stateLog.ts'
import { startVenue, trader } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
type Way = 'length said' | 'in chunks'

/** One POST; a body in chunks has no length, and goes the way with a Request. */
function posted(url: string, body: Buffer, way: Way, headers: Record<string, string> = {}) {
  return new Promise<object>((resolve) => {
    const length = way === 'length said' ? { 'content-length': String(body.length) } : {}
    const request = httpRequest(url, { method: 'POST', headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        const { 'server-timing': timing, 'x-trace-id': trace, date, ...rest } = response.headers
        const shown = {
          ...rest,
          isDated: date !== undefined,
          timed: /^venue;dur=\d/.test(String(timing)),
          isTraced: trace !== undefined,
        }
        resolve({
          status: response.statusCode,
          headers: shown,
          body: Buffer.concat(chunks).toString('latin1'),
        })
      })
    })
    request.once('error', (error: NodeJS.ErrnoException) => resolve({ cut: error.code }))
    if (way === 'in chunks' && body.length === 0) request.flushHeaders()
    else request.write(body)
    request.end()
  })
}

const prepareBody = {
  kind: 'increase',
  orderType: 'market',
  mode: 'express',
  from: trader.address,
  symbol: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  size: `1${'0'.repeat(33)}`,
  collateralToken: 'USDC',
  collateralToPay: { amount: '200000000', token: 'USDC' },
}

async function run(way: Way): Promise<{ readonly answers: readonly unknown[]; readonly world: string }> {
  const paper: Paper = await startVenue({ settings: { keeperJitterMs: 0 } })
  const answers: unknown[] = []
  const ask = async (path: string, body: unknown, headers?: Record<string, string>): Promise<void> => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    answers.push(await posted(paper.api + path, bytes, way, headers))
  }
  const text = JSON.stringify(prepareBody)
  await ask('/orders/txns/prepare', prepareBody)
  await ask('/orders/txns/prepare', Buffer.from(`\uFEFF${text}`))
  await ask('/orders/txns/prepare', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))
  await ask('/orders/txns/prepare', Buffer.from('{"kind":'))
  await ask('/orders/txns/prepare', Buffer.alloc(0))
  await ask('/orders/txns/prepare', Buffer.from('['.repeat(100)))
  await ask('/orders/txns/prepare', { ...prepareBody, symbol: 'Ä/USD' })
  await ask('/orders/txns/prepare', Buffer.alloc(1_048_577, 32))
  await ask('/orders/txns/prepare', prepareBody, { origin: 'https://elsewhere.example', host: 'any.example' })
  await ask('/orders/txns/prepare', prepareBody, { host: 'no host at all' })
  const [record] = [...(paper.venue.peers[0]?.byRequestId.values() ?? [])]
  const prepared = (await paper.prepare({})).body
  const submit = await paper.submitBody(prepared)
  await ask('/orders/txns/submit', { ...submit, signature: `0x${'11'.repeat(65)}` })
  await ask('/orders/txns/submit', submit)
  await ask('/orders/txns/submit', submit)
  await ask('/orders/txns/status', { requestId: record?.requestId })
  await ask('/orders/txns/status', { requestId: '0x12' })
  await ask('/relay/status', { taskId: '0x12' })
  await ask('/relay/submit', { to: trader.address, data: '0x00' })
  await ask('/trades/search', { limit: 2 })
  await ask('/nowhere', {})
  await ask('/orders/txns/prepare?query=1', prepareBody)
  for (const faults of [
    { submitFault: '503-after-work' },
    { down: ['api/0'] },
    { down: [], latencyMs: 60_000 },
    { latencyMs: 0, malformedRows: ['/trades/search'] },
  ]) {
    Object.assign(paper.venue.faults, faults)
    await ask('/orders/txns/status', { requestId: record?.requestId })
    await ask('/trades/search', { limit: 2 })
  }
  const { venue } = paper
  const world = encodeState(
    takeState(
      { venueState: venue.venueState, peers: venue.peers, faults: venue.faults, record: [], log: undefined },
      0,
    ),
  )
  await paper.close()
  return { answers, world }
}

test('status, headers, body and the world are the same on both ways', async () => {
  const quick = await run('length said')
  const plain = await run('in chunks')
  for (const [at, answer] of quick.answers.entries())
    expect(answer, `answer ${at}`).toEqual(plain.answers[at])
  expect(quick.world).toBe(plain.world)
  expect(quick.answers.length).toBeGreaterThan(25)
})

test('a wire fault sees what is posted, and a body that never comes whole asks nothing', async () => {
  const paper = await startVenue()
  paper.venue.wire.add({ kind: 'status', status: 429, route: '/orders/txns/prepare' })
  expect((await paper.prepare({})).status).toBe(429)
  paper.venue.wire.rules.splice(0)
  const asked = paper.venue.venueState.counters.request
  await new Promise<void>((resolve) => {
    const request = httpRequest(`${paper.api}/orders/txns/prepare`, {
      method: 'POST',
      headers: { 'content-length': '1000' },
    })
    request.once('error', () => resolve())
    request.write('{', () => request.destroy(new Error('gone')))
  })
  expect((await paper.prepare({})).status).toBe(200)
  expect(paper.venue.venueState.counters.request).toBe(asked + 1)
  await paper.close()
})
