/** Exits of a file in `perpd strategies test`: what moves them, closes by them and replaces them, in the situations that come with perpd. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { perpd } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-trial-exits-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Opens a long of the file's size at its first turn, and nothing after; cancels its stop-loss at the turn that its file names. */
beforeAll(() =>
  writeFileSync(
    join(folder, 'once.ts'),
    `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  kind: 'once',
  description: 'Opens once.',
  params: z.strictObject({ cancelAt: z.number().optional(), limitBelowBps: z.number().optional() }),
  needs: (_params, symbols) => ({ symbols }),
  memory: { version: 1, schema: z.strictObject({ turn: z.number() }), first: { turn: 1 } },
  decide: (view, { turn }) => {
    const { cancelAt, limitBelowBps } = view.params
    const [symbol] = view.instance.symbols
    const market = view.market(symbol)
    const base = { marketToken: market.market.marketToken, direction: 'long', reason: 'The test wishes it.' }
    const price = market.oraclePrice.value.medianPrice
    const resting = view.restingOrders.filter(({ orderType }) => orderType === (limitBelowBps ? 'limit' : 'stop-loss'))
    const { size } = view.instance
    const opening = {
      ...base, kind: 'increase', sizeDeltaUsd: size.usd, leverageBps: size.leverageBps,
      collateralToken: market.market.shortToken,
      ...(limitBelowBps ? { orderType: 'limit', triggerPrice: price - (price * BigInt(limitBelowBps)) / 10_000n } : {}),
    }
    const cancel = { ...base, kind: 'cancel', orderKeys: resting.map(({ orderKey }) => orderKey) }
    return { decisions: turn === 1 ? [opening] : turn === cancelAt ? [cancel] : [], memory: { turn: turn + 1 } }
  },
})
`,
  ),
)

interface Line {
  readonly turn: number
  readonly what: string
  readonly outcome: string
  readonly reason: string
}
interface Tried {
  readonly decisions: number
  readonly exitDecisions: number
  readonly denied: Readonly<Record<string, number>>
  readonly lines: readonly Line[]
}

async function tried(exit: string, situation: string, params = '{}'): Promise<Tried> {
  writeFileSync(
    join(folder, 'once.yaml'),
    `kind: ./once.ts
market: "ETH/USD [WETH-USDC]"
size: { usd: 300, leverage: 2, collateral: short }
exit: ${exit}
params: ${params}
`,
  )
  const { code, out, err } = await perpd(folder, [
    'strategies',
    'test',
    'once.yaml',
    '--situation',
    situation,
    '--json',
  ])
  expect([code, err]).toEqual([0, ''])
  return (JSON.parse(out) as { readonly situations: readonly [Tried] }).situations[0]
}

const told = ({ lines }: Tried) => lines.map(({ turn, what, outcome }) => `${turn} ${what}: ${outcome}`)
const exitLines = ({ lines }: Tried) => lines.filter(({ what }) => what.startsWith('exit: '))
/** Prices that a reason names, in its order. */
const pricesIn = ({ reason }: Line) =>
  [...reason.matchAll(/(?:from|to|at) \$([\d,.]*\d)/g)].map(([, price = '']) =>
    Number(price.replaceAll(',', '')),
  )
const entryOf = ({ lines }: Tried) =>
  pricesIn(lines.find(({ outcome }) => outcome === 'opened') as Line)[0] ?? 0

// A trial takes seconds of a processor, which other tests use too.
vi.setConfig({ testTimeout: 300_000 })

test('a trailing stop follows the price once it is active, never goes back, and takes the profit when the price falls', async () => {
  const squeeze = await tried(
    '{ stopLoss: { bps: 500 }, trailingStop: { bps: 300, activation: { bps: 200 } } }',
    'squeeze',
  )
  const moves = exitLines(squeeze)
  expect(moves.length).toBeGreaterThan(5)
  expect(squeeze).toMatchObject({ exitDecisions: moves.length, decisions: moves.length + 1, denied: {} })
  const levels = moves.map(pricesIn)
  const [first] = levels
  // The level is of the price at the decision, and the entry filled seconds later.
  expect((first?.[0] ?? 0) / entryOf(squeeze)).toBeCloseTo(0.95, 3)
  for (const [from = 0, to = 0] of levels) expect(to).toBeGreaterThan(from)
  // Each move begins where the last one ended.
  expect(levels.slice(1).map(([from]) => from)).toEqual(levels.slice(0, -1).map(([, to]) => to))
  const end = squeeze.lines.at(-1)
  expect([end?.outcome, end?.reason]).toEqual(['stop-loss', expect.stringMatching(/PnL \$\d+\.\d\d after/)])
  const [filledAt = 0] = end ? pricesIn(end) : []
  expect(filledAt).toBeLessThanOrEqual(levels.at(-1)?.[1] ?? 0)
  expect(filledAt).toBeGreaterThan(entryOf(squeeze) * 1.05)
})

