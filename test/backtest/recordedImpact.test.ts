/** `perpd backtest --impact recorded`: pools, open interest, rates and settings as they were recorded, own orders on top of them. */
import { expect, test } from 'vitest'
import { planRun } from '../../src/backtest/planRun.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { perpd } from '../cli/run.ts'
import { evenFigures, type MadeFigures, writeRecording } from './recordedKit.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

const USD = 10n ** 30n
const model = {
  ...usualModel,
  impact: 'recorded' as const,
  skewBps: 0,
  delayMs: { least: 2_000, most: 2_000 },
}
const still = (folder: string, minutes: number) => writeMinutes(folder, minutes, () => 2_300)

/** Records from an hour before the beginning on; `at` by the minute of the run. */
async function recordFor(
  folder: string,
  minutes: number,
  at: (minute: number) => MadeFigures | undefined,
  settings: Readonly<Record<string, unknown>> = {},
) {
  const span = { fromSeconds: startSeconds - 3_600, toSeconds: startSeconds + minutes * 60 }
  await writeRecording(
    folder,
    span,
    [{ symbol: market, at: (second) => at(Math.floor((second - startSeconds) / 60)) }],
    settings,
  )
}

/** Opens a thousand dollars at one turn and closes them at another; shows each view. */
function holds(
  openAt: number,
  closeAt: number,
  look: (view: StrategyView, minute: number) => void = () => undefined,
) {
  return (view: StrategyView): readonly unknown[] => {
    const minute = Math.round((view.snapshot.atMs / 1000 - startSeconds) / 60)
    look(view, minute)
    const row = view.market(market)
    if (row === undefined) return []
    const { marketToken, shortToken } = row.market
    const base = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'as the test says' }
    if (minute === openAt)
      return [{ kind: 'increase', ...base, sizeDeltaUsd: 1000n * USD, leverageBps: 20_000 }]
    return minute === closeAt ? [{ kind: 'close', ...base }] : []
  }
}

