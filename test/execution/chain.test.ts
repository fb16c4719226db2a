/** Orders followed on the chain alone, over real sockets against the paper venue's node, on a clock that the test moves. */
import { afterEach, expect, test } from 'vitest'
import { type Intent, lastAttempt } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import {
  type ChainBench,
  type ChainBenchOptions,
  chainBench,
  increaseIn,
  labels,
  signer,
} from '../support/chain.ts'

let world: ChainBench
afterEach(() => world.close())

async function start(options: ChainBenchOptions = {}): Promise<ChainBench> {
  world = await chainBench(options)
  return world
}

const increase = (parts: Partial<Intent> = {}) => increaseIn(world, parts)

test('a market order lands provisionally, then for good, and closes as executed by its own event', async () => {
  await start()
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(12_000)
  const story = world.story(intent.intentId)
  expect(story.closing).toMatchObject({ outcome: 'EXECUTED', evidence: { level: 'chain-final' } })
  expect(labels(world.events)).toEqual(['planned', 'pending', 'executed'])
  const kinds = (await world.journal.records(intent.intentId)).map(({ record }) => record.kind)
  expect(kinds).toEqual([
    'intent.accepted',
    'attempt.preparing',
    'attempt.armed',
    'send.result',
    'landed',
    'landed',
    'child.executed',
    'child.executed',
    'intent.closed',
  ])
  expect(lastAttempt(story)?.armed?.armBlockNumber).toBeGreaterThan(399_999_000n)
  // The figures of the fill are those of the account's own trades.
  const { trades } = (await world.api.getTrades({ account: signer.address })).value
  const trade = trades.find(({ eventName }) => eventName === 'OrderExecuted')
  expect(story.closing?.settlement).toMatchObject({
    sizeDeltaUsd: usd(500),
    transactionHash: trade?.transactionHash,
    timestampSeconds: trade?.timestampSeconds,
    priceImpactUsd: trade?.priceImpactUsd,
    executionPrice: (trade?.executionContractPrice ?? 0n) * 10n ** 18n,
  })
})

