/** Tables that fit: columns that matter less go first, and no word is broken. */
import { expect, test } from 'vitest'
import { isYes } from '../../src/cli/call/whoAsks.ts'
import { type Column, fitTable } from '../../src/cli/output/fitTable.ts'
import { moneyCell } from '../../src/cli/output/moneyCell.ts'
import { openQuoteText } from '../../src/cli/output/openQuoteText.ts'
import { triggersIn } from '../../src/cli/output/pricePlaces.ts'
import { closeQuoteText } from '../../src/cli/output/quoteText.ts'
import { statusText } from '../../src/cli/results/statusText.ts'
import { closingsOf, questionText } from '../../src/cli/verbs/closeAllCommand.ts'
import { outcomeText } from '../../src/cli/verbs/manualOrderCommand.ts'
import { marketsText } from '../../src/cli/verbs/marketsCommand.ts'
import { positionRows, positionsText } from '../../src/cli/verbs/positionsCommand.ts'
import { strategiesText, strategyRows } from '../../src/cli/verbs/strategiesCommand.ts'
import { tradesText } from '../../src/cli/verbs/tradesCommand.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { type TradeRow, tradeRows } from '../../src/domain/summaries/tradeView.ts'
import { createLogRing } from '../../src/monitor/log/logRing.ts'
import { quoteRows } from '../../src/operator/quotes/quoteRows.ts'
import { marketsNamed } from '../../src/protocol/marketName.ts'
import { usd } from '../../src/protocol/units.ts'
import { engine, status } from '../control/door.ts'
import { armedState, executedState, symbol } from '../monitor/events.ts'
import { orderKey } from '../support/intents.ts'

interface Row {
  readonly name: string
  readonly note: string
}
const columns: readonly Column<Row>[] = [
  { title: 'NAME', rank: 0, of: ({ name }) => name },
  { title: 'MORE', rank: 2, of: () => 'x'.repeat(30) },
  { title: 'LESS', rank: 1, of: () => 'y'.repeat(30) },
  { title: 'NOTE', rank: 0, wraps: true, of: ({ note }) => note },
]
const row = { name: 'one', note: 'words that are wrapped between each other and never inside of one' }
const longest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length))

test('columns are left out by rank until the rest fits, texts are wrapped, and wider terminals show all', () => {
  const narrow = fitTable(columns, [row], 60)
  expect(narrow).toMatchInlineSnapshot(`
    "NAME  LESS                            NOTE
    one   yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy  words that are wrapped
                                          between each other and
                                          never inside of one

    Not shown in 60 columns: MORE. A terminal of 77 shows all;
    so does --json."
  `)
  expect(fitTable(columns, [row], 30)).not.toContain('LESS  ')
  expect(fitTable(columns, [row], 77)).not.toContain('Not shown')
  const wide = fitTable(columns, [row], 200)
  expect(wide).toContain('MORE')
  expect(wide.split('\n')).toHaveLength(2)
})

const body: StatusBody = toPlain({
  ...status,
  openIntents: status.openIntents.map(orderRow),
  incidents: [],
})

test('positions and status say which fill the list lacks, and that an exposure is the careful reading', () => {
  const unlisted = 'long ETH/USD is $500.00 by its fills, but $0.00 in the list, which does not show it yet'
  const settling = {
    ...body,
    positions: [],
    unlistedFills: [unlisted],
    exposureMaybeTwiceUsd: usd(500).toString(),
  }
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  expect(said(positionsText([], settling, 80))).toContain(unlisted)
  expect(said(positionsText([], settling, 80))).toContain('The venue lists no position yet')
  expect(said(positionsText([], body, 80))).toContain('No positions')
  expect(said(statusText(settling))).toContain(unlisted)
  expect(said(statusText(settling))).toContain(
    'notional at most $1,000.00 ($500.00 of it may be one fill counted twice)',
  )
  expect(statusText(body)).toContain('notional $1,000.00,')
})

