/** `perpd top` on screens of two sizes: what a trader looks for first stands first, and a small screen has it without a key. */
import { expect, test } from 'vitest'
import { type LiveFacts, liveScreen } from '../../src/cli/live/liveScreen.ts'
import { restingTable } from '../../src/cli/output/restingTable.ts'
import { heldPositions, positionsTable } from '../../src/cli/results/positionsTable.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { usd } from '../../src/protocol/units.ts'
import { status } from '../control/door.ts'

const [position] = status.positions
if (position === undefined) throw new Error('no position')
const { marketToken, direction, collateralToken } = position
const side = { marketToken, direction, collateralToken }
const row = {
  ...{ ...side, market: 'ETH/USD [WETH-USDC]', isFrozen: false, sinceMs: status.nowMs - 3_720_000 },
  ...{ markPrice: usd(1_744), sizeUsd: usd(500), owner: 'eth-trend', ownerKind: 'instance' },
}
const body = {
  ...(toPlain({
    ...status,
    equity: {
      ...{
        equityUsd: usd('9998.10'),
        peakUsd: usd(10_000),
        dayStartUsd: usd('10001.09'),
        equityAtMs: status.nowMs,
      },
      ...{
        dayStartMs: status.nowMs - 28_805_000,
        dayFirstAtMs: status.nowMs - 28_805_000,
        isEquitySettling: false,
        dayParts: {
          ...{ closedUsd: usd('1.20'), openUsd: -usd('2.00') },
          ...{ costsUsd: -usd('1.99'), restUsd: -usd('0.20') },
        },
      },
    },
    positions: [{ ...position, pnlAfterAllFeesUsd: usd('0.55') }],
    held: [
      {
        ...{ ...side, market: row.market, uncoveredUsd: usd(100) },
        owners: [{ kind: 'instance', name: 'eth-trend' }],
        stops: { nearest: usd(1_700), count: 1 },
        targets: { nearest: usd(1_900), count: 2 },
        collateral: { symbol: 'USDC', decimals: 6, amount: 250_000_000n },
      },
    ],
    withoutStop: [{ ...side, uncoveredUsd: usd(100), sinceMs: status.nowMs - 60_000 }],
    restingOrders: [
      {
        ...row,
        orderKey: '0x01',
        intentId: 'f00d000000000000000000a1',
        type: 'target',
        triggerPrice: usd(1_900),
        distanceBps100: 89_449,
      },
      {
        ...row,
        orderKey: '0x02',
        intentId: null,
        type: 'limit',
        triggerPrice: usd('1743.5'),
        distanceBps100: -286,
        ownerKind: 'others',
        owner: '',
      },
      {
        ...row,
        orderKey: '0x03',
        intentId: 'f00d000000000000000000a2',
        type: 'stop',
        triggerPrice: usd(1_700),
        distanceBps100: -25_229,
        sizeUsd: usd(400),
      },
    ],
    openOrders: 4,
    tasks: [
      {
        taskId: 'b1',
        kind: 'bracket',
        asked: 'bracket long ETH/USD $500.00',
        by: 'anna',
        sinceMs: status.nowMs - 60_000,
      },
    ],
  }) as object),
  openIntents: [],
} as unknown as StatusBody
const facts: LiveFacts = { command: 'perpd top', body, everyMs: 2_000, offset: 0, hasColor: false }
const screen = (columns: number, rows: number, offset = 0) =>
  liveScreen({ ...facts, offset }, columns, rows).join('\n')

test('a screen of 80 by 24 has the result of today with its parts, positions, tasks and resting orders without a key', () => {
  const shown = screen(80, 24)
  const places = ['today', 'PnL ', 'positions: ', '  b1: bracket', 'resting orders\n'].map((word) =>
    shown.indexOf(word),
  )
  expect(
    places.every((at) => at >= 0),
    shown,
  ).toBe(true)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(shown).not.toContain('hosts')
  expect(shown).toMatchSnapshot()
})

test('a screen of 200 by 50 has all of it, the hosts last', () => {
  const shown = screen(200, 50)
  expect(shown).toContain('COLLATERAL')
  expect(
    shown
      .trimEnd()
      .split('\n')
      .findLast((line) => !/^q ends|^$/.test(line)),
  ).toMatch(/^hosts /)
  expect(shown).toMatchSnapshot()
})

test('a drawdown of 0.019 percent, and a distance of less than a tenth of one, keep two digits of what they are', () => {
  const shown = screen(200, 50)
  expect(shown).toContain('drawdown 0.019%')
  expect(shown).toContain('-0.029%')
})

test('an exit stands on one line in 80 columns, with the owner below the market where a column of it does not fit', () => {
  const rows = heldPositions(body)
  const exits = ['stop $1,700.00', 'target $1,900.00 (2)']
  const longer = rows.map((row) => ({
    ...row,
    position: { ...row.position, sizeInUsd: usd(1_234_567).toString() },
  }))
  for (const [width, of, isBelow] of [
    [80, rows, false],
    [80, longer, true],
    [84, longer, true],
    [200, longer, false],
  ] as const) {
    const lines = positionsTable(of, { width, isNoted: false }).split('\n')
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width)
    for (const exit of exits) expect(lines.some((line) => line.includes(exit))).toBe(true)
    expect(lines[0]?.includes('OWNER')).toBe(!isBelow)
    expect(lines.some((line) => line.startsWith('eth-trend'))).toBe(isBelow)
  }
})

test('a table of resting orders shows a pair alone where one pool of it is shown, and the pool where two are', () => {
  const rows = body.restingOrders
  const shown = (given: typeof rows) => restingTable(given, body.nowMs, { width: 120, isNoted: false })
  expect(shown(rows)).not.toContain('[WETH-USDC]')
  expect(shown([...rows, { ...rows[0], market: 'ETH/USD [WETH-WETH]' }] as unknown as typeof rows)).toContain(
    'ETH/USD [WETH-USDC]',
  )
})

test('an order of others is named by the first characters of its key, which move and cancel take, in 80 columns too', () => {
  const orderKey = `0x${'abcdef0123'.padEnd(64, '0')}`
  const others = { ...body.restingOrders[0], ownerKind: 'others', owner: '', intentId: null, orderKey }
  const shown = restingTable([others] as unknown as typeof body.restingOrders, body.nowMs, {
    width: 80,
    isNoted: false,
  })
  expect(shown).toContain(' 0xabcdef')
  expect(shown).not.toContain(orderKey)
})

test('an order of a task is named in 80 columns, and its owner by the kind and the first characters of its id', () => {
  const task = {
    ownerKind: 'task',
    owner: 'bracket:1a2b3c4d5e6f',
    sizeUsd: '12345670000000000000000000000000000',
  }
  const ofTask = { ...body.restingOrders[0], ...task }
  const shown = restingTable([ofTask] as unknown as typeof body.restingOrders, body.nowMs, {
    width: 78,
    isNoted: false,
  })
  expect(shown).toMatch(/ORDER +OWNER$/m)
  expect(shown).toMatch(/ f00d0000 +bracket:1a2b$/m)
})
