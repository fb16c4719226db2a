/** The relay lane against the paper venue in this process, on a clock that the test moves. */
import { expect, test } from 'vitest'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import { type Intent, type IntentState, labelOf, lastAttempt } from '../../src/domain/order/intent.ts'
import { ownRelayFee, relayNonceOf, relayProposal } from '../../src/execution/lanes/relayParams.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { hashSubaccountApproval } from '../../src/protocol/signing/subaccountApproval.ts'
import { usd } from '../../src/protocol/units.ts'
import { restingOrder } from '../support/createdOrder.ts'
import { ethMarket, intentOf } from '../support/intents.ts'
import { signingPolicy, testExecution } from '../support/trader.ts'
import { type Between, settle, type VenueBench, venueBench } from '../support/venue.ts'

const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

interface Bench extends VenueBench {
  readonly journal: Journal
  readonly orderManager: OrderManager
  readonly events: Event[]
  readonly state: (intent: Intent) => IntentState
  /** A shell of a new process over the same journal. */
  restart(): OrderManager
}

function bench(options: { readonly between?: Between; readonly chainReader?: ChainReader } = {}): Bench {
  const { between, chainReader } = options
  const venue = venueBench({
    settings: { keeperJitterMs: 0 },
    ...(between === undefined ? {} : { between }),
  })
  const journal = createMemoryJournal()
  const events: Event[] = []
  const context = testExecution({
    api: venue.api,
    clock: venue.clock,
    journal,
    signer,
    ...(chainReader === undefined ? {} : { chainReader }),
    emit: (event) => void events.push(event),
    signingPolicy: () => ({ ...signingPolicy, priceToleranceBps: 100 }),
  })
  return {
    ...venue,
    journal,
    orderManager: createOrderManager(context),
    events,
    state: (intent) => {
      const state = journal.recentIntent(intent.intentId)
      if (state === undefined) throw new Error(`no ${intent.intentId}`)
      return state
    },
    restart: () => createOrderManager(context),
  }
}

async function prices({ api }: VenueBench): Promise<{ min: bigint; max: bigint }> {
  const ticker = (await api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  return { min: ticker?.minPrice ?? 0n, max: ticker?.maxPrice ?? 0n }
}

let made = 0
async function intentAt(world: Bench, parts: Partial<Intent> = {}): Promise<Intent> {
  made += 1
  const base = intentOf()
  const { min, max } = await prices(world)
  const isIncrease = (parts.kind ?? 'increase') === 'increase'
  return intentOf({
    intentId: `relay-${made}`,
    decisionKey: `eth-trend#${made}`,
    account: signer.address,
    lane: 'relay',
    acceptedAtMs: world.clock.now(),
    expiresAtMs: world.clock.now() + 30_000,
    ...parts,
    terms: { ...base.terms, referencePrice: isIncrease ? max : min, ...parts.terms },
  })
}

const labels = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'order.moved' ? [event.to] : []))

const relayed = (answer: (next: () => Promise<unknown>) => Promise<never>): Between => {
  return async (url, init, next) => {
    if (!url.endsWith('/relay/submit')) return next(url, init)
    return answer(() => next(url, init))
  }
}

test('an increase is prepared by a host, signed in relay parameters of our own, handed to the relay once, and executed', async () => {
  const world = bench()
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  expect(labels(world.events)).toEqual(['planned', 'pending', 'executed'])
  const [submit, ...more] = world.venue.record()
  expect(more).toEqual([])
  expect(submit).toMatchObject({ lane: 'relay', result: 'accepted' })
  const attempt = lastAttempt(world.state(intent))
  expect(attempt?.armed).toMatchObject({
    digest: submit?.digest,
    userNonce: relayNonceOf(intent.intentId, 1),
    deadlineSeconds: Math.floor(intent.acceptedAtMs / 1000) + 120,
  })
  expect(attempt?.armed?.requestId).toBeUndefined()
  expect(attempt?.send?.taskId).toBe(submit?.taskId)
  const [position] = (await world.api.getPositions({ account: signer.address })).value
  expect(position?.sizeInUsd).toBe(usd(500))
})

test.each([
  ['decrease', 200, 300],
  ['close', 500, 0],
] as const)('a %s walks the relay lane too', async (kind, sizeUsd, leftUsd) => {
  const world = bench()
  await world.orderManager.accept(await intentAt(world))
  await world.clock.advance(10_000)
  const { terms } = intentOf()
  const { min } = await prices(world)
  const intent = await intentAt(world, {
    kind,
    reservationUsd: 0n,
    terms: { ...terms, sizeDeltaUsd: usd(sizeUsd), collateralDelta: 0n, referencePrice: min },
  })
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  expect(world.state(intent).closing).toMatchObject({
    outcome: 'EXECUTED',
    settlement: { sizeDeltaUsd: usd(sizeUsd) },
  })
  const positions = (await world.api.getPositions({ account: signer.address })).value
  expect(positions.map(({ sizeInUsd }) => sizeInUsd)).toEqual(leftUsd === 0 ? [] : [usd(leftUsd)])
})