test('every table fits 80 columns and has its figures', async () => {
  const positions = positionsText(
    body.positions.map((each) => ({
      ...each,
      market: symbol,
      managers: [],
      restingOrders: [],
      netPnlUsd: null,
      ageMs: 1_000,
    })),
    body,
    80,
  )
  const trades = tradesText(
    [executedState, armedState].flatMap((state) => tradeRows(state)),
    80,
  )
  const markets = marketsText(toPlain(await engine.markets()), 0, 80)
  const costs = {
    heldUsd: usd(300).toString(),
    referencePrice: usd(3_000).toString(),
    signedPrice: usd(3_030).toString(),
    slippageBps: 100,
    impactBudgetBps: null,
    expected: {
      ...{ positionFeeUsd: usd('0.3').toString(), positionFeeBps100: 600, sendingBy: 'chain' as const },
      ...{ priceImpactUsd: usd('0.1').toString(), sendingUsd: usd('0.33').toString() },
      totalUsd: usd('0.73').toString(),
    },
    boundPrice: usd(3_060).toString(),
    boundPriceUsd: usd(10).toString(),
    venueFeesUsd: usd('0.5').toString(),
    venueFeeBps100: 1_000,
    orderFeesUsd: usd(5).toString(),
    worstCostUsd: usd('15.5').toString(),
  }
  const side = (size: number) => ({
    ...{ sizeUsd: usd(size).toString(), leverageBps: '20000', liquidationBps: 4_850 },
    liquidationPrice: usd(1_545).toString(),
  })
  const outlook = {
    ...{ tokens: '0.1667 ETH', comesBackUsd: usd('0.1').toString(), before: side(300), after: side(800) },
    ...{ lostAtStopUsd: usd('-34.12').toString(), wonAtTargetUsd: usd('68.24').toString() },
    limits: [{ limit: 'maxPositionSizeUsd', usedUsd: usd(800).toString(), wholeUsd: usd(1_000).toString() }],
    ...{ cap: null, farBps: null, atMs: 0, priceAtMs: 0 },
    quoted: { market: symbol, size: '500', cost: '15.5', price: '3060' },
  }
  const quote = openQuoteText(
    quoteRows({
      market: symbol,
      direction: 'long',
      orderType: 'market',
      sizeUsd: usd(500).toString(),
      leverageBps: 20_000,
      collateral: '250 USDC',
      triggerPrice: null,
      exits: [
        { type: 'stop-loss', triggerPrice: usd('2800.12345').toString(), sizeUsd: usd(500).toString() },
      ],
      ...costs,
      ...outlook,
      managers: ['eth-trend'],
      guardWarnings: [
        'guard would reduce it at once: its liquidation would be about 7.9% away, but guard keeps it 8% away; take less leverage',
      ],
    }),
  )
  const close = closeQuoteText({
    ...costs,
    ...{ market: symbol, direction: 'long', sizeUsd: usd(150).toString() },
    ...{ pnlUsd: usd('0.5').toString(), netPnlUsd: usd('-0.23').toString() },
    parts: [
      { strategy: '@operator', sizeUsd: usd(100).toString(), pnlUsd: usd('0.4').toString() },
      { strategy: 'grid', sizeUsd: usd(50).toString(), pnlUsd: usd('0.1').toString() },
    ],
  })
  for (const text of [positions, trades, markets, quote, close])
    expect(longest(text), text).toBeLessThanOrEqual(80)
  expect(positions).toContain('PNL')
  expect(markets).toContain('CAPACITY')
  expect(markets).toMatch(/FEE \(BPS\)[\s\S]* \d+\/\d+\b/)
  expect(markets.replace(/\s+/g, ' ')).toContain('the first figure where the order balances longs and shorts')
  expect(quote).toContain('WARNING     guard would reduce it at once')
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  for (const text of [quote, close]) {
    expect(said(text)).toContain('at the market, about $3,000.00 now')
    expect(text).not.toContain('eth-trend')
  }
  // One worst price and its cost, in one sentence of a close and in one row of an opening.
  expect(said(close)).toContain('at worst a fill at $3,060.00, or none: at most $15.50 with all fees')
  expect(close).not.toContain('slippage')
  expect(said(close)).toContain('of the part opened by hand, $100.00 (PnL $0.40), grid, $50.00 (PnL $0.10)')
  for (const row of [
    `open long ${symbol}, $500.00 (0.1667 ETH) at 2x with 250 USDC`,
    'costs expected at most',
    'price impact and slippage $0.10 $10.00',
    "venue's fee $0.30 $0.50",
    'sending and execution, $0.10 comes back $0.33 $5.00',
    'all, to open $0.73 $15.50',
    'position $300.00 at 2.00x > $800.00 at 2.00x',
    'liquidation $1,545.00 > $1,545.00, 48.5% away; the stop-loss comes first',
    'result -$34.12 at the stop-loss, $68.24 at the take-profit, 2.00 to 1, after all costs',
    'limits then maxPositionSizeUsd $800.00 of $1,000.00',
  ])
    expect(said(quote)).toContain(row)
  expect(said(quote).match(/not beyond \$3,060\.00/g)).toHaveLength(1)
  expect(said(quote)).toContain(
    'exits stop-loss at $2,800.12: it closes at most the $500.00 that this order adds; the $300.00 held before keeps the exits it has',
  )
  const resting = openQuoteText(
    quoteRows({
      ...{ market: symbol, direction: 'long', orderType: 'limit', sizeUsd: usd(120).toString() },
      ...{ leverageBps: 20_000, collateral: '60 USDC', triggerPrice: usd(2_900).toString() },
      exits: [{ type: 'take-profit', triggerPrice: usd(3_100).toString(), sizeUsd: usd(120).toString() }],
      ...costs,
      ...outlook,
      impactBudgetBps: 30,
      managers: ['eth-trend', 'guard'],
      guardWarnings: [],
    }),
  )
  expect(said(resting)).toContain(
    'WARNING the exits rest while this order still waits: one whose price is reached before closes up to $120.00 of the $300.00 that is held, and is gone when this order fills',
  )
  expect(said(resting)).toContain(
    'rests until the price reaches $2,900.00 ($3,000.00 now), with up to 0.3% of price impact',
  )
  expect(said(close)).toContain(
    `close $150.00 of the long ${symbol} of $300.00, at the market, about $3,000.00 now`,
  )
  expect(said(close)).toContain(
    'PnL $0.50 of it now, before closing costs; what opening it cost is not in it',
  )
  expect(said(close)).toContain('; PnL after these costs -$0.23')
})

