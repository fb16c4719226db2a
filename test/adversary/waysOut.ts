/**
 * Ways out: how long `kill --close` takes until nothing is open by the venue's books, with one bad party of a kind and everybody
 * else honest. A party is one row of `parties`: its name, who it is and what it does from some seconds before the kill on.
 */
import { runJobs } from '../simulation/pool.ts'
import { type Random, randomOf } from '../simulation/random.ts'
import { symbols } from './habits.ts'
import type { Change, Lie } from './lies.ts'
import { crashBetween, filledAt, type MachineMoves, takenAt } from './machineMoves.ts'
import { runStory, type Story, type StoryResult } from './world.ts'

/** A bad party, or one of each kind together. */
export interface Party {
  readonly name: string
  /** Who it is, by kind and number: `oracle/0`, `api/1`, `rpc/0`. In every second seed the other API host stands for the named one. */
  readonly liars: readonly string[]
  readonly does: readonly (readonly [route: string, change: Change])[]
  /** What it does on the daemon's own machine, from then on. */
  readonly machine?: (random: Random, fromMs: number) => MachineMoves
  /** Whether what it does is a host's own fault, so that it may be put in cooldown. */
  readonly isToBlame?: boolean
  /** The strategy takes parts off its position all the while, so that one of them waits for its proof when the operator kills. */
  readonly isReducing?: boolean
}

/** When the operator kills, ms after the daemon's start. */
const killAtMs = 45_000
/** How long after the kill a story is told, ms. */
const tellMs = 180_000

const api = 'api/0'
const oracle = 'oracle/0'
const rpc = 'rpc/0'
const stranger = '0x00000000000000000000000000000000DeaDBeef'

const scaled = (route: string, fields: readonly string[], ppm: number): Party['does'] =>
  fields.map((field) => [route, { op: 'scale', field, ppm }] as const)

const oraclePrices = (ppm: number): Party['does'] =>
  scaled('/prices/tickers', ['minPrice', 'maxPrice', 'medianPrice'], ppm)

/** Marks, rows and messages at one price: whoever has another idea of the market is out of this host's world. */
const apiPrices = (ppm: number): Party['does'] => [
  ...scaled('/markets/tickers', ['minPrice', 'maxPrice', 'markPrice'], ppm),
  ...scaled('/positions', ['markPrice'], ppm),
  ['/orders/txns/prepare', { op: 'message', field: 'acceptablePrice', ppm }],
]

const factors: readonly (readonly [name: string, ppm: number])[] = [
  ['3 % above', 1_030_000],
  ['4 % above', 1_040_000],
  ['4 % below', 960_000],
  ['at twice the price', 2_000_000],
  ['at half the price', 500_000],
]

/** A daemon that is killed when the other one has what he took, before or after the operator's kill. */
const crashAfter = (random: Random, fromMs: number) => crashBetween(random, fromMs, killAtMs + 2_000)

