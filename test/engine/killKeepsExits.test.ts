/** A kill without closing: what adds risk goes, exits of what is held stay, whoever placed them, and it says what protects what. */
import { afterEach, expect, test } from 'vitest'
import { leftPositionText } from '../../src/monitor/leftPositionText.ts'
import type { OperatorAnswer } from '../../src/operator/operatorAnswer.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench, signer } from '../support/kinds.ts'

const ann = { by: 'ann', via: 'control' } as const
let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench.close()
})

/** An engine with commands by hand; `options` of its venue. */
async function started(options: KindsOptions = {}) {
  bench = await kindsBench(options)
  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  await bench.clock.advance(5_000)
  const open = async (id: string, more: object) => {
    const base = {
      type: 'open',
      id,
      market: ethSymbol,
      size: '500',
      leverage: '2',
      isPreview: false,
    } as const
    const answer = await engine.operate({ ...base, collateral: 'short', direction: 'long', ...more }, ann)
    expect(answer, id).toMatchObject({ ok: true })
    await bench.clock.advance(30_000)
  }
  const kill = async (asked: object = {}) => {
    await engine.operate({ type: 'kill', close: false, ...asked }, ann)
    await bench.clock.advance(60_000)
    return engine.status().kill
  }
  const resting = async () =>
    (await bench.api.getOrders({ account: signer.address })).value
      .map(({ orderType, direction }) => `${direction} ${orderType}`)
      .toSorted()
  return { engine, open, kill, resting }
}

test('a kill cancels entries with their exits, and leaves the exits of what is held', async () => {
  const { engine, open, kill, resting } = await started()
  await open('held', { stopLoss: '1500', takeProfit: '3000' })
  await open('waits', { limit: '1600', far: true, stopLoss: '1400' })
  await open('short', { direction: 'short', limit: '2900', far: true, stopLoss: '3200' })
  expect(await resting()).toEqual(['long 3', 'long 5', 'long 6', 'long 6', 'short 3', 'short 6'])

  const seen = await engine.operate({ type: 'kill', close: false, isPreview: true }, ann)
  expect(asKilled(seen)).toEqual({
    positions: [`long ${ethSymbol} $500.00 (take-profit at $3,000.00, stop-loss at $1,500.00)`],
    orders: [
      'limit increase long cancelled',
      'limit increase short cancelled',
      'stop-loss long cancelled',
      'stop-loss long stays',
      'stop-loss short cancelled',
      'take-profit long stays',
    ],
  })
  // To look changes nothing.
  expect([engine.status().kill, engine.status().tradingState]).toEqual([undefined, 'active'])

  const done = await kill()
  expect(done).toMatchObject({ outcome: 'done', stays: [{ direction: 'long', uncoveredUsd: 0n }] })
  expect(await resting()).toEqual(['long 5', 'long 6'])
  expect(engine.status().withoutStop).toEqual([])

  const all = await kill({ exits: true })
  expect(all).toMatchObject({ outcome: 'done', exits: true, stays: [{ exits: [] }] })
  expect(await resting()).toEqual([])
  expect(all?.stays?.[0]?.uncoveredUsd).toBeGreaterThan(0n)
})

test('a kill that closes leaves nothing, exits neither', async () => {
  const { engine, open, kill, resting } = await started()
  await open('held', { stopLoss: '1500', takeProfit: '3000' })
  expect(await kill({ close: true })).toMatchObject({ outcome: 'done', close: true })
  expect([await resting(), engine.status().positions]).toEqual([[], []])
})

test('a kill cancels an entry of ours that every list hides, and leaves the hidden exits of what is held unless they are to go', async () => {
  let hidden: readonly string[] = []
  const { engine, open, kill } = await started({
    isByChain: true,
    lie: (url) => (hidden.some((list) => new URL(url).pathname.endsWith(list)) ? '[]' : undefined),
  })
  const atVenue = () =>
    [...bench.venue.venueState.orders.values()].map(({ params }) => Number(params.orderType)).toSorted()
  await open('held', { stopLoss: '1500', takeProfit: '3000' })
  await open('waits', { limit: '1600', far: true, stopLoss: '1400' })
  expect(atVenue()).toEqual([3, 5, 6, 6])
  hidden = ['/orders']
  await bench.clock.advance(10_000)
  const unlisted = async (more: { readonly exits?: true; readonly close?: boolean }) => {
    const answer = await engine.operate({ type: 'kill', close: false, isPreview: true, ...more }, ann)
    return answer.ok ? (answer.killing?.unlisted ?? []) : []
  }
  const rests = { symbol: ethSymbol, direction: 'long', why: expect.stringMatching(/journal.*no list/) }
  expect(await unlisted({})).toHaveLength(4)
  expect(await unlisted({})).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...rests, name: 'limit', triggerPrice: usd(1_600), stays: false }),
      expect.objectContaining({ ...rests, name: 'stop-loss', triggerPrice: usd(1_500), stays: true }),
      expect.objectContaining({ ...rests, name: 'take-profit', triggerPrice: usd(3_000), stays: true }),
    ]),
  )
  hidden = ['/orders', '/positions']
  await bench.clock.advance(10_000)
  const position = { ...rests, name: null, sizeUsd: usd(500) }
  for (const close of [false, true])
    expect(await unlisted({ close })).toContainEqual(expect.objectContaining({ ...position, stays: !close }))
  hidden = ['/orders']
  await bench.clock.advance(10_000)
  expect(await kill()).toMatchObject({ outcome: 'done' })
  expect(atVenue()).toEqual([5, 6])
  expect(await kill({ exits: true })).toMatchObject({ outcome: 'done' })
  expect(atVenue()).toEqual([])
})

/** What a kill would find and do, a line each. */
function asKilled(answer: OperatorAnswer) {
  if (!answer.ok || answer.killing === undefined) throw new Error(`no preview: ${JSON.stringify(answer)}`)
  const { positions, orders } = answer.killing
  const lines = orders.map(
    ({ name, direction, stays }) => `${name} ${direction} ${stays ? 'stays' : 'cancelled'}`,
  )
  return { positions: positions.map(leftPositionText), orders: lines.toSorted() }
}
