/**
 * Random backtests for fast mode: a case is a number, and comes to the same files, candles and assumptions each time. Both modes live through it,
 * and what they left must be equal, line by line and to the unit.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonical, differencesOf } from '../../src/backtest/check/difference.ts'
import type { RecordTurn, ShownScene } from '../../src/backtest/check/recordedTurns.ts'
import { liveExactRun } from '../../src/backtest/exactRun.ts'
import { planRun, takeRunFolder } from '../../src/backtest/planRun.ts'
import { type RunMode, type RunModel, runTables, sha256Of } from '../../src/backtest/runFiles.ts'
import { writeRun } from '../../src/backtest/runResult.ts'
import { defined } from '../../src/base/defined.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { encodeExact } from '../../src/domain/records.ts'
import { unit } from '../../src/paper/math/random.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { decisionsIn } from '../../src/strategy/kindMemory.ts'
import { writeRecording } from './recordedKit.ts'

const HOURS = 6
/** Candles before the first turn, minutes: as many as the slowest kind here reads. */
const BEFORE_MINUTES = 1_500
const startSeconds = Date.UTC(2024, 0, 2, 18) / 1000
const eth = 'ETH/USD [WETH-USDC]'
const btc = 'BTC/USD [BTC-USDC]'

/** A strategy file as its fields. */
type FileFields = Readonly<Record<string, unknown>>

/** A case. */
export interface FastCase {
  readonly number: number
  readonly files: readonly { readonly name: string; readonly fields: FileFields }[]
  /** Lines of candles with a column for the symbol. */
  readonly candles: readonly string[]
  /** Absent: a file has its turns at the closes of the finest candle that it reads. */
  readonly turnSeconds?: number | undefined
  readonly skewBps: number
  readonly path: RunModel['path']
  readonly delayMs: { readonly least: number; readonly most: number }
  readonly balances: Readonly<Record<string, string>>
  /** True: pools, open interest and rates walk as recorded ones do. */
  readonly isRecorded?: boolean
  /** Length of a segment of the run, seconds, at whose end it begins as a daemon that is started again; absent: one segment. */
  readonly segmentSeconds?: number
}

/** Drawings of a case, in their order. */
interface Draw {
  /** A whole number from least to most. */
  whole(least: number, most: number): number
  of<T>(values: readonly T[]): T
  isSo(percent: number): boolean
  /** About normal, with a deviation of one. */
  normal(): number
}

function drawOf(seed: number): Draw {
  let count = 0
  const next = (): number => {
    count += 1
    return unit(seed * 7_919 + 13, count)
  }
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    whole,
    of: (values) => values[whole(0, values.length - 1)] as (typeof values)[number],
    isSo: (percent) => next() * 100 < percent,
    normal: () => Array.from({ length: 6 }, next).reduce((sum, each) => sum + each - 0.5, 0) * Math.SQRT2,
  }
}

/** Kinds with parameters in their range; all trade minutes or five of them, so that six hours see trades. */
const kinds: readonly ((draw: Draw) => { readonly kind: string } & FileFields)[] = [
  (draw) => ({
    kind: 'trend',
    params: {
      period: draw.of(['1m', '1m', '5m']),
      fastCandles: draw.whole(3, 15),
      slowCandles: draw.whole(20, 60),
      entryStrength: draw.whole(5, 80) / 100,
      exitStrength: draw.whole(5, 80) / 100,
      pyramid: draw.whole(1, 2),
    },
    ...exitsOf(draw),
  }),
  (draw) => ({
    kind: 'mean-reversion',
    params: {
      period: draw.of(['1m', '5m']),
      signal: draw.of(['zscore', 'bollinger']),
      candles: draw.whole(10, 30),
      entry: draw.whole(10, 20) / 10,
      exit: 0.4,
      stopBps: draw.whole(60, 300),
    },
  }),
  (draw) => ({
    kind: 'breakout',
    params: {
      period: draw.of(['1m', '5m']),
      entryCandles: draw.whole(15, 40),
      exitCandles: draw.whole(5, 14),
      bufferBps: draw.whole(0, 5),
      stopBps: draw.whole(60, 400),
    },
  }),
  (draw) => ({
    kind: 'grid',
    params: {
      direction: draw.of(['long', 'short', 'both']),
      stepUsd: draw.whole(4, 20),
      levels: draw.whole(1, 3),
      takeProfitBps: draw.whole(30, 120),
      stopBps: draw.whole(200, 600),
    },
  }),
  (draw) => ({
    kind: 'ladder',
    params: {
      direction: draw.of(['long', 'short']),
      stepBps: draw.whole(20, 120),
      maxRungs: draw.whole(2, 4),
      maxUsd: 2_000,
      takeProfitBps: draw.whole(40, 150),
      stopBps: draw.whole(200, 900),
      pauseSeconds: draw.of([600, 3_600]),
    },
  }),
  (draw) => ({
    kind: 'carry',
    params: {
      enterBpsPerDay: draw.whole(2, 12),
      exitBpsPerDay: 1,
      costBps: 30,
      holdHours: 96,
      stopBps: draw.whole(100, 500),
      maxRateAgeSeconds: 60,
    },
  }),
  (draw) => ({
    kind: 'target-exposure',
    params: { direction: draw.of(['long', 'short']), targetUsd: draw.whole(500, 2_000), bandBps: 1_000 },
    ...exitsOf(draw),
  }),
  (draw) => ({
    kind: 'impact-capture',
    params: {
      minImpactBps: draw.whole(1, 6),
      takeBps: 2,
      maxHoldSeconds: 7_200,
      stopBps: draw.whole(50, 200),
    },
  }),
]