test('a question is answered with yes or y, and by nothing else', () => {
  expect(['yes', ' yes ', 'y', 'Y', 'ye', 'YES', '', 'yes please', 'n'].filter(isYes)).toEqual([
    ...['yes', ' yes ', 'y', 'Y', 'YES'],
  ])
})

test('positions at 80 columns name what they leave out, and keep size, mark, leverage, PnL and exits', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const large = usd(1_234_567).toString()
  const row = {
    ...one,
    ...{ market: 'AVAX/USD [WAVAX-USDC]', managers: ['eth-trend', 'guard'], ageMs: 1_000, restingOrders: [] },
    ...{
      sizeInUsd: large,
      entryPrice: large,
      markPrice: large,
      liquidationPrice: large,
      pnlAfterFeesUsd: large,
    },
    ...{ remainingCollateralUsd: large, leverageBps: '20000', netPnlUsd: null },
  }
  const narrow = positionsText([row], body, 80)
  expect(longest(narrow), narrow).toBeLessThanOrEqual(80)
  const [titles = ''] = narrow.split('\n')
  for (const title of ['MARKET', 'SIZE', 'MARK', 'LEV', 'PNL', 'EXITS']) expect(titles).toContain(title)
  const [, columnsNeeded] =
    /Not shown in 80 columns: .*LIQUIDATION, ENTRY, COLLATERAL, WORTH\. A terminal of (\d+) shows all; so does --json\./.exec(
      narrow.replaceAll('\n', ' '),
    ) ?? []
  const wide = positionsText([row], body, Number(columnsNeeded))
  expect(wide.split('\n')[0]).toMatch(/MARK .*LIQUIDATION .*COLLATERAL +WORTH/)
  expect(wide).not.toContain('Not shown')
})

test('positions tell which exit another client changed, with what is in force and what was signed', () => {
  const [open] = body.openIntents
  if (open === undefined) throw new Error('no order')
  const leg = {
    ...({ role: 'stop-loss', status: 'resting', orderKey: '0x0e', isProvisional: false } as const),
    ...{
      executionPrice: null,
      filledAt: null,
      feesUsd: null,
      pnlUsd: null,
      venuePnlUsd: null,
      fundingReceivedUsd: null,
      sendingUsd: null,
    },
    ...{ entryCostsUsd: null, cancellingUsd: null, ownEntryUsd: null, isEntryKnown: null, inForceUsd: null },
    ...{ triggerPrice: usd(900).toString(), sizeDeltaUsd: usd(500).toString() },
  }
  const changedFrom = { triggerPrice: usd(1_200).toString(), sizeDeltaUsd: usd(500).toString() }
  const shown = (changed: typeof changedFrom | null) =>
    positionsText([], { ...body, openIntents: [{ ...open, legs: [{ ...leg, changedFrom: changed }] }] }, 80)
  expect(longest(shown(changedFrom))).toBeLessThanOrEqual(80)
  expect(shown(changedFrom).replace(/\s+/g, ' ')).toContain(
    `stop-loss of ${symbol} long: another client changed it: in force trigger $900.000, signed $1,200.00`,
  )
  expect(shown(null)).not.toContain('another client')
})

