/** A replay is named with its date and its end, and one whose prices stand still is a warning. */
import { expect, test } from 'vitest'
import { type RunningReplay, replayPlace } from '../../src/base/candles/replayPlace.ts'
import { tellReplay } from '../../src/daemon/logging/tellReplay.ts'
import { usd } from '../../src/protocol/units.ts'
import { manualClock } from '../support/venue.ts'

const epochMs = Date.UTC(2026, 10, 20, 12)
const fileMs = Date.UTC(2025, 0, 1)

/** ETH for ten minutes, BTC for the last five of them. */
function running(speed = 1): RunningReplay {
  const candles = (from: number) =>
    Array.from({ length: 10 - from }, (_unused, at) => ({
      startSeconds: fileMs / 1000 + (from + at) * 60,
      ...{ open: usd(1), high: usd(1), low: usd(1), close: usd(1) },
    }))
  return {
    file: 'two.csv',
    series: new Map([
      ['ETH', candles(0)],
      ['BTC', candles(5)],
    ]),
    speed,
    epochSeconds: epochMs / 1000,
  }
}

test('the place in a replay is its date, its end, when that is, and what stands still', () => {
  const at = (minutes: number, speed = 1) => replayPlace(running(speed), epochMs + minutes * 60_000)
  expect(at(1)).toEqual({
    ...{ file: 'two.csv', speed: 1, atMs: fileMs + 60_000, endMs: fileMs + 600_000 },
    ...{ endsAtMs: epochMs + 600_000, still: ['BTC'], hasEnded: false },
  })
  expect(at(6)).toMatchObject({ still: [], hasEnded: false })
  expect(at(6, 2)).toMatchObject({ still: ['ETH', 'BTC'], hasEnded: true, endsAtMs: epochMs + 300_000 })
  // A world that is older than the file is long.
  expect(at(100_000)).toMatchObject({ atMs: fileMs + 600_000, still: ['ETH', 'BTC'], hasEnded: true })
})

test('the log has the start, each beginning and end of candles, and no line between them', async () => {
  const clock = manualClock(epochMs)
  const lines: [string, string][] = []
  const ending = new AbortController()
  const telling = tellReplay(running(), clock, (name, level) => lines.push([name, level]), ending.signal)
  expect(lines).toEqual([['paper.replay', 'warn']])
  await clock.advance(299_000)
  expect(lines.length).toBe(1)
  await clock.advance(2_000)
  expect(lines.slice(1)).toEqual([['paper.replay', 'info']])
  await clock.advance(300_000)
  expect(lines.slice(2)).toEqual([['paper.replay', 'warn']])
  // Nothing is left to report.
  await telling
})

test('a replay that ended before the start is a warning at once', async () => {
  const lines: string[] = []
  const clock = manualClock(epochMs + 86_400_000)
  await tellReplay(
    running(),
    clock,
    (_name, level, text) => lines.push(`${level} ${text}`),
    AbortSignal.timeout(1),
  )
  expect(lines).toEqual([expect.stringMatching(/^warn .*two\.csv ended/)])
})
