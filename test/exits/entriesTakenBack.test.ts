/** Entries that rest when the rules of a file keep entries back, over real sockets to the paper venue: they are cancelled, and laid anew after it. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { type ClosingMoment, weekdays } from '../../src/domain/limits/closingTimes.ts'
import type { Protections } from '../../src/domain/limits/protection.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ann, opening, restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let engine: Engine | undefined
afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

/** Opens a long, and keeps a limit below the price and a stop-market above it at rest. */
const layer = defineStrategy({
  kind: 'layer',
  description: 'Keeps entries at rest.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    if (market === undefined) return []
    const entry = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'laid',
    }
    const isUnderWay = view.openIntents.some(({ onlyExitsRest }) => !onlyExitsRest)
    if (view.ownPositions(ethSymbol).length === 0) return isUnderWay ? [] : [entry]
    const rests = (type: string) =>
      view.openIntents.some(({ kind, orderType }) => kind === 'increase' && orderType === type)
    return [
      ...(rests('limit')
        ? []
        : [{ ...entry, orderType: 'limit' as const, triggerPrice: usd(1_900), tpsl: [] }]),
      ...(rests('stop-market')
        ? []
        : [{ ...entry, orderType: 'stop-market' as const, triggerPrice: usd(2_030), tpsl: [] }]),
    ]
  },
}) as Strategy

/** The wall clock of UTC so many minutes from now. */
function momentIn(nowMs: number, minutes: number): ClosingMoment {
  const [date = '', time = ''] = new Date(nowMs + minutes * 60_000).toISOString().split('T')
  return { date, minute: Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5)) }
}

test("an instance's entries that rest are cancelled once when its closing comes near, its exits and a hand's entry stay, and they are laid anew after it", {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const { clock, journal } = bench
  const closings = {
    timeZone: 'UTC',
    spans: [{ from: momentIn(clock.now(), 4), to: momentIn(clock.now(), 6) }],
    beforeMs: 120_000,
    afterMs: 60_000,
  }
  const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: 2_000 } }
  const strategy = loadedOf(layer, 'layer', [ethSymbol], { cadenceMs: 2_000, exits, protect: { closings } })
  const at = engineOver(bench, { strategies: [strategy] })
  engine = at.engine
  await engine.start()
  expect(
    await engine.operate({ ...opening, id: 'by-hand', direction: 'long', limit: '1500', far: true }, ann),
  ).toMatchObject({
    ok: true,
  })
  await clock.advance(60_000)
  const before = await restingAt(bench)
  expect(before.filter((row) => !row.startsWith('long 6'))).toEqual([
    'long 3 1500 500',
    'long 3 1900 200',
    'long 8 2030 200',
  ])
  const cancels = () =>
    journal
      .recentIntents({ strategy: 'layer' })
      .filter(({ intent: { decision } }) => decision.reason.startsWith('Entries are cancelled by the file'))
  expect(cancels()).toEqual([])

  await clock.advance(90_000)
  const within = await restingAt(bench)
  expect(within.filter((row) => !row.startsWith('long 6'))).toEqual(['long 3 1500 500'])
  expect(within.filter((row) => /^long 6 \S+ 200$/.test(row)).length).toBeGreaterThan(0)
  const [first, ...more] = cancels()
  expect(more).toEqual([])
  expect(first?.intent.terms.cancelOrderKeys).toHaveLength(2)
  expect(first?.intent.decision.reason).toMatch(
    /^Entries are cancelled by the file of the strategy: its markets close in \d+ s\.$/,
  )

  await clock.advance(150_000)
  expect(at.codes()).toContain('AROUND_CLOSING')
  const late = await restingAt(bench)
  expect(late.filter((row) => !row.startsWith('long 6'))).toEqual(['long 3 1500 500'])
  await clock.advance(150_000)
  const after = await restingAt(bench)
  expect(after.filter((row) => !row.startsWith('long 6'))).toEqual([
    'long 3 1500 500',
    'long 3 1900 200',
    'long 8 2030 200',
  ])
})

/** What rests, but for exits. */
async function entriesOf(of: KindsBench): Promise<readonly string[]> {
  return (await restingAt(of)).filter((row) => !row.startsWith('long 6'))
}

interface Story {
  /** Its block, by the instant of the start, Unix ms. */
  readonly protect: (nowMs: number) => Protections
  /** Where its stop-loss is, basis points from the entry. */
  readonly stopBps: number
}

/** The price falls two minutes after the start, and comes back two minutes later. */
const downAndUp: PricePath = [
  [0, 2_000],
  [120, 2_000],
  [121, 1_920],
  [240, 1_920],
  [241, 2_000],
  [3_600, 2_000],
]