test('a kind sees the open interest of the minute as it was recorded, with its own position on top, and no later one', async () => {
  const folder = testFolder()
  await recordFor(folder, 30, (minute) => ({ ...evenFigures, longUsd: 20_000_000 + minute * 1_000 }))
  const seen = new Map<number, bigint>()
  const turns = await strategyOf(
    folder,
    'turns',
    holds(10, 20, (view, minute) => {
      const { longInterestUsd } = view.market(market)?.ticker?.value ?? {}
      if (longInterestUsd !== undefined) seen.set(minute, longInterestUsd)
    }),
  )
  const { fills, manifest } = await runFor(folder, still(folder, 30), 30, [turns], { model })
  expect(fills).toHaveLength(2)
  const recorded = (minute: number): bigint => BigInt(20_000_000 + (minute - 1) * 1_000) * USD
  // The row of the full minute itself comes a moment after the turn began at the earliest.
  for (const minute of [1, 5, 9])
    expect([0n, 1_000n * USD]).toContain((seen.get(minute) ?? 0n) - recorded(minute))
  for (const minute of [12, 18])
    expect([1_000n * USD, 2_000n * USD]).toContain((seen.get(minute) ?? 0n) - recorded(minute))
  expect(manifest.recorded).toMatchObject([
    { market, gaps: [], sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ])
  expect(manifest.model).toMatchObject({ impact: 'recorded', funding: 'recorded' })
})

test('an order executes at a price by the recorded open interest: a worse one where its side is heavier', async () => {
  const price = async (longUsd: number, shortUsd: number): Promise<bigint> => {
    const folder = testFolder()
    await recordFor(folder, 10, () => ({ ...evenFigures, longUsd, shortUsd }))
    const turns = await strategyOf(folder, 'turns', holds(2, 99))
    const { fills } = await runFor(folder, still(folder, 10), 10, [turns], { model })
    expect(fills).toHaveLength(1)
    return fills[0]?.price ?? 0n
  }
  const [heavy, even, light] = [
    await price(30_000_000, 5_000_000),
    await price(20_500_000, 20_000_000),
    await price(5_000_000, 30_000_000),
  ]
  expect(heavy).toBeGreaterThan(even)
  expect(even).toBeGreaterThan(light)
})

test('funding and borrowing accrue at the recorded rates, to the unit of their steps', async () => {
  const [funding, borrowing] = [3n * 10n ** 21n, 2n * 10n ** 21n]
  const fees = async (name: string, made: Partial<MadeFigures>) => {
    const folder = testFolder()
    await recordFor(folder, 100, () => ({ ...evenFigures, ...made }))
    const turns = await strategyOf(folder, name, holds(5, 95))
    const { fills } = await runFor(folder, still(folder, 100), 100, [turns], { model })
    const [open, close] = fills
    return { seconds: BigInt((close?.second ?? 0) - (open?.second ?? 0)), close }
  }
  const paid = await fees('paid', { funding, borrowing: [borrowing, 0n] })
  const size = 1_000n * USD
  const near = (amount: bigint | undefined, rate: bigint): void => {
    const due = (size * rate * paid.seconds) / USD
    const apart = (amount ?? 0n) - due
    // Fees are paid in whole units of USDC, rounded up.
    expect(apart >= 0n ? apart : -apart).toBeLessThan(due / 1_000n + USD / 10_000n)
  }
  near(paid.close?.fundingFeeUsd, funding)
  near(paid.close?.borrowingFeeUsd, borrowing)
  const none = await fees('none', {})
  expect(none.close?.fundingFeeUsd).toBe(0n)
  expect(none.close?.borrowingFeeUsd).toBe(0n)
})

test('recorded settings are those of the run: a position fee of the time', async () => {
  const folder = testFolder()
  const fee = { positionFeeFactorForBalanceWasNotImproved: 2n * 10n ** 27n }
  await recordFor(folder, 10, () => ({ ...evenFigures, longUsd: 30_000_000 }), fee)
  const turns = await strategyOf(folder, 'turns', holds(2, 99))
  const { fills } = await runFor(folder, still(folder, 10), 10, [turns], { model })
  expect(Number(fills[0]?.positionFeeUsd ?? 0n) / 1e30).toBeCloseTo(2, 1)
})

test('a short gap is said and keeps the last figures; a long one, and a run that begins before the recording, are refused with what is missing', async () => {
  const folder = testFolder()
  await recordFor(folder, 200, (minute) => (minute >= 20 && minute < 40 ? undefined : evenFigures))
  const turns = await strategyOf(folder, 'turns', holds(2, 30))
  const data = still(folder, 200)
  const { manifest, fills } = await runFor(folder, data, 60, [turns], { model })
  expect(fills).toHaveLength(2)
  const [recorded] = manifest.recorded ?? []
  expect(recorded?.gaps).toEqual([{ fromSeconds: startSeconds + 1200, toSeconds: startSeconds + 2400 }])
  expect(manifest.model.sentences.join(' ')).toContain(`${market} 1 of together 20 min`)

  const wish = { model, out: 'other' }
  const early = { ...wish, fromSeconds: startSeconds - 3_660 }
  await expect(runFor(folder, data, 60, [turns], early)).rejects.toMatchObject({
    code: 'BACKTEST_NOT_RECORDED',
  })
  const bare = testFolder()
  await recordFor(bare, 300, (minute) => (minute >= 20 && minute < 90 ? undefined : evenFigures))
  const broken = runFor(bare, still(bare, 300), 200, [await strategyOf(bare, 'turns', holds(2, 30))], wish)
  await expect(broken).rejects.toMatchObject({
    code: 'BACKTEST_NOT_RECORDED',
    facts: { missing: expect.stringContaining('2024-01-02T00:20 to 2024-01-02T01:30') },
  })
})

test('a run over a recording that was stopped and resumed is the run that was not; what is recorded later changes nothing of it', async () => {
  const folder = testFolder()
  const walk = (minute: number) => ({
    ...evenFigures,
    longUsd: 20_000_000 + minute ** 2 * 900,
    funding: BigInt(minute) * 10n ** 20n,
  })
  await recordFor(folder, 45, walk)
  const data = still(folder, 60)
  const turns = await strategyOf(folder, 'turns', holds(3, 38))
  const wish = { segmentSeconds: 900, model }
  const whole = await runFor(folder, data, 40, [turns], { ...wish, out: 'whole' })
  expect(whole.fills.map(({ action }) => action)).toEqual(['increase', 'decrease'])
  const stopped = runFor(folder, data, 40, [turns], {
    ...wish,
    out: 'other',
    told() {
      throw new Error('stopped')
    },
  })
  await expect(stopped).rejects.toThrow('stopped')
  await writeRecording(folder, { fromSeconds: startSeconds + 45 * 60, toSeconds: startSeconds + 50 * 60 }, [
    { symbol: market, at: () => evenFigures },
  ])
  const resumed = await runFor(folder, data, 40, [turns], { ...wish, out: 'other' })
  for (const name of ['manifest', 'fills', 'equity', 'result'] as const)
    expect(resumed.file(name), name).toBe(whole.file(name))
})

test('two recordings of one time are one: of two rows of a minute the newer one counts', async () => {
  const folder = testFolder()
  const span = { fromSeconds: startSeconds - 3_600, toSeconds: startSeconds + 600 }
  const newer = { ...evenFigures, longUsd: 33_000_000 }
  await writeRecording(folder, span, [{ symbol: market, at: () => newer }])
  const beside = { ...span, fromSeconds: span.fromSeconds + 10 }
  await writeRecording(folder, beside, [{ symbol: market, at: () => evenFigures }])
  const turns = await strategyOf(folder, 'turns', holds(2, 99))
  const { followed } = await planRun({
    ...{
      chain: 'arbitrum',
      strategies: [turns],
      settings: {},
      file: still(folder, 10),
      storeFolder: folder,
      model,
    },
    ...{ fromSeconds: startSeconds, toSeconds: startSeconds + 600, period: '1m', balances: {}, seed: 1 },
  })
  const [{ steps = [] } = {}] = [...followed.values()]
  expect(steps.length).toBeGreaterThan(10)
  for (const { figures } of steps.slice(1, -1)) expect(figures?.long.interestUsd[0]).toBe(16_500_000n * USD)
})

test('the command refuses a range that is not recorded, a skew beside the recording, and a level that is not there', async () => {
  const folder = testFolder()
  await strategyOf(folder, 'turns', () => [])
  const run = (...flags: readonly string[]) =>
    perpd(folder, ['backtest', 'turns.yaml', '--data', still(folder, 30), ...flags])
  const missing = await run('--impact', 'recorded', '--from', '2024-01-02', '--to', '2024-01-02T00:20')
  expect(missing.code).toBe(4)
  expect(missing.err).toContain(market)
  expect((await run('--impact', 'recorded', '--skew', '5')).code).toBe(4)
  expect((await run('--impact', 'perfect')).code).toBe(4)
})