test('a market order that the keeper cancels closes with the decoded reason', async () => {
  await start()
  world.set({ keeperFails: 'InsufficientReserve' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(12_000)
  const { closing } = world.story(intent.intentId)
  expect(closing?.outcome).toBe('CANCELLED')
  expect(closing?.reason).toMatch(/InsufficientReserve/)
})

test('the pause between questions to a host, which grows to a minute, ends with its order', async () => {
  await start()
  world.set({ relay: 'fails' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(30_000)
  expect(world.story(intent.intentId).closing).toBeUndefined()
  const whileOpen = world.clock.sleeping()
  expect(await world.orderManager.resolve(intent.intentId, 'dead', 'ann')).toBe(true)
  await world.clock.advance(0)
  expect(world.clock.sleeping()).toBe(whileOpen - 1)
})

test('a relay that never lands it is believed by nobody: block time past the deadline proves the death', async () => {
  await start({ endpoints: 2 })
  world.set({ relay: 'fails' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(55_000)
  const before = world.story(intent.intentId)
  expect(before.closing).toBeUndefined()
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(15_000)
  const { closing } = world.story(intent.intentId)
  expect(closing).toMatchObject({ outcome: 'DEAD', evidence: { level: 'chain-final' } })
  expect(closing?.evidence.endpoints).toHaveLength(2)
  const deadline = lastAttempt(before)?.armed?.deadlineSeconds ?? 0
  expect(closing?.evidence.block?.timestampSeconds).toBeGreaterThan(deadline)
  expect(world.venue.record()).toHaveLength(1)
})

test('an answer that was lost and a relay that says failed change nothing: it lands late, and is seen', async () => {
  await start()
  world.set({ relay: 'lands-late', relayLateMs: 20_000, submit: '503-after-work', times: 1 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(15_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(25_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  expect(world.venue.record()).toHaveLength(1)
})

test('a revert is not the end: somebody sends the calldata again, and it lands', async () => {
  await start()
  world.set({ relayReverts: 'TokenTransferError', replayMs: 15_000 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(8_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  world.set({ relayReverts: '' })
  await world.clock.advance(25_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('a digest that a stranger used up is void: used, and nothing of ours in the transaction', async () => {
  await start()
  world.set({ foreignDigest: 'before-landing' })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(20_000)
  const { closing } = world.story(intent.intentId)
  expect(closing).toMatchObject({ outcome: 'VOID_CONSUMED', evidence: { level: 'chain-final' } })
  const used = world.venue.venueState.blockChain.byDigest.get(
    (lastAttempt(world.story(intent.intentId))?.armed?.digest ?? '').toLowerCase(),
  )
  expect(closing?.evidence.transactionHashes).toEqual([used?.hash])
})

test('a landing that is reorganised out is taken back, and closes when it returns', async () => {
  await start({ settings: { safeLagBlocks: 40 } })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(4_000)
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('LANDED')
  await world.reorganise(30, { returnAfterBlocks: 12 })
  await world.clock.advance(1_500)
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('UNRESOLVED')
  await world.clock.advance(30_000)
  const kinds = (await world.journal.records(intent.intentId)).map(({ record }) => record.kind)
  expect(kinds).toContain('attempt.unlanded')
  expect(world.story(intent.intentId).closing).toMatchObject({
    outcome: 'EXECUTED',
    evidence: { level: 'chain-final' },
  })
})

test('a landing that is reorganised away for good is dead by its deadline', async () => {
  await start({ settings: { safeLagBlocks: 40 } })
  world.set({ keeperExtraDelayMs: 600_000 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(4_000)
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('LANDED')
  await world.reorganise(30, { transactions: 'drop' })
  await world.clock.advance(90_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('DEAD')
})

test('an end that is reorganised out is taken back, and closes when it returns, while the landing stands', async () => {
  await start({ settings: { safeLagBlocks: 16 } })
  world.set({ keeperExtraDelayMs: 6_000 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(8_500)
  const child = () => lastAttempt(world.story(intent.intentId))?.children[0]
  expect(child()).toMatchObject({ phase: 'EXECUTED', evidence: { level: 'chain-latest' } })
  await world.reorganise(8, { returnAfterBlocks: 10 })
  await world.clock.advance(1_500)
  expect(child()?.phase).toBe('OPEN')
  await world.clock.advance(15_000)
  const kinds = (await world.journal.records(intent.intentId)).map(({ record }) => record.kind)
  expect(kinds.slice(-5)).toEqual([
    'child.executed',
    'child.reopened',
    'child.executed',
    'child.executed',
    'intent.closed',
  ])
  expect(kinds).not.toContain('attempt.unlanded')
})

test('an endpoint that lags holds an order open until it has seen the same', async () => {
  await start({ endpoints: 2 })
  world.set({ rpcLagBlocks: 80 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(15_000)
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('LANDED')
  expect(world.story(intent.intentId).closing).toBeUndefined()
  await world.clock.advance(20_000)
  const { closing } = world.story(intent.intentId)
  expect(closing?.outcome).toBe('EXECUTED')
  expect(closing?.evidence.endpoints).toHaveLength(2)
})

test('an endpoint on a fork holds a death open: both must show the digest unused, and both must show a landing', async () => {
  await start({ endpoints: 2 })
  await world.clock.advance(5_000)
  world.set({ rpcFork: 'forked', rpcForkBlocks: 2 })
  const intent = await increase()
  await world.orderManager.accept(intent)
  // The fork holds none of our transactions, and its time passes the deadline all the same.
  await world.clock.advance(90_000)
  expect(world.story(intent.intentId).closing).toBeUndefined()
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('LANDED')
  world.set({ rpcFork: 'none' })
  await world.clock.advance(40_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('an endpoint that is down is told of, closes nothing, and is enough again when it is back', async () => {
  await start({ endpoints: 2 })
  const intent = await increase()
  world.set({ down: ['rpc/1'] })
  await world.orderManager.accept(intent)
  await world.clock.advance(20_000)
  expect(world.story(intent.intentId).closing).toBeUndefined()
  const reads = world.events.filter((event) => event.type === 'chain.read')
  const failed = reads.filter(({ outcome }) => outcome !== 'ok')
  expect(failed.length).toBeGreaterThan(0)
  // It rests between failures: the healthy one is not slowed down, and the log is not filled.
  expect(failed.length).toBeLessThan(12)
  expect(new Set(failed.map(({ endpoint }) => endpoint)).size).toBe(1)
  world.set({ down: [] })
  await world.clock.advance(30_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})

test('after a restart the chain alone says what became of an order, with both application hosts silent', async () => {
  await start()
  world.set({ submit: 'accept-and-never-answer', times: 1 })
  const intent = await increase()
  void world.orderManager.accept(intent)
  await world.clock.advance(1_000)
  await world.orderManager.stop()
  world.set({ down: ['api/0', 'api/1'] })
  await world.clock.advance(20_000)
  const next = world.restart()
  next.restore(world.journal.openIntents(), [])
  const recovered = next.recover()
  await world.clock.advance(5_000)
  await recovered
  expect(world.story(intent.intentId).closing).toMatchObject({
    outcome: 'EXECUTED',
    evidence: { level: 'chain-final' },
  })
})

test('an only endpoint that is off by more than half a minute stops what adds risk, and blames no host', async () => {
  let skewed = 0
  await start({
    reader: (reader) => ({
      ...reader,
      latestBlocks: async () =>
        (await reader.latestBlocks()).map(({ block, ...rest }) => ({
          ...rest,
          block: { ...block, timestampSeconds: block.timestampSeconds - skewed },
        })),
    }),
  })
  const skews = () => world.events.filter((event) => event.type === 'chain.skew')
  skewed = 40
  const refused = await increase()
  await world.orderManager.accept(refused)
  await world.clock.advance(3_000)
  expect(world.story(refused.intentId).closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'CHAIN_CLOCK_SKEW',
  })
  const times = world.events.filter((event) => event.type === 'chain.time')
  expect(times).toMatchObject([{ isSetAside: true, healthy: 0 }])
  expect(skews()).toEqual([])
  expect(world.venue.record()).toEqual([])
  expect(world.events.filter(({ type }) => type === 'order.payload_rejected')).toEqual([])
  expect(world.api.hosts.api.filter((host) => world.api.isCoolingDown(host))).toEqual([])
  skewed = 10
  await world.orderManager.accept(await increase({ intentId: 'told', decisionKey: 'told#0' }))
  await world.clock.advance(15_000)
  expect(skews().at(-1)).toMatchObject({ isTooLarge: false })
  expect(world.story('told').closing?.outcome).toBe('EXECUTED')
})

test('with no endpoint answering nothing that adds risk is armed; it is, as soon as one tells the time', async () => {
  await start()
  world.set({ down: ['rpc/0'] })
  const intent = await increase()
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.story(intent.intentId).attempts[0]?.phase).toBe('PREPARING')
  expect(world.venue.record()).toEqual([])
  world.set({ down: [] })
  await world.clock.advance(30_000)
  expect(world.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
})