test('what a narrow screen leaves out is not explained below the table', async () => {
  const rows = toPlain(await engine.markets())
  const wide = marketsText(rows, 0, 200)
  const narrow = marketsText(rows, 0, 60)
  expect([/FEE \(BPS\) /.test(wide), wide.includes('The fee is in')]).toEqual([true, true])
  expect([/FEE \(BPS\) /.test(narrow), narrow.includes('The fee is in')]).toEqual([false, false])
  const held = body.positions.map((each) => ({
    ...each,
    market: symbol,
    managers: [],
    restingOrders: [],
    netPnlUsd: null,
    ageMs: 1_000,
  }))
  expect(positionsText(held, body, 200).replace(/\s+/g, ' ')).toContain('Entry is the oracle price')
  expect(positionsText(held, body, 60)).not.toContain('Entry is the oracle price')
})

test('the PnL of positions is after closing costs where the venue says them, and its sum is that of the cells', () => {
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  const net = (amount: string) =>
    body.positions.map((each) => ({ ...each, pnlAfterAllFeesUsd: usd(amount).toString() }))
  const shown = (positions: typeof body.positions) =>
    said(positionsText(positionRows({ ...body, positions }), { ...body, positions }, 200))
  const held = positionRows({ ...body, positions: net('0.55') })
  expect(shown(net('0.55'))).toContain(
    'PNL is after the fee and price impact of closing now: $0.55 in all. Before closing costs it is $0.99.',
  )
  expect(shown(body.positions)).toContain('PNL is before closing costs: $0.99 in all.')
  expect(shown([...net('0.55'), ...body.positions])).toContain('but for 1 of 2 before them: $1.54 in all')
  // Three cells of half a cent more than they show.
  expect(shown([...net('0.334'), ...net('0.334'), ...net('0.334')])).toContain('$0.99 in all')
  expect([positionRows(body)[0]?.netPnlUsd, held[0]?.netPnlUsd]).toEqual([null, usd('0.55').toString()])
})

test('prices of one market are of one precision in a table, with the digits that tell them apart', () => {
  const trade = (market: string, price: string): TradeRow => ({
    ...{ intentId: 'a1', orderKey: '0x0e', strategy: 'eth-trend', market, direction: 'long', kind: 'close' },
    ...{ filledAt: '2027-01-15T08:00:00.000Z', sizeDeltaUsd: null, feesUsd: null, priceImpactUsd: null },
    ...{
      pnlUsd: null,
      venuePnlUsd: null,
      fundingReceivedUsd: null,
      sendingUsd: null,
      entryCostsUsd: null,
      cancellingUsd: null,
      ownEntryUsd: null,
      isEntryKnown: null,
    },
    ...{ transactionHash: null, isProvisional: false, executionPrice: usd(price).toString() },
  })
  const link = 'LINK/USD [LINK-USDC]'
  const shown = tradesText(
    [trade(link, '10.05'), trade(link, '7.6712345'), trade('BTC/USD [BTC-USDC]', '98765.4321')],
    120,
  )
  for (const price of ['$10.0500', '$7.6712', '$98,765.43']) expect(shown).toContain(` ${price} `)
})

test('closing all asks with what each close costs and the worst price of a fill', () => {
  const [closing] = closingsOf(body, { id: 'one', shareBps: 10_000, by: 'ann' })
  if (closing === undefined) throw new Error('no position')
  const quote = {
    ...{ pnlUsd: usd('0.99').toString(), boundPrice: usd('7.6712345').toString() },
    expected: { totalUsd: usd('0.55').toString() },
  } as never
  const text = questionText([{ closing, quote }, { closing }], 10_000, 80)
  expect(text).toMatch(/\$500\.00 +\$0\.99 +\$0\.55 +\$7\.67123$/m)
  expect(text).toMatch(/\$500\.00 +\? +\? +\?$/m)
  expect(longest(text)).toBeLessThanOrEqual(80)
})

