/** What judges a world is held to what is so, where a seed once showed that it was not. */
import { expect, test } from 'vitest'
import { createTimeline, epochMs } from '../../src/backtest/lab/timeline.ts'
import { usd } from '../../src/protocol/units.ts'
import { storyOf } from '../journal/story.ts'
import { ModelChain } from './chainModel.ts'
import { createEngineChecks } from './engineChecks.ts'
import type { MarketModel } from './engineMarkets.ts'
import { type Random, randomOf } from './random.ts'
import { createSqliteStorage } from './sqliteStorage.ts'
import type { JournalHooks, Storage } from './storage.ts'
import { createTruth, InvariantBroken } from './truth.ts'

/** A process over real files that ends at the first boundary of the name that it is told. */
function processOver(storage: Storage, random: Random) {
  let isAlive = true
  let end = ''
  const hooks: JournalHooks = {
    boundary(name) {
      if (isAlive && name === end) {
        storage.crash(random, false)
        isAlive = false
      }
      return !isAlive
    },
    onDurable() {},
    onAccount() {},
    isAlive: () => isAlive,
    wallMs: () => epochMs,
  }
  return {
    open(endAt = '') {
      end = endAt
      return storage.open(1, hooks)
    },
    endAt(name: string) {
      end = name
    },
  }
}

function refusalOf(open: () => unknown): unknown {
  try {
    open()
  } catch (error) {
    return error
  }
  return undefined
}

test('records of a torn commit that an opening finds before it ends itself are awaited once', async () => {
  let found = 0
  for (let seed = 20; seed <= 30; seed += 1) {
    const random = randomOf(seed, 'judges')
    const storage = createSqliteStorage({ seed, timeline: createTimeline(), isQuiet: () => false })
    try {
      const writer = processOver(storage, random)
      const journal = writer.open()
      writer.endAt('in a commit')
      void journal?.append(storyOf(1).accepted()).catch(() => {})
      void journal?.append(storyOf(1).preparing()).catch(() => {})
      await storage.settle?.()
      if (processOver(storage, random).open('committed, not marked') !== undefined) continue
      found += 1
      storage.flipBit(random)
      // The flipped bit is noticed or does no harm; what was torn is judged once.
      const outcome = refusalOf(() => processOver(storage, random).open())
      expect(outcome).not.toBeInstanceOf(InvariantBroken)
      if (outcome !== undefined) storage.restoreNewest()
      if (outcome !== undefined) processOver(storage, random).open()
    } finally {
      storage.discard()
    }
  }
  expect(found).toBeGreaterThan(0)
})

test('an increase stands on what hosts had said when it was decided, however late it is written and wherever the clock stands', () => {
  const timeline = createTimeline()
  const chain = new ModelChain(randomOf(1, 'judges'), { finalityMs: 0, skewMs: 0 })
  const said: { readonly atMs: number; readonly usableUsd: bigint }[] = []
  const market: Pick<MarketModel, 'saidUsd' | 'lostUsd'> = {
    lostUsd: 0,
    saidUsd: (_token, _side, fromMs, untilMs) =>
      said.find(({ atMs }) => fromMs <= atMs && atMs <= untilMs)?.usableUsd,
  }
  const hooks = { broken: () => {}, isOnDisk: () => true }
  const truth = createTruth(timeline, chain, usd(10_000_000), hooks)
  const checks = createEngineChecks({
    timeline,
    chain,
    truth,
    market: market as MarketModel,
    isClockSteady: () => false,
  })
  checks.begin([], undefined, { account: { maxDataAgeMs: 10_000 }, strategies: {} })
  const written = (n: number, heldUpMs: number) => {
    const record = storyOf(n).accepted()
    if (record.kind !== 'intent.accepted') throw new TypeError('no acceptance')
    checks.leaving(record)
    timeline.after(heldUpMs, () => checks.durable(record, undefined, []))
    while (timeline.runNext(Number.POSITIVE_INFINITY)) {}
  }
  said.push({ atMs: 0, usableUsd: usd(1_000) })
  // Frozen for hours, while the wall clock may have jumped by as much.
  expect(() => written(1, 9_000_000)).not.toThrow()
  said.push({ atMs: timeline.nowMs + 5_000, usableUsd: usd(1_000) })
  // What is said after the decision is no ground for it.
  expect(() => written(2, 9_000)).toThrow('stands on no capacity that a host said')
})
