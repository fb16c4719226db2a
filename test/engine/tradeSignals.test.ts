/** Signals from outside, from the inbox to closed positions: the running engine over the paper venue, ending at every boundary. */
import { expect, test } from 'vitest'
import { createAheadStamps } from '../../src/account/aheadStamps.ts'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import type { SignalAction } from '../../src/domain/memory/tradeSignal.ts'
import { givenTurn } from '../../src/engine/turn.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { SignalMessage } from '../../src/operator/port/signalInbox.ts'
import { usd } from '../../src/protocol/units.ts'
import { signal } from '../../src/strategy/kinds/signal.ts'
import { loadedOf } from '../support/loaded.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { type TestTrader, testTrader } from '../support/trader.ts'
import { manualClock, settle, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const instance = {
  name: 'tv',
  symbols: [symbol],
  size: { usd: usd(100), leverageBps: 50_000, collateral: 'short' as const },
}
const tv = () => loadedOf(signal, 'tv', [symbol], { cadenceMs: 1_000, params: { sides: 'both' }, instance })
const bench = () =>
  venueBench({ settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 }, settled: () => settle(10) })

const messageOf = (action: SignalAction, sentAtMs: number, nonce: string): SignalMessage => ({
  terms: { strategy: 'tv', action, sentAtMs },
  ttlMs: 3_600_000,
  nonce,
  windowMs: 900_000,
})

const intentsIn = (journal: TestTrader['journal']) => journal.recentIntents({ strategy: 'tv' }).toReversed()
const waitingIn = (journal: TestTrader['journal']) => journal.account().signals?.waiting.get('tv') ?? []
const wishesIn = (journal: TestTrader['journal']) =>
  (journal.account().memories?.get('tv')?.memory as { wishes: readonly unknown[] } | undefined)?.wishes

const story = ['long', 'short', 'flat'] as const

/** Sends the story to one that ends at a boundary, each until it is known to be taken; gives how many boundaries there were. */
async function storyWith(diesAt: number): Promise<number> {
  const venue = bench()
  const daemon = mortalTrader(diesAt, venue.clock, () => ({ ...venue, strategies: [tv()] }))
  const { journal } = daemon
  await daemon.start()
  daemon.count()
  const isIdle = () =>
    journal.openIntents().length === 0 &&
    waitingIn(journal).length === 0 &&
    (wishesIn(journal) ?? []).length === 0
  const answers: string[] = []
  for (const [index, action] of story.entries()) {
    const message = messageOf(action, venue.clock.now(), `signed:nonce-${index}`)
    for (let isTold = false; !isTold; ) {
      await daemon.revive()
      // A sender whose connection broke does not know, and sends the same again.
      void daemon
        .now()
        .signal(message)
        .then((answer) => {
          answers.push(answer.ok ? 'taken' : answer.code)
          isTold = true
        })
      await venue.clock.advance(500)
    }
    for (let turn = 0; turn < 400 && (daemon.isDown() || !isIdle()); turn += 1) {
      await daemon.revive()
      await venue.clock.advance(500)
    }
  }
  // Nothing is decided on an old signal, however long it runs.
  for (let turn = 0; turn < 10; turn += 1) {
    await daemon.revive()
    await venue.clock.advance(500)
  }
  daemon.abort()
  expect(answers.filter((answer) => answer !== 'taken' && answer !== 'SIGNAL_REPLAYED')).toEqual([])
  const intents = intentsIn(journal).map(({ intent }) => intent)
  const opened = intents
    .filter(({ kind }) => kind === 'increase')
    .map(({ terms, decision }) => `${decision.facts?.signal} ${terms.direction}`)
  expect({ diesAt, opened }).toEqual({ diesAt, opened: ['1 long', '2 short'] })
  expect({ diesAt, received: journal.account().signals?.received, left: waitingIn(journal) }).toEqual({
    diesAt,
    received: 3,
    left: [],
  })
  expect(journal.account().signals?.newest.get('tv')).toMatchObject({ number: 3, standing: 'taken' })
  expect({ diesAt, held: journal.closedFills().filter(({ sizeDeltaUsd }) => sizeDeltaUsd !== 0n) }).toEqual({
    diesAt,
    held: [],
  })
  return daemon.boundaries()
}

test('each signal opens once and what contradicts it is closed, wherever the process ends', async () => {
  const boundaries = await storyWith(0)
  expect(boundaries).toBeGreaterThan(40)
  for (let diesAt = 1; diesAt <= boundaries; diesAt += 1) await storyWith(diesAt)
}, 240_000)

async function started(parts: Partial<Parameters<typeof testTrader>[0]> = {}) {
  const venue = bench()
  const made = testTrader({ ...venue, strategies: [tv()], ...parts })
  await made.trader.start()
  const send = (action: SignalAction, more: Partial<SignalMessage['terms']> = {}, ttlMs = 60_000) => {
    const message = messageOf(action, venue.clock.now(), `signed:${Math.random()}`)
    return made.trader.signal({ ...message, ttlMs, terms: { ...message.terms, ...more } })
  }
  return { ...made, ...venue, send }
}

