/**
 * Attacks that worked once: against the code before the facts of hosts were pinned and held against each other, and some that the
 * search found after. Each is a story of its own; a seeded bug that takes its mend away shows that it still would.
 */
import { type Habit, symbols } from './habits.ts'
import type { Change, Lie, Plan } from './lies.ts'
import type { Story } from './world.ts'

/** An attack with what it was. */
export interface Attack {
  readonly name: string
  readonly story: Story
}

const [eth, btc] = symbols
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const weth = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const kPepe = 'kPEPE/USD [WETH-USDC]'

const habit = (more: Partial<Habit> = {}): Habit => ({
  does: 'turns',
  symbol: eth,
  direction: 'long',
  sizeUsd: 2_000,
  leverageBps: 50_000,
  collateral: 'short',
  cadenceMs: 5_000,
  ...more,
})

function told(route: string, change: Change, more: Partial<Lie> = {}): Lie {
  return { route, change, fromMs: 0, untilMs: 1e9, every: 1, ...more }
}

function attack(name: string, plan: Plan, more: Partial<Omit<Story, 'plan'>> = {}): Attack {
  const story: Story = {
    seed: 5,
    kind: 'host',
    habits: [habit()],
    spanMs: 45_000,
    endpoints: 1,
    flags: [],
    plan,
    ...more,
  }
  return { name, story }
}

const decimals = (token: string, value: number): Plan =>
  ['/tokens', '/tokens/info', '/balances/wallet'].map((route) =>
    told(route, { op: 'set', field: 'decimals', value, of: token }),
  )

/** ETH falls in four steps, and each takes a position with it. */
const crashes: NonNullable<Story['path']> = [
  [0, 2_000],
  [40, 2_000],
  [45, 1_750],
  [90, 1_750],
  [95, 1_550],
  [130, 1_550],
  [135, 1_350],
  [180, 1_350],
  [185, 1_180],
  [100_000, 1_180],
]
const calm: NonNullable<Story['path']> = [
  [0, 2_000],
  [100_000, 2_000],
]

