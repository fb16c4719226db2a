/** An operator and the breakers over the running engine: halts, kills, limits and words, with the paper venue in this process. */
import { afterEach, expect, test } from 'vitest'
import type { ConfiguredLimits, LimitSet } from '../../src/account/limitsInForce.ts'
import { BaseError } from '../../src/base/errors.ts'
import { killText } from '../../src/cli/output/killText.ts'
import { createTeller } from '../../src/cli/verbs/killCommand.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { decodeExact } from '../../src/domain/records.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { guardedSigner, openGuard, type SigningGuard } from '../../src/keys/signingGuard.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { usd } from '../../src/protocol/units.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { pathOf } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { noLimits, testSigner, testTrader } from '../support/trader.ts'
import { type Between, type VenueBench, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'

/** Asks for a long, and for an order far below the price, at every tick. */
const greedy = defineStrategy({
  kind: 'greedy',
  description: 'Wishes for a long and for a resting order at every tick.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => {
    const market = view.market(symbol)
    const price = market?.oraclePrice?.value.medianPrice
    if (market === undefined || price === undefined) return []
    const base = {
      kind: 'increase',
      marketToken: market.market.marketToken,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 50_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'the test always wishes',
    } as const
    const resting = { ...base, orderType: 'limit', triggerPrice: (price * 7n) / 10n } as const
    return [
      ...(view.positions(symbol).length === 0 ? [base] : []),
      ...(view.restingOrders.length === 0 ? [resting] : []),
      base,
    ]
  },
})

/** Asks for a long at every tick, and closes what it holds after half a minute. */
const leaving = defineStrategy({
  ...greedy,
  kind: 'leaving',
  decide: (view) => {
    const market = view.market(symbol)
    if (market === undefined) return []
    const base = {
      marketToken: market.market.marketToken,
      direction: 'long',
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'the test always wishes',
    } as const
    const [held] = view.positions(symbol)
    const isOld = held !== undefined && view.snapshot.atMs / 1000 - held.increasedAtSeconds > 30
    const wish = { kind: 'increase', ...base, sizeDeltaUsd: usd(500), leverageBps: 50_000 } as const
    return isOld ? [{ kind: 'close', ...base }] : [wish]
  },
})

const strategy: LoadedStrategy = loadedOf(greedy, 'greedy', [symbol])

interface World extends VenueBench {
  readonly engine: Engine
  readonly journal: Journal
  readonly events: readonly Event[]
}

const running: Engine[] = []
afterEach(() => {
  for (const engine of running.splice(0)) engine.abort()
})

function world(
  options: {
    readonly bench?: VenueBench
    readonly journal?: Journal
    readonly limits?: LimitSet
    /** Of the strategy's own file. */
    readonly own?: Limits
    readonly readLimits?: () => Partial<ConfiguredLimits> & { readonly waiting?: readonly string[] }
    readonly breakers?: Partial<BreakerSettings>
    readonly settings?: Partial<VenueSettings>
    readonly between?: Between
    readonly strategy?: Strategy
    /** Slippage that its file asks for, bps. */
    readonly slippageBps?: number
    /** Stands before the key. */
    readonly guard?: SigningGuard
  } = {},
): World {
  const bench =
    options.bench ??
    venueBench({
      settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0, ...options.settings },
      ...(options.between === undefined ? {} : { between: options.between }),
    })
  const configured: Partial<ConfiguredLimits> = {
    ...(options.limits ?? { account: { maxPositionSizeUsd: usd(1_000) }, markets: {} }),
    strategies: { greedy: options.own ?? {} },
    breakers: { sets: {}, ...options.breakers },
  }
  const {
    trader: engine,
    journal,
    events,
  } = testTrader({
    ...bench,
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    ...(options.guard === undefined ? {} : { signer: guardedSigner(testSigner, options.guard) }),
    strategies: [
      {
        ...strategy,
        strategy: options.strategy ?? greedy,
        ...(options.slippageBps === undefined ? {} : { slippageBps: options.slippageBps }),
      },
    ],
    limits: configured,
    ...(options.readLimits === undefined
      ? {}
      : { readLimits: async () => ({ ...noLimits, ...configured, ...options.readLimits?.() }) }),
  })
  running.push(engine)
  return { ...bench, engine, journal, events }
}

/** A journal, and the records of the account that were written to it, in order. */
function watchedJournal(): { readonly journal: Journal; readonly kept: readonly AccountRecord[] } {
  const journal = createMemoryJournal()
  const kept: AccountRecord[] = []
  const append = journal.appendAccount.bind(journal)
  journal.appendAccount = (record) => {
    kept.push(record)
    return append(record)
  }
  return { journal, kept }
}

const command = ({ engine }: World, asked: OperatorCommand) =>
  engine.operate(asked, { by: 'ann', via: 'control' })
