/** A host prepares an order while J1 and J2 are being written; the test says when each write ends, and how. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { ExecutionContext } from '../../src/execution/context/executionContext.ts'
import type { Lanes } from '../../src/execution/lanes/lane.ts'
import { shippedLanes } from '../../src/execution/lanes/shippedLanes.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { JournalFaultError } from '../../src/journal/journal.ts'
import { createMemoryJournal, createMemoryStore } from '../../src/journal/memory.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { usd } from '../../src/protocol/units.ts'
import { ethMarket, intentOf } from '../support/intents.ts'
import { signingPolicy, testExecution, testSigner } from '../support/trader.ts'
import { type Between, settle, venueBench } from '../support/venue.ts'

/** A write that waits: which records, and how it ends. */
interface Write {
  readonly kinds: readonly string[]
  readonly end: (fault?: Error) => void
}

const full = () => new JournalFaultError('The disk is full.', { code: 'JOURNAL_FULL' })

function bench(
  options: {
    readonly between?: Between
    readonly context?: Partial<ExecutionContext>
    readonly lanes?: Lanes
  } = {},
) {
  const asked: string[] = []
  const world = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    between: (url, init, next) => {
      if (init.method === 'POST') asked.push(new URL(url).pathname.replace(/^.*\/orders/, ''))
      return options.between === undefined ? next(url, init) : options.between(url, init, next)
    },
  })
  const writes: Write[] = []
  const store = createMemoryStore()
  const append = store.append.bind(store)
  store.append = async (entries) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (fault?: Error) => (fault === undefined ? resolve() : reject(fault))
    writes.push({ kinds: entries.map(({ record }) => record.kind), end })
    await promise
    return append(entries)
  }
  const journal = createMemoryJournal(store)
  const events: Event[] = []
  const faults: unknown[] = []
  let signatures = 0
  const guarded = Promise.withResolvers<void>()
  const orderManager = createOrderManager(
    testExecution({
      api: world.api,
      clock: world.clock,
      journal,
      signer: {
        address: testSigner.address,
        sign: testSigner.sign,
        async signHeld(request) {
          signatures += 1
          return { signature: await testSigner.sign(request), recorded: guarded.promise }
        },
      },
      emit: (event) => void events.push(event),
      signingPolicy: () => ({ ...signingPolicy, priceToleranceBps: 100 }),
      fatal: (error) => void faults.push(error),
      ...options.context,
    }),
    options.lanes,
  )
  return {
    ...world,
    orderManager,
    journal,
    asked,
    writes,
    events,
    faults,
    /** The guard's line is durable. */
    guard: guarded.resolve,
    signatures: () => signatures,
    told: () => events.map(({ type }) => type),
    /** Ends the newest write, and lets what follows run. */
    async wrote(fault?: Error) {
      writes.at(-1)?.end(fault)
      await settle()
    },
    async intent(): Promise<Intent> {
      const ticker = (await world.api.getMarketTickers({ addresses: [ethMarket] })).value[0]
      return intentOf({
        account: testSigner.address,
        terms: { ...intentOf().terms, referencePrice: ticker?.maxPrice ?? usd(0) },
        acceptedAtMs: world.clock.now(),
        expiresAtMs: world.clock.now() + 30_000,
      })
    },
  }
}

const prepareAnswers =
  (text: (body: string) => { readonly status: number; readonly text: string }): Between =>
  async (url, init, next) => {
    const answer = await next(url, init)
    if (!url.endsWith('/prepare')) return answer
    const said = text(await answer.text())
    return { status: said.status, headers: answer.headers, text: async () => said.text }
  }

const foreign = (body: string) => ({
  status: 200,
  text: body.replaceAll(testSigner.address, `0x${'66'.repeat(20)}`),
})
const refusal = () => ({ status: 400, text: '{"code":"INSUFFICIENT_BALANCE","message":"no"}' })
const unreadable = () => ({ status: 200, text: '{"requestId":7}' })

test('a host is asked to prepare beside the writing of J1 and J2, and nothing is signed before both are durable', async () => {
  const world = bench()
  const accepted = world.orderManager.accept(await world.intent())
  await settle()
  expect(world.writes.flatMap(({ kinds }) => kinds)).toEqual(['intent.accepted'])
  expect(world.asked).toEqual(['/txns/prepare'])
  await world.wrote()
  expect(world.writes.at(-1)?.kinds).toEqual(['attempt.preparing'])
  expect(world.signatures()).toBe(0)
  await world.wrote()
  expect(await accepted).toBe(true)
  expect(world.asked).toEqual(['/txns/prepare'])
  expect(world.signatures()).toBe(1)
})