/** All of them, a row each. */
export const parties: readonly Party[] = [
  { name: 'nobody', liars: [], does: [] },
  ...factors.map(
    ([how, ppm]): Party => ({ name: `oracle host ${how}`, liars: [oracle], does: oraclePrices(ppm) }),
  ),
  { name: 'oracle host silent', liars: [oracle], does: [['', { op: 'hang' }]], isToBlame: true },
  {
    name: 'oracle host answers 503',
    liars: [oracle],
    does: [['', { op: 'answer', status: 503 }]],
    isToBlame: true,
  },
  { name: 'oracle host stands still', liars: [oracle], does: [['', { op: 'freeze' }]] },
  ...factors.map(
    ([how, ppm]): Party => ({ name: `API host ${how}`, liars: [api], does: apiPrices(ppm), isToBlame: true }),
  ),
  ...factors.map(
    ([how, ppm]): Party => ({
      name: `oracle host and API host ${how}`,
      liars: [oracle, api],
      does: [...oraclePrices(ppm), ...apiPrices(ppm)],
      isToBlame: true,
    }),
  ),
  { name: 'API host silent', liars: [api], does: [['', { op: 'hang' }]], isToBlame: true },
  {
    name: 'API host answers 429',
    liars: [api],
    does: [['', { op: 'answer', status: 429 }]],
    isToBlame: true,
  },
  {
    name: 'API host changes what is signed',
    liars: [api],
    does: [['/orders/txns/prepare', { op: 'message', field: 'receiver', value: stranger }]],
    isToBlame: true,
  },
  {
    name: 'API host refuses to prepare',
    liars: [api],
    does: [['/orders/txns/prepare', { op: 'answer', status: 400 }]],
    isToBlame: true,
  },
  {
    name: 'API host hides positions and orders',
    liars: [api],
    does: [
      ['/positions', { op: 'hide' }],
      ['/orders', { op: 'hide' }],
    ],
  },
  {
    name: 'API host takes what is signed and never relays it',
    // The first host prepared what opened the position: the close is the next one's.
    liars: ['api/1'],
    does: [
      ['/orders/txns/submit', { op: 'withhold' }],
      ['/relay/submit', { op: 'withhold' }],
    ],
    isToBlame: true,
  },
  {
    name: 'both API hosts hide positions and orders',
    liars: [api, 'api/1'],
    does: [
      ['/positions', { op: 'hide' }],
      ['/orders', { op: 'hide' }],
    ],
  },
  {
    name: 'API host has a row that cannot be read',
    liars: [api],
    does: [['/positions', { op: 'set', field: 'collateralAmount', value: 'much' }]],
  },
  {
    name: 'both API hosts have a row that cannot be read',
    liars: [api, 'api/1'],
    does: [['/positions', { op: 'set', field: 'collateralAmount', value: 'much' }]],
  },
  { name: 'endpoint silent', liars: [rpc], does: [['', { op: 'hang' }]], isToBlame: true },
  { name: 'nobody, while parts are closed', liars: [], does: [], isReducing: true },
  {
    name: 'endpoint silent, while parts are closed',
    liars: [rpc],
    does: [['', { op: 'hang' }]],
    isToBlame: true,
    isReducing: true,
  },
  {
    name: 'oracle host at half the price, API host hides, endpoint shows no events',
    liars: [oracle, api, rpc],
    does: [
      ...oraclePrices(500_000),
      ['/positions', { op: 'hide' }],
      ['/orders', { op: 'hide' }],
      ['eth_getLogs', { op: 'hide' }],
    ],
    isToBlame: true,
  },
  {
    name: 'a full disk',
    liars: [],
    does: [],
    machine: (random, fromMs) => ({ fillsDisk: filledAt(random, fromMs) }),
  },
  {
    name: 'a full disk, and the daemon is killed and starts on it',
    liars: [],
    does: [],
    machine: (random, fromMs) => ({
      fillsDisk: filledAt(random, fromMs),
      crash: crashAfter(random, fromMs),
    }),
  },
  {
    name: 'a taken port since before the start',
    liars: [],
    does: [],
    machine: (random) => ({ takesPort: takenAt(random, 0) }),
  },
  {
    name: 'a port that is taken when the daemon is killed, before it starts again',
    liars: [],
    does: [],
    machine: (random, fromMs) => ({
      takesPort: takenAt(random, fromMs),
      crash: crashAfter(random, fromMs),
    }),
  },
  {
    name: 'a full disk and a taken port, and the daemon is killed and starts again',
    liars: [],
    does: [],
    machine: (random, fromMs) => ({
      fillsDisk: filledAt(random, fromMs),
      takesPort: takenAt(random, fromMs),
      crash: crashAfter(random, fromMs),
    }),
  },
]

/** Attempts take turns between the API hosts: each of them is the bad one in half of the seeds. */
function liarsOf(named: Party['liars'], seed: number): Party['liars'] {
  if (seed % 2 === 0) return named
  return named.map((name) => (name === 'api/0' ? 'api/1' : name === 'api/1' ? 'api/0' : name))
}

/** The story of a seed with a party: the position, since when the party is bad, and how the price goes, are the seed's. */
function wayOutStory({ liars: named, does, machine, isReducing = false }: Party, seed: number): Story {
  const liars = liarsOf(named, seed)
  const random = randomOf(seed, 'way out')
  const fromMs = random.int(22_000, killAtMs)
  const plan = does.map(([route, change]): Lie => ({ route, change, fromMs, untilMs: 1e9, every: 1 }))
  const drift = 1 + random.pick([-0.004, -0.001, 0, 0, 0.001, 0.004])
  return {
    seed,
    kind: 'host',
    plan,
    liars,
    endpoints: 2,
    flags: [],
    ...(machine === undefined ? {} : { machine: machine(randomOf(seed, 'machine'), fromMs) }),
    spanMs: killAtMs + tellMs,
    killAtMs,
    endsClosed: true,
    path: [
      [0, 2_000],
      [30, 2_000],
      [100, Math.round(2_000 * drift)],
      [100_000, Math.round(2_000 * drift)],
    ],
    habits: [
      {
        does: isReducing ? 'reduces' : 'opens',
        symbol: random.pick(symbols),
        direction: random.chance(0.5) ? 'long' : 'short',
        sizeUsd: random.pick([500, 1_000, 2_500]),
        leverageBps: random.pick([20_000, 50_000]),
        collateral: random.chance(0.8) ? 'short' : 'long',
        cadenceMs: 5_000,
      },
    ],
    holdsLongTokens: true,
  }
}