/** All of them. */
export const attacks: readonly Attack[] = [
  attack('a coin of 8 decimals makes a hundred times the collateral', decimals(usdc, 8), { kind: 'hosts' }),
  attack('an index token of 14 decimals makes a price without an end', decimals(weth, 14), { kind: 'hosts' }),
  attack(
    'the name of one market on the tokens of another',
    [
      told('/markets', { op: 'take', fields: ['symbol'], of: kPepe, from: eth }),
      told('/markets', {
        op: 'set',
        field: 'symbol',
        value: kPepe,
        of: '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336',
      }),
    ],
    { kind: 'hosts' },
  ),
  attack('positions that are hidden make a limit grow', [told('/positions', { op: 'hide' })], {
    kind: 'hosts',
    habits: [habit({ does: 'opens', sizeUsd: 2_500 })],
    spanMs: 240_000,
    flags: ['--risk.maxPositionSizeUsd=2600'],
  }),
  attack(
    'positions that are hidden, and their liquidations made up',
    [
      told('/positions', { op: 'hide' }),
      told('/trades', { op: 'liquidate' }),
      told('/trades/search', { op: 'liquidate' }),
    ],
    {
      kind: 'hosts',
      habits: [habit({ does: 'opens', sizeUsd: 2_500 })],
      spanMs: 240_000,
      flags: ['--risk.maxPositionSizeUsd=2600'],
    },
  ),
  attack('a kill that hosts call done', [told('/positions', { op: 'hide' }, { fromMs: 20_000 })], {
    kind: 'hosts',
    habits: [habit({ does: 'opens' })],
    killAtMs: 40_000,
    spanMs: 120_000,
  }),
  attack('balances that never fall hide what was realized', [told('/balances/wallet', { op: 'freeze' })], {
    kind: 'hosts',
    habits: [habit({ sizeUsd: 2_500, leverageBps: 90_000 })],
    path: [
      [0, 2_000],
      [240, 1_400],
      [100_000, 1_400],
    ],
    spanMs: 240_000,
    flags: ['--risk.maxDailyLossUsd=40'],
  }),
  attack(
    'liquidations are hidden by balances that never fall',
    [told('/balances/wallet', { op: 'freeze' })],
    {
      kind: 'hosts',
      habits: [habit({ does: 'opens', sizeUsd: 2_500, leverageBps: 90_000 })],
      path: crashes,
      spanMs: 240_000,
      flags: ['--risk.maxDailyLossUsd=100'],
    },
  ),
  attack(
    'one host of two spoils more than half of all readings',
    [
      told('/balances/wallet', { op: 'scale', field: 'balance', ppm: 1_200_000 }),
      told('/trades', { op: 'scale', field: 'pnlUsd', ppm: -1_000_000 }),
      told('/trades/search', { op: 'scale', field: 'pnlUsd', ppm: -1_000_000 }),
    ],
    {
      kind: 'host',
      endpoints: 0,
      habits: [habit({ sizeUsd: 2_500, leverageBps: 90_000 })],
      path: [
        [0, 2_000],
        ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((step) => [[step * 30, 2_000 - 40 * step] as const]),
        [100_000, 1_600],
      ],
      spanMs: 420_000,
      flags: ['--risk.maxDailyLossUsd=100'],
    },
  ),
  attack('swaps that nobody counts', [told('/balances/wallet', { op: 'freeze' }, { fromMs: 1e8 })], {
    kind: 'hosts',
    habits: [habit({ does: 'swaps', cadenceMs: 4_000 })],
    path: calm,
    spanMs: 240_000,
    flags: ['--risk.maxDailyLossUsd=15'],
  }),
  attack(
    'positions that are not there are closed again and again',
    [
      told('/positions', { op: 'invent', symbol: eth, isLong: true, sizeUsd: 5_000 }),
      told('/positions', { op: 'invent', symbol: btc, isLong: false, sizeUsd: 5_000 }),
    ],
    {
      kind: 'host',
      habits: [habit({ does: 'guards' }), habit({ does: 'closes', symbol: btc })],
      spanMs: 360_000,
    },
  ),
  attack(
    'fees that rise with every order',
    ['executionFee', 'feeAmount'].map((field) =>
      told('/orders/txns/prepare', { op: 'message', field, ppm: 4_900_000 }),
    ),
    { endpoints: 0, spanMs: 120_000, path: calm },
  ),
  attack('a body that nests five thousand deep', [told('/positions', { op: 'bomb', depth: 5_000 })], {
    kind: 'hosts',
  }),
  attack(
    'an edit that copies any price from a row',
    [told('/orders', { op: 'scale', field: 'acceptablePrice', ppm: 10_000_000 })],
    { kind: 'hosts', habits: [habit({ does: 'rests' })] },
  ),
  attack(
    'executions that never were, by the thousand',
    [told('/trades', { op: 'flood', rows: 2_000 }), told('/trades/search', { op: 'flood', rows: 2_000 })],
    {
      kind: 'hosts',
      habits: [habit({ does: 'turns' })],
      spanMs: 60_000,
    },
  ),
  attack(
    'an order that pays somebody else',
    [
      told('/orders/txns/prepare', {
        op: 'message',
        field: 'receiver',
        value: '0x00000000000000000000000000000000DeaDBeef',
      }),
    ],
    { kind: 'prepare' },
  ),
  attack(
    'an order twice as large',
    [told('/orders/txns/prepare', { op: 'message', field: 'sizeDeltaUsd', ppm: 2_000_000 })],
    {
      kind: 'prepare',
    },
  ),
  attack(
    'collateral five times as much',
    [told('/orders/txns/prepare', { op: 'message', field: 'initialCollateralDeltaAmount', ppm: 4_900_000 })],
    { kind: 'prepare' },
  ),
  attack(
    'a price a tenth worse',
    [told('/orders/txns/prepare', { op: 'message', field: 'acceptablePrice', ppm: 1_100_000 })],
    { kind: 'prepare' },
  ),
  attack(
    'a market without depth, and prices as bad as that allows',
    [
      ...['positionImpactFactorPositive', 'positionImpactFactorNegative'].map((field) =>
        told('/markets/config', { op: 'scale', field, ppm: 1_000_000_000 }),
      ),
      told('/orders/txns/prepare', { op: 'message', field: 'acceptablePrice', ppm: 977_000 }),
    ],
    {
      kind: 'hosts',
      path: calm,
      spanMs: 240_000,
      habits: [
        habit({ does: 'adds', direction: 'short', sizeUsd: 2_500 }),
        habit({ does: 'adds', direction: 'short', symbol: btc, sizeUsd: 2_500 }),
      ],
      flags: ['--risk.maxPositionSizeUsd=20000'],
    },
  ),
  attack(
    'a swap for next to nothing',
    [told('/orders/txns/prepare', { op: 'message', field: 'minOutputAmount', ppm: 1 })],
    { kind: 'prepare', habits: [habit({ does: 'swaps' })] },
  ),
  attack(
    'a relay fee of twenty times',
    [told('/orders/txns/prepare', { op: 'message', field: 'feeAmount', ppm: 30_000_000 })],
    { kind: 'prepare' },
  ),
  attack('a disk that is filled, and a daemon that is killed on it', [], {
    kind: 'nobody',
    machine: {
      fillsDisk: { atMs: 25_000, leftBytes: 0, isHungry: true, isLong: true },
      crash: { atMs: 35_000, downMs: 1_000 },
    },
    habits: [habit({ does: 'opens' })],
    killAtMs: 45_000,
    closesWithinMs: 10_000,
    spanMs: 60_000,
  }),
  attack('a port that somebody else has before the daemon starts', [], {
    kind: 'nobody',
    machine: { takesPort: { atMs: 0, does: 'answer' } },
    habits: [habit({ does: 'opens' })],
    killAtMs: 30_000,
    closesWithinMs: 10_000,
  }),
]
