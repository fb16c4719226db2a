/** Strategies with a memory: the running engine over the paper venue, with the process ending at every boundary. */
import { expect, test } from 'vitest'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { z } from '../../src/strategy/strategy.ts'
import {
  type LadderMemory,
  ladder,
  ladderMemory,
  loadedMemory,
  rungDecision,
  rungUsd,
  told,
} from '../support/ladder.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { type TestTrader, testTrader } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const bench = () =>
  venueBench({ settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 }, settled: () => settle(10) })

const memoryIn = (journal: TestTrader['journal']): LadderMemory | undefined =>
  journal.account().memories?.get('ladder')?.memory as LadderMemory | undefined

const sizesIn = (journal: TestTrader['journal']): readonly bigint[] =>
  journal.recentIntents({ strategy: 'ladder' }).map(({ intent }) => intent.terms.sizeDeltaUsd)

/** Runs a ladder of four rungs with an end of the process at one boundary; gives how many boundaries there were. */
async function ladderWith(diesAt: number): Promise<number> {
  const venue = bench()
  const daemon = mortalTrader(diesAt, venue.clock, () => ({ ...venue, strategies: [ladder(4)] }))
  const { journal } = daemon
  // What a start writes has tests of its own.
  await daemon.start()
  daemon.count()
  const isOver = () => memoryIn(journal)?.closed === 4
  for (let turn = 0; turn < 240 && !isOver(); turn += 1) {
    await daemon.advance(500)
  }
  daemon.abort()
  // What was armed and not sent when a process ended never lands.
  const filled = journal.recentIntents({ strategy: 'ladder' }).flatMap(fillsOf)
  expect(filled.length).toBeGreaterThanOrEqual(2)
  expect({ diesAt, ...memoryIn(journal) }).toEqual({
    diesAt,
    rungs: 4,
    fills: filled.length,
    filledUsd: filled.reduce((sum, { sizeDeltaUsd = 0n }) => sum + sizeDeltaUsd, 0n),
    denied: [],
    closed: 4,
  })
  expect([...sizesIn(journal)].sort()).toEqual([0, 1, 2, 3].map(rungUsd).sort())
  return daemon.boundaries()
}

test('a ladder skips no rung and takes none twice, and is told of each fill once, wherever the process ends', async () => {
  const boundaries = await ladderWith(0)
  expect(boundaries).toBeGreaterThan(20)
  for (let diesAt = 1; diesAt <= boundaries; diesAt += 1) await ladderWith(diesAt)
}, 120_000)

test('the decisions of one turn are judged one after the other: together they keep the limits', async () => {
  const limits = { account: { maxTotalExposureUsd: usd(150) } }
  const { trader, journal, clock } = await started([ladder(2)], { limits })
  await clock.advance(300)
  expect(sizesIn(journal)).toEqual([usd(50), rungUsd(0)])
  trader.abort()
})

async function started(
  strategies: readonly LoadedStrategy[],
  parts: Partial<Parameters<typeof testTrader>[0]> = {},
) {
  const venue = bench()
  // A later process begins at a later instant than the one before it decided at.
  const { records = 0 } = parts.journal?.summary() ?? {}
  await venue.clock.advance(records * 1_000)
  const made = testTrader({ ...venue, ...parts, strategies })
  await made.trader.start()
  return { ...made, ...venue, journal: made.journal }
}

test('what is denied is written with the memory and told at the next turn, after a restart too', async () => {
  // The second counts the first, which is judged and not accepted yet.
  const limits = { account: { maxOrdersPerHour: 1 } }
  const journal = createMemoryJournal()
  const first = await started([ladder(2)], { limits, journal })
  await first.clock.advance(300)
  expect(sizesIn(journal)).toEqual([rungUsd(0)])
  expect(first.trader.status().strategies[0]).toMatchObject({ admitted: 1, denied: 1 })
  expect(
    journal
      .account()
      .memories?.get('ladder')
      ?.denied.map(({ code }) => code),
  ).toEqual(['ORDERS_PER_HOUR'])
  first.trader.abort()
  const second = await started([ladder(2)], { limits, journal })
  await second.clock.advance(5_000)
  expect(memoryIn(journal)?.denied).toEqual(['ORDERS_PER_HOUR'])
  second.trader.abort()
})

