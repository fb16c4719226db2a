import fc from 'fast-check'
import { expect, test } from 'vitest'
import { liquidationDistanceBps, type Position } from '../../../src/protocol/position.ts'
import { usd } from '../../../src/protocol/units.ts'
import { admit } from '../../../src/risk/admit.ts'
import { collateralKeeper } from '../../../src/strategy/kinds/collateralKeeper.ts'
import { guard } from '../../../src/strategy/kinds/guard.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import {
  type CollateralDecision,
  type OpenIntent,
  type PlainStrategy,
  type Snapshot,
  viewOf,
} from '../../../src/strategy/strategy.ts'
import {
  ACCOUNT,
  desk,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  position,
  snapshot,
  USDC,
} from '../../risk/world.ts'

const dollar = usd(1)
const view = marketView()
const even = { ...view, shortToken: { ...view.shortToken, minPrice: dollar, maxPrice: dollar } }

/** The world with so many USDC in the wallet; undefined: the wallet was not read. */
function worldOf(positions: readonly Position[], usdc: number | undefined, walletAtMs = NOW_MS): Snapshot {
  const world = snapshot({ view: even, positions })
  if (usdc === undefined) return world
  const balance = { symbol: 'USDC', address: USDC, decimals: 6, balance: BigInt(usdc) * 1_000_000n }
  return { ...world, balances: { value: [balance], atMs: walletAtMs } }
}

function decideOf<Params>(
  kind: PlainStrategy<Params>,
  world: Snapshot,
  params: Record<string, unknown>,
  openIntents: readonly OpenIntent[] = [],
) {
  const given = kind.params.parse(params)
  const instance = { name: 'keeper', symbols: [] }
  return kind.decide(viewOf({ snapshot: world, params: given, instance, openIntents }))
}
const bounds = { maxLeverage: 4, targetLeverage: 2.5, minLeverage: 1.5, keepWalletUsd: 50, minStepUsd: 20 }
const decide = (world: Snapshot, params: Record<string, unknown> = {}, open: readonly OpenIntent[] = []) =>
  decideOf(collateralKeeper, world, { ...bounds, ...params }, open)

/** A long of $1,000 that is worth so much. */
const worth = (netUsd: number, changes: Partial<Position> = {}): Position =>
  position({
    collateralUsd: usd(netUsd),
    collateralAmount: BigInt(netUsd) * 1_000_000n,
    remainingCollateralUsd: usd(netUsd),
    netValueUsd: usd(netUsd),
    ...changes,
  })

test('above the upper bound collateral is paid in to the target, as risk admits it', () => {
  const world = worldOf([worth(200)], 1000)
  const [decision, ...more] = decide(world)
  expect(more).toEqual([])
  expect(decision).toMatchObject({
    kind: 'collateral-in',
    collateralToken: USDC,
    amount: 200_000_000n,
    reason: 'The long position has 5.00x leverage; above 4.00x it adds $200.00 of collateral.',
  })
  expect(admit(decision as CollateralDecision, desk({ snapshot: world })).kind).toBe('intent')
})

test('between the bounds nothing is done, wherever it came from', () => {
  for (const netUsd of [250, 400, 666]) expect(decide(worldOf([worth(netUsd)], 1000))).toEqual([])
})

test('below the lower bound collateral is taken out to the target, and gains are not', () => {
  const world = worldOf([worth(1000)], 0)
  const [decision] = decide(world)
  expect(decision).toMatchObject({ kind: 'collateral-out', amount: 600_000_000n })
  expect(admit(decision as CollateralDecision, desk({ snapshot: world })).kind).toBe('intent')
  expect(decide(worldOf([worth(400, { netValueUsd: usd(1500) })], 0))).toEqual([])
  expect(decide(world, { minLeverage: undefined })).toEqual([])
})

test('the wallet keeps what it is to keep, and a part below the least step is not paid', () => {
  expect(decide(worldOf([worth(200)], 150))).toMatchObject([{ amount: 100_000_000n }])
  expect(decide(worldOf([worth(200)], 69))).toEqual([])
  expect(decide(worldOf([worth(200)], 10))).toEqual([])
})

test('a position that lost its collateral is brought back, up to what it may have', () => {
  const under = worth(0, { netValueUsd: usd(-50), collateralUsd: usd(200) })
  expect(decide(worldOf([under], 1000))).toMatchObject([{ amount: 450_000_000n }])
  expect(decide(worldOf([under], 1000), { maxCollateralUsd: 300 })).toMatchObject([{ amount: 100_000_000n }])
})

test('a wallet that was not read, is old or lacks rows pays nothing', () => {
  expect(decide(worldOf([worth(200)], undefined))).toEqual([])
  expect(decide(worldOf([worth(200)], 1000, NOW_MS - 60_001))).toEqual([])
  const world = worldOf([worth(200)], 1000)
  const balances = { value: world.balances?.value ?? [], atMs: NOW_MS, missing: [{ problem: 'is no row' }] }
  expect(decide({ ...world, balances })).toEqual([])
})

test('what two positions share is paid once, to the one that needs it more', () => {
  const short = worth(150, { direction: 'short', contractKey: `0x${'ac'.repeat(32)}` })
  expect(decide(worldOf([worth(200), short], 350))).toMatchObject([
    { direction: 'short', amount: 250_000_000n },
    { direction: 'long', amount: 50_000_000n },
  ])
})

