/** Orders of the relay lane, followed on the chain over real sockets, on a clock that the test moves. */
import { afterEach, expect, test } from 'vitest'
import { type Intent, labelOf, lastAttempt } from '../../src/domain/order/intent.ts'
import { type ChainBench, type ChainBenchOptions, chainBench, increaseIn, labels } from '../support/chain.ts'
import type { Between } from '../support/venue.ts'

let world: ChainBench
afterEach(() => world.close())

async function start(options: ChainBenchOptions = {}): Promise<ChainBench> {
  world = await chainBench(options)
  return world
}

const increase = (parts: Partial<Intent> = {}) => increaseIn(world, { lane: 'relay', ...parts })

const never = new Promise<never>(() => {})

/** The process dies with the submit in the air: no answer of it is ever heard. */
function cutAtSubmit(reachesTheVenue: boolean): Between {
  return async (url, init, next) => {
    if (!url.endsWith('/relay/submit')) return next(url, init)
    if (reachesTheVenue) await next(url, init)
    return never
  }
}

async function restart(): Promise<void> {
  await world.orderManager.stop()
  const second = world.restart()
  second.restore(world.journal.openIntents(), [])
  await second.recover()
}

test('an order of the relay lane lands, is final, and closes by its own event', async () => {
  await start()
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(12_000)
  expect(labels(world.events)).toEqual(['planned', 'pending', 'executed'])
  const story = world.story(intent.intentId)
  expect(story.closing).toMatchObject({ outcome: 'EXECUTED', evidence: { level: 'chain-final' } })
  const attempt = lastAttempt(story)
  expect(attempt?.send).toMatchObject({ result: 'accepted' })
  expect(attempt?.armed?.armBlockNumber).toBeGreaterThan(0n)
  expect(world.venue.record()).toMatchObject([{ lane: 'relay', digest: attempt?.armed?.digest }])
})

test('an answer that was lost leaves no task id, and the chain alone shows the order', async () => {
  await start({
    between: async (url, init, next) => {
      const answer = await next(url, init)
      if (!url.endsWith('/relay/submit')) return answer
      return { status: 502, headers: answer.headers, text: async () => '<html>bad gateway</html>' }
    },
  })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(500)
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(12_000)
  const story = world.story(intent.intentId)
  expect(story.closing?.outcome).toBe('EXECUTED')
  expect(lastAttempt(story)?.send?.taskId).toBeUndefined()
  expect(world.venue.record()).toHaveLength(1)
})

test('killed after the submit left: the next start finds the order on the chain and sends nothing', async () => {
  await start({ between: cutAtSubmit(true) })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(100)
  await restart()
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  expect(world.venue.record()).toHaveLength(1)
})

test('killed before the submit left: unknown until a block is past our own deadline, then dead, and never sent', async () => {
  await start({ between: cutAtSubmit(false) })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(100)
  await restart()
  await world.clock.advance(115_000)
  expect(world.story(intent.intentId).closing).toBeUndefined()
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(15_000)
  const { closing } = world.story(intent.intentId)
  expect(closing).toMatchObject({ outcome: 'DEAD', evidence: { level: 'chain-final' } })
  expect(world.venue.record()).toEqual([])
})

test('the relay gives up: unknown, whatever it says, and dead within minutes', async () => {
  await start()
  world.set({ relay: 'fails' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(100_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(30_000)
  expect(world.story(intent.intentId).closing).toMatchObject({
    outcome: 'DEAD',
    observedStatus: 'relay_failed',
  })
  expect(labels(world.events).at(-1)).toBe('failed')
})

test('a relay that gave up sends it after all: it is seen', async () => {
  await start()
  world.set({ relay: 'lands-late', relayLateMs: 20_000 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(25_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  expect(world.venue.record()).toHaveLength(1)
})

test('a revert is shown by its name, and is not the end: somebody sends our calldata again, and it lands', async () => {
  await start()
  world.set({ relayReverts: 'DisabledMarket', replayMs: 15_000 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(8_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  // `orders` and `explain` read the journal alone, and have the word of log and status.
  expect(labelOf(world.story(intent.intentId))).toBe('unknown')
  expect(world.orderManager.open().map(({ label }) => label)).toEqual(['unknown'])
  const words = world.events.flatMap((event) => (event.type === 'order.observed' ? [event.reason ?? ''] : []))
  expect(words.at(-1)).toContain('DisabledMarket')
  world.set({ relayReverts: '' })
  await world.clock.advance(25_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('a relay that knows nothing is no reason to doubt the chain', async () => {
  await start()
  world.set({ relay: 'unknown' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(12_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('a digest that a stranger used up is void', async () => {
  await start()
  world.set({ foreignDigest: 'before-landing' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(20_000)
  expect(world.story(intent.intentId).closing).toMatchObject({ outcome: 'VOID_CONSUMED' })
})
