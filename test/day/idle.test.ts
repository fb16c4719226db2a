/** What a daemon that has nothing to do writes into its log, at the paper venue on simulated time. */
import { expect, test } from 'vitest'
import { createLog } from '../../src/monitor/log/log.ts'
import { liveDay } from './day.ts'

test('an idle daemon writes at most 20 lines an hour', { timeout: 900_000 }, async () => {
  let nowMs = 0
  const lines: { readonly atMs: number; readonly event: string; readonly level: string }[] = []
  const log = createLog({
    level: 'info',
    format: 'json',
    now: () => nowMs,
    stream: {
      write: (text: string) => {
        const { event, level } = JSON.parse(text) as { readonly event: string; readonly level: string }
        lines.push({ atMs: nowMs, event, level })
      },
    },
  })
  let told = 0
  const report = await liveDay({
    seed: 3,
    hours: 2,
    lags: false,
    isIdle: true,
    onEvent: (event, atMs) => {
      nowMs = atMs
      told += 1
      log.listen(event)
    },
  })
  // It was awake: it read and had its turns, and made nothing.
  expect(told).toBeGreaterThan(5_000)
  expect(report.stories).toEqual([])
  const hours = [0, 1].map((hour) => lines.filter(({ atMs }) => Math.floor(atMs / 3_600_000) === hour))
  expect(
    hours.map((each) => each.length <= 20),
    JSON.stringify(hours),
  ).toEqual([true, true])
  expect(lines.filter(({ event }) => event === 'daemon.heartbeat').length).toBeGreaterThanOrEqual(20)
})
