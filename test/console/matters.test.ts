/** What the page says needs a person, and how old what it shows is. */
import { expect, test } from 'vitest'
import { dayHint, equityHint, markAge, mattersOf } from '../../src/control/console/page/shownMatters.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { ETH, status, usd } from './rows.ts'

const strategy = {
  name: 'eth-trend',
  kind: 'trend',
  opensPositions: true,
  symbols: [],
  cadenceMs: 10_000,
  ticks: 24,
  decisions: 0,
  admitted: 0,
  denied: 0,
  failures: 0,
  tradingState: 'active',
} as const

test('a daemon that runs and makes no new orders is the gravest matter, with its reason', () => {
  const notReady = ['every host of the application API is in cooldown']
  expect(mattersOf(status({ notReady }))).toMatchObject([{ tone: 'down', text: notReady[0] }])
  expect(mattersOf(status({ notReady: ['starting'], state: 'starting' }))).toMatchObject([{ tone: 'warn' }])
  expect(mattersOf(status())).toEqual([])
})

test('what holds one strategy can be lifted where it stands; what holds all, or ends by itself, cannot', () => {
  const held = (scope: string, releasedBy: 'operator' | 'itself') =>
    ({
      ...{ scope, releasedBy, cause: 'operator', state: 'reducing' },
      ...{ reason: 'r', by: 'ann', sinceMs: 0 },
    }) as never
  const halts = [
    held('strategy:own', 'operator'),
    held('strategy:other', 'itself'),
    held('global', 'operator'),
  ]
  expect(mattersOf(status({ halts })).map(({ liftScope }) => liftScope)).toEqual([
    'strategy:own',
    undefined,
    undefined,
  ])
})

test('a position without a stop says what places one, and that nothing does while trading is halted', () => {
  const bare = {
    ...{ marketToken: ETH, direction: 'long', collateralToken: ETH },
    ...{ sinceMs: 0, uncoveredUsd: usd(500) },
  } as const
  const told = (tradingState: 'active' | 'halted') =>
    mattersOf(status({ withoutStop: [bare] as never, tradingState })).map(({ text }) => text)
  const bareFor = ['$500.00 of long', 'ETH/USD [WETH-USDC]', '2 h 46 min'] as const
  expect(told('active')).toEqual([texts.attention.noStopText(...bareFor)])
  expect(told('halted')).toEqual([texts.attention.noStopHaltedText(...bareFor)])
})

test('a strategy that fails is a matter, with how often, why and since when', () => {
  const failing = { ...strategy, failures: 24, failingSinceMs: 0, lastError: 'no host answers' }
  expect(mattersOf(status({ strategies: [strategy, failing] }))).toEqual([
    {
      key: 'failing eth-trend',
      tone: 'warn',
      title: texts.attention.failing('eth-trend', 24),
      text: 'no host answers',
      hint: 'since 1970-01-01 00:00:00 UTC',
    },
  ])
})

test('an open incident is a matter with its reason, since when and what to do; one that the status shows is no second one', () => {
  const incident = (kind: string, subject: string, level: string) =>
    ({ kind, subject, level, sinceMs: 0, reason: `${subject} is wrong`, action: 'Correct it.' }) as never
  const incidents = [
    incident('strategy-unfit', 'unfit:mine', 'error'),
    incident('account-change', 'deferred', 'warn'),
    incident('account-change', 'discrepancy:1', 'error'),
    incident('trading-state', 'trading:global:operator', 'warn'),
    incident('position-without-stop', 'stop:long ETH', 'warn'),
    incident('kill-step', 'kill', 'warn'),
  ]
  expect(mattersOf(status({ incidents }))).toEqual([
    {
      ...{ key: 'incident unfit:mine', tone: 'down', title: 'Strategy unfit', text: 'unfit:mine is wrong' },
      hint: 'since 1970-01-01 00:00:00 UTC. Correct it.',
    },
    {
      ...{ key: 'incident deferred', tone: 'warn', title: 'Account change', text: 'deferred is wrong' },
      hint: 'since 1970-01-01 00:00:00 UTC. Correct it.',
    },
  ])
})

test('marks are old once they are older than an increase may stand on, by the page’s clock too', () => {
  const told = status({ feedAgesMs: { positions: 4_000 } })
  const limit = { scope: 'account', limit: 'maxDataAgeMs', value: '60000' }
  expect(markAge(told, [], told.nowMs)).toEqual({ ageMs: 4_000, isOld: false })
  expect(markAge(told, undefined, told.nowMs + 12_000)).toEqual({ ageMs: 16_000, isOld: true })
  expect(markAge(told, [limit], told.nowMs + 12_000)).toMatchObject({ isOld: false })
  expect(markAge(status({ feedAgesMs: {} }), undefined, 0)).toBeUndefined()
})

test('the worth says how old it is where it was not read again, and that it settles only while it does', () => {
  const equity = {
    equityUsd: usd(900),
    peakUsd: usd(900),
    dayStartMs: 0,
    dayStartUsd: usd(900),
    equityAtMs: 10_000,
    isEquitySettling: false,
  }
  expect(equityHint(equity, 15_000, 'paper')).toBe('paper')
  expect(equityHint(equity, 105_000, 'paper')).toBe('1 min 35 s old')
  expect(equityHint({ ...equity, isEquitySettling: true }, 105_000, 'paper')).toBe('settling')
})

test('the result of a day says since when it is counted: its start, or the first reading where that is later', () => {
  const dayStartMs = Date.parse('2026-01-02T00:00:00Z')
  const nowMs = Date.parse('2026-01-02T18:00:00Z')
  const equity = {
    equityUsd: usd(900),
    peakUsd: usd(900),
    dayStartMs,
    dayStartUsd: usd(900),
    isEquitySettling: false,
  }
  const first = { ...equity, dayFirstAtMs: Date.parse('2026-01-02T16:42:10Z') }
  expect(dayHint(equity, nowMs)).toBe('since 00:00 UTC')
  expect(dayHint(first, nowMs)).toBe('since 16:42 UTC, first read')
  expect(dayHint({ ...first, dayTransfersUsd: usd(-50) }, nowMs)).toBe(
    'since 16:42 UTC, first read, excluding $50.00 withdrawn',
  )
  expect(dayHint(first, nowMs + 86_400_000)).toContain('since 2026-01-02 16:42 UTC')
})
