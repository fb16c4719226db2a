/**
 * A third lane is a value of three calls: here the relay's calldata, sent by a transaction of the account's own, of which the
 * chain alone tells. Everything around the calls holds for it as it does for the lanes that perpd ships.
 */
import { afterEach, expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { type Attempt, type Intent, lastAttempt } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import type { Admission } from '../../src/execution/context/executionContext.ts'
import type { Lane } from '../../src/execution/lanes/lane.ts'
import { callOf, ownMessage } from '../../src/execution/lanes/ownMessage.ts'
import { shippedLanes } from '../../src/execution/lanes/shippedLanes.ts'
import { submitRelay } from '../../src/paper/requests/relayRoutes.ts'
import { usd } from '../../src/protocol/units.ts'
import { type ChainBench, type ChainBenchOptions, chainBench, signer } from '../support/chain.ts'
import { ethMarket, intentOf } from '../support/intents.ts'

const name: string = 'own-transaction'

let world: ChainBench
/** Newest attempt in the journal at each send: what was durable before the first byte. */
let sent: (Attempt | undefined)[] = []
/** Paths that were asked of the venue. */
let asked: string[] = []

afterEach(() => world.close())

/** `after`: what happens to the answer once the chain has the transaction. */
function laneThat(after: () => Promise<void> = async () => {}): Lane {
  return {
    make: ownMessage,
    async send(_, { signed, host }) {
      const { intentId } = signed.verified.intent
      sent.push(lastAttempt(world.story(intentId)))
      const { venueState: chain } = world.venue
      const entry = { receivedAtMs: chain.clock.now(), lane: 'relay', host, requestId: null } as const
      const unknown = { account: null, digest: null, signature: null, result: 'received', taskId: null }
      await submitRelay(chain, { ...callOf(signed) }, { ...entry, ...unknown })
      await after()
      return { result: 'accepted' }
    },
    async ask(_, { armed: { host } }) {
      return { kind: 'silent', host, reason: 'no host was handed it: only the chain can tell' }
    },
  }
}

async function start(lane: Lane, options: ChainBenchOptions = {}): Promise<void> {
  sent = []
  asked = []
  world = await chainBench({
    lanes: { ...shippedLanes, [name]: lane },
    between: (url, init, next) => {
      asked.push(new URL(url).pathname)
      return next(url, init)
    },
    ...options,
  })
}

async function accept(parts: Partial<Intent> = {}): Promise<Intent> {
  const ticker = (await world.api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  const base = intentOf()
  const intent = intentOf({
    account: signer.address,
    lane: name as LaneName,
    acceptedAtMs: world.clock.now(),
    expiresAtMs: world.clock.now() + 30_000,
    terms: { ...base.terms, referencePrice: ticker?.maxPrice ?? usd(0) },
    ...parts,
  })
  await world.orderManager.accept(intent)
  return intent
}

const labels = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'order.moved' ? [event.to] : []))

const handingIn = () => asked.filter((path) => /\/(submit|status)$/.test(path))

test('an order of an added lane goes its whole way: verified, signed, armed, sent once, landed, executed', async () => {
  await start(laneThat())
  const intent = await accept()
  await world.clock.advance(12_000)
  const story = world.story(intent.intentId)
  expect(story.closing).toMatchObject({ outcome: 'EXECUTED', evidence: { level: 'chain-final' } })
  expect(labels(world.events)).toEqual(['planned', 'pending', 'executed'])
  expect(sent).toMatchObject([{ n: 1, lane: name, phase: 'ARMED', armed: { router: expect.any(String) } }])
  expect(story.attempts).toMatchObject([{ lane: name, send: { result: 'accepted' } }])
  const kinds = world.events.flatMap((event) =>
    event.type === 'journal.committed' ? [event.record.kind] : [],
  )
  // Landing and execution are written again when their blocks are final.
  expect([...new Set(kinds)]).toEqual([
    'intent.accepted',
    'attempt.preparing',
    'attempt.armed',
    'send.result',
    'landed',
    'child.executed',
    'intent.closed',
  ])
  // No host was handed anything, and none was asked how it fares.
  expect(handingIn()).toEqual([])
  expect(world.venue.record()).toEqual([])
})

test('a send of an added lane that fails proves nothing, is not repeated, and the chain shows the order', async () => {
  await start(
    laneThat(async () => {
      throw new Error('the connection was reset')
    }),
  )
  const intent = await accept()
  await world.clock.advance(300)
  expect(labels(world.events).at(-1)).toBe('unknown')
  expect(lastAttempt(world.story(intent.intentId))?.send).toMatchObject({
    result: 'unanswered',
    message: 'the connection was reset',
  })
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  expect(sent).toHaveLength(1)
})

test('a halt that comes while an added lane makes its message keeps the key from it', async () => {
  const denial = { code: 'HALTED', reason: 'an operator halted trading' }
  const admission: Admission = { veto: () => denial, resize: async () => denial }
  await start(laneThat(), { context: { admission } })
  const intent = await accept()
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'HALTED' })
  expect(sent).toEqual([])
})

test("another account's order is refused before an added lane is asked for a message", async () => {
  await start({
    ...laneThat(),
    make: () => {
      throw new TypeError('it was asked')
    },
  })
  const intent = await accept({ account: `0x${'99'.repeat(20)}` })
  await world.clock.advance(1_000)
  expect(world.story(intent.intentId).closing).toMatchObject({ code: 'ACCOUNT_MISMATCH' })
})

test('killed with its send in the air, an order of a lane that the next start does not have is closed by the chain', async () => {
  await start(laneThat(() => new Promise<never>(() => {})))
  const intent = await accept()
  await world.clock.advance(100)
  await world.orderManager.stop()
  const older = world.restart(shippedLanes)
  older.restore(world.journal.openIntents(), [])
  await older.recover()
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  expect(sent).toHaveLength(1)
  expect(handingIn()).toEqual([])
  await older.stop()
})

test('an order of a lane that nobody has is refused, and the venue is asked nothing for it', async () => {
  await start(laneThat(), { lanes: shippedLanes })
  const intent = await accept()
  asked = []
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'LANE_UNKNOWN',
  })
  expect([sent, asked]).toEqual([[], []])
})