const trade = (state: 'active' | 'reducing' | 'halted', scope = 'global' as const): OperatorCommand => ({
  type: 'trading',
  scope,
  state,
  reason: 'the test says so',
})
const codes = ({ events }: World) =>
  events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial.code] : []))
const told = ({ events }: World) =>
  events.flatMap((event) => (event.type === 'trading.state' ? [`${event.scope} ${event.state}`] : []))
const submits = ({ venue }: World) => venue.record().length

test('a halt makes nothing more, a restart keeps it, and an operator lifts it; every command is in the journal first', async () => {
  const { journal, kept } = watchedJournal()
  const first = world({ journal })
  await first.engine.start()
  expect(await command(first, trade('halted'))).toEqual({
    ok: true,
    statement: expect.stringMatching(
      /^trading is halted everywhere \(scope global\), since 2026-11-20 12:\d\d:\d\d UTC by ann: the test says so; to resume: perpd trading active$/,
    ),
  })
  await first.clock.advance(20_000)
  expect([...new Set(codes(first))]).toEqual(['TRADING_HALTED'])
  expect(submits(first)).toBe(0)
  expect(first.engine.status()).toMatchObject({
    tradingState: 'halted',
    halts: [{ scope: 'global', cause: 'operator', by: 'ann', reason: 'the test says so' }],
  })
  first.engine.abort()

  const second = world({ bench: first, journal: first.journal })
  await second.engine.start()
  await second.clock.advance(10_000)
  expect([...new Set(codes(second))]).toEqual(['TRADING_HALTED'])
  expect(await command(second, trade('active'))).toEqual({
    ok: true,
    statement: 'trading is active everywhere (scope global)',
  })
  await second.clock.advance(10_000)
  expect(submits(second)).toBeGreaterThan(0)
  expect(told(first)).toEqual(['global halted'])
  expect(told(second)).toEqual(['global active'])
  const [halted, active] = [first, second].map(({ events }) =>
    events.find(({ type }) => type === 'trading.state'),
  )
  expect(halted).toMatchObject({ cause: 'operator', releasedBy: 'operator' })
  expect(halted).not.toHaveProperty('isReleased')
  expect(active).toMatchObject({ cause: 'operator', isReleased: true })
  expect(active).not.toHaveProperty('releasedBy')
  const commands = kept.filter(
    (record) =>
      (record.kind === 'operator.command' && record.by !== 'the start') || record.kind === 'trading.state',
  )
  const common = { command: 'trading', by: 'ann', via: 'control' }
  expect(commands).toMatchObject([
    { ...common, detail: '{"scope":"global","state":"halted","reason":"the test says so"}' },
    { kind: 'trading.state', state: 'halted' },
    { ...common, detail: '{"scope":"global","state":"active","reason":"the test says so"}' },
    { kind: 'trading.state', state: 'active' },
  ])
})

test('an order that was accepted and not yet signed when the halt came is not signed', async () => {
  const held = Promise.withResolvers<void>()
  const there = world({
    between: async (url, init, next) => {
      if (url.includes('/prepare')) await held.promise
      return next(url, init)
    },
  })
  await there.engine.start()
  await there.clock.advance(1_000)
  expect(there.events.some(({ type }) => type === 'decision.admitted')).toBe(true)
  await command(there, trade('halted'))
  held.resolve()
  await there.clock.advance(3_000)
  expect(submits(there)).toBe(0)
  const closed = there.journal.recentIntents().filter(({ closing }) => closing !== undefined)
  expect(closed.map(({ closing }) => closing?.code)).toContain('TRADING_HALTED')
})

test('a strategy is held back alone, and reducing lets it close', async () => {
  const there = world()
  await there.engine.start()
  const answer = await there.engine.operate(
    { type: 'trading', scope: 'strategy:nobody', state: 'halted', reason: 'x' },
    { by: 'ann', via: 'control' },
  )
  expect(answer).toMatchObject({ ok: false, code: 'STRATEGY_UNKNOWN' })
  await there.engine.operate(
    { type: 'trading', scope: 'strategy:greedy', state: 'reducing', reason: 'x' },
    { by: 'ann', via: 'control' },
  )
  await there.clock.advance(10_000)
  expect([...new Set(codes(there))]).toEqual(['TRADING_REDUCING'])
  expect(there.engine.status()).toMatchObject({
    tradingState: 'active',
    strategies: [{ tradingState: 'reducing' }],
  })
})

test('a halt that stands already says since when, and that its first reason stands', async () => {
  const there = world()
  await there.engine.start()
  const halt = (reason: string) =>
    command(there, { type: 'trading', scope: 'global', state: 'halted', reason })
  expect(await halt('rehearsal')).toMatchObject({
    statement: expect.stringContaining('by ann: rehearsal; to resume'),
  })
  await there.clock.advance(60_000)
  const again = await halt('second thoughts')
  expect(again).toMatchObject({
    statement: expect.stringMatching(
      /^trading was already halted everywhere \(scope global\), since 2026-11-20 12:00:\d\d UTC by ann: rehearsal; that reason remains, and the new one \("second thoughts"\) is ignored; to resume/,
    ),
  })
  expect(there.engine.status().halts).toMatchObject([{ reason: 'rehearsal' }])
})