test('while collateral is on its way no more follows', () => {
  const paying = intentState({
    decision: {
      kind: 'collateral-in',
      marketToken: MARKET,
      direction: 'long',
      collateralToken: USDC,
      amount: 1n,
      reason: 'The test wishes it.',
    },
  })
  expect(decide(worldOf([worth(200)], 1000), {}, openIntentsOf([paying]))).toEqual([])
})

test('bounds that do not leave a way between them are refused', () => {
  for (const params of [
    { ...bounds, targetLeverage: 4 },
    { ...bounds, minLeverage: 2.5 },
  ])
    expect(collateralKeeper.params.safeParse(params).success).toBe(false)
})

test('on any path of worth it ends within the bounds or with the wallet at what it keeps, and never goes to and fro', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -400, max: 400 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 3000 }),
      (changes, startUsdc) => {
        let [netUsd, usdc] = [400n * 1_000_000n, BigInt(startUsdc) * 1_000_000n]
        for (const change of changes) {
          netUsd += BigInt(change) * 1_000_000n
          if (netUsd < -500_000_000n) netUsd = -500_000_000n
          for (let looks = 0; ; looks++) {
            expect(looks).toBeLessThan(2)
            const held = position({
              account: ACCOUNT,
              netValueUsd: (netUsd * dollar) / 1_000_000n,
              remainingCollateralUsd: (netUsd * dollar) / 1_000_000n,
              collateralAmount: netUsd > 0n ? netUsd : 0n,
            })
            const balance = { symbol: 'USDC', address: USDC, decimals: 6, balance: usdc }
            const world = { ...worldOf([held], 0), balances: { value: [balance], atMs: NOW_MS } }
            const [decision] = decide(world) as readonly CollateralDecision[]
            if (decision === undefined) break
            const sign = decision.kind === 'collateral-in' ? 1n : -1n
            netUsd += sign * decision.amount
            usdc -= sign * decision.amount
          }
          expect(usdc >= 0n).toBe(true)
          const leverage = Number(1000n * 1_000_000n) / Number(netUsd)
          const isPoor = usdc < 70_000_000n
          // Without gains everything above the upper bound is paid for as far as the wallet goes.
          if (!isPoor)
            expect([netUsd > 0n, leverage <= 4.0001, leverage >= 1.4999]).toEqual([true, true, true])
        }
      },
    ),
    { seed: 15, numRuns: 300 },
  )
})

const near = position({ markPrice: usd(2000), liquidationPrice: usd(1880), direction: 'long' })

test('a guard that may pays in what brings the liquidation far enough, and reduces where the wallet has less', () => {
  // 600 bps away and 1000 aimed at: 400 of 9200.
  const decisions = decideOf(guard, worldOf([near], 1000), { addCollateralFirst: true })
  expect(decisions).toMatchObject([{ kind: 'collateral-in', amount: 43_478_260n }])
  const [{ amount }] = decisions as [CollateralDecision]
  // A stable collateral of so much moves the price of the liquidation by that, per token held.
  const moved = (amount * 10n ** 24n * 10n ** 18n) / near.sizeInTokens
  const after = { ...near, liquidationPrice: usd(1880) - moved }
  expect(liquidationDistanceBps(after)).toBeGreaterThanOrEqual(800)
  expect(decideOf(guard, worldOf([near], 126), { addCollateralFirst: true })).toMatchObject([
    { kind: 'decrease' },
  ])
  expect(decideOf(guard, worldOf([near], 1000), {})).toMatchObject([{ kind: 'decrease' }])
  expect(decideOf(guard, worldOf([near], undefined), { addCollateralFirst: true })).toMatchObject([
    { kind: 'decrease' },
  ])
})

test('a guard brings a leverage that is too high down with collateral', () => {
  const steep = position({ leverageBps: 50_000n })
  const params = { addCollateralFirst: true, maxLeverage: 4 }
  expect(decideOf(guard, worldOf([steep], 1000), params)).toMatchObject([
    { kind: 'collateral-in', amount: 63_157_894n },
  ])
})

test('a guard never pays into what it would close, and waits a minute for what it paid', () => {
  const nearer = { ...near, liquidationPrice: usd(1950) }
  const params = { addCollateralFirst: true }
  expect(decideOf(guard, worldOf([nearer], 9000), params)).toMatchObject([{ kind: 'close' }])
  const open = (ageMs: number): OpenIntent => ({
    intentId: 'intent-1',
    kind: 'collateral-in',
    marketToken: MARKET,
    direction: 'long',
    orderType: 'market',
    sizeDeltaUsd: 0n,
    acceptedAtMs: NOW_MS - ageMs,
    isUnresolved: true,
    isUnwanted: false,
    onlyExitsRest: false,
  })
  expect(decideOf(guard, worldOf([near], 9000), params, [open(59_999)])).toEqual([])
  expect(decideOf(guard, worldOf([near], 9000), params, [open(60_000)])).toMatchObject([{ kind: 'decrease' }])
  expect(decideOf(guard, worldOf([nearer], 9000), params, [open(1)])).toMatchObject([{ kind: 'close' }])
})
