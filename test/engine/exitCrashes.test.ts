/**
 * The process ends before and after every record that is written while the exits of a file live: placed with the entry, moved after
 * the price, one filled and the others made smaller, the last one filled. In between no exit is made for more than the part that is held
 * then, none stays larger for long, no stop moves away from the price, and in the end nothing is held and nothing rests.
 */
import { expect, test } from 'vitest'
import { filledOrders } from '../../src/domain/accountRecords/fills.ts'
import { type ExitSettings, usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { crashedAt, crashTimeoutMs } from '../support/crashStride.ts'
import { ethSymbol, type PricePath, pathOf } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { testSigner } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const sizeUsd = usd(600)

/**
 * Longest that an exit is larger than what is held, ms: an edit that was signed and not sent is over when its deadline of 60 s has passed,
 * and is made again then.
 */
const LARGER_MS = 100_000

/** Opens one long, and decides nothing more once it held it. */
const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    const isHeld = view.positions().length > 0 || view.openIntents.length > 0
    if (opened || isHeld || market === undefined)
      return { decisions: [], memory: { opened: opened || view.positions().length > 0 } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: sizeUsd,
      leverageBps: 50_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'once',
    }
    return { decisions: [decision], memory: { opened } }
  },
}) as Strategy

/** Two targets and a stop: half leaves at the first, the rest at the stop, which followed the price. */
const exits: ExitSettings = {
  ...usualMoves,
  range: usualRange,
  stopLoss: { bps: 400 },
  takeProfits: [
    { bps: 300, shareBps: 5_000 },
    { bps: 3_000, shareBps: 5_000 },
  ],
  trailingStop: { distance: { bps: 300 }, activation: { bps: 200 } },
  moveEveryMs: 20_000,
  moveStepUsd: usd(1),
}
const path: PricePath = [
  [0, 1_800],
  [120, 1_800],
  [200, 1_900],
  [260, 1_900],
  [380, 1_700],
]

const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n)

/** Tells the story with an end of the process at one boundary of it; gives how many there were, and what came of it. */
async function storyWith(diesAt: number) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0, replay: pathOf(path) },
    settled: () => settle(10),
  })
  const { clock, api } = bench
  const daemon = mortalTrader(diesAt, clock, () => ({
    ...bench,
    strategies: [loadedOf(opener, 'once', [ethSymbol], { exits, cadenceMs: 2_000 })],
  }))
  const wrong: string[] = []
  let highestStop = 0n
  let wasHeld = false
  let largerSinceMs: number | undefined
  const knownSizes = new Map<string, bigint>()
  /** By the venue itself: what rests against what is held, all of which is the instance's. */
  const look = async (): Promise<void> => {
    const held = await api.getPositions({ account: testSigner.address }, { isFresh: true })
    const { value } = await api.getOrders({ account: testSigner.address }, { isFresh: true })
    const heldUsd = sum(held.value.map(({ sizeInUsd }) => sizeInUsd))
    wasHeld ||= heldUsd > 0n
    // Exits that come with the entry rest before it is executed.
    const partUsd = wasHeld ? heldUsd : sizeUsd
    const stops = value.filter(({ orderType }) => orderType === 6)
    const targets = value.filter(({ orderType }) => orderType === 5)
    for (const { orderKey, sizeDeltaUsd } of [...stops, ...targets]) {
      const isMade = knownSizes.get(orderKey) !== sizeDeltaUsd
      if (isMade && sizeDeltaUsd > partUsd) wrong.push(`an exit of ${sizeDeltaUsd} for ${partUsd}`)
      knownSizes.set(orderKey, sizeDeltaUsd)
    }
    for (const { triggerContractPrice: at } of stops) {
      if (at < highestStop) wrong.push(`a stop went from ${highestStop} to ${at}`)
      highestStop = at
    }
    if (stops.length > 1) wrong.push(`${stops.length} stops rest`)
    const sums = [stops, targets].map((exits) => sum(exits.map(({ sizeDeltaUsd }) => sizeDeltaUsd)))
    if (sums.every((exitsUsd) => exitsUsd <= partUsd)) largerSinceMs = undefined
    else {
      largerSinceMs ??= clock.now()
      const forMs = clock.now() - largerSinceMs
      if (forMs > LARGER_MS) wrong.push(`exits of ${sums.join(' and ')} for ${partUsd}, for ${forMs} ms`)
    }
  }
  await daemon.start()
  daemon.count()
  for (let turn = 0; turn < 1_000; turn += 1) {
    await daemon.advance(500)
    if (turn % 10 === 0) await look()
  }
  daemon.abort()
  await clock.advance(10_000)
  const { value } = await api.getPositions({ account: testSigner.address }, { isFresh: true })
  const orders = await api.getOrders({ account: testSigner.address }, { isFresh: true })
  const intents = daemon.journal.recentIntents()
  const fills = intents.flatMap((state) => filledOrders(state))
  return {
    boundaries: daemon.boundaries(),
    wrong,
    heldUsd: value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n),
    resting: orders.value.length,
    enteredUsd: fills.reduce((sum, { adds, sizeDeltaUsd = 0n }) => sum + (adds ? sizeDeltaUsd : 0n), 0n),
    leftUsd: fills.reduce((sum, { adds, sizeDeltaUsd = 0n }) => sum - (adds ? 0n : sizeDeltaUsd), 0n),
    exitFills: fills.filter(({ adds }) => !adds).length,
    keys: intents.map(({ intent }) => intent.decisionKey),
    highestStop,
  }
}

test(
  'a crash between any two records of exits leaves no exit too large, no stop moved away, and nothing behind',
  async () => {
    const whole = await storyWith(0)
    const expected = { wrong: [], heldUsd: 0n, resting: 0, enteredUsd: sizeUsd, leftUsd: sizeUsd }
    expect(whole).toMatchObject(expected)
    // The first target took its half, and the stop that followed the price the rest.
    expect(whole.exitFills).toBe(2)
    expect(whole.highestStop).toBeGreaterThan(1_800n * 10n ** 12n)
    expect(whole.boundaries).toBeGreaterThan(30)
    // Each ninth, by turns before a record and after one: all of them take minutes (`CRASH_STRIDE=1`).
    for (const at of crashedAt(whole.boundaries, 9)) {
      const { wrong, heldUsd, resting, enteredUsd, leftUsd, keys } = await storyWith(at)
      expect({ at, wrong, heldUsd, resting, enteredUsd, leftUsd }).toEqual({ at, ...expected })
      expect(new Set(keys).size).toBe(keys.length)
    }
  },
  crashTimeoutMs(9),
)
