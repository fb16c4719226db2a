/** What outsiders can multiply has a ceiling in the log; what perpd does itself is told always. */
import { expect, test } from 'vitest'
import { createLog } from '../../src/monitor/log/log.ts'

function logOf() {
  let nowMs = 1_800_000_000_000
  let said = ''
  const log = createLog({
    level: 'info',
    format: 'json',
    stream: { write: (text: string) => (said += text) },
    now: () => nowMs,
  })
  return {
    log,
    lines: () => said.split('\n').filter((line) => line !== ''),
    bytes: () => said.length,
    move: (ms: number) => {
      nowMs += ms
    },
  }
}

test('a host that is wrong in another way with every answer is told 60 times at once, then four times a minute', () => {
  const one = logOf()
  for (let second = 0; second < 3_600; second += 1) {
    for (let answer = 0; answer < 5; answer += 1) {
      one.log.listen({
        type: 'rows.missing',
        route: '/positions',
        host: 'http://a.test/v1',
        rows: [{ problem: `[0].x${second}_${answer} is not a text` }],
      })
    }
    one.move(1_000)
  }
  const { length } = one.lines()
  expect(length).toBeGreaterThan(240)
  expect(length).toBeLessThanOrEqual(60 + 240)
  expect(one.lines().at(-1)).toContain('more lines of this kind were suppressed')
  expect(one.bytes()).toBeLessThan(300_000)
})

test('a list of 50,000 positions is a line of a few thousand characters', () => {
  const one = logOf()
  const row = { positionKey: 'k', marketToken: '0x1', direction: 'long', sizeInUsd: 5n, pnlAfterFeesUsd: 1n }
  one.log.listen({
    type: 'account.positions',
    positions: Array.from({ length: 50_000 }, (_unused, index) => ({
      ...row,
      positionKey: `k${index}`,
    })) as never,
    symbols: {},
  })
  expect(one.lines()).toHaveLength(1)
  expect(one.bytes()).toBeLessThan(20_000)
})

test('holds on trading are told however many there are', () => {
  const one = logOf()
  for (let hold = 0; hold < 500; hold += 1) {
    one.log.listen({
      type: 'trading.state',
      scope: 'global',
      state: 'halted',
      cause: 'operator',
      reason: `reason ${hold}`,
    })
  }
  expect(one.lines()).toHaveLength(500)
})

test('honest trouble stays below the ceiling: four hosts that fail and come back all day', () => {
  const one = logOf()
  for (let minute = 0; minute < 1_440; minute += 1) {
    for (const host of ['a', 'b', 'c', 'd']) {
      one.log.listen({
        type: 'host.attempt',
        route: '/markets',
        method: 'GET',
        host: `http://${host}.test/v1`,
        attempt: 1,
        durationMs: 5,
        outcome: minute % 2 === 0 ? 'timeout' : 'ok',
      })
    }
    one.move(60_000)
  }
  expect(one.lines().some((line) => line.includes('kept back'))).toBe(false)
})