/** What a way out showed. */
export interface WayOut {
  readonly seed: number
  readonly party: string
  /** Whether there was anything to close. */
  readonly wasHeld: boolean
  /** Until nothing was open, ms; undefined: not within three minutes. */
  readonly closedAfterMs: number | undefined
  /** The furthest that a signed price lay on the bad side of the true one, bps. */
  readonly worstBps: number
  /** Hosts that were put in cooldown though they were honest, and breakers that opened. */
  readonly accused: readonly string[]
  readonly violation: string | undefined
}

/** Tells one. */
export async function wayOut(party: Party, seed: number): Promise<WayOut> {
  const result = await runStory(wayOutStory(party, seed))
  return {
    seed,
    party: party.name,
    wasHeld: result.heldAtKillUsd > 0n,
    closedAfterMs: result.closedAfterMs,
    worstBps: result.worstReductionBps,
    accused: accusedBy({ ...party, liars: liarsOf(party.liars, seed) }, result),
    violation: result.violation && `${result.violation.rule} ${result.violation.text}`,
  }
}

function accusedBy({ liars, isToBlame }: Party, { cooldowns, breakers }: StoryResult): readonly string[] {
  const isBad = (host: string) =>
    isToBlame === true && liars.some((name) => host === `/${name}` || host.startsWith(`/${name}/`))
  return [
    ...Object.keys(cooldowns).filter((host) => !isBad(host)),
    ...breakers.filter((cause) => cause !== 'kill' && cause !== 'operator'),
  ]
}

/** A row of the table. */
export interface WayOutRow {
  readonly party: string
  readonly told: number
  /** Ms of the middle one, of the slowest of 99 in 100, and how many were not closed within 60 s. */
  readonly middleMs: number
  readonly slowMs: number
  readonly late: readonly number[]
  readonly worstBps: number
  readonly accused: readonly string[]
  readonly violations: readonly string[]
}

/** The most that 99 of 100 may take, ms. */
export const WAY_OUT_MS = 60_000

/** The row of a party's ways out, those with nothing to close left out; one that was broken before the kill counts as late. */
function rowOf(party: string, all: readonly WayOut[]): WayOutRow {
  const held = all.filter((each) => each.party === party && (each.wasHeld || each.violation !== undefined))
  const times = held
    .map(({ closedAfterMs = Number.POSITIVE_INFINITY }) => closedAfterMs)
    .sort((a, b) => a - b)
  return {
    party,
    told: held.length,
    middleMs: times[Math.floor(times.length / 2)] ?? Number.NaN,
    slowMs: times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? Number.NaN,
    late: held.flatMap(({ seed, closedAfterMs }) =>
      closedAfterMs !== undefined && closedAfterMs <= WAY_OUT_MS ? [] : [seed],
    ),
    worstBps: Math.max(0, ...held.map(({ worstBps }) => worstBps)),
    accused: [...new Set(held.flatMap(({ accused }) => accused))],
    violations: held.flatMap(({ seed, violation }) =>
      violation === undefined ? [] : [`seed ${seed}: ${violation}`],
    ),
  }
}

/** A party and a seed. */
export interface WayOutJob {
  readonly party: string
  readonly seed: number
}

/** The rows of the parties whose names have this text in them, over seeds `from` to `from + seeds - 1`, in worker threads. */
export async function waysOut(from: number, seeds: number, named = ''): Promise<readonly WayOutRow[]> {
  const meant = parties.filter(({ name }) => name.includes(named)).map(({ name }) => name)
  const jobs = meant.flatMap((party) =>
    Array.from({ length: seeds }, (_, at): WayOutJob => ({ party, seed: from + at })),
  )
  const all = await runJobs<WayOutJob, WayOut>(new URL('./waysOutWorker.ts', import.meta.url), jobs)
  return meant.map((party) => rowOf(party, all))
}