test('the last signal that led to no order stands in the status with its reason and its time, until another one does', async () => {
  const { trader, clock, send } = await started()
  const shown = () => trader.status().strategies[0]?.lastUnserved
  await clock.advance(2_000)
  expect(shown()).toBeUndefined()
  await send('flat')
  await clock.advance(2_000)
  const first = shown()
  expect(first).toMatchObject({ signal: 1, reason: expect.stringContaining('no own position to close') })
  expect(clock.now() - (first?.atMs ?? 0)).toBeLessThan(2_000)
  await send('long')
  await clock.advance(10_000)
  expect(shown()).toEqual(first)
  await send('long')
  await clock.advance(2_000)
  expect(shown()).toMatchObject({ signal: 3, reason: expect.stringContaining('it already has a long') })
  trader.abort()
})

test('a signal that waited beyond its time is given as expired, and opens nothing', async () => {
  const { trader, journal, clock, events, send } = await started()
  await clock.advance(1_100)
  // Its turn comes a second later.
  expect(await send('long', {}, 200)).toMatchObject({ ok: true })
  await clock.advance(2_000)
  expect(intentsIn(journal)).toEqual([])
  expect(events.filter(({ type }) => type === 'signal.taken')).toMatchObject([
    { signal: { number: 1, strategy: 'tv' }, isExpired: true },
  ])
  expect(trader.status().strategies[0]?.lastSignal).toMatchObject({ number: 1, standing: 'expired' })
  trader.abort()
})

test('what is denied is tried again until the signal expires, and what was accepted is not', async () => {
  const { trader, journal, clock, send, codes } = await started()
  const commander = { by: 'ann', via: 'control' } as const
  const trading = (state: 'halted' | 'active') =>
    trader.operate({ type: 'trading', scope: 'global', state, reason: 'a test' }, commander)
  await trading('halted')
  expect(await send('long', {}, 5_000)).toMatchObject({ ok: true })
  await clock.advance(10_000)
  expect(new Set(codes())).toEqual(new Set(['TRADING_HALTED']))
  await trading('active')
  await clock.advance(5_000)
  expect(intentsIn(journal)).toEqual([])
  await trading('halted')
  await send('long', { size: { shareBps: 2_500 } }, 20_000)
  await clock.advance(5_000)
  await trading('active')
  await clock.advance(10_000)
  expect(intentsIn(journal).map(({ intent }) => intent.terms.sizeDeltaUsd)).toEqual([usd(25)])
  await clock.advance(20_000)
  expect(intentsIn(journal)).toHaveLength(1)
  trader.abort()
})

test('a signal opens at most what the file says, with the exits that it names', async () => {
  const { trader, journal, clock, send } = await started()
  await send('long', { size: { usd: usd(5_000) }, stopPrice: usd(1_000), targetPrice: usd(9_000) })
  await clock.advance(3_000)
  const [terms] = intentsIn(journal).map(({ intent }) => intent.terms)
  expect(terms?.sizeDeltaUsd).toBe(usd(100))
  expect(terms?.tpsl?.map(({ type, triggerPrice }) => [type, triggerPrice])).toEqual([
    ['take-profit', usd(9_000)],
    ['stop-loss', usd(1_000)],
  ])
  trader.abort()
})

test('an instance that is forgotten begins without the signals that waited, and takes none of them again', async () => {
  const { trader, journal, clock } = await started()
  await clock.advance(1_100)
  const message = messageOf('long', clock.now(), 'signed:once')
  expect(await trader.signal(message)).toMatchObject({ ok: true })
  await trader.operate({ type: 'forget', strategy: 'tv' }, { by: 'ann', via: 'control' })
  expect(waitingIn(journal)).toEqual([])
  expect(await trader.signal(message)).toMatchObject({ ok: false, code: 'SIGNAL_REPLAYED' })
  await clock.advance(5_000)
  expect(intentsIn(journal)).toEqual([])
  trader.abort()
})

test.each([18_000_000, 86_400_000])(
  'a signal that a clock took which was ahead by %i ms is given once after it was set back, and expires in its time from there',
  async (aheadMs) => {
    const clock = manualClock(Date.UTC(2026, 10, 20, 12) + aheadMs)
    const journal = createMemoryJournal()
    const accountJournal = createAccountJournal({ journal, clock })
    const signal = {
      strategy: 'tv',
      action: 'flat',
      symbol,
      sentAtMs: clock.now(),
      expiresAtMs: clock.now() + 60_000,
    } as const
    await accountJournal.write({
      kind: 'signal.received',
      signal,
      nonce: 'n',
      nonceUntilMs: clock.now() + 900_000,
    })
    clock.setBack(aheadMs)
    const context = { journal, trading: { accountJournal }, aheadStamps: createAheadStamps(clock) } as never
    const given = () => givenTurn(context, 'tv', clock.now()).signals.map(({ isExpired }) => isExpired)
    expect(given()).toEqual([false])
    await clock.advance(59_000)
    expect(given()).toEqual([false])
    await clock.advance(1_000)
    expect(given()).toEqual([true])
  },
)