test('an amount in a command is kept exactly in the journal', async () => {
  const { journal, kept } = watchedJournal()
  const there = world({ journal })
  await there.engine.start()
  const amount = 2n ** 200n
  await command(there, { type: 'kill', close: false, amount } as never)
  const [record] = kept.flatMap((each) => ('command' in each && each.command === 'kill' ? [each.detail] : []))
  expect(decodeExact(record ?? '')).toEqual({ close: false, amount })
})

test('a level of the log that is changed is in the journal, with who and how', async () => {
  const { journal, kept } = watchedJournal()
  const there = world({ journal })
  await there.engine.start()
  expect(await command(there, { type: 'log', component: 'host', level: 'debug' })).toMatchObject({
    ok: true,
    statement: expect.stringContaining('host writes lines from debug on'),
  })
  const [record] = kept.flatMap((each) => ('command' in each && each.command === 'log' ? [each] : []))
  expect(record).toMatchObject({ by: 'ann', via: 'control', detail: '{"component":"host","level":"debug"}' })
})

test('a reading of the limits answers with those in force', async () => {
  const there = world({
    limits: { account: { maxPositionSizeUsd: usd(1_000), maxLeverageBps: 50_000 }, markets: {} },
    own: { maxOrderSizeUsd: usd(200) },
    readLimits: () => ({ account: { maxPositionSizeUsd: usd(2_000), maxLeverageBps: 50_000 } }),
  })
  await there.engine.start()
  const answer = await command(there, { type: 'limits', isConfirmed: false })
  // What is looser waits: the answer tells what holds.
  expect(answer).toMatchObject({
    ok: true,
    limits: expect.arrayContaining([
      { scope: 'account', limit: 'maxPositionSizeUsd', value: '$1,000.00' },
      { scope: 'account', limit: 'maxLeverageBps', value: '50000' },
      { scope: 'strategy greedy', limit: 'maxOrderSizeUsd', value: '$200.00' },
    ]),
  })
})

test('a kill cancels what rests and closes what is held, goes on over a restart, and says when nothing is left', async () => {
  const first = world()
  await first.engine.start()
  await first.clock.advance(40_000)
  const account = testSigner.address
  const before = await first.api.getOrders({ account })
  expect(before.value).toHaveLength(1)
  expect((await first.api.getPositions({ account })).value).toHaveLength(1)
  expect(await command(first, { type: 'kill', close: true })).toMatchObject({ ok: true })
  first.engine.abort()

  const second = world({ bench: first, journal: first.journal })
  await second.engine.start()
  await second.clock.advance(60_000)
  expect(second.engine.status().kill).toMatchObject({
    by: 'ann',
    close: true,
    outcome: 'done',
    left: { orders: 0, positions: 0, inFlight: 0 },
  })
  expect((await second.api.getOrders({ account })).value).toEqual([])
  expect((await second.api.getPositions({ account })).value).toEqual([])
  const made = second.journal.recentIntents().filter(({ intent }) => intent.strategy === '@operator')
  expect(made.map(({ intent }) => intent.kind).sort()).toEqual(['cancel', 'close'])
  expect([...new Set(codes(second))]).toEqual(['TRADING_HALTED'])
  expect(second.engine.status().discrepancies).toEqual([])
})

/** A kill that closes, followed as `perpd kill` follows it, while lists of positions answer what `listed` makes of them. */
async function killFollowed(listed: (url: string, text: string) => string) {
  let isAltered = false
  const there = world({
    between: async (url, init, next) => {
      const answer = await next(url, init)
      if (!/\/positions\b/.test(url)) return answer
      const text = await answer.text()
      const altered = listed(url, text)
      const { status, headers } = answer
      return { status, headers, text: async () => (isAltered ? altered : text) }
    },
  })
  await there.engine.start()
  await there.clock.advance(40_000)
  isAltered = true
  // What was read before is forgotten.
  await there.clock.advance(10_000)
  await command(there, { type: 'kill', close: true })
  const told: string[] = []
  const teller = createTeller((text) => void told.push(text))
  return {
    told,
    status: () => there.engine.status().kill,
    heal: () => {
      isAltered = false
    },
    async follow(ms: number): Promise<void> {
      for (let at = 0; at < ms && there.engine.status().kill?.endedAtMs === undefined; at += 1_000) {
        await there.clock.advance(1_000)
        const { kill } = there.engine.status()
        if (kill !== undefined) teller(killText(toPlain(kill)), there.clock.monotonicMs())
      }
    },
  }
}

