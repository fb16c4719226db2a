/** What the generic relay may answer by its document: little more than a task id. Over real sockets to the paper venue. */
import { afterEach, expect, test } from 'vitest'
import { lastAttempt } from '../../src/domain/order/intent.ts'
import type { AnswerEdit } from '../../src/paper/http/answerEdit.ts'
import { usd } from '../../src/protocol/units.ts'
import { failureOf } from '../api/support.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
afterEach(() => bench.close())

async function start(): Promise<void> {
  bench = await kindsBench({ lane: 'relay' })
}

function edited(route: string, ...edits: readonly AnswerEdit[]): void {
  const rule = bench.venue.wire.add({ kind: 'edit', route, edits })
  if (typeof rule === 'string') throw new Error(rule)
}

async function increase() {
  return bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'test',
  })
}

test('an order whose submit is answered with a task id alone is followed by it, and executes', async () => {
  await start()
  edited('/relay/submit', { path: '/status', remove: true })
  const intent = await increase()
  await bench.clock.advance(10_000)
  const state = bench.story(intent.intentId)
  expect(lastAttempt(state)?.send).toMatchObject({ result: 'accepted', taskId: expect.any(String) })
  expect(state.closing?.outcome).toBe('EXECUTED')
  const { value } = await bench.api.getPositions({ account: signer.address })
  expect(value.map(({ sizeInUsd }) => sizeInUsd)).toEqual([usd(500)])
})

test.each<readonly [string, readonly AnswerEdit[]]>([
  ['no task id', [{ path: '/taskId', remove: true }]],
  ['an empty revertData', [{ path: '/revertData', set: '' }]],
  ['an odd revertData', [{ path: '/revertData', set: { bytes: '0x' } }]],
  ['an odd reason', [{ path: '/reason', set: 7 }]],
])('a status with %s tells how the order fares', async (_name, edits) => {
  await start()
  edited('/relay/submit', { path: '/status', remove: true })
  edited('/relay/status', ...edits)
  const intent = await increase()
  await bench.clock.advance(10_000)
  expect(bench.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('an empty transaction hash is none yet', async () => {
  await start()
  edited('/relay/status', { path: '/txHash', set: '' }, { path: '/status', set: 'pending' })
  const intent = await increase()
  await bench.clock.advance(2_000)
  const taskId = lastAttempt(bench.story(intent.intentId))?.send?.taskId ?? ''
  const { value } = await bench.api.getRelayStatus({ taskId })
  expect(value).toEqual({ taskId, status: 'pending' })
})

test('an answer about another task is none about this one, and a fault of its host', async () => {
  await start()
  const other = `0x${'99'.repeat(32)}`
  edited('/relay/status', { path: '/taskId', set: other }, { path: '/status', set: 'reverted' })
  const intent = await increase()
  await bench.clock.advance(10_000)
  const taskId = lastAttempt(bench.story(intent.intentId))?.send?.taskId ?? ''
  const error = await failureOf(bench.api.getRelayStatus({ taskId }, { attempts: 1 }))
  expect(error).toMatchObject({ code: 'API_UNDECODABLE', path: 'taskId', isOfAnother: true })
  // The word of another task decides nothing: the order is pending still.
  expect(bench.story(intent.intentId).closing).toBeUndefined()
})
