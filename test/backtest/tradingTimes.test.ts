/** A backtest trades a market while it could be traded: after its listing, within its hours, and where it has candles. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { usualModel } from '../../src/backtest/runModel.ts'
import { timesSentences, tradingTimesOf, venueHours } from '../../src/backtest/tradingTimes.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { perpd } from '../cli/run.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

const minuteOf = ({ snapshot }: StrategyView): number =>
  Math.round((snapshot.atMs / 1000 - startSeconds) / 60)

/** Opens at once, closes at the first turn from a minute on, and notes the minutes of its turns. */
function traderOf(closeAt: number) {
  const turns: number[] = []
  const decide = (view: StrategyView): readonly unknown[] => {
    const minute = minuteOf(view)
    turns.push(minute)
    const row = view.market(market)
    if (row === undefined || view.isBusy()) return []
    const { marketToken, shortToken } = row.market
    const base = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'as the test says' }
    if (view.ownPositions().length > 0) return minute >= closeAt ? [{ kind: 'close', ...base }] : []
    return [{ kind: 'increase', ...base, sizeDeltaUsd: 1000n * 10n ** 30n, leverageBps: 20_000 }]
  }
  return { turns, decide }
}

test('outside of the hours of its market a kind has no turn and nothing executes, and the assumptions say so', async () => {
  const folder = testFolder()
  const { turns, decide } = traderOf(14)
  // 2024-01-02 was a Tuesday, and the run begins at midnight.
  const { fills, manifest } = await runFor(
    folder,
    writeMinutes(folder, 60, () => 2300),
    60,
    [await strategyOf(folder, 'turns', decide)],
    {
      marketHours: ['ETH/USD=00:10-00:30'],
    },
  )
  expect(turns[0]).toBe(10)
  expect(turns.at(-1)).toBe(29)
  expect(fills.map(({ action }) => action).slice(0, 2)).toEqual(['increase', 'decrease'])
  for (const { second } of fills) {
    expect(second).toBeGreaterThanOrEqual(startSeconds + 600)
    expect(second).toBeLessThan(startSeconds + 1_800)
  }
  expect(manifest.inputs[0]?.hours).toBe('00:10-00:30')
  expect(manifest.model.sentences.filter((each) => each.includes('00:10-00:30'))).toHaveLength(1)
})

test('before its market was listed a kind has no turn, although there are candles; the run is as fast as it is exact', async () => {
  const folder = testFolder()
  const listed = loadCatalog('arbitrum').markets.find(
    ({ listingDate = '', isListed, isSpotOnly }) => isListed && !isSpotOnly && listingDate > '2024-01-03',
  )
  const listedSeconds = Date.parse(listed?.listingDate ?? '') / 1000
  const symbol = listed?.symbol ?? ''
  const [asset = ''] = symbol.split('/')
  const lines = Array.from({ length: 120 }, (_, at) =>
    [listedSeconds + (at - 60) * 60, 3, 3, 3, 3, asset].join(','),
  )
  const data = join(folder, 'late.csv')
  writeFileSync(data, ['timestamp,open,high,low,close,symbol', ...lines, ''].join('\n'))
  const around = { fromSeconds: listedSeconds - 1_800, toSeconds: listedSeconds + 1_200 }
  const run = async (mode: 'exact' | 'fast', span: Parameters<typeof runFor>[4] = around) => {
    const seconds: number[] = []
    const late = await strategyOf(folder, 'late', ({ snapshot }) => {
      seconds.push(snapshot.atMs / 1000)
      return []
    })
    const loaded = { ...late, symbols: [symbol], needs: { symbols: [symbol] } }
    const lived = await runFor(folder, data, 0, [loaded], { mode, out: mode, ...span })
    return { ...lived, seconds }
  }
  const exact = await run('exact')
  expect(Math.floor((exact.seconds[0] ?? 0) / 60) * 60).toBe(listedSeconds)
  expect(exact.manifest.model.sentences.join(' ')).toContain((listed?.listingDate ?? '').slice(0, 10))
  const fast = await run('fast')
  expect(fast.file('equity')).toBe(exact.file('equity'))
  expect(fast.tally.turns).toBe(exact.tally.turns)
  // A run that is over by then could make nothing but zeros.
  await expect(
    run('exact', { fromSeconds: listedSeconds - 1_800, toSeconds: listedSeconds }),
  ).rejects.toMatchObject({
    code: 'BACKTEST_NOT_LISTED',
    facts: { listed: `${symbol} ${listed?.listingDate?.slice(0, 10)}` },
  })
  // As asked it trades from its first candle on, which the assumptions say beside the date.
  const model = { ...usualModel, ignoresListing: true } as const
  const early = await run('exact', { ...around, toSeconds: listedSeconds, model, out: 'early' })
  expect(Math.floor((early.seconds[0] ?? 0) / 60) * 60).toBe(around.fromSeconds)
  const said = early.manifest.model.sentences.filter((each) => each.includes('--ignore-listing'))
  expect(said).toEqual([expect.stringContaining((listed?.listingDate ?? '').slice(0, 10))])
})