function exitsOf(draw: Draw): FileFields {
  if (draw.isSo(35)) return {}
  const stopLoss = { bps: draw.whole(40, 300) }
  if (draw.isSo(25))
    return {
      exit: { stopLoss, trailingStop: { bps: draw.whole(40, 200), activation: { bps: draw.whole(20, 80) } } },
    }
  if (draw.isSo(20)) return { exit: { stopLoss, timeLimitSeconds: draw.whole(20, 120) * 60 } }
  return { exit: { stopLoss, takeProfit: { bps: draw.whole(40, 300) } } }
}

/** Minutes of a random walk with a gap, in which candles are missing, and a halt, in which the price stands; jumping ones open away from the close before. */
function candlesOf(
  draw: Draw,
  [asset, price, digits]: readonly [string, number, number],
  isJumping: boolean,
): readonly string[] {
  const minutes = HOURS * 60
  const step = draw.whole(4, 30) / 10_000
  const [gapAt, gapMinutes] = [draw.whole(60, minutes - 120), draw.whole(0, 50)]
  const [haltAt, haltMinutes] = [draw.whole(60, minutes - 120), draw.whole(0, 50)]
  const lines: string[] = []
  let last = price
  for (let minute = -BEFORE_MINUTES; minute < minutes; minute += 1) {
    const isHalted = minute >= haltAt && minute < haltAt + haltMinutes
    const move = isHalted ? 0 : step * draw.normal()
    const [up, down] = [draw.normal(), draw.normal()].map((each) =>
      isHalted ? 0 : Math.abs(each) * step * 0.6,
    )
    const open = isJumping && !isHalted ? last * (1 + step * draw.normal()) : last
    const close = open * (1 + move)
    const high = Math.max(open, close) * (1 + (up ?? 0))
    const low = Math.min(open, close) * (1 - (down ?? 0))
    const prices = [open, high, low, close].map((each) => each.toFixed(digits))
    if (minute < gapAt || minute >= gapAt + gapMinutes)
      lines.push([startSeconds + minute * 60, ...prices, asset].join(','))
    last = close
  }
  return lines
}

/** Writes a recording in which pools, open interest and rates of both markets walk, minute by minute. */
async function writeWalk(folder: string, number: number): Promise<void> {
  const draw = drawOf(number + 100_000)
  const walk = (least: number, most: number) => {
    let value = draw.whole(least, most)
    const values = Array.from({ length: HOURS * 60 + 61 }, () => {
      value = Math.min(most, Math.max(least, value + Math.round((most - least) * 0.02 * draw.normal())))
      return value
    })
    return (second: number) => values[Math.floor((second - startSeconds) / 60) + 60] ?? value
  }
  const market = (symbol: string, price: number, decimals: number, longToken: bigint) => {
    const [long, short] = [walk(5_000_000, 40_000_000), walk(5_000_000, 40_000_000)]
    const [pool, rate, borrowing] = [walk(20_000, 60_000), walk(-30, 30), walk(0, 20)]
    return {
      symbol,
      decimals,
      at: (second: number) => ({
        longUsd: long(second),
        shortUsd: short(second),
        price,
        pool: [BigInt(pool(second)) * longToken, BigInt(pool(second)) * 2_000n * 10n ** 6n] as const,
        funding: BigInt(rate(second)) * 10n ** 21n,
        borrowing: [BigInt(borrowing(second)) * 10n ** 21n, 10n ** 21n] as const,
      }),
    }
  }
  const span = { fromSeconds: startSeconds - 3_600, toSeconds: startSeconds + HOURS * 3_600 }
  const markets = [market(eth, 2_300, 18, 10n ** 18n), market(btc, 43_000, 8, 10n ** 7n)]
  await writeRecording(folder, span, markets)
}

