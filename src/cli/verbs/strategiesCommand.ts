/** `perpd strategies`: every instance of the files and of the running daemon, what it does, and what it manages. */

import { OPERATOR } from '../../account/halts/tradingHalts.ts'
import { defined } from '../../base/defined.ts'
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { readStrategyFiles } from '../../daemon/readStrategies.ts'
import { releaseText } from '../../domain/accountRecords/haltRelease.ts'
import { haltsOn } from '../../domain/accountRecords/tradingState.ts'
import type { OrderRow } from '../../domain/summaries/orderView.ts'
import type { LastDecision } from '../../monitor/lastDecisions.ts'
import { money, span } from '../../monitor/text.ts'
import { closeStrategies } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon, queryStatus } from '../call/daemonClient.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { wrapped } from '../output/screen.ts'
import { booksOf, isBooks, managesIt, type PlainBook } from '../results/booksTable.ts'
import { exitsHereText, statusLineText } from '../results/statusParts.ts'

/** Why an instance fails, pauses, reduces or is halted. */
export interface Trouble {
  /** `paused`, `failing`, or the state of trading that holds it. */
  readonly what: string
  readonly reason: string
  /** Unix ms. */
  readonly sinceMs: number
  /** Action to take, with the command. */
  readonly next: string
}

/** One instance. */
export interface StrategyRow {
  readonly name: string
  /** Null where only its orders tell of it. */
  readonly kind: string | null
  readonly markets: readonly string[]
  /**
   * `enabled`, `reducing`, `halted`, `paused` (by an operator, or after failures) and `failing` run; `disabled` and `new` stand in the
   * files and do not run, `new` until it is taken over; `removed` is in no file: it runs until that is taken over, is being wound down, or has
   * orders or a position left.
   */
  readonly state: string
  readonly isRunning: boolean
  /** Troubles that keep the strategy from its work, with their time and remedy; empty where there are none. */
  readonly troubles: readonly Trouble[]
  readonly lastDecision: LastDecision | null
  /** `long ETH/USD [WETH-USDC] $500.00`: its own parts, of a keeper what it watches, of one that does not run what its last orders opened. */
  readonly positions: readonly string[]
  /** Exits that act only while perpd runs; absent: none. */
  /** Its kind's line on what it waits for, with the values that it decided by. */
  readonly status?: StatusBody['strategies'][number]['status']
  readonly exitsHere?: StatusBody['strategies'][number]['exitsHere']
  /** The newest signal from outside, and what became of it; absent before the first. */
  readonly lastSignal?: StatusBody['strategies'][number]['lastSignal']
  /** The newest signal since the start that led to no order, and why; absent: none. */
  readonly lastUnserved?: StatusBody['strategies'][number]['lastUnserved']
}

/** Lists instances, as text or with `--json`. Exit code 3 when no daemon answers. */
export async function strategies({ loaded, flags, width, out }: Call): Promise<number> {
  const status = await queryStatus(loaded)
  const [decisions, orders, books, files] = await Promise.all([
    queryDaemon(loaded, '/api/decisions', isDecisions),
    queryDaemon(loaded, '/api/orders?limit=1000', isOrders),
    queryDaemon(loaded, '/api/books', isBooks),
    readStrategyFiles(loaded.config),
  ])
  await closeStrategies(files.strategies)
  const rows = strategyRows(
    status,
    decisions,
    orders,
    {
      enabled: new Map(
        files.strategies.map(({ name, strategy, symbols }) => [name, { kind: strategy.kind, symbols }]),
      ),
      disabled: files.disabled,
      isWhole: files.problems.length === 0,
    },
    books,
  )
  if (flags.has('json')) out(JSON.stringify(rows, undefined, 2))
  else {
    out(rows.length === 0 ? 'No strategies.' : strategiesText(rows, status.nowMs, width))
    if (files.problems.length > 0) out('\nA strategy file cannot be read: perpd check')
  }
  return exitCodes.ok
}

function isDecisions(body: unknown): body is readonly LastDecision[] {
  return Array.isArray(body)
}

function isOrders(body: unknown): body is readonly OrderRow[] {
  return Array.isArray(body)
}

/** Present state of the strategy files. */
export interface Files {
  readonly enabled: ReadonlyMap<string, { readonly kind: string; readonly symbols: readonly string[] }>
  readonly disabled: readonly string[]
  /** True when all files could be read: a file that could not be read does not count as removed. */
  readonly isWhole: boolean
}