test('lists that are a moment apart after a close are waited for in one line', async () => {
  const kept = new Map<string, string>()
  // The last host goes on listing what was held at first.
  const { told, follow, heal } = await killFollowed((url, text) => {
    if (!url.includes('/api/1/')) return text
    if (!kept.has(url) && text.includes('sizeInUsd')) kept.set(url, text)
    return kept.get(url) ?? text
  })
  await follow(15_000)
  heal()
  await follow(90_000)
  const kinds = told.map((text) => text.replace(/; since [\d:]+ UTC$/, ''))
  expect(kinds.at(-1)).toBe('done: nothing is left')
  expect(
    kinds.filter((text) => /^waiting until every list of the venue shows the end of 1 position, /.test(text)),
  ).toHaveLength(1)
  expect(told.filter((text) => /host|REFUSED|journal/.test(text))).toEqual([])
  expect(told.length, told.join('\n')).toBeLessThanOrEqual(8)
})

test('a position that every list hides is named, and a kill closes it by the journal', async () => {
  const { told, follow, status } = await killFollowed(() => '[]')
  await follow(20_000)
  expect(status()?.problem, told.join('\n')).toBeUndefined()
  expect(told.at(-1)).toMatch(
    /waiting until every list of the venue shows the end of 1 position, .* perpd reports what a list lacks after 30 s; since [\d:]+ UTC$/,
  )
  await follow(25_000)
  expect(told.join('\n')).toMatch(/no list shows ETH\/USD \[WETH-USDC\] long; the journal has \$500.00/)
  await follow(120_000)
  expect(status()).toMatchObject({ outcome: 'done', left: { positions: 0 } })
})

test('a kill without closing leaves positions and takes exits off when asked to, and letting trading go on ends a kill', async () => {
  const there = world()
  await there.engine.start()
  await there.clock.advance(40_000)
  await command(there, { type: 'kill', close: false })
  await there.clock.advance(60_000)
  const kept = there.engine.status().kill
  expect(kept).toMatchObject({ close: false, outcome: 'done' })
  const account = testSigner.address
  expect((await there.api.getPositions({ account })).value).toHaveLength(1)
  await command(there, { type: 'kill', close: false, exits: true })
  await there.clock.advance(60_000)
  expect((await there.api.getOrders({ account })).value).toEqual([])
  expect(there.engine.status().withoutStop).toHaveLength(1)
  // A second kill that closes begins anew; lifted before its first look, it closes nothing.
  await command(there, { type: 'kill', close: true })
  await command(there, trade('active'))
  expect(there.engine.status().kill).toMatchObject({ outcome: 'abandoned' })
  expect(there.engine.status().tradingState).toBe('active')
})

test('a kill does not wait an hour for a venue that would not prepare its close', async () => {
  let refuses = false
  const there = world({
    limits: { account: { attemptsPerCause: 1 }, markets: {} },
    between: async (url, init, next) => {
      const answer = await next(url, init)
      if (!refuses || !url.endsWith('/orders/txns/prepare')) return answer
      return { status: 200, headers: answer.headers, text: async () => '{"requestId":7}' }
    },
  })
  await there.engine.start()
  await there.clock.advance(40_000)
  refuses = true
  await command(there, { type: 'kill', close: true })
  await there.clock.advance(10_000)
  refuses = false
  expect(there.engine.status().kill?.problem).toContain('RETRY_BUDGET')
  await there.clock.advance(150_000)
  expect(there.engine.status().kill).toMatchObject({ outcome: 'done' })
})

test('a kill ends though the clock was set back just after a fill', async () => {
  const there = world()
  await there.engine.start()
  await there.clock.advance(6_000)
  await command(there, { type: 'kill', close: false })
  there.clock.setBack(3_600_000)
  await there.clock.advance(90_000)
  expect(there.engine.status().kill).toMatchObject({ outcome: 'done' })
})

test('a loss of the day opens its breaker, a restart keeps it, and the next day lifts it', async () => {
  // 12:00 UTC: the price falls by a tenth after the first minute.
  const settings: Partial<VenueSettings> = {
    replay: pathOf([
      [0, 2_000],
      [60, 2_000],
      [90, 1_800],
      [100_000, 1_800],
    ]),
  }
  const limits = { account: { maxPositionSizeUsd: usd(500), maxDailyLossUsd: usd(30) }, markets: {} }
  const first = world({ settings, limits })
  await first.engine.start()
  await first.clock.advance(55_000)
  expect(first.engine.status().halts).toEqual([])
  await first.clock.advance(120_000)
  const [halt, ...others] = first.engine.status().halts
  expect(others).toEqual([])
  expect(halt).toMatchObject({
    scope: 'account',
    cause: 'daily-loss',
    state: 'reducing',
    releasedBy: 'next-day',
    by: 'perpd',
  })
  expect(codes(first).at(-1)).toBe('TRADING_REDUCING')
  first.engine.abort()

  const second = world({ bench: first, journal: first.journal, limits })
  await second.engine.start()
  expect(second.engine.status().halts).toMatchObject([{ cause: 'daily-loss' }])
  const midnight = Date.UTC(2026, 10, 21)
  // Hours of ticks are of no interest: the clock jumps, as a machine that slept.
  await second.clock.advance(1_000)
  second.clock.setBack(second.clock.now() - midnight)
  await second.clock.advance(10_000)
  expect(second.engine.status().halts).toEqual([])
  expect(told(second)).toEqual(['account active'])
})