/** Cases from here on have candles that jump at the minute, so that orders execute in the second of a turn. */
const JUMPING_FROM = 1_000

/** Makes the case of a number. */
export function fastCase(number: number): FastCase {
  const isJumping = number >= JUMPING_FROM
  const draw = drawOf(number)
  const count = draw.isSo(40) ? 2 : 1
  const files = Array.from({ length: count }, (_, at) => {
    const made = draw.of(kinds)(draw)
    const size = {
      usd: draw.whole(3, 20) * 100,
      leverage: draw.whole(2, 8),
      collateral: draw.isSo(80) ? 'short' : 'long',
    }
    const limits = { maxPositionSizeUsd: 5_000, maxOrdersPerHour: draw.of([6, 60]) }
    const market = draw.isSo(75) ? eth : btc
    const protect = draw.isSo(15) ? { protect: { cooldownAfterExitSeconds: draw.whole(1, 30) * 60 } } : {}
    return {
      name: `file-${at + 1}`,
      fields: { market, cadenceSeconds: 60, size, limits, ...protect, ...made },
    }
  })
  const keeper = draw.isSo(10)
    ? [
        {
          name: 'keeper',
          fields: { kind: 'guard', cadenceSeconds: 60, params: { minDistanceBps: draw.whole(800, 3_000) } },
        },
      ]
    : []
  const least = draw.whole(1, 6) * 1_000
  return {
    number,
    files: [...files, ...keeper],
    candles: [
      ...candlesOf(draw, ['ETH', 2_300, 2], isJumping),
      ...candlesOf(draw, ['BTC', 43_000, 1], isJumping),
    ],
    turnSeconds: draw.of([60, 60, 300]),
    skewBps: draw.whole(-60, 60) * 100,
    path: draw.isSo(75) ? 'stop first' : 'nearer first',
    delayMs: { least, most: least + draw.whole(0, 8) * 1_000 },
    balances: { USDC: String(draw.whole(2, 20) * 1_000), ETH: draw.of(['0', '1']), WETH: '2' },
  }
}

/** A turn at which a kind decided something, with the facts that it decided on. */
interface DecidedTurn {
  readonly second: number
  readonly facts: ShownScene
}

/** The remains of a case in one mode, as lines. */
export interface Lived {
  /** One line a fill, in whole numbers; the second is its first column. */
  readonly fills: readonly string[]
  /** One line a turn at which a kind decided something: second, instance, and its decisions as canonical JSON. */
  readonly decisions: readonly string[]
  /** One line a token: the amount at the end, in base units. */
  readonly balances: readonly string[]
  /** One line an accepted decision, with its facts and all that came of it. */
  readonly orders: readonly string[]
  readonly equity: readonly string[]
  /** What was denied and how often, costs by kind, and the number of turns. */
  readonly end: readonly string[]
  /** The turns of the decisions, in their order. */
  readonly turns: readonly DecidedTurn[]
  /** Time of the processor, ms. */
  readonly spentMs: number
}

/** The remains that are compared, in the order in which they are. */
const remains = ['fills', 'decisions', 'balances', 'orders', 'equity', 'end'] as const