test('a strategy at 80 columns takes no more lines than its words need', () => {
  const rows = strategyRows(body, [], [], { enabled: new Map(), disabled: [], isWhole: false }).map(
    (each) => ({
      ...each,
      positions: ['long ETH/USD [WETH-USDC] $500.00', 'short BTC/USD [BTC-USDC] $1,500.00'],
      lastDecision: {
        ...{ strategy: each.name, atMs: body.nowMs, words: 'increase long ETH/USD [WETH-USDC] $500.00' },
        ...{ outcome: 'admitted' as const },
      },
    }),
  )
  const text = strategiesText(rows, body.nowMs, 80)
  expect(longest(text), text).toBeLessThanOrEqual(80)
  expect(text).toMatch(/long ETH\/USD \$500\.00$/m)
  expect(text).toMatch(/short BTC\/USD \$1,500\.00$/m)
  expect(text.split('\n').length, text).toBeLessThanOrEqual(1 + 3 * rows.length + 2)
})

test('a strategy that fails, pauses or is held back says why, since when, and what to do', () => {
  const [one] = body.strategies
  if (one === undefined) throw new Error('no strategy')
  const files = { enabled: new Map(), disabled: [], isWhole: false }
  const textOf = (strategy: Partial<typeof one>, halts: typeof body.halts = []) =>
    strategiesText(
      strategyRows({ ...body, halts, strategies: [{ ...one, ...strategy }] }, [], [], files),
      body.nowMs,
      80,
    )
      .split('\n\n')
      .slice(1)
  const failing = {
    failures: 3,
    failingSinceMs: body.nowMs - 65_000,
    lastError: 'strategies/mine.ts:8: no x',
  }
  expect(textOf({ ...failing, kindFile: 'strategies/mine.ts', pausedForMs: 60_000 })).toEqual([
    'eth-trend is paused, for 1 min 5 s: failed 3 times in a row, last error: strategies/mine.ts:8: no x\n  it resumes in 1 min 0 s; correct strategies/mine.ts, run perpd check, and load it: perpd strategies reload',
  ])
  expect(textOf({ failures: 1, failingSinceMs: body.nowMs, lastError: 'no host answered' })).toEqual([
    'eth-trend is failing, for 0 ms: failed once, last error: no host answered\n  it resumes at its next turn; full error: perpd logs --level error',
  ])
  const hold: (typeof body.halts)[number] = {
    scope: 'strategy:eth-trend',
    cause: 'operator',
    state: 'reducing',
    reason: 'news',
    by: 'ann',
    sinceMs: body.nowMs - 5_000,
    releasedBy: 'operator',
  }
  expect(textOf({ tradingState: 'reducing' }, [hold, { ...hold, scope: 'strategy:other' }])).toEqual([
    'eth-trend is reducing, for 5 s: operator, by ann: news\n  an operator releases it: perpd trading active --scope eth-trend',
  ])
  const pausedBy = { by: 'ann', reason: 'news', sinceMs: body.nowMs - 5_000 }
  expect(textOf({ pausedBy })).toEqual([
    'eth-trend is paused, for 5 s: ann says: news\n  an operator can resume it: perpd strategies resume eth-trend',
  ])
  expect(textOf({})).toEqual([])
  // A code alone says nothing: its sentence stands below.
  const denied = {
    ...{ strategy: 'eth-trend', atMs: body.nowMs, words: 'increase long', outcome: 'denied' as const },
    reason: 'NO_CAPACITY: the venue has none on this side',
  }
  expect(
    strategiesText(strategyRows({ ...body, strategies: [one] }, [denied], [], files), body.nowMs, 80)
      .split('\n\n')
      .at(-1),
  ).toBe('the last decision of eth-trend was denied: NO_CAPACITY: the venue has none on this side')
})

test('the last signal of a strategy that led to no order is told, with why and how long ago', () => {
  const [one] = body.strategies
  if (one === undefined) throw new Error('no strategy')
  const lastUnserved = { signal: 12, reason: 'its own long is held already', atMs: body.nowMs - 65_000 }
  const files = { enabled: new Map(), disabled: [], isWhole: false }
  const rows = strategyRows({ ...body, strategies: [{ ...one, lastUnserved }] }, [], [], files)
  expect(rows[0]).toMatchObject({ lastUnserved })
  expect(strategiesText(rows, body.nowMs, 80)).toContain(
    '\n\nsignal 12 of eth-trend led to no order, 1 min 5 s ago: its own long is held already',
  )
  expect(strategiesText(strategyRows(body, [], [], files), body.nowMs, 80)).not.toContain('led to no order')
})