test('a fall from the peak waits for an operator, whose word makes a new peak', async () => {
  const settings: Partial<VenueSettings> = {
    replay: pathOf([
      [0, 2_000],
      [60, 2_000],
      [90, 1_800],
      [100_000, 1_800],
    ]),
  }
  // A tenth of $500 is five hundredths of a percent of what the account holds.
  const there = world({
    settings,
    limits: { account: { maxPositionSizeUsd: usd(500) }, markets: {} },
    breakers: { maxDrawdownBps: 3 },
  })
  await there.engine.start()
  await there.clock.advance(180_000)
  expect(there.engine.status().halts).toMatchObject([{ cause: 'drawdown', releasedBy: 'operator' }])
  await there.clock.advance(30_000)
  expect(there.engine.status().halts).toHaveLength(1)
  expect(await command(there, trade('active'))).toMatchObject({
    ok: true,
    statement: 'trading is active everywhere (scope global)',
  })
  await there.clock.advance(30_000)
  expect(there.engine.status().halts).toEqual([])
})

test('one limit of the account is made tighter at once, kept in the journal, and told by the start that the files win over it', async () => {
  const limits = { account: { maxPositionSizeUsd: usd(1_000), maxLeverageBps: 50_000 }, markets: {} }
  const { journal, kept } = watchedJournal()
  const there = world({ journal, limits })
  await there.engine.start()
  const tighten = (limit: string, value: string, isPreview = false) =>
    command(there, { type: 'tighten', limit, value, ...(isPreview ? { isPreview } : {}) })
  const keptBefore = kept.length
  expect(await tighten('maxLeverage', '2.5', true)).toMatchObject({
    ok: true,
    waiting: [
      { scope: 'account', limit: 'maxLeverageBps', value: '50000', configured: '25000', isTighter: true },
    ],
  })
  expect(kept.length).toBe(keptBefore)
  expect(await tighten('maxLeverage', '2.5')).toMatchObject({
    ok: true,
    statement: expect.stringMatching(/^in force: maxLeverage 5x -> 2.5x; it lasts until a restart/),
    isChanged: true,
  })
  // One that is not set limits from now on.
  expect(await tighten('risk.maxOrderSizeUsd', '100')).toMatchObject({ ok: true })
  const rows = there.engine.limits().map(({ limit, value }) => `${limit} ${value}`)
  expect(rows).toEqual(expect.arrayContaining(['maxOrderSizeUsd $100.00', 'maxLeverageBps 25000']))
  const changed = kept.flatMap((record) => ('command' in record ? [record.command] : []))
  expect(changed.slice(-3)).toEqual(['tighten', 'limits.changed', 'limits.in-force'])

  const refusals = [
    ['maxLeverage', '4'],
    ['maxLeverage', '2.5'],
    ['maxLeverage', '0'],
    ['maxPositionSizeUsd', '-5'],
    ['maxOrdersPerHour', '1.5'],
    ['maxLevrage', '2'],
  ] as const
  const codes: string[] = []
  for (const [limit, value] of refusals) {
    const answer = await tighten(limit, value)
    codes.push(answer.ok ? 'ok' : answer.code)
  }
  expect(codes).toEqual([
    'LIMIT_LOOSER',
    'LIMIT_SAME',
    'LIMIT_VALUE',
    'LIMIT_VALUE',
    'LIMIT_VALUE',
    'LIMIT_UNKNOWN',
  ])
  there.engine.abort()
  // The last writes of the aborted one are in the journal before the next one reads it, as with a process that ended.
  await there.clock.advance(1)
  const second = world({ bench: there, journal, limits })
  await second.engine.start()
  const started = second.events.flatMap((event) => (event.type === 'limits.started' ? [event.statement] : []))
  expect(started).toEqual([expect.stringContaining('maxLeverage 2.5x -> 5x')])
  second.engine.abort()
})