/** The rows: those that run, those of the files, and those of which orders or positions are left. */
export function strategyRows(
  status: StatusBody,
  decisions: readonly LastDecision[],
  orders: readonly OrderRow[],
  files: Files,
  books: readonly PlainBook[] = [],
): readonly StrategyRow[] {
  const decisionOf = (name: string) => decisions.find(({ strategy }) => strategy === name) ?? null
  const held = status.positions.map((position) => ({
    ...position,
    market: status.symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
    direction: position.direction,
    words: `${position.direction} ${status.symbols[position.marketToken.toLowerCase()] ?? position.marketToken} ${money(BigInt(position.sizeInUsd))}`,
  }))
  const running = status.strategies.map((each): StrategyRow => {
    const isRemoved = files.isWhole && !files.enabled.has(each.name)
    const isPaused = [each.pausedBy, each.pausedForMs, each.unfit].some((why) => why !== undefined)
    const pause = isPaused ? 'paused' : undefined
    const failing = each.failures > 0 ? 'failing' : undefined
    const halt = each.tradingState === 'active' ? undefined : each.tradingState
    return {
      name: each.name,
      kind: each.kind,
      markets: each.symbols,
      state: `${pause ?? halt ?? failing ?? 'enabled'}${isRemoved ? '; its file was removed, not applied yet' : ''}`,
      isRunning: true,
      troubles: troublesOf(status, each),
      lastDecision: decisionOf(each.name),
      positions: held
        .filter((position) => managesIt(each, position, books))
        .map((position) => {
          if (!each.opensPositions) return position.words
          const own = booksOf(position, books).filter(({ strategy }) => strategy === each.name)
          const ownUsd = own.reduce((sum, { sizeUsd }) => sum + BigInt(sizeUsd), 0n)
          return `${position.direction} ${position.market} ${money(ownUsd)}`
        }),
      ...defined({
        status: each.status,
        exitsHere: each.exitsHere,
        lastSignal: each.lastSignal,
        lastUnserved: each.lastUnserved,
      }),
    }
  })
  const known = new Set(running.map(({ name }) => name))
  /** Positions that the last orders of a stopped strategy opened and that are still held, and its resting orders. */
  const leftOf = (name: string): readonly string[] => [
    ...held
      .filter(({ market, direction }) => {
        const newest = orders.find(
          (row) => row.market === market && row.direction === direction && row.kind === 'increase',
        )
        return newest?.strategy === name
      })
      .map(({ words }) => words),
    ...orders
      .filter((row) => row.strategy === name && row.closedAt === null && row.standing !== 'open')
      .map((row) => `order ${row.intentId.slice(0, 8)} ${row.standing}`),
  ]
  const waiting = [...files.enabled]
    .filter(([name]) => !known.has(name))
    .map(([name, { kind, symbols }]) => ({
      name,
      kind,
      markets: symbols,
      state: 'new, not loaded yet',
    }))
  const disabled = files.disabled
    .filter((name) => !known.has(name))
    .map((name) => ({ name, kind: null, markets: [], state: 'disabled' }))
  const named = new Set([...known, ...waiting.map(({ name }) => name), ...disabled.map(({ name }) => name)])
  const ending = new Map(
    status.windDowns.map(({ strategy, close, problem }) => [
      strategy,
      `removed, ${close ? 'being closed' : 'its exits close it'}${problem === undefined ? '' : `: ${problem}`}`,
    ]),
  )
  const gone = [...new Set([...ending.keys(), ...orders.map(({ strategy }) => strategy)])]
    .filter((name) => !named.has(name) && (name === OPERATOR || files.isWhole || ending.has(name)))
    .map((name) => ({
      name,
      kind: null,
      markets: [],
      state: name === OPERATOR ? 'by hand' : (ending.get(name) ?? 'removed'),
    }))
    .filter(({ name }) => ending.has(name) || leftOf(name).length > 0)
  const still = [...waiting, ...disabled, ...gone].map(
    (each): StrategyRow => ({
      ...each,
      isRunning: false,
      troubles: [],
      lastDecision: decisionOf(each.name),
      positions: leftOf(each.name),
    }),
  )
  return [...running, ...still]
}