test('status and strategies name the exits of a file that act only while perpd runs', () => {
  const [one] = body.strategies
  if (one === undefined) throw new Error('no strategy')
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  const words = 'works only while perpd runs: trailing stop, time limit'
  const files = { enabled: new Map(), disabled: [], isWhole: false }
  const strategies = [{ ...one, exitsHere: ['trailing-stop', 'time-limit'] as const }]
  const held = { ...body, strategies }
  const rows = strategyRows(held, [], [], files)
  expect(rows[0]).toMatchObject({ exitsHere: ['trailing-stop', 'time-limit'] })
  for (const width of [80, 200]) expect(said(statusText(held, width))).toContain(words)
  expect(strategiesText(rows, body.nowMs, 80)).toContain(`\n\neth-trend ${words}`)
  const nothing = said(strategiesText(strategyRows(body, [], [], files), body.nowMs, 80))
  for (const text of [nothing, said(statusText(body))]) expect(text).not.toContain('only while perpd runs')
})

test('two positions on one side of a market are closed by the token that backs each, and each has an id of its own', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const closings = closingsOf(
    { positions: [one, { ...one, collateralToken: '0xaf88' }, { ...one, sizeInUsd: '0' }], symbols: {} },
    { id: 'x', shareBps: 10_000, by: 'ann' },
  )
  expect(closings.map(({ body: sent }) => sent.collateral)).toEqual(['long', 'short'])
  expect(new Set(closings.map(({ body: sent }) => sent.id)).size).toBe(2)
  const [alone] = closingsOf({ positions: [one], symbols: {} }, { id: 'x', shareBps: 5_000, by: 'ann' })
  expect(alone?.body).not.toHaveProperty('collateral')
  expect(alone?.sizeUsd).toBe(BigInt(one.sizeInUsd) / 2n)
})

test('strategies are told apart: running, disabled, new in the files, and removed with what they left', () => {
  const left = {
    ...(body.openIntents[0] as NonNullable<(typeof body.openIntents)[number]>),
    strategy: 'old-one',
  }
  const rows = strategyRows(body, [], [left], {
    enabled: new Map([['newer', { kind: 'trend', symbols: [] }]]),
    disabled: ['asleep'],
    isWhole: true,
  })
  expect(rows.map(({ name, state }) => [name, state])).toEqual([
    ['eth-trend', 'enabled; its file was removed, not applied yet'],
    ['newer', 'new, not loaded yet'],
    ['asleep', 'disabled'],
    ['old-one', 'removed'],
  ])
  expect(rows.at(-1)?.positions.join()).toContain(`long ${symbol}`)
  const windDowns = [{ strategy: 'ended', close: true, by: 'ann', sinceMs: 0, problem: 'close: NO_HOST' }]
  const ending = strategyRows({ ...body, windDowns }, [], [], {
    enabled: new Map(),
    disabled: [],
    isWhole: false,
  })
  expect(ending.at(-1)).toMatchObject({ name: 'ended', state: 'removed, being closed: close: NO_HOST' })
})

test('a market is named by its symbol, its pair or its token, and a whole symbol wins', () => {
  const all = ['ETH/USD [WETH-USDC]', 'ETH/USD [WETH-WETH]', 'BTC/USD [BTC-USDC]'].map((each, at) => ({
    symbol: each,
    marketToken: `0x${at}`,
  }))
  expect(marketsNamed(all, 'eth').map(({ marketToken }) => marketToken)).toEqual(['0x0', '0x1'])
  expect(marketsNamed(all, 'eth/usd [weth-weth]').map(({ marketToken }) => marketToken)).toEqual(['0x1'])
  expect(marketsNamed(all, 'BTC/USD')).toHaveLength(1)
  expect(marketsNamed(all, '0x2')).toHaveLength(1)
  expect(marketsNamed(all, 'USDC')).toEqual([])
})

test('the ring gives the lines about one strategy, or about orders whose ids begin so', () => {
  const ring = createLogRing('run-1')
  const keep = (text: string, about: { strategy?: string; intentId?: string }) =>
    ring.keep({ atMs: 1, level: 'info', word: 'order', text, event: 'strategy.said', ...about })
  keep('daemon', {})
  keep('said', { strategy: 'eth-trend' })
  keep('its order', { strategy: 'eth-trend', intentId: '0x7944b4ff' })
  keep('other', { strategy: 'guard', intentId: '0x1944b4ff' })
  const texts = (about: { strategy?: string; intentId?: string }) =>
    ring.read({ after: 0, limit: 100, level: 'info', ...about }).lines.map(({ text }) => text)
  expect(texts({ strategy: 'eth-trend' })).toEqual(['said', 'its order'])
  expect(texts({ intentId: '7944' })).toEqual(['its order'])
  expect(texts({ intentId: '0x1944b4ff' })).toEqual(['other'])
  expect(texts({ strategy: 'guard', intentId: '7944' })).toEqual([])
})