test('limits tighten at once and loosen only when it is confirmed', async () => {
  let configured: Partial<ConfiguredLimits> = { account: { maxPositionSizeUsd: usd(1_000) } }
  const { journal, kept } = watchedJournal()
  const there = world({ journal, readLimits: () => configured })
  await there.engine.start()
  configured = {
    account: { maxPositionSizeUsd: usd(2_000), maxOrderSizeUsd: usd(100), maxLeverageBps: 50_000 },
  }
  // A preview tells the same, and neither changes nor keeps anything.
  const keptBefore = kept.length
  for (let at = 0; at < 2; at++)
    expect(await command(there, { type: 'limits', isConfirmed: false, isPreview: true })).toMatchObject({
      ok: true,
      statement: '3 limits are configured differently from those in force; nothing was changed',
      waiting: [
        {
          scope: 'account',
          limit: 'maxPositionSizeUsd',
          value: '$1,000.00',
          configured: '$2,000.00',
          isTighter: false,
        },
        { limit: 'maxOrderSizeUsd', value: 'none', configured: '$100.00', isTighter: true },
        { limit: 'maxLeverageBps', value: 'none', configured: '50000', isTighter: true },
      ],
    })
  expect(kept.length).toBe(keptBefore)
  expect(await command(there, { type: 'limits', isConfirmed: false })).toMatchObject({
    ok: true,
    statement:
      'in force: maxOrderSizeUsd none -> $100.00, maxLeverage none -> 5x; looser, so they need a restart or perpd limits apply --confirm: maxPositionSizeUsd $1,000.00 -> $2,000.00',
  })
  await there.clock.advance(10_000)
  const sizes = there.journal.recentIntents().map(({ intent }) => intent.terms.sizeDeltaUsd)
  expect(sizes.every((size) => size <= usd(100))).toBe(true)
  expect(await command(there, { type: 'limits', isConfirmed: true })).toMatchObject({
    ok: true,
    statement: 'in force: maxPositionSizeUsd $1,000.00 -> $2,000.00',
    isChanged: true,
  })
  expect(await command(there, { type: 'limits', isConfirmed: true })).not.toHaveProperty('isChanged')
  // What was changed is kept, not only that somebody asked.
  const changed = kept.flatMap((record) =>
    'command' in record && record.command === 'limits.changed' ? [record.detail] : [],
  )
  expect(changed.at(-1)).toBe('in force: maxPositionSizeUsd $1,000.00 -> $2,000.00')
  const told = there.events.flatMap((event) => (event.type === 'limits.changed' ? [event.statement] : []))
  expect([told.length, told.at(-1)]).toEqual([2, changed.at(-1)])
  const fixed = world()
  await fixed.engine.start()
  expect(await command(fixed, { type: 'limits', isConfirmed: false })).toMatchObject({
    ok: false,
    code: 'LIMITS_FIXED',
  })
})

test('an order whose fate nothing shows is closed by an operator while the daemon runs, and its breaker lifts itself', async () => {
  let isBlind = false
  const there = world({
    breakers: { unknownAgeMs: 20_000 },
    between: async (url, init, next) => {
      if (isBlind && url.includes('/status')) throw new TypeError('fetch failed')
      return next(url, init)
    },
  })
  there.venue.faults.submit = '500-before-work'
  isBlind = true
  await there.engine.start()
  await there.clock.advance(40_000)
  const open = there.engine.status()
  expect(open.unresolved).toBeGreaterThan(0)
  expect(open.halts).toMatchObject([{ cause: 'unknowns', releasedBy: 'itself' }])
  const early = await command(there, trade('active'))
  expect(early).toMatchObject({
    ok: true,
    statement: expect.stringContaining('perpd releases it when the cause ends'),
  })
  const none = await command(there, { type: 'resolve', intentId: 'zz', as: 'dead' })
  expect(none).toMatchObject({ ok: false, code: 'ORDER_NOT_FOUND' })
  for (const { state } of open.openIntents) {
    const { intentId } = state.intent
    expect(await command(there, { type: 'resolve', intentId, as: 'dead' })).toMatchObject({ ok: true })
    expect(there.journal.recentIntent(intentId)?.closing).toMatchObject({ code: 'RESOLVED_BY_OPERATOR' })
  }
  await there.clock.advance(5_000)
  expect(there.engine.status().halts).toEqual([])
})

test('who lifts the whole daemon is told what is still halted and the command that lifts it, and that command does', async () => {
  const there = world()
  await there.engine.start()
  const own = { type: 'trading', scope: 'strategy:greedy', reason: 'the test says so' } as const
  expect(await command(there, { ...own, state: 'halted' })).toEqual({
    ok: true,
    statement: expect.stringMatching(
      /^trading is halted for greedy \(scope strategy:greedy\), since .* UTC by ann: the test says so; to resume: perpd trading active --scope greedy$/,
    ),
  })
  expect(await command(there, trade('active'))).toEqual({
    ok: true,
    statement:
      'trading is active everywhere (scope global); still halted for greedy (scope strategy:greedy) by operator (the test says so; an operator releases it: perpd trading active --scope greedy)',
  })
  await there.clock.advance(10_000)
  expect(submits(there)).toBe(0)
  expect(await command(there, { ...own, state: 'active' })).toEqual({
    ok: true,
    statement: 'trading is active for greedy (scope strategy:greedy)',
  })
  await there.clock.advance(10_000)
  expect(submits(there)).toBeGreaterThan(0)
})