/** Lives through a case. */
export async function liveCase(
  given: FastCase,
  mode: RunMode,
  live: typeof liveExactRun = liveExactRun,
): Promise<Lived> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-fast-'))
  try {
    const file = join(folder, 'candles.csv')
    writeFileSync(file, ['timestamp,open,high,low,close,symbol', ...given.candles, ''].join('\n'))
    for (const { name, fields } of given.files)
      writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(fields))
    const { strategies, problems } = await loadStrategies(
      given.files.map(({ name }) => join(folder, `${name}.yaml`)),
    )
    if (problems[0] !== undefined) throw problems[0]
    const { config, values } = loadConfig({ argv: ['--profile=paper'], env: {}, cwd: folder })
    if (given.isRecorded === true) await writeWalk(folder, given.number)
    const { manifest, candles, followed } = await planRun({
      ...{ chain: 'arbitrum', strategies, settings: values, file, storeFolder: folder, period: '1m', mode },
      fromSeconds: startSeconds,
      toSeconds: startSeconds + HOURS * 3_600,
      balances: given.balances,
      seed: given.number,
      ...defined({ turnSeconds: given.turnSeconds, segmentSeconds: given.segmentSeconds }),
      model: {
        delayMs: given.delayMs,
        impact: given.isRecorded === true ? 'recorded' : 'frozen',
        path: given.path,
        skewBps: given.isRecorded === true ? 0 : given.skewBps,
        gasPriceGwei: '0',
      },
    })
    const out = join(folder, 'run')
    mkdirSync(out)
    takeRunFolder(out, manifest)
    const decisions: string[] = []
    const turns: DecidedTurn[] = []
    const record: RecordTurn = (strategy, facts, returned) => {
      const decided = decisionsIn(returned)
      if (decided.length === 0) return
      const second = Math.floor(facts.snapshot.atMs / 1000)
      decisions.push(`${second},${strategy},${canonical(decided)}`)
      turns.push({ second, facts })
    }
    const before = process.cpuUsage()
    const tally = await live({ folder: out, manifest, config, strategies, ...candles, followed, record })
    const { user, system } = process.cpuUsage(before)
    const result = writeRun(out, manifest, tally, candles)
    const { denied, amounts } = tally
    const counts = { turns: tally.turns, decisions: tally.decisions, denied }
    return {
      decisions,
      turns,
      balances: Object.entries(amounts).map(([symbol, amount]) => `${symbol},${amount}`),
      fills: tally.fills.map((fill) =>
        runTables.fills.line({ ...fill, strategy: '', intentId: '', sendingFeeUsd: 0n }),
      ),
      equity: tally.equity.map(runTables.equity.line),
      orders: tally.intents.toReversed().map((state) => encodeExact(state)),
      end: [encodeExact({ ...counts, endUsd: result.endUsd, costs: result.costs })],
      spentMs: (user + system) / 1000,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** SHA-256 of each part of what a mode left, its lines joined. */
export function sumsOf(lived: Lived): Readonly<Record<(typeof remains)[number], string>> {
  const sums = remains.map((name) => [name, sha256Of(lived[name].join('\n'))] as const)
  return Object.fromEntries(sums) as Record<(typeof remains)[number], string>
}

/**
 * The first difference between what two modes left, with what each has in its place and where the facts differ that each decided on last until
 * then; undefined: there is none.
 */
export function differenceOf(exact: Lived, fast: Lived): string | undefined {
  const [sums, others] = [sumsOf(exact), sumsOf(fast)]
  const name = remains.find((each) => sums[each] !== others[each])
  if (name === undefined) return undefined
  const [one, other] = [exact[name], fast[name]]
  const at = one.findIndex((line, place) => line !== other[place])
  const place = at >= 0 ? at : one.length
  const lines = [
    `${name}, line ${place + 1}:`,
    `  exact ${aroundOf(one[place], other[place])}`,
    `  fast  ${aroundOf(other[place], one[place])}`,
  ]
  const isTimed = name === 'fills' || name === 'decisions'
  return [...lines, ...(isTimed ? factsAround(exact, fast, one[place], other[place]) : [])].join('\n')
}

/** Most places of two facts that are named. */
const MOST_PLACES = 5

/** The turns that decided last until a line of either mode, and the places at which their facts differ. */
function factsAround(exact: Lived, fast: Lived, ...lines: (string | undefined)[]): readonly string[] {
  const seconds = lines.flatMap((line) => (line === undefined ? [] : [Number(line.split(',')[0])]))
  const until = Math.min(...seconds)
  const [one, other] = [exact, fast].map(({ turns }) => turns.findLast(({ second }) => second <= until))
  const told = (turn: DecidedTurn | undefined): string =>
    turn === undefined ? 'none' : new Date(turn.second * 1000).toISOString()
  const places = differencesOf(one?.facts, other?.facts, MOST_PLACES)
  return [
    `  decided last until then: exact ${told(one)}, fast ${told(other)}`,
    ...places.map((each) => `  ${each.path}: exact ${each.one}, fast ${each.other}`),
  ]
}

/** A line from shortly before where it differs from another one. */
function aroundOf(line: string | undefined, other: string | undefined): string {
  if (line === undefined) return '(none)'
  let at = 0
  while (at < line.length && line[at] === other?.[at]) at += 1
  const from = Math.max(0, at - 300)
  return `${from === 0 ? '' : '...'}${line.slice(from, at + 300)}`
}