test('the ring keeps the newest lines, and gives those after a number and of a level', () => {
  const ring = createLogRing('run-1', 3)
  for (let at = 1; at <= 10; at += 1) {
    const level = at % 2 === 0 ? 'warn' : 'info'
    ring.keep({ atMs: at, level, word: 'order', text: `line ${at}`, event: 'strategy.said' })
  }
  const texts = (after: number, level: 'info' | 'warn') =>
    ring.read({ after, limit: 100, level }).lines.map(({ text }) => text)
  expect(texts(0, 'info')).toEqual(['line 8', 'line 9', 'line 10'])
  expect(texts(9, 'info')).toEqual(['line 10'])
  expect(texts(0, 'warn')).toEqual(['line 8', 'line 10'])
  expect(ring.read({ after: 0, limit: 1, level: 'info' })).toMatchObject({ newest: 10, lines: [{ seq: 10 }] })
})

test('an order whose entry is filled is shown as that, with what rests of it, and not by the word on its creation', () => {
  const [open] = body.openIntents
  if (open === undefined) throw new Error('no open order')
  const leg = {
    ...{ role: 'main' as const, status: 'filled' as const, orderKey: orderKey, triggerPrice: null },
    ...{ sizeDeltaUsd: null, inForceUsd: null, changedFrom: null, executionPrice: null, filledAt: null },
    ...{ feesUsd: null, pnlUsd: null, venuePnlUsd: null, fundingReceivedUsd: null, sendingUsd: null },
    ...{
      entryCostsUsd: null,
      cancellingUsd: null,
      ownEntryUsd: null,
      isEntryKnown: null,
      isProvisional: false,
    },
  }
  const exit = { ...leg, role: 'stop-loss' as const, status: 'resting' as const }
  const shown = (legs: (typeof open)['legs']) =>
    statusText({
      ...body,
      openIntents: [{ ...open, standing: 'open', observedStatus: 'created', legs }],
    })
  expect(shown([leg, exit])).toContain('entry filled, 1 exit rests')
  expect(shown([leg, exit, { ...exit, role: 'take-profit' }])).toContain('entry filled, 2 exits rest')
  expect(shown([leg, exit])).not.toContain('the venue says')
  expect(statusText(body)).toContain('the venue says relay_accepted')
})

test('a replay stands in the head with its date and its end, and seeded prices have no line', () => {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
  const place = { file: 'eth.csv', speed: 1, atMs: Date.UTC(2025, 0, 1, 5), endMs: Date.UTC(2025, 0, 2) }
  const replay = { ...place, endsAtMs: Date.UTC(2026, 10, 28), still: [], hasEnded: false }
  expect(oneLine(statusText({ ...body, replay }))).toContain(
    'replay eth.csv is at 2025-01-01T05:00Z of 2025-01-02T00:00Z; it ends at 2026-11-28T00:00Z',
  )
  const ended = { ...replay, still: ['ETH'], hasEnded: true }
  expect(oneLine(statusText({ ...body, replay: ended }))).toContain('ETH keep their last price')
  expect(statusText(body)).not.toContain('replay')
})

test('a cancel that went through says what is cancelled, and not that an order executed', () => {
  const cancel = { ...toPlain(orderRow({ state: executedState, label: 'executed' })), kind: 'cancel' }
  expect(outcomeText(cancel, '1a2b3c4d5e6f')).toBe(
    'the resting part of order 1a2b3c4d is cancelled, by order f00d0000 (perpd\nexplain f00d0000)',
  )
  expect(outcomeText(cancel)).toContain('the named order is cancelled')
  expect(outcomeText({ ...cancel, kind: 'increase' })).toContain('order f00d0000 is executed')
})

test('the last turn of a strategy is the last at which it was asked, and a paused one is said to be', () => {
  const [one] = body.strategies
  if (one === undefined) throw new Error('no strategy')
  const asked = { lastTickAtMs: body.nowMs - 1_000, lastAskedAtMs: body.nowMs - 90_000 }
  const shown = (more: Partial<typeof one>) =>
    statusText({ ...body, strategies: [{ ...one, ...asked, ...more }] }, 200)
  expect(shown({})).toMatch(/1 min 30 s ago$/m)
  expect(shown({ pausedForMs: 60_000 })).toMatch(/1 min 30 s ago, paused +PAUSED for another/m)
  expect(shown({ unfit: { reason: 'no', sinceMs: 0 } })).toContain('1 min 30 s ago, paused')
})