test('reading limits anew says what else changed and waits for a restart', async () => {
  const there = world({ readLimits: () => ({ waiting: ['log.level', 'strategy eth-grid is new'] }) })
  await there.engine.start()
  expect(await command(there, { type: 'limits', isConfirmed: false })).toMatchObject({
    ok: true,
    statement:
      'the limits in force are the configured ones; other changes need a restart: log.level, strategy eth-grid is new',
  })
})

test('limits in force are shown though what is configured cannot be used, and none is changed by it', async () => {
  const there = world({
    limits: { account: { maxPositionSizeUsd: usd(1_000) }, markets: {} },
    readLimits: () => {
      throw new BaseError('The configuration has a problem.\n  risk.maxLeverage is "lots".', {
        code: 'CONFIG_INVALID',
      })
    },
  })
  await there.engine.start()
  expect(await command(there, { type: 'limits', isConfirmed: false, isPreview: true })).toMatchObject({
    ok: true,
    statement: expect.stringMatching(/^the configuration is invalid, nothing was changed: .*"lots"/),
    limits: expect.arrayContaining([{ scope: 'account', limit: 'maxPositionSizeUsd', value: '$1,000.00' }]),
    waiting: [],
  })
  expect(await command(there, { type: 'limits', isConfirmed: false })).toMatchObject({
    ok: false,
    code: 'CONFIG_INVALID',
  })
})

test('who has a strategy forget what it does not remember is told which of the two it is', async () => {
  const there = world()
  await there.engine.start()
  const forget = (strategy: string) => command(there, { type: 'forget', strategy })
  expect(await forget('nobody')).toMatchObject({
    code: 'STRATEGY_UNKNOWN',
    reason: 'there is no strategy nobody; there are greedy',
  })
  expect(await forget('greedy')).toMatchObject({
    code: 'MEMORY_UNKNOWN',
    reason: expect.stringMatching(/^the kind \w+ of greedy has no memory/),
  })
})

test('a journal that is short of space is named as why it is not ready', async () => {
  const { journal } = watchedJournal()
  let isShort = false
  journal.isShort = () => isShort
  const there = world({ journal })
  await there.engine.start()
  expect(there.engine.status().notReady).toEqual([])
  isShort = true
  expect(there.engine.status().notReady).toEqual([
    'the journal memory: is short of space, so increases wait: free space on its disk, or raise journal.maxMiB',
  ])
  isShort = false
  expect(there.engine.status().notReady).toEqual([])
})

test('a stop does not wait for what merely rests, and names what nobody manages from then on', async () => {
  const there = world()
  await there.engine.start()
  await there.clock.advance(20_000)
  expect(there.engine.status().positions).toHaveLength(1)
  expect(there.engine.status().openIntents.map(({ label }) => label)).toEqual(['resting'])
  const stopped = there.engine.stop('SIGINT')
  await there.clock.advance(1_500)
  await stopped
  expect(there.events.at(-1)).toMatchObject({
    type: 'daemon.stopped',
    openIntents: 1,
    positions: [expect.stringMatching(/^long ETH\/USD \[WETH-USDC\] of \$[\d,.]+$/)],
  })
})

test('limits of a market, of a strategy file and of breakers tighten at once and are obeyed at once', async () => {
  let configured: Partial<ConfiguredLimits> = {}
  const there = world({
    readLimits: () => configured,
    limits: {
      account: { maxPositionSizeUsd: usd(1_000) },
      markets: { [symbol]: { maxLeverageBps: 100_000 } },
    },
    own: { maxOrdersPerHour: 100 },
    breakers: { rejectsInRow: 5, sets: { rejects: 'halted' } },
  })
  await there.engine.start()
  configured = {
    markets: { [symbol]: { maxLeverageBps: 20_000, maxOrdersPerHour: 1 } },
    strategies: { greedy: { maxOrdersPerHour: 200, maxSlippageBps: 30 } },
    breakers: { rejectsInRow: 2, staleMs: 60_000, sets: { unexplained: 'halted' } },
  }
  expect(await command(there, { type: 'limits', isConfirmed: false })).toMatchObject({
    ok: true,
    statement:
      `in force: ${symbol} maxLeverage 10x -> 2x, ${symbol} maxOrdersPerHour none -> 1, ` +
      'breakers rejectsInRow 5 -> 2, breakers staleSeconds none -> 60 s, breakers unexplained reducing -> halted, strategy greedy maxSlippageBps none -> 0.3% (30 bps); ' +
      'looser, so they need a restart or perpd limits apply --confirm: breakers rejects halted -> reducing, strategy greedy maxOrdersPerHour 100 -> 200',
  })
  await there.clock.advance(10_000)
  const [first, ...others] = there.journal.recentIntents().map(({ intent }) => intent)
  expect(others).toEqual([])
  expect(first?.terms.slippageBps).toBe(30)
  // Twice the collateral of what was asked for at five times.
  expect(first?.terms.sizeDeltaUsd).toBe(usd(200))
  expect(codes(there)).toContain('ORDERS_PER_HOUR')
  there.engine.abort()

  // Over a restart the market's hour still counts what was made before it.
  const again = world({
    bench: there,
    journal: there.journal,
    limits: { account: { maxPositionSizeUsd: usd(1_000) }, markets: { [symbol]: { maxOrdersPerHour: 1 } } },
  })
  await again.engine.start()
  await again.clock.advance(10_000)
  expect(again.journal.recentIntents()).toHaveLength(1)
})