test('a trailing stop moves at most every moveEverySeconds, and for no less than moveStepUsd', async () => {
  const exit = (rest: string) => `{ trailingStop: { bps: 300 }, ${rest} }`
  const often = await tried(exit('moveStepUsd: 0'), 'trend-up')
  const seldom = await tried(exit('moveStepUsd: 0, moveEverySeconds: 1200'), 'trend-up')
  const turns = exitLines(seldom).map(({ turn }) => turn)
  expect(turns.slice(1).every((turn, index) => turn - (turns[index] ?? 0) >= 20)).toBe(true)
  const large = await tried(exit('moveStepUsd: 3'), 'trend-up')
  for (const [from = 0, to = 0] of exitLines(large).map(pricesIn))
    expect(((to - from) / entryOf(large)) * 300).toBeGreaterThan(2.99)
  const counts = [often, seldom, large].map((each) => each.exitDecisions)
  expect(counts[0]).toBeGreaterThan(3 * Math.max(counts[1] ?? 0, counts[2] ?? 0))
  expect(Math.min(...counts)).toBeGreaterThan(2)
})

test('a break-even moves the stop-loss to the entry once, and nothing where the price never went far enough', async () => {
  const exit = '{ stopLoss: { bps: 500 }, breakEven: { after: { bps: 30 }, offsetBps: 15 } }'
  const up = await tried(exit, 'trend-up')
  expect(exitLines(up)).toMatchObject([{ what: 'exit: edit long ETH/USD $300.00', outcome: 'taken' }])
  const [moved] = exitLines(up)
  expect(((moved && pricesIn(moved)[1]) ?? 0) / entryOf(up)).toBeCloseTo(1.0015, 3)
  const down = await tried(exit, 'trend-down')
  expect([exitLines(down), down.lines.at(-1)?.outcome]).toEqual([[], 'stop-loss'])
})

test('a time limit closes what is held at the turn at which the newest entry is so old', async () => {
  const chop = await tried('{ stopLoss: { bps: 900 }, timeLimitSeconds: 3600 }', 'chop')
  expect(told(chop)).toEqual([
    '1 increase long ETH/USD $300.00: taken',
    '1 long ETH/USD $300.00: opened',
    '62 exit: close long ETH/USD $300.00: taken',
    '62 long ETH/USD $300.00: reduced',
  ])
  // The entry filled seconds after the first turn, so that it is not yet an hour old at turn 61.
  expect(chop.lines[2]?.reason).toMatch(
    /^The newest entry is 36\d\d s old, past the time limit of the file\.$/,
  )
})

test('a target of a ladder that filled takes the stop-loss down to what is left', async () => {
  const up = await tried(
    '{ stopLoss: { bps: 500 }, takeProfit: [{ bps: 100, shareBps: 5000 }, { bps: 200, shareBps: 3000 }] }',
    'trend-up',
  )
  expect(told(up)).toEqual([
    '1 increase long ETH/USD $300.00: taken',
    '1 long ETH/USD $300.00: opened',
    '52 long ETH/USD $150.00: take-profit',
    '53 exit: edit long ETH/USD $150.00: taken',
    '103 long ETH/USD $90.00: take-profit',
    '104 exit: edit long ETH/USD $60.00: taken',
  ])
})

test('a stop-loss that is missing is placed anew, and what it closes later is all that is held', async () => {
  const down = await tried('{ stopLoss: { bps: 500 } }', 'trend-down', '{ cancelAt: 10 }')
  expect(told(down).slice(2)).toEqual([
    '10 cancel long ETH/USD: taken',
    '11 exit: decrease (stop-loss) long ETH/USD $300.00: taken',
    expect.stringMatching(/^\d+ long ETH\/USD \$300\.00: stop-loss$/),
  ])
})

test('exits whose entry was cancelled before it filled are cancelled too', async () => {
  const chop = await tried('{ stopLoss: { bps: 500 } }', 'chop', '{ cancelAt: 10, limitBelowBps: 800 }')
  expect(told(chop)).toEqual([
    '1 increase (limit) long ETH/USD $300.00: taken, ended CANCELLED_BY_ACCOUNT',
    '10 cancel long ETH/USD: taken',
    '11 exit: cancel long ETH/USD: taken',
  ])
})

test('a gap past the place of a missing stop-loss closes at once', async () => {
  const gap = await tried('{ stopLoss: { bps: 200 } }', 'gap', '{ cancelAt: 120 }')
  expect(told(gap).slice(2)).toEqual([
    '120 cancel long ETH/USD: taken',
    '121 exit: close long ETH/USD $300.00: taken',
    '121 long ETH/USD $300.00: reduced',
  ])
  expect(gap.lines[3]?.reason).toContain('where the stop-loss of the file belongs')
})

test('the table says what perpd decides for the exits of a file', async () => {
  await tried('{ stopLoss: { bps: 900 }, timeLimitSeconds: 3600 }', 'chop')
  const { out } = await perpd(folder, ['strategies', 'test', 'once.yaml', '--situation', 'chop'])
  expect(out).toContain('What begins with "exit:" is what perpd does for the exits of the file')
  expect(out).toMatch(/62 +exit: close long ETH\/USD \$300\.00 +taken/)
  expect(out).toMatch(/SITUATION +DECISIONS +OF EXITS +FILLS/)
})