const zeroHash = `0x${'00'.repeat(32)}` as const

async function batchIntent(world: Bench, batch: NonNullable<Intent['terms']['batch']>): Promise<Intent> {
  const { terms } = intentOf()
  const { max } = await prices(world)
  return intentAt(world, { kind: 'batch', terms: { ...terms, referencePrice: max, batch } })
}

test('messages of the caller go out without any prepare: one that creates, and one that cancels what it created', async () => {
  const asked: string[] = []
  const world = bench({
    between: (url, init, next) => {
      asked.push(url)
      return next(url, init)
    },
  })
  const { max } = await prices(world)
  const creating = await batchIntent(world, {
    createOrderParamsList: [restingOrder(max / 2n), restingOrder(max / 4n)],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
  })
  await world.orderManager.accept(creating)
  await world.clock.advance(10_000)
  const state = world.state(creating)
  expect(lastAttempt(state)?.phase).toBe('LANDED')
  expect(lastAttempt(state)?.armed).toMatchObject({ relayFeeAmount: 2_000_000n })
  const resting = (await world.api.getOrders({ account: signer.address })).value
  expect(resting).toHaveLength(2)

  const cancelling = await batchIntent(world, {
    createOrderParamsList: [],
    updateOrderParamsList: [],
    cancelOrderKeys: resting.map(({ orderKey }) => orderKey),
  })
  await world.orderManager.accept(cancelling)
  await world.clock.advance(40_000)
  expect(world.state(cancelling).closing?.outcome).toBe('EXECUTED')
  expect(world.state(creating).closing?.outcome).toBe('CANCELLED')
  expect(asked.some((url) => url.endsWith('/prepare'))).toBe(false)
  expect(world.venue.record().map(({ lane }) => lane)).toEqual(['relay', 'relay'])
})

test('a host whose time was never heard is asked for it, and nothing is signed before it is known', async () => {
  let isMute = true
  const asked: string[] = []
  const world = bench({
    between: async (url, init, next) => {
      asked.push(url)
      const answer = await next(url, init)
      const get = (name: string) =>
        isMute && name.toLowerCase() === 'date' ? null : answer.headers.get(name)
      return { status: answer.status, headers: { get }, text: () => answer.text() }
    },
  })
  const { max } = await prices(world)
  const intent = await batchIntent(world, {
    createOrderParamsList: [restingOrder(max / 2n)],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
  })
  asked.length = 0
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect([lastAttempt(world.state(intent))?.phase, world.venue.record()]).toEqual(['PREPARING', []])
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.every((url) => url.includes('/orders?'))).toBe(true)
  isMute = false
  await world.clock.advance(5_000)
  const armed = lastAttempt(world.state(intent))?.armed
  expect(lastAttempt(world.state(intent))?.phase).toBe('LANDED')
  // Two minutes ahead of the host's clock, which stands within a second of the venue's.
  const aheadSeconds = (armed?.deadlineSeconds ?? 0) - world.clock.now() / 1_000
  expect(aheadSeconds).toBeGreaterThan(110)
  expect(aheadSeconds).toBeLessThan(122)
})

test('a message of the caller that pays somebody else, or more than may be signed, never reaches the key', async () => {
  const world = bench()
  const { max } = await prices(world)
  const order = restingOrder(max / 2n)
  const poisoned = {
    ...order,
    addresses: { ...order.addresses, receiver: `0x${'66'.repeat(20)}` as const },
    numbers: { ...order.numbers, executionFee: 10n ** 18n },
  }
  const intent = await batchIntent(world, {
    createOrderParamsList: [poisoned],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
  })
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.state(intent).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'TYPED_DATA_MISMATCH' })
  expect(world.venue.record()).toEqual([])
})

test('a message of the caller is not for the order chain', async () => {
  const world = bench()
  const own = await batchIntent(world, {
    createOrderParamsList: [],
    updateOrderParamsList: [],
    cancelOrderKeys: [zeroHash],
  })
  const intent: Intent = { ...own, lane: 'order-chain' }
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.state(intent).closing).toMatchObject({ code: 'BATCH_NEEDS_RELAY' })
})

test('two attempts never share a nonce, and one attempt always has the same', () => {
  expect(relayNonceOf('one', 1)).toBe(relayNonceOf('one', 1))
  const nonces = [relayNonceOf('one', 1), relayNonceOf('one', 2), relayNonceOf('two', 1)]
  expect(new Set(nonces).size).toBe(3)
  expect(nonces.every((nonce) => nonce < 2n ** 256n)).toBe(true)
})