function troublesOf(
  { halts, nowMs }: StatusBody,
  each: StatusBody['strategies'][number],
): readonly Trouble[] {
  const held = haltsOn(halts, each.name).map((halt) => ({
    what: halt.state,
    reason: `${halt.cause}, by ${halt.by}: ${halt.reason}`,
    sinceMs: halt.sinceMs,
    next: releaseText(halt),
  }))
  if (each.pausedBy !== undefined) {
    const { by, reason, sinceMs } = each.pausedBy
    const next = `an operator can resume it: perpd strategies resume ${each.name}`
    return [{ what: 'paused', reason: `${by} says: ${reason}`, sinceMs, next }, ...held]
  }
  if (each.unfit !== undefined) {
    const next = `correct its kind and load it (perpd strategies reload), or discard its memory: perpd strategies forget ${each.name}`
    return [{ what: 'paused', ...each.unfit, next }, ...held]
  }
  if (each.failures === 0) return held
  const { failures, lastError = 'no reason given', failingSinceMs = nowMs, pausedForMs, kindFile } = each
  const ask = pausedForMs === undefined ? 'it resumes at its next turn' : `it resumes in ${span(pausedForMs)}`
  const mend =
    kindFile === undefined
      ? `full error: perpd logs --level error`
      : `correct ${kindFile}, run perpd check, and load it: perpd strategies reload`
  return [
    {
      what: pausedForMs === undefined ? 'failing' : 'paused',
      reason: `failed ${failures === 1 ? 'once' : `${failures} times in a row`}, last error: ${lastError}`,
      sinceMs: failingSinceMs,
      next: `${ask}; ${mend}`,
    },
    ...held,
  ]
}

/** The rows as a table, and below it why those fail, pause or are held back that do, and what to do. */
export function strategiesText(rows: readonly StrategyRow[], nowMs: number, width: number): string {
  const told = rows.flatMap(({ name, troubles, lastDecision, exitsHere, lastSignal, lastUnserved }) => [
    ...troubles.map(
      ({ what, reason, sinceMs, next }) =>
        `${name} is ${what}, for ${span(Math.max(0, nowMs - sinceMs))}: ${reason}\n  ${next}`,
    ),
    // The table has no place for more than the code of it.
    ...(lastDecision?.reason === undefined
      ? []
      : [`the last decision of ${name} was ${lastDecision.outcome}: ${lastDecision.reason}`]),
    ...(exitsHere === undefined ? [] : [`${name} ${exitsHereText(exitsHere)}`]),
    ...(lastSignal === undefined ? [] : [signalText(name, lastSignal, nowMs)]),
    ...(lastUnserved === undefined ? [] : [unservedText(name, lastUnserved, nowMs)]),
  ])
  const waits = rows.flatMap(({ name, status }) =>
    status === undefined ? [] : wrapped(`${name}: `, statusLineText(status, nowMs), width),
  )
  const block = waits.length === 0 ? [] : [waits.join('\n')]
  return [fitTable(columns(nowMs), rows, width), ...block, ...told].join('\n\n')
}

/** `the last signal of tv, 12 "breakout", said long ETH/USD [WETH-USDC] 3 s ago: taken`. */
function signalText(name: string, signal: NonNullable<StrategyRow['lastSignal']>, nowMs: number): string {
  const { number, action, symbol, receivedAtMs, standing } = signal
  const called = signal.name === undefined ? '' : ` "${signal.name}"`
  const ago = span(Math.max(0, nowMs - receivedAtMs))
  return `the last signal of ${name}, ${number}${called}, said ${action} ${symbol} ${ago} ago: ${standing}`
}

/** `signal 12 of tv led to no order, 3 s ago: its own long of $100.00 is held already`. */
function unservedText(
  name: string,
  { signal, reason, atMs }: NonNullable<StrategyRow['lastUnserved']>,
  nowMs: number,
): string {
  return `signal ${signal} of ${name} led to no order, ${span(Math.max(0, nowMs - atMs))} ago: ${reason}`
}

const columns = (nowMs: number): readonly Column<StrategyRow>[] => [
  { title: 'STRATEGY', rank: 0, isName: true, of: ({ name }) => name },
  { title: 'KIND', rank: 3, isName: true, of: ({ kind }) => kind ?? '' },
  {
    title: 'MARKET',
    rank: 2,
    wraps: true,
    of: (row) => (row.markets.length > 0 ? row.markets.join(', ') : row.isRunning ? 'every position' : ''),
  },
  { title: 'STATE', rank: 0, wraps: true, of: ({ state }) => state },
  {
    title: 'LAST DECISION',
    rank: 1,
    wraps: true,
    readable: 22,
    of: ({ lastDecision, isRunning }) =>
      lastDecision === null ? (isRunning ? 'none' : '') : decisionText(lastDecision, nowMs),
  },
  {
    title: 'POSITIONS',
    rank: 0,
    of: ({ positions }) => positions.map(withoutPool).join('\n'),
  },
]

/** `ETH/USD [WETH-USDC]` as `ETH/USD`: whole symbols are in the column of markets and in the JSON. */
function withoutPool(text: string): string {
  return text.replace(/ \[[^\]]*\]/, '')
}

function decisionText(decision: LastDecision, nowMs: number): string {
  const { words, outcome, atMs, reason } = decision
  const [code = ''] = (reason ?? '').split(':')
  return `${withoutPool(words)}, ${outcome}${code === '' ? '' : ` (${code})`} ${span(Math.max(0, nowMs - atMs))} ago`
}