test('a run that begins before the first candle of its market says that span as a gap, and has no turn in it', async () => {
  const folder = testFolder()
  const { turns, decide } = traderOf(99)
  const data = writeMinutes(folder, 40, (minute) => (minute < 15 ? undefined : 2300))
  const { manifest } = await runFor(folder, data, 40, [await strategyOf(folder, 'turns', decide)])
  expect(turns[0]).toBe(15)
  expect(manifest.inputs[0]?.gaps).toEqual([{ fromSeconds: startSeconds, toSeconds: startSeconds + 900 }])
})

test('hours are those of the index name, the symbol or the market token, the last that names the market; others are always open', () => {
  const { marketToken = '' } = loadCatalog('arbitrum').markets.find(({ symbol }) => symbol === market) ?? {}
  const hoursOf = (...texts: readonly string[]) => tradingTimesOf('arbitrum', market, texts).hours
  expect(hoursOf('ETH/USD=13:30-20:00')).toBe('13:30-20:00')
  expect(hoursOf('ETH/USD=13:30-20:00', `${market}=09:00-17:00`)).toBe('09:00-17:00')
  expect(hoursOf(`${marketToken}=22:00-04:00`)).toBe('22:00-04:00')
  expect(hoursOf('XAU/USD=13:30-20:00')).toBeUndefined()
  const inputs = [{ market, hours: '13:30-20:00', listedSeconds: 100 }]
  expect(venueHours(inputs)).toEqual([{ market, opensAtMinute: 810, closesAtMinute: 1200 }])
  expect(timesSentences([{ market, listedSeconds: 100 }], 100)).toEqual([])
})

test('the command takes the hours of the setting', async () => {
  const folder = testFolder()
  const { decide } = traderOf(99)
  await strategyOf(folder, 'turns', decide)
  const data = writeMinutes(folder, 5, () => 2300)
  const span = ['--from', '2024-01-02', '--to', '2024-01-02T00:05']
  const hours = ['--paper.marketHours', 'ETH/USD=13:30-20:00']
  const { code, out } = await perpd(folder, ['backtest', 'turns.yaml', '--data', data, ...span, ...hours])
  expect(code).toBe(0)
  expect(out.replace(/\s+/g, ' ')).toContain('trades 13:30-20:00 UTC')
  expect(out).toContain('0 decisions')
})

test('the command runs candles from before a listing only as asked, and its report says so first', async () => {
  const folder = testFolder()
  await strategyOf(folder, 'turns', traderOf(3).decide)
  const data = join(folder, 'old.csv')
  const lines = Array.from(
    { length: 10 },
    (_, at) => `${Date.UTC(2019, 0, 1) / 1000 + at * 60},130,130,130,130,ETH`,
  )
  writeFileSync(data, ['timestamp,open,high,low,close,symbol', ...lines, ''].join('\n'))
  const words = ['backtest', 'turns.yaml', '--data', data, '--from', '2019-01-01', '--to', '2019-01-01T00:10']
  const refused = await perpd(folder, words)
  expect(refused).toMatchObject({ code: 4, err: expect.stringContaining('--ignore-listing') })
  const { code, out } = await perpd(folder, [...words, '--ignore-listing', '--out', 'old'])
  expect([code, out]).toEqual([0, expect.stringContaining('--ignore-listing')])
  expect((await perpd(folder, ['report', 'old'])).code).toBe(0)
  const page = readFileSync(join(folder, 'old', 'report.html'), 'utf8')
  expect(page.indexOf('(--ignore-listing)')).toBeGreaterThan(0)
  expect(page.indexOf('(--ignore-listing)')).toBeLessThan(page.indexOf('id="sentence"'))
})
