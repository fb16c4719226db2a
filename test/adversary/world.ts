/**
 * One story: the real daemon, the paper venue with its books, hosts and endpoints of which some lie by a plan, and a judge that
 * looks at the books alone. Simulated time; the same story gives the same end in every process.
 */

import './diskTap.ts'

import type { Fetch } from '../../src/api/transport/route.ts'
import { createScheduler } from '../../src/backtest/lab/scheduler.ts'
import { LAB_ORIGIN, venueFetch } from '../../src/backtest/lab/venueFetch.ts'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { CommandError } from '../../src/config/exit.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { CatalogToken } from '../../src/paper/catalog/catalog.ts'
import type { PriceReplay } from '../../src/paper/catalog/replayFile.ts'
import { headOf } from '../../src/paper/rpc/rpcParams.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { accountOf } from '../../src/paper/state/accounts.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import { tokenPrice } from '../../src/paper/state/venueState.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { randomOf } from '../simulation/random.ts'
import { createBooks } from './books.ts'
import { boundOf } from './bound.ts'
import { account, chain, createDaemon, liveConfig, type RunningDaemon } from './daemon.ts'
import { type Habit, strategyOf, symbols } from './habits.ts'
import { hostileFetch } from './hostile.ts'
import { createJudge, type Violation } from './judge.ts'
import type { LiarKind, Plan } from './lies.ts'
import { createMachine } from './machine.ts'
import type { MachineMoves } from './machineMoves.ts'

/** How long an operator whom nobody answers waits before he asks again, ms. */
const askAgainMs = 2_000
/** Worth of the long tokens that an account is given: enough for any position of the habits. */
const longTokensUsd = usd(20_000)

/** What a world is made of. */
export interface Story {
  readonly seed: number
  readonly kind: LiarKind
  readonly plan: Plan
  /** Who lies instead of the kind's liars, by kind and number: `oracle/0`, `api/1`, `rpc/0`. */
  readonly liars?: readonly string[]
  /** How many hosts of the oracle are configured; absent: all that the venue has. */
  readonly oracleHosts?: number
  readonly habits: readonly Habit[]
  readonly spanMs: number
  /** How many endpoints of the chain are read: none, one or two. */
  readonly endpoints: number
  /** From when on the chain's final block stands still, ms; absent: never. */
  readonly finalStopsAtMs?: number
  /** Settings on top of the live profile's. */
  readonly flags: readonly string[]
  /** The price of ETH, USD, at seconds after the beginning; absent: the venue's own path. */
  readonly path?: readonly (readonly [seconds: number, priceUsd: number])[]
  /** Gives the account the long tokens that its habits pay with; default false. */
  readonly holdsLongTokens?: boolean
  /** When an operator kills with a close, ms. */
  readonly killAtMs?: number
  /** How long after the kill nothing may be open any more, ms; absent: the judge does not ask. */
  readonly closesWithinMs?: number
  /** What others do on the daemon's machine; absent: the journal is in memory, and the operator's word needs no door. */
  readonly machine?: MachineMoves
  /** Ends the story when the kill has closed everything; default false. */
  readonly endsClosed?: boolean
  /** Keeps what happened; default false. */
  readonly keepsTrace?: boolean
}

/** What became of a story. */
export interface StoryResult {
  readonly violation: Violation | undefined
  /** By the books. */
  readonly paidUsd: Usd
  readonly lostUsd: Usd
  readonly boundUsd: Usd
  /** Trades of the account that executed. */
  readonly executed: number
  readonly denials: Readonly<Record<string, number>>
  readonly discrepancies: readonly string[]
  readonly kill: string | undefined
  /** What was open at the kill, USD, and how long after it nothing was, by the books, ms; undefined: never. */
  readonly heldAtKillUsd: Usd
  readonly closedAfterMs: number | undefined
  /** The furthest that the signed price of a reduction lay below (sales) or above the true one, bps. */
  readonly worstReductionBps: number
  /** Signed messages that were handed to a host. */
  readonly submits: number
  /** Times that a host was put in cooldown. */
  readonly cooldowns: Readonly<Record<string, number>>
  /** Breakers that opened. */
  readonly breakers: readonly string[]
  readonly trace: readonly string[]
  readonly text: string
}