test('nor for a lane that does not wait for the records by itself', async () => {
  const lanes: Lanes = Object.fromEntries(
    Object.entries(shippedLanes).map(([name, lane]) => [
      name,
      { ...lane, make: (context, asked) => lane.make(context, { ...asked, recorded: Promise.resolve() }) },
    ]),
  )
  const world = bench({ lanes })
  void world.orderManager.accept(await world.intent())
  await settle()
  await world.wrote()
  expect(world.signatures()).toBe(0)
  await world.wrote()
  expect(world.signatures()).toBe(1)
})

test('no byte of a submit leaves before J3 and the line of the guard are both durable', async () => {
  const world = bench()
  void world.orderManager.accept(await world.intent())
  await settle()
  await world.wrote()
  await world.wrote()
  expect(world.writes.at(-1)?.kinds).toEqual(['attempt.armed'])
  expect(world.asked).toEqual(['/txns/prepare'])
  await world.wrote()
  expect(world.asked).toEqual(['/txns/prepare'])
  world.guard()
  await settle()
  expect(world.asked).toEqual(['/txns/prepare', '/txns/submit'])
})

test.each([
  ['a message', undefined],
  ['a foreign message', prepareAnswers(foreign)],
  ['a refusal', prepareAnswers(refusal)],
  ['what cannot be read', prepareAnswers(unreadable)],
] as const)(
  '%s that a host answered is not used where J1 or J2 does not become durable',
  async (_what, between) => {
    for (const ends of [[full()], [undefined, full()]]) {
      const world = bench(between === undefined ? {} : { between })
      const accepted = world.orderManager.accept(await world.intent()).catch((error: unknown) => error)
      await settle()
      const told = world.told()
      for (const end of ends) await world.wrote(end)
      expect(await accepted).toMatchObject({ code: 'JOURNAL_FULL' })
      await world.clock.advance(40_000)
      expect(world.asked).toEqual(['/txns/prepare'])
      expect(world.signatures()).toBe(0)
      expect(world.faults).toHaveLength(1)
      // The acceptance alone is told of, where it was written: nothing that the host said, and no host is blamed.
      const after = world.told().slice(told.length)
      expect(after.filter((type) => !type.startsWith('journal.') && type !== 'order.moved')).toEqual(
        ends.length === 1 ? [] : ['order.timing'],
      )
      expect(world.api.hosts.api.some((host) => world.api.isCoolingDown(host))).toBe(false)
    }
  },
)

test.each([
  ['refused', prepareAnswers(refusal), 'INSUFFICIENT_BALANCE'],
  ['answered with a foreign message', prepareAnswers(foreign), 'TYPED_DATA_MISMATCH'],
  ['answered unreadably', prepareAnswers(unreadable), 'PAYLOAD_UNREADABLE'],
] as const)(
  'a prepare that is %s before J1 is durable closes its intent behind J1 and J2',
  async (_what, between, code) => {
    const world = bench({ between })
    const intent = await world.intent()
    void world.orderManager.accept(intent)
    await settle()
    for (const _write of ['J1', 'J2', 'end']) await world.wrote()
    const records = (await world.journal.records(intent.intentId)).map(({ record }) => record)
    expect(records.map(({ kind }) => kind)).toEqual(['intent.accepted', 'attempt.preparing', 'intent.closed'])
    expect(records.at(-1)).toMatchObject({ closing: { code } })
    expect(world.asked).toEqual(['/txns/prepare'])
  },
)

test('orders that are accepted together are each asked for once, beside their one write', async () => {
  const world = bench()
  const one = await world.intent()
  const other = { ...one, intentId: 'f00d00000000000000000002', decisionKey: 'other' }
  void world.orderManager.acceptTogether([one, other], [])
  await settle()
  expect(world.writes).toHaveLength(1)
  expect(world.asked).toEqual(['/txns/prepare', '/txns/prepare'])
  await world.wrote()
  expect(world.asked).toHaveLength(2)
  expect(world.signatures()).toBe(2)
})

test("a delegated key's order is asked for after J1 and J2: its approval hangs on the orders that the journal has", async () => {
  const approval = emptySubaccountApproval(testSigner.address, arbitrum.chainId)
  const account = `0x${'77'.repeat(20)}` as const
  const world = bench({ context: { delegation: { account, approvalFor: () => approval } } })
  void world.orderManager.accept({ ...(await world.intent()), account })
  await settle()
  await world.wrote()
  expect(world.asked).toEqual([])
  await world.wrote()
  expect(world.asked).toEqual(['/txns/prepare'])
})

test('an order that a stop finds while J1 and J2 are being written is not signed', async () => {
  const world = bench()
  void world.orderManager.accept(await world.intent())
  await settle()
  const stopped = world.orderManager.stop()
  await world.wrote()
  await world.wrote()
  await stopped
  await world.clock.advance(40_000)
  expect(world.asked).toEqual(['/txns/prepare'])
  expect(world.signatures()).toBe(0)
})
