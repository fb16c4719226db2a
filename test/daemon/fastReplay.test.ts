/** A replay that is faster than the clock: a strategy that reads candles would trade another market than the file's, and is refused. */
import { expect, test } from 'vitest'
import { fastReplayProblems } from '../../src/daemon/readStrategies.ts'

const reads = {
  path: '/own/trend.yaml',
  needs: { symbols: ['ETH'], candles: [{ symbol: 'ETH', period: '1m', limit: 9 }] },
} as const
const looks = { path: '/own/guard.yaml', needs: { symbols: ['ETH'] } } as const

test('a strategy with candles is refused beside a replay above the speed of the clock, one without them and a speed of one are not', () => {
  const problemsAt = (speed: number, replayFile?: string) =>
    fastReplayProblems([reads, looks], { speed, replayFile }).map(({ code, file }) => [code, file])
  expect(problemsAt(60, 'eth.csv')).toEqual([['STRATEGY_FILE_INVALID', '/own/trend.yaml']])
  expect(problemsAt(1, 'eth.csv')).toEqual([])
  // Seeded prices have no speed.
  expect(problemsAt(60)).toEqual([])
})