/** Tells a story to its end, or to the first violation; `heard` gets every event of the daemon. */
export async function runStory(story: Story, heard: (event: Event) => void = () => {}): Promise<StoryResult> {
  const scheduler = createScheduler()
  let isOver = false
  const clock = scheduler.clock(0, () => !isOver)
  const machine =
    story.machine &&
    (await createMachine({
      moves: story.machine,
      scheduler,
      configOf: (flags) => liveConfig([...story.flags, ...flags]),
      fatal: (error) => fatal(error),
    }))
  const config = machine?.config ?? liveConfig(story.flags)
  const venue: Venue = createVenue({
    clock,
    chain,
    seed: story.seed,
    settings: {
      startBalances: { USDC: '40000', ETH: '1' },
      keeperJitterMs: 0,
      safeLagBlocks: 4,
      ...(story.path === undefined ? {} : { replay: replayOf(story.path) }),
    },
  })
  keepFew(venue)
  if (story.holdsLongTokens === true) giveLongTokens(venue, story.habits)
  const books = createBooks(venue.venueState, account)
  const boundUsd = boundOf(config, story.kind, story.endpoints)
  const judge = createJudge({
    venue,
    books,
    config,
    kind: story.kind,
    endpoints: story.endpoints,
    traded: new Set(story.habits.map(({ symbol }) => symbol)),
    boundUsd,
    nowMs: () => scheduler.nowMs,
  })
  const trace: string[] = []
  const note = (text: string): void => void trace.push(`${(scheduler.nowMs / 1000).toFixed(1)} ${text}`)
  let violation: Violation | undefined
  const broken = (found: Violation | undefined): void => {
    if (found === undefined || violation !== undefined) return
    violation = found
    note(`VIOLATION ${found.rule} ${found.text}`)
  }
  const fatal = (error: unknown): void => {
    if (!isOver)
      broken({ rule: 'F', text: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
  const honest = venueFetch({ scheduler, venue })
  const road = hostileFetch({
    venue,
    kind: story.kind,
    plan: story.plan,
    liars: story.liars,
    honest,
    nowMs: () => scheduler.nowMs,
    note,
  })
  let submits = 0
  const fetch: Fetch = async (url, init) => {
    if (init.method === 'POST' && url.endsWith('/submit')) submits += 1
    return road(url, init)
  }
  const denials: Record<string, number> = {}
  const cooldowns: Record<string, number> = {}
  const opened = new Set<string>()
  const emit = (event: Event): void => {
    heard(event)
    if (event.type === 'decision.denied') {
      const { strategy, decision, denial } = event
      denials[denial.code] = (denials[denial.code] ?? 0) + 1
      note(`denied ${strategy} ${decision.kind} ${denial.code}`)
      return
    }
    if (event.type === 'host.cooldown') {
      const host = event.host.slice(LAB_ORIGIN.length)
      cooldowns[host] = (cooldowns[host] ?? 0) + 1
    }
    if (event.type === 'trading.state' && event.isReleased !== true) opened.add(event.cause)
    if (story.keepsTrace === true && told.has(event.type)) note(textOf(event))
  }
  const random = randomOf(story.seed, 'daemon')
  /** The process that runs; absent between a crash and the next start. */
  let life: RunningDaemon | undefined
  async function begin(): Promise<void> {
    const isAlive = (): boolean => !isOver && (life === undefined || life === daemon)
    const own = scheduler.clock(0, isAlive)
    const files = machine === undefined ? undefined : await machine.open(own)
    const failed = (error: unknown): void => {
      if (isAlive()) fatal(error)
    }
    const daemon: RunningDaemon = createDaemon({
      config,
      clock: own,
      random: () => random.next(),
      fetch: (url, init) => (isAlive() ? fetch(url, init) : new Promise(() => {})),
      apiHosts: venue.paths.api.map((path) => LAB_ORIGIN + path),
      oracleHosts: venue.paths.oracle.slice(0, story.oracleHosts).map((path) => LAB_ORIGIN + path),
      endpoints: venue.paths.rpc.slice(0, story.endpoints).map((path) => LAB_ORIGIN + path),
      strategies: story.habits.map((habit, index) => strategyOf(habit, `${habit.does}-${index + 1}`)),
      emit: (event) => {
        if (isAlive()) emit(event)
      },
      fatal: failed,
      ...(files === undefined ? {} : { files }),
    })
    life = daemon
    await machine?.serve(daemon.engine, emit)
    daemon.engine.start().catch(failed)
  }
  let isKillDone = false
  let heldAtKillUsd = 0n
  let closedAfterMs: number | undefined
  const look = (): void => {
    venue.advance()
    books.look()
    broken(judge.look())
    machine?.look()
    broken(judge.wrote(life?.journal.account().discrepancies.size ?? 0))
    if (story.killAtMs !== undefined && scheduler.nowMs > story.killAtMs && books.sides().length === 0)
      closedAfterMs ??= scheduler.nowMs - story.killAtMs
    if (story.killAtMs !== undefined && closedAfterMs === undefined) {
      const lateMs = scheduler.nowMs - story.killAtMs - (story.closesWithinMs ?? Number.POSITIVE_INFINITY)
      if (lateMs > 0) broken({ rule: 'W', text: `the kill has not closed: ${books.text()}` })
    }
    if (!isKillDone && story.killAtMs !== undefined && life?.engine.status().kill?.outcome === 'done') {
      isKillDone = true
      note(`the kill is done: ${books.text()}`)
      broken(judge.killDone())
    }
    scheduler.after(500, look)
  }
  scheduler.after(500, look)
  if (story.finalStopsAtMs !== undefined) scheduler.after(story.finalStopsAtMs, () => stopFinalBlocks(venue))
  if (story.killAtMs !== undefined) {
    scheduler.after(story.killAtMs, () => {
      judge.kill()
      heldAtKillUsd = books.sides().reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n)
      askKill().catch(fatal)
    })
  }
  /** An operator whom nobody answers asks again. */
  async function askKill(): Promise<void> {
    if (machine === undefined) {
      await life?.engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
      return
    }
    try {
      note(await machine.kill())
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      note(error.message)
      scheduler.after(askAgainMs, () => void askKill().catch(fatal))
    }
  }
  const { crash } = story.machine ?? {}
  if (crash !== undefined) {
    scheduler.after(crash.atMs, () => {
      const ended = life
      life = undefined
      machine?.crash().catch(fatal)
      ended?.close()
      note('killed')
    })
    scheduler.after(crash.atMs + crash.downMs, () => void begin().catch(fatal))
  }
  begin().catch(fatal)
  while (violation === undefined) {
    if (story.endsClosed === true && closedAfterMs !== undefined) break
    if (!(await scheduler.step(story.spanMs))) break
  }
  const status = life?.engine.status()
  isOver = true
  life?.close()
  await machine?.close()
  note(`${status?.state} ${status?.notReady.join(', ')}: ${books.text()}`)
  return {
    violation,
    paidUsd: books.worstPaidUsd,
    lostUsd: books.lostUsd,
    boundUsd,
    executed: venue.venueState.trades.filter(
      (row) => row.eventName === 'OrderExecuted' && hexKey(row.account) === hexKey(account),
    ).length,
    denials,
    discrepancies: status?.discrepancies.map(({ discrepancy }) => discrepancy.kind) ?? [],
    kill: status?.kill?.outcome,
    heldAtKillUsd,
    closedAfterMs,
    worstReductionBps: judge.worstReductionBps(),
    submits,
    cooldowns,
    breakers: [...opened],
    trace,
    text: books.text(),
  }
}

const told: ReadonlySet<string> = new Set([
  'order.moved',
  'order.payload_rejected',
  'order.not_signed',
  'trading.state',
  'tick.failed',
  'account.discrepancy',
  'account.equityJumped',
  'market.contradicted',
  'host.cooldown',
])

/** One line of an event: what is of the story, without the whole intents. */
function textOf(event: Event): string {
  const {
    intent,
    type,
    state: _state,
    ...rest
  } = event as Event & { readonly intent?: Intent; readonly state?: unknown }
  const whose =
    intent === undefined ? '' : `${intent.strategy} ${intent.kind} ${intent.intentId.slice(0, 6)} `
  const text = JSON.stringify(rest, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
  return `${type} ${whose}${text.slice(0, 600)}`
}

/** Gives the account each long token that a habit pays with, as many as cost `longTokensUsd`: without them it opens nothing. */
function giveLongTokens({ venueState }: Venue, habits: readonly Habit[]): void {
  const paying = new Set(habits.flatMap(({ collateral, symbol }) => (collateral === 'long' ? [symbol] : [])))
  const { balances } = accountOf(venueState, account)
  for (const { catalog, longToken } of venueState.markets) {
    if (!paying.has(catalog.symbol)) continue
    const { max } = tokenPrice(venueState, longToken, venueState.epochSeconds)
    balances.set(hexKey(longToken.address), longTokensUsd / max)
  }
}

/** From now on `safe` is the block that it is now. */
function stopFinalBlocks({ venueState }: Venue): void {
  const { settings } = venueState
  const stoppedAt = headOf(venueState) - settings.safeLagBlocks
  Object.defineProperty(settings, 'safeLagBlocks', { get: () => headOf(venueState) - stoppedAt })
}

/** A small venue is a fast one: of its hundred markets those that are traded, and some that a liar may put in their place. */
function keepFew({ venueState }: Venue): void {
  const markets = venueState.markets as VenueMarket[]
  const kept = markets.filter(({ catalog }) => keptMarkets.has(catalog.symbol))
  markets.splice(0, markets.length, ...kept)
  const byKey = venueState.marketByKey as Map<string, VenueMarket>
  for (const [key, { catalog }] of byKey) if (!keptMarkets.has(catalog.symbol)) byKey.delete(key)
  const used = new Set(
    kept.flatMap(({ catalog }) => [catalog.indexToken, catalog.longToken, catalog.shortToken].map(hexKey)),
  )
  const tokens = venueState.catalog.catalog.tokens as CatalogToken[]
  const keptTokens = tokens.filter(({ address, isNative }) => isNative || used.has(hexKey(address)))
  tokens.splice(0, tokens.length, ...keptTokens)
}

const keptMarkets: ReadonlySet<string> = new Set([...symbols, 'kPEPE/USD [WETH-USDC]', 'SOL/USD [SOL-USDC]'])

function replayOf(path: readonly (readonly [number, number])[]): PriceReplay {
  const candles = path.map(([startSeconds, price], index): FileCandle => {
    const next = path[index + 1]?.[1] ?? price
    return {
      startSeconds,
      open: usd(price),
      close: usd(next),
      high: usd(Math.max(price, next)),
      low: usd(Math.min(price, next)),
    }
  })
  return { series: new Map([['ETH', candles]]), speed: 1 }
}
