/** `perpd backtest --rates history`: daily means of the indexer, in the unit that recorded rates tell, and none of them before its day is over. */
import { expect, test } from 'vitest'
import { usualModel } from '../../src/backtest/runModel.ts'
import { writeRates } from '../../src/history/ratesFile.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { perpd } from '../cli/run.ts'
import { evenFigures, writeRecording } from './recordedKit.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

const DAY = 86_400
const USD = 10n ** 30n
const model = {
  ...usualModel,
  skewBps: 0,
  funding: 'history' as const,
  delayMs: { least: 2_000, most: 2_000 },
}
/** Per second. */
const [funding, borrowing] = [3n * 10n ** 21n, 2n * 10n ** 21n]

/** Writes means of three days, each of another rate, and a recording from the middle of the first one. */
async function writeHistory(folder: string, unit: bigint, isRecorded = true): Promise<void> {
  const { marketToken = '' } = loadCatalog('arbitrum').markets.find(({ symbol }) => symbol === market) ?? {}
  const mean = (day: number, times: bigint) => ({
    timestampSeconds: startSeconds + day * DAY,
    fundingRateLong: -funding * unit * times,
    fundingRateShort: funding * unit * times,
    borrowingRateLong: borrowing * unit * times,
    borrowingRateShort: 0n,
    netRateLong: -(funding + borrowing) * unit * times,
    netRateShort: funding * unit * times,
  })
  const named = { chain: 'arbitrum', market, marketToken, unit: 'not documented', origin: 'a test' }
  await writeRates(folder, named, [mean(-2, 1n), mean(-1, 1n), mean(0, 2n)])
  if (!isRecorded) return
  const at = () => ({ ...evenFigures, funding, borrowing: [borrowing, 0n] as const })
  const from = startSeconds - 2 * DAY + 3_600
  await writeRecording(folder, { fromSeconds: from, toSeconds: from + 600 }, [{ symbol: market, at }])
}

function holds(view: StrategyView): readonly unknown[] {
  const minute = Math.round((view.snapshot.atMs / 1000 - startSeconds) / 60)
  const row = view.market(market)
  if (row === undefined) return []
  const { marketToken, shortToken } = row.market
  const base = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'as the test says' }
  if (minute === 5) return [{ kind: 'increase', ...base, sizeDeltaUsd: 1000n * USD, leverageBps: 20_000 }]
  return minute === 95 ? [{ kind: 'close', ...base }] : []
}

test.each([
  ['second', 1n],
  ['hour', 3_600n],
  ['year', 31_536_000n],
] as const)('means per %s cost what they say, by the mean of the day before', async (unit, times) => {
  const folder = testFolder()
  await writeHistory(folder, times)
  const turns = await strategyOf(folder, 'turns', holds)
  const { fills, manifest } = await runFor(
    folder,
    writeMinutes(folder, 100, () => 2_300),
    100,
    [turns],
    { model },
  )
  const [open, close] = fills
  const seconds = BigInt((close?.second ?? 0) - (open?.second ?? 0))
  const near = (amount: bigint | undefined, rate: bigint): void => {
    const due = (1_000n * USD * rate * seconds) / USD
    const apart = (amount ?? 0n) - due
    expect(apart >= 0n ? apart : -apart).toBeLessThan(due / 1_000n + USD / 10_000n)
  }
  near(close?.fundingFeeUsd, funding)
  near(close?.borrowingFeeUsd, borrowing)
  expect(manifest.rates).toMatchObject([{ market, unit, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  expect(manifest.model.funding).toBe('history')
  expect(manifest.model.sentences.join(' ')).toContain(`per ${unit}`)
})

test('means whose unit nothing tells are refused, and so are those that fit none', async () => {
  const turns = (folder: string) => strategyOf(folder, 'turns', holds)
  for (const [unit, isRecorded] of [
    [3_600n, false],
    [86_400n, true],
  ] as const) {
    const folder = testFolder()
    await writeHistory(folder, unit, isRecorded)
    const run = runFor(
      folder,
      writeMinutes(folder, 30, () => 2_300),
      30,
      [await turns(folder)],
      { model },
    )
    await expect(run).rejects.toMatchObject({ code: 'BACKTEST_RATES_UNIT' })
  }
})

test('means that do not cover the run are refused with the market', async () => {
  const folder = testFolder()
  await writeHistory(folder, 3_600n)
  const turns = await strategyOf(folder, 'turns', holds)
  const data = writeMinutes(folder, 6 * 1_440, () => 2_300)
  const late = { model, fromSeconds: startSeconds + 5 * DAY, toSeconds: startSeconds + 5 * DAY + 600 }
  await expect(runFor(folder, data, 0, [turns], late)).rejects.toMatchObject({
    code: 'BACKTEST_NO_RATES',
    facts: { missing: market },
  })
  const { code } = await perpd(folder, ['backtest', 'turns.yaml', '--data', data, '--rates', 'history'])
  expect(code).toBe(4)
  const both = ['--rates', 'history', '--impact', 'recorded']
  expect((await perpd(folder, ['backtest', 'turns.yaml', '--data', data, ...both])).code).toBe(4)
  expect((await perpd(folder, ['backtest', 'turns.yaml', '--data', data, '--rates', 'guess'])).code).toBe(4)
})

test('a fast run at historic rates is the exact one', async () => {
  const folder = testFolder()
  await writeHistory(folder, 3_600n)
  const data = writeMinutes(folder, 200, () => 2_300)
  const run = async (mode: 'exact' | 'fast') =>
    await runFor(folder, data, 200, [await strategyOf(folder, 'turns', holds)], { model, mode, out: mode })
  const [exact, fast] = [await run('exact'), await run('fast')]
  expect(exact.fills).toHaveLength(2)
  for (const name of ['fills', 'equity'] as const) expect(fast.file(name)).toBe(exact.file(name))
})