test('the message of a delegated key names account and approval, and goes to the subaccount router', async () => {
  const approval = emptySubaccountApproval(signer.address, arbitrum.chainId)
  const bounds = { minDeadlineSeconds: 20, maxDeadlineSeconds: 3700, maxExecutionFee: 1n, maxRelayFee: 1n }
  const mode = { kind: 'subaccount', approval } as const
  const policy = { ...bounds, priceToleranceBps: 100, swapMarkets: new Map(), mode }
  const actions = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [zeroHash] }
  const fee = ownRelayFee(arbitrum, actions, 1n)
  const intent = intentOf()
  const message = { intent, attempt: 1, actions, fee, nowSeconds: 0, validForSeconds: 120 }
  expect(relayProposal(arbitrum, policy, message).batch).toMatchObject({
    account: intent.account,
    subaccountApproval: hashSubaccountApproval(approval),
  })
})

test('a poisoned prepare is refused before our own parameters are put around it', async () => {
  const world = bench()
  world.venue.faults.prepare = 'foreign-receiver'
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.state(intent).closing).toMatchObject({ code: 'TYPED_DATA_MISMATCH' })
  expect(world.events.some(({ type }) => type === 'order.payload_rejected')).toBe(true)
  expect(world.venue.record()).toEqual([])
})

test('no byte left: the order is refused, and was not sent', async () => {
  const world = bench({
    between: relayed(async () => {
      throw new RequestFailed('connect ECONNREFUSED', { sent: 'no' })
    }),
  })
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.state(intent).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'NOT_SENT' })
})

test('a lost answer leaves no task to ask by: unknown for good without a chain, sent once, and over a restart', async () => {
  const world = bench({
    between: relayed(async (next) => {
      await next()
      throw new RequestFailed('socket hang up', { sent: 'maybe' })
    }),
  })
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.orderManager.stop()
  const second = world.restart()
  second.restore(world.journal.openIntents(), [])
  await second.recover()
  // Far past the deadline: silence proves nothing.
  await world.clock.advance(600_000)
  const state = world.state(intent)
  expect(state.closing).toBeUndefined()
  expect(labelOf(state)).toBe('unknown')
  expect(world.venue.record()).toHaveLength(1)
})

test('a relay that knows nothing yet, then answers: a 404 and an unknown word change nothing', async () => {
  let missing = 3
  const world = bench({
    between: async (url, init, next) => {
      const answer = await next(url, init)
      if (!url.endsWith('/relay/status') || missing === 0) return answer
      missing -= 1
      const text = JSON.stringify({ message: 'no relay operation' })
      return { status: 404, headers: answer.headers, text: async () => text }
    },
  })
  world.venue.faults.relay = 'unknown'
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(20_000)
  expect(missing).toBe(0)
  expect(world.state(intent).closing).toBeUndefined()
  expect(labels(world.events)).toEqual(['planned', 'pending'])
  world.venue.faults.relay = 'none'
  await world.clock.advance(20_000)
  expect(labels(world.events).at(-1)).toBe('executed')
})

test('a revert is shown with its decoded error, stays unknown until the deadline, and closes as reverted where the venue is trusted', async () => {
  const world = bench()
  world.venue.faults.relayReverts = 'DisabledMarket'
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(20_000)
  expect(labels(world.events).at(-1)).toBe('unknown')
  const seen = world.events.filter((event) => event.type === 'order.observed')
  expect(seen.at(-1)).toMatchObject({ status: 'relay_reverted' })
  expect(seen.at(-1)?.reason).toContain('DisabledMarket')
  await world.clock.advance(120_000)
  expect(labels(world.events).at(-1)).toBe('reverted')
  expect(world.venue.record()).toHaveLength(1)
})

test('a relay that gave up and sent it after all: unknown, never sent twice, and not dead', async () => {
  const world = bench()
  world.venue.faults.relay = 'lands-late'
  const intent = await intentAt(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(60_000)
  // The relay's last word stays "failed"; the account holds the position all the same.
  expect(labels(world.events).at(-1)).toBe('unknown')
  expect((await world.api.getPositions({ account: signer.address })).value).toHaveLength(1)
  await world.clock.advance(300_000)
  expect(world.state(intent).closing).toBeUndefined()
  expect(world.venue.record()).toHaveLength(1)
})

test('the deadline is ahead of the time of the newest block, a bit behind the clocks of this machine and of the host', async () => {
  const timestampSeconds = Date.UTC(2026, 10, 20, 12) / 1000 - 20
  const block = { number: 77n, hash: zeroHash, timestampSeconds }
  const chainReader: ChainReader = {
    configured: 1,
    latestBlocks: async () => [{ endpoint: 'e', block, readMs: world.clock.monotonicMs() }],
    poll: async () => [],
  }
  const world = bench({ chainReader })
  const intent = await batchIntent(world, {
    createOrderParamsList: [],
    updateOrderParamsList: [],
    cancelOrderKeys: [zeroHash],
  })
  await world.orderManager.accept(intent)
  await settle()
  expect(lastAttempt(world.state(intent))?.armed).toMatchObject({
    deadlineSeconds: timestampSeconds + 120,
    armBlockNumber: 77n,
  })
})