test('a memory that is too large, no plain value or not of its schema keeps the whole turn from being taken', async () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ ...ladderMemory.first, denied: ['x'.repeat(70_000)] }, /70\d{3} bytes; the most is 65536/],
    [{ ...ladderMemory.first, rungs: Number.NaN }, /does not fit its schema: rungs/],
    [undefined, /other than plain values/],
  ]
  for (const [memory, said] of wrong) {
    const strategy = loadedMemory(ladderMemory, (view) => {
      const rung = rungDecision(view, 0)
      return { decisions: rung === undefined ? [] : [rung], memory: memory as LadderMemory }
    })
    const { trader, journal, clock } = await started([strategy])
    await clock.advance(3_000)
    expect(trader.status().strategies[0]?.lastError).toMatch(said)
    expect(sizesIn(journal)).toEqual([])
    expect(memoryIn(journal)).toBeUndefined()
    trader.abort()
  }
})

test('an older memory is raised by upcast; one that cannot be pauses its instance until it is forgotten', async () => {
  const journal = createMemoryJournal()
  const old = await started([ladder(2)], { journal })
  await old.clock.advance(1_100)
  old.trader.abort()
  const version2 = { version: 2, schema: z.strictObject({ steps: z.number() }), first: { steps: 0 } }
  const decide = (_: unknown, memory: { steps: number }) => ({
    decisions: [],
    memory: { steps: memory.steps + 1 },
  })
  const unraised = await started([loadedMemory(version2, decide)], { journal })
  await unraised.clock.advance(3_100)
  const unfit = unraised.trader.status().strategies[0]
  expect(unfit?.unfit?.reason).toBe('its memory has version 1, and the kind has version 2 without an upcast')
  expect(unfit?.ticks).toBe(0)
  expect(unraised.events.filter(({ type }) => type === 'strategy.unfit')).toHaveLength(1)
  const commander = { by: 'ann', via: 'control' } as const
  const answer = await unraised.trader.operate({ type: 'forget', strategy: 'ladder' }, commander)
  expect(answer).toMatchObject({ ok: true })
  await unraised.clock.advance(2_100)
  expect(unraised.trader.status().strategies[0]?.unfit).toBeUndefined()
  expect(journal.account().memories?.get('ladder')).toMatchObject({ version: 2, memory: { steps: 2 } })
  unraised.trader.abort()
  const raising = { ...version2, version: 3, upcast: () => ({ steps: 100 }) }
  const raised = await started([loadedMemory(raising, decide)], { journal })
  await raised.clock.advance(1_100)
  expect(journal.account().memories?.get('ladder')).toMatchObject({ version: 3, memory: { steps: 101 } })
  raised.trader.abort()
  const other = await started([loadedMemory(raising, decide, 'other')], { journal })
  await other.clock.advance(1_100)
  expect(other.trader.status().strategies[0]?.unfit?.reason).toBe(
    'its memory belongs to the kind ladder, but its kind is now other',
  )
  other.trader.abort()
})

test('nothing is written while nothing changes and nothing is told', async () => {
  const strategy = loadedMemory(ladderMemory, (view, memory) => ({
    decisions: [],
    memory: told(memory, view),
  }))
  const { trader, journal, clock } = await started([strategy])
  await clock.advance(1_100)
  const { records } = journal.summary()
  await clock.advance(10_000)
  expect(journal.summary().records).toBe(records)
  trader.abort()
})

test('a start under a halt says what holds orders back, and one without says nothing of it', async () => {
  const journal = createMemoryJournal()
  const readyOf = ({ events }: Pick<TestTrader, 'events'>) =>
    events.find(({ type }) => type === 'daemon.ready')
  const first = await started([ladder(2)], { journal })
  expect(readyOf(first)).toEqual({ type: 'daemon.ready' })
  const commander = { by: 'ann', via: 'control' } as const
  const halt = { type: 'trading', scope: 'global', state: 'halted', reason: 'enough' } as const
  await first.trader.operate(halt, commander)
  first.trader.abort()
  const second = await started([ladder(2)], { journal })
  expect(readyOf(second)).toMatchObject({ held: 'trading is halted by operator, ann: enough' })
  second.trader.abort()
})