test('a position without a stop-loss is named in status and positions, and none where each has one', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const { marketToken, direction, collateralToken } = one
  const bare = {
    ...body,
    withoutStop: [
      {
        ...{ marketToken, direction, collateralToken },
        ...{ sinceMs: body.nowMs - 1_020_000, uncoveredUsd: usd(3_900).toString() },
      },
    ],
  }
  const words = `NO STOP: no stop-loss rests at the venue for $3,900.00 of long ${symbol} (for 17 min 0 s).`
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
  expect(oneLine(statusText(bare, 80))).toContain(words)
  expect(oneLine(positionsText(positionRows(bare), bare, 80))).toContain(words)
  for (const each of [body, { ...body, withoutStop: [] }]) {
    expect(statusText(each, 80)).not.toContain('NO STOP')
    expect(positionsText(positionRows(each), each, 80)).not.toContain('NO STOP')
  }
})

test('a daemon of before, which says neither how much of a position has no stop nor since when, is shown with what it says', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const { marketToken, direction, collateralToken } = one
  const told = { marketToken, direction, collateralToken }
  const shown = (side: object) => {
    const older = { ...body, withoutStop: [side] } as unknown as typeof body
    return [statusText(older, 200), positionsText(positionRows(older), older, 200)]
  }
  for (const text of shown(told)) {
    expect(text).toContain(`NO STOP: no stop-loss rests at the venue for long ${symbol}.`)
  }
  for (const text of shown({ ...told, sinceMs: body.nowMs - 1_020_000 })) {
    expect(text).toContain(`NO STOP: no stop-loss rests at the venue for long ${symbol} (for 17 min 0 s).`)
  }
})

test('amounts in a column are whole cents, and what is less than one is told as that', () => {
  const cells = ['0', '0.004', '-0.0012', '0.01', '-3.456'].map((amount) => moneyCell(usd(amount)))
  expect(cells).toEqual(['$0.00', '<$0.01', '-<$0.01', '$0.01', '-$3.46'])
})

test('a name of 69 letters is cut where the screen is narrow, and leaves the rest its columns', () => {
  const [one] = body.strategies
  if (one === undefined) throw new Error('there is a strategy')
  const name = `${'very-long-'.repeat(6)}name-of-1`
  expect(name).toHaveLength(69)
  const named = {
    ...body,
    strategies: [
      { ...one, name },
      { ...one, name: name.replace(/1$/, '2') },
    ],
  }
  const narrow = statusText(named, 80)
  expect(narrow).toContain('very-long-very-lo…ame-of-1')
  expect(narrow).toContain('very-long-very-lo…ame-of-2')
  expect(narrow).toMatch(/NAME +KIND +MARKETS/)
  expect(longest(narrow.split('strategies\n')[1] ?? '')).toBeLessThanOrEqual(80)
  // A row of its own, and what does not fit beside it in two lines at most.
  expect((narrow.split('strategies\n')[1] ?? '').split('\n\n')[0]?.split('\n').length).toBeLessThanOrEqual(7)
  expect(statusText(named, 300)).toContain(name.slice(0, 66))
  const cells: readonly Column<{ readonly name: string }>[] = [
    { title: 'NAME', rank: 0, isName: true, of: (each) => each.name },
    { title: 'SIZE', rank: 0, isFigure: true, of: () => '$1,000.00' },
    { title: 'SAID', rank: 0, wraps: true, of: () => 'words that stand beside each other in a line' },
  ]
  const table = fitTable(cells, [{ name }], 80)
  expect(longest(table)).toBeLessThanOrEqual(80)
  expect(table.split('\n').length).toBeLessThanOrEqual(3)
  expect(fitTable(cells, [{ name }], 200)).toContain(name)
})

test('triggers of one market have the places of the one with the most digits, and none loses a digit', () => {
  const rows = [
    { market: 'LINK', trigger: usd('12.5').toString() },
    { market: 'LINK', trigger: usd('7.6712345').toString() },
    { market: 'BTC', trigger: usd('98000').toString() },
    { market: 'BTC', trigger: null },
  ]
  const triggerText = triggersIn(
    rows,
    ({ market }) => market,
    ({ trigger }) => [trigger],
  )
  expect(rows.map((row) => triggerText(row, row.trigger))).toEqual([
    ...['$12.5000000', '$7.6712345', '$98,000.00', ''],
  ])
})