test('a start takes the configured limits, tells which are looser than before, and keeps that in the journal', async () => {
  const { journal, kept } = watchedJournal()
  const limits = (maxOrderSizeUsd: number, maxSlippageBps: number): LimitSet => ({
    account: { maxOrderSizeUsd: usd(maxOrderSizeUsd), maxSlippageBps },
    markets: {},
  })
  const told = ({ events }: World) => events.filter(({ type }) => type === 'limits.started')
  const first = world({ journal, limits: limits(500, 50), readLimits: () => limits(100, 50) })
  await first.engine.start()
  await command(first, { type: 'limits', isConfirmed: false })
  first.engine.abort()
  const second = world({ bench: first, journal, limits: limits(100, 50) })
  await second.engine.start()
  expect([told(first), told(second)]).toEqual([[], []])
  second.engine.abort()
  const written = kept.length
  const third = world({ bench: first, journal, limits: limits(700, 40) })
  await third.engine.start()
  const statement =
    'looser by this start: maxOrderSizeUsd $100.00 -> $700.00; tighter: maxSlippageBps 0.5% (50 bps) -> 0.4% (40 bps)'
  expect(told(third)).toEqual([{ type: 'limits.started', statement, isLooser: true }])
  expect(kept.slice(written).map((record) => ('command' in record ? record.command : record.kind))).toEqual([
    'limits.changed',
    'limits.in-force',
  ])
  expect(kept[written]).toMatchObject({ detail: statement, by: 'the start' })
})

test('a share of the equity that was lost in a day opens its breaker', async () => {
  const settings: Partial<VenueSettings> = {
    replay: pathOf([
      [0, 2_000],
      [60, 2_000],
      [90, 1_800],
      [100_000, 1_800],
    ]),
  }
  const there = world({
    settings,
    limits: { account: { maxPositionSizeUsd: usd(500), maxDailyLossEquityBps: 3 }, markets: {} },
  })
  await there.engine.start()
  await there.clock.advance(55_000)
  expect(there.engine.status().halts).toEqual([])
  await there.clock.advance(120_000)
  expect(there.engine.status().halts).toMatchObject([{ cause: 'daily-loss', releasedBy: 'next-day' }])
})

test('what the key signs for in a time is capped whatever admission says; what rests is cancelled and closed all the same', async () => {
  const bench = venueBench({ settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 } })
  const exposure = { capUsd: usd(1_200), windowSeconds: 3_600 }
  const guard = openGuard({ horizonSeconds: 3_700, marginSeconds: 600, exposure, now: bench.clock.now })
  const limits = { account: { maxPositionSizeUsd: usd(100_000) }, markets: {} }
  const there = world({ bench, guard, limits })
  await there.engine.start()
  await there.clock.advance(60_000)
  const all = there.journal.recentIntents()
  const signed = all.filter(({ attempts }) => attempts.some(({ armed }) => armed !== undefined))
  expect(signed.map(({ intent }) => intent.reservationUsd)).toEqual([usd(500), usd(500)])
  const refused = all.flatMap(({ closing }) =>
    closing?.code === 'SIGN_EXPOSURE_CAP' ? [closing.reason] : [],
  )
  expect(refused.length).toBeGreaterThan(1)
  expect(refused[0]).toContain('The message would exceed the exposure that the key may sign in this window.')
  await command(there, { type: 'kill', close: true })
  await there.clock.advance(60_000)
  expect(there.engine.status().kill).toMatchObject({ outcome: 'done', left: { orders: 0, positions: 0 } })
})

test('slippage that is tightened below what a file asks for denies what adds, and narrows the way out', async () => {
  let configured: Partial<ConfiguredLimits> = {}
  const there = world({
    slippageBps: 100,
    readLimits: () => configured,
    limits: { account: { maxPositionSizeUsd: usd(500), maxSlippageBps: 100 }, markets: {} },
    strategy: leaving,
  })
  await there.engine.start()
  await there.clock.advance(20_000)
  configured = { account: { maxPositionSizeUsd: usd(500), maxSlippageBps: 40 } }
  await command(there, { type: 'limits', isConfirmed: false })
  await there.clock.advance(60_000)
  expect(codes(there)).toContain('SLIPPAGE_TOO_WIDE')
  const made = there.journal.recentIntents().map(({ intent }) => [intent.kind, intent.terms.slippageBps])
  expect(made).toContainEqual(['increase', 100])
  expect(made).toContainEqual(['close', 40])
})
