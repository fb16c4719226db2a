/** A host takes a signed close and never relays it, hides what is held, or has rows that cannot be read: the way out stays open. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench } from '../support/kinds.ts'

let bench: KindsBench
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench.close()
})

const by = { by: 'ann', via: 'control' } as const
const side = { market: ethSymbol, direction: 'long', collateral: 'short' } as const
const open = { type: 'open', ...side, size: '500', leverage: '2', isPreview: false } as const
const close = { type: 'close', ...side, shareBps: 10_000 } as const
const part = { type: 'close', ...side, shareBps: 5_000 } as const

const submits = ['/orders/txns/submit', '/relay/submit']
const isSubmit = (url: string) => submits.some((path) => new URL(url).pathname.endsWith(path))
const listOf = (url: string) => /\/(positions|orders)$/.exec(new URL(url).pathname)?.[1]

/** A bench whose venue holds messages back while `isWithholding`, and those messages. */
async function withholdingBench(options: KindsOptions = {}) {
  const state = { isWithholding: false }
  const kept: { readonly url: string; readonly body: string }[] = []
  bench = await kindsBench({
    isByChain: true,
    withheldMs: 15_000,
    ...options,
    instead(url, body = '{}') {
      if (!state.isWithholding || !isSubmit(url)) return undefined
      kept.push({ url, body })
      const taskId = `0x${'ab'.repeat(32)}`
      const { requestId } = JSON.parse(body)
      return JSON.stringify(
        requestId === undefined
          ? { taskId, status: 'pending' }
          : { requestId, taskId, status: 'relay_accepted' },
      )
    },
  })
  return { state, kept }
}

/** A running engine, and commands by hand. */
async function started() {
  const { engine, events, codes } = engineOver(bench, {})
  running = engine
  await engine.start()
  await bench.clock.advance(40_000)
  let made = 0
  async function ask(command: Record<string, unknown> & { readonly type: string }) {
    made += 1
    const answering = engine.operate({ ...command, id: `hand-${made}` } as unknown as OperatorCommand, by)
    for (let at = 0; at < 8; at += 1) await bench.clock.advance(500)
    return await answering
  }
  return { engine, events, codes, ask }
}

const heldAtVenue = () =>
  [...bench.venue.venueState.positions.values()].filter(({ state }) => state.sizeInUsd > 0n)
const closes = () =>
  bench.journal
    .recentIntents({ limit: 20 })
    .filter(({ intent: { kind } }) => kind === 'close' || kind === 'decrease')

test.each([
  ['by its chain', true],
  ['by its hosts alone', false],
])(
  'what one host withholds is closed after 15 s by another order, and landing late it is booked: %s',
  async (_how, isByChain) => {
    const { state, kept } = await withholdingBench({ isByChain })
    const { engine, events, ask } = await started()
    expect(await ask(open)).toMatchObject({ ok: true })
    await bench.clock.advance(40_000)
    state.isWithholding = true
    expect(await ask(close)).toMatchObject({ ok: true })
    state.isWithholding = false
    await bench.clock.advance(5_000)
    expect(await ask(close)).toMatchObject({ ok: false, code: 'REDUCE_IN_FLIGHT' })
    await bench.clock.advance(3_000)
    expect(await ask(close)).toMatchObject({ ok: true })
    expect(heldAtVenue()).toEqual([])
    const [second, first] = closes()
    expect(kept).toHaveLength(1)
    expect(second?.intent.goesOnFor).toEqual([first?.intent.intentId])
    expect(second?.attempts[0]?.armed?.host).not.toBe(first?.attempts[0]?.armed?.host)
    expect(second?.attempts[0]?.armed?.digest).not.toBe(first?.attempts[0]?.armed?.digest)
    expect(bench.api.isCoolingDown(first?.attempts[0]?.armed?.host ?? '')).toBe(true)
    // It may land yet: nothing is added on the side.
    expect(await ask(open)).toMatchObject({ ok: false, code: 'REDUCE_IN_FLIGHT' })
    const [{ url, body } = { url: '', body: '' }] = kept
    const late = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(late.status).toBe(200)
    for (let at = 0; at < 12; at += 1) await bench.clock.advance(2_500)
    expect(bench.story(first?.intent.intentId ?? '').closing?.outcome).toBe('CANCELLED')
    expect(engine.status().discrepancies).toEqual([])
    expect(events.filter(({ type }) => type === 'account.discrepancy')).toEqual([])
    // Lists may be of before a landing for half a minute.
    await bench.clock.advance(30_000)
    expect(await ask(open)).toMatchObject({ ok: true })
    expect(heldAtVenue()).toHaveLength(1)
  },
)