async function started({ protect, stopBps }: Story) {
  const made = await kindsBench({ path: downAndUp })
  bench = made
  const { clock, journal } = made
  const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: stopBps } }
  const strategy = loadedOf(layer, 'layer', [ethSymbol], {
    cadenceMs: 2_000,
    exits,
    protect: protect(clock.now()),
  })
  const start = async () => {
    const { engine: next } = engineOver(made, { strategies: [strategy] })
    engine = next
    await next.start()
    return next
  }
  const first = await start()
  const byHand = { ...opening, id: 'by-hand', direction: 'long', limit: '1500', far: true } as const
  expect(await first.operate(byHand, ann)).toMatchObject({ ok: true })
  await clock.advance(60_000)
  const cancels = () =>
    journal
      .recentIntents({ strategy: 'layer' })
      .filter(({ intent: { decision } }) => decision.reason.startsWith('Entries are cancelled by the file'))
      .map(({ intent: { decision, terms } }) => ({
        reason: decision.reason,
        rule: decision.facts?.protect,
        orders: terms.cancelOrderKeys?.length,
      }))
  const restart = async () => {
    engine?.abort()
    await start()
  }
  return { made, clock, cancels, restart }
}

const entries = ['long 3 1500 500', 'long 3 1900 200', 'long 8 2030 200']

test.each<readonly [string, string, Story]>([
  [
    'tradingWindows',
    'Entries are cancelled by the file of the strategy: none of its trading windows is open.',
    {
      stopBps: 2_000,
      protect: (nowMs) => ({
        windows: {
          timeZone: 'UTC',
          open: [
            {
              days: [...weekdays],
              fromMinute: momentIn(nowMs, 5).minute,
              toMinute: momentIn(nowMs, 2).minute,
            },
          ],
        },
      }),
    },
  ],
  [
    'stopsInWindow',
    'Entries are cancelled by the file of the strategy: it pauses after its stops.',
    {
      stopBps: 200,
      protect: () => ({ stops: { count: 1, windowMs: 600_000, pauseMs: 150_000 } }),
    },
  ],
  [
    'maxDrawdownUsd',
    'Entries are cancelled by the file of the strategy: its result is too far below its peak.',
    { stopBps: 2_000, protect: () => ({ maxDrawdownUsd: usd(7) }) },
  ],
])(
  "protect.%s takes an instance's entries back once, over a restart too, leaves a hand's, and has them laid anew",
  { timeout: 240_000 },
  async (rule, reason, story) => {
    const { made, clock, cancels, restart } = await started(story)
    expect([await entriesOf(made), cancels()]).toEqual([entries, []])
    await clock.advance(105_000)
    expect(await entriesOf(made)).toEqual(['long 3 1500 500'])
    expect(cancels()).toEqual([{ reason, rule, orders: 2 }])
    await restart()
    await clock.advance(45_000)
    expect([await entriesOf(made), cancels().length]).toEqual([['long 3 1500 500'], 1])
    await clock.advance(150_000)
    expect([await entriesOf(made), cancels().length]).toEqual([entries, 1])
  },
)

test('a cooldown after an exit takes nothing back that rests', { timeout: 240_000 }, async () => {
  const { made, clock, cancels } = await started({
    stopBps: 200,
    protect: () => ({ cooldownMs: 600_000 }),
  })
  expect(await entriesOf(made)).toEqual(entries)
  await clock.advance(105_000)
  expect(made.journal.books().partsOf('layer')).toEqual([])
  expect([await entriesOf(made), cancels()]).toEqual([entries, []])
})

/** Begins a ladder by price, once. */
const ladders = defineStrategy({
  kind: 'ladders',
  description: 'Begins a ladder.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    if (market === undefined) return []
    const task = {
      kind: 'ladder' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      collateralToken: collateralTokenOf(market, 'short'),
      sizeUsd: usd(600),
      leverageBps: 20_000,
      rungs: 3,
      stepBps: 200,
    }
    return [{ kind: 'start-task' as const, label: 'one', task, reason: 'asked' }]
  },
}) as Strategy

test('rungs of a task that a closing takes back are made anew by it once the closing is over', {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const { clock } = bench
  const spans = [{ from: momentIn(clock.now(), 4), to: momentIn(clock.now(), 6) }]
  const closings = { timeZone: 'UTC', spans, beforeMs: 120_000, afterMs: 0 }
  const strategy = loadedOf(ladders, 'ladders', [ethSymbol], { cadenceMs: 2_000, protect: { closings } })
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await clock.advance(90_000)
  const rungs = await entriesOf(bench)
  expect(rungs.map((row) => row.split(' ').at(-1))).toEqual(['200', '200'])
  await clock.advance(90_000)
  expect(await entriesOf(bench)).toEqual([])
  await clock.advance(240_000)
  expect(await entriesOf(bench)).toEqual(rungs)
})