test('a part waits for the proof of a part that is withheld; the whole does not', async () => {
  const { state, kept } = await withholdingBench()
  const { ask } = await started()
  expect(await ask(open)).toMatchObject({ ok: true })
  await bench.clock.advance(40_000)
  state.isWithholding = true
  expect(await ask(part)).toMatchObject({ ok: true })
  state.isWithholding = false
  await bench.clock.advance(30_000)
  expect(await ask(part)).toMatchObject({ ok: false, code: 'REDUCE_IN_FLIGHT' })
  expect(await ask(close)).toMatchObject({ ok: true })
  expect(kept).toHaveLength(1)
  expect(heldAtVenue()).toEqual([])
})

test('a venue that relays nothing at all is handed three closes and no more until one is proven dead', async () => {
  const { state, kept } = await withholdingBench()
  const { engine, ask } = await started()
  expect(await ask(open)).toMatchObject({ ok: true })
  await bench.clock.advance(40_000)
  state.isWithholding = true
  await engine.operate({ type: 'kill', close: true }, by)
  for (let at = 0; at < 45; at += 1) await bench.clock.advance(2_000)
  expect(kept).toHaveLength(3)
  expect(new Set(kept.map(({ body }) => body)).size).toBe(3)
  state.isWithholding = false
  for (let at = 0; at < 60; at += 1) await bench.clock.advance(2_000)
  expect(heldAtVenue()).toEqual([])
})

test('a kill closes what every list hides, by the journal and the chain', async () => {
  let isHidden = false
  bench = await kindsBench({
    isByChain: true,
    withheldMs: 15_000,
    lie: (url) => (isHidden && listOf(url) !== undefined ? '[]' : undefined),
  })
  const { engine, ask } = await started()
  expect(await ask(open)).toMatchObject({ ok: true })
  await bench.clock.advance(40_000)
  isHidden = true
  await engine.operate({ type: 'kill', close: true }, by)
  for (let at = 0; at < 25; at += 1) await bench.clock.advance(2_000)
  expect(heldAtVenue()).toEqual([])
  await bench.clock.advance(60_000)
  expect(engine.status().kill).toMatchObject({ outcome: 'done' })
})

test.each([
  ['a size in tokens that is no number', { sizeInTokens: 'many' }],
  ['a mark price that is none', { markPrice: '-' }],
])(
  'a row with %s is shown as one that cannot be read, and closed by what is known',
  async (_what, broken) => {
    let isBroken = false
    bench = await kindsBench({
      isByChain: true,
      withheldMs: 15_000,
      lie(url, text) {
        if (!isBroken || listOf(url) !== 'positions') return undefined
        return JSON.stringify((JSON.parse(text) as object[]).map((row) => ({ ...row, ...broken })))
      },
    })
    const { engine, events, ask } = await started()
    expect(await ask(open)).toMatchObject({ ok: true })
    await bench.clock.advance(40_000)
    isBroken = true
    await bench.clock.advance(10_000)
    expect(engine.status().positions).toEqual([])
    expect(engine.status().unlisted).toEqual([
      expect.objectContaining({
        direction: 'long',
        why: expect.stringMatching(/^its row cannot be read: \[0\]\./),
      }),
    ])
    expect(events.findLast(({ type }) => type === 'account.positions')).toMatchObject({ unlisted: [{}] })
    expect(await ask(open)).toMatchObject({ ok: false, code: 'DATA_INCOMPLETE' })
    expect(await ask(close)).toMatchObject({ ok: true })
    expect(heldAtVenue()).toEqual([])
    await bench.clock.advance(10_000)
    expect(engine.status().unlisted).toBeUndefined()
  },
)

test.each([
  ['a value of the position with decimals', { positionValueInUsd: '12.5' }],
  ['a name that is none', { indexName: 7 }],
])('a row with %s is read all the same: nothing is decided by that', async (_what, broken) => {
  bench = await kindsBench({
    isByChain: true,
    lie: (url, text) =>
      listOf(url) === 'positions'
        ? JSON.stringify((JSON.parse(text) as object[]).map((row) => ({ ...row, ...broken })))
        : undefined,
  })
  const { engine, ask } = await started()
  expect(await ask(open)).toMatchObject({ ok: true })
  await bench.clock.advance(10_000)
  expect(engine.status().positions).toHaveLength(1)
  expect(await ask(close)).toMatchObject({ ok: true })
  expect(heldAtVenue()).toEqual([])
})
