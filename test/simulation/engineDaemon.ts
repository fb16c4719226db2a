/**
 * Tier 3: the whole daemon. Its own engine reads the modelled venue, asks seeded strategies, sizes, admits, reconciles, judges
 * breakers and takes an operator's commands; the real shell does the rest. Wired as src/daemon/run.ts does it.
 */
import { createApi } from '../../src/api/client.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { processClock } from '../../src/backtest/lab/timeline.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import { createTrader, type TraderParts } from '../../src/daemon/trader.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { noKeptStrategies } from '../../src/domain/accountRecords/strategyEntry.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ChainReader } from '../../src/domain/machine/chainReader.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { createMarketData } from '../../src/market/marketData.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { taskRows } from '../../src/tasks/taskRows.ts'
import { holdToRegister } from '../support/registeredLine.ts'
import { CLIMBER } from './climber.ts'
import type { Daemon, DaemonParts, Tier } from './daemon.ts'
import { latestOf, viewOf } from './endpoints.ts'
import { pathOf, type StrategyFolder } from './engineFiles.ts'
import { modelFacts, oracleHost } from './engineMarkets.ts'
import { checkSigned } from './engineSigned.ts'
import { type EngineWorld, worldOf } from './engineWorld.ts'
import { exitLookMs } from './exitChecks.ts'
import { createFetch } from './httpVenue.ts'
import { swapMarkets } from './intentsOf.ts'
import { jsonText } from './payload.ts'
import { checkBlame, privateKey } from './shellDaemon.ts'
import type { Truth } from './truth.ts'

/** The tier that drives the real engine. */
export const engineTier: Tier = {
  name: 'engine',
  decides: true,
  create: (parts) => new EngineDaemon(parts, worldOf(parts)),
  drain: () => new Promise((resolve) => setImmediate(resolve)),
}

const simulatedSigner = createLocalSigner(privateKey)

const watchMs = 5_000

/** Longest time that the network takes over an answer that it neither loses nor holds back (`network.ts`), ms. */
const slowestAnswerMs = 6_000

/** More than enough turns of the event loop's microtasks for an answer to reach who asked. */
const TURNS_OF_AN_ANSWER = 50

const never = () => new Promise<never>(() => {})

class EngineDaemon implements Daemon {
  readonly #parts: DaemonParts
  readonly #world: EngineWorld
  readonly #engine: Engine
  readonly #clock: ReturnType<typeof processClock>
  /** When each request began that is in the air, virtual ms. */
  readonly #asking = new Set<{ readonly atMs: number }>()
  #restingTimers = 0

  /** The folder as it was last taken over. */
  #takenVersion = 0

  constructor(parts: DaemonParts, world: EngineWorld) {
    this.#parts = parts
    this.#world = world
    world.fatal = parts.fatal
    world.newestEpoch = parts.process.epoch
    // Nobody starts a daemon over files that are broken.
    world.folder?.mend()
    const { process, timeline, endpoints, rules } = parts
    this.#clock = processClock(timeline, () => process.isAlive, parts.wallOffsetMs)
    const clock = this.#clock
    const journal = this.#watched(parts.journal)
    const emit = (event: Event) => this.#heard(event)
    const api = createApi({
      chain: arbitrum,
      hosts: { ...arbitrum.hosts, api: parts.venue.peers.map(({ host }) => host), oracle: [oracleHost] },
      fetch: this.#counted(createFetch(parts, world.signatures, simulatedSigner.address, world.market)),
      clock,
      random: () => parts.random.next(),
      limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
    })
    const chain = { ...arbitrum, facts: modelFacts }
    const stop = (error: unknown): void => {
      if (process.isAlive) parts.fatal(error)
    }
    this.#engine = createTrader({
      market: createMarketData({ chain, api, clock, journal, emit, fatal: stop }),
      journal,
      signer: {
        address: simulatedSigner.address,
        sign: async (request) => {
          if (parts.boundary('sign')) return never()
          const signature = await simulatedSigner.sign(request)
          parts.transcript?.signature(timeline.nowMs, request.digest, signature)
          if (process.isAlive) world.signatures.set(signature, checkSigned(parts, request, signature))
          return parts.boundary('signed') ? never() : signature
        },
      },
      ...(endpoints.length === 0 ? {} : { chainReader: this.#reader() }),
      clock,
      emit,
      strategies: world.strategies(),
      limits: world.configured(),
      readLimits: async () => world.configured(),
      ...(world.folder === undefined ? {} : { strategyFiles: this.#files(world.folder) }),
      settings: {
        rules,
        execution: {
          statusPollMs: 500,
          statusPollMaxMs: parts.pollMaxMs,
          restingPollMs: 12 * parts.pollMaxMs,
          prepareRetryMs: 1_000,
          withheldMs: 15_000,
          payloadMismatchCooldownMs: 10_000,
          relayDeadlineSeconds: 120,
          relayFeePerOrder: 250_000n,
        },
        engine: {
          lane: world.lane,
          intentExpiryMs: world.intentExpiryMs,
          drainMs: 5_000,
          defaultSlippageBps: 100,
          watchMs,
          heartbeatMs: 60_000,
        },
        signingPolicy: () => ({
          minDeadlineSeconds: 20,
          maxDeadlineSeconds: 3_700,
          maxExecutionFee: 10n ** 16n,
          maxRelayFee: 5_000_000n,
          priceToleranceBps: 300,
          swapMarkets,
        }),
      },
      labels: { version: 'simulated', profile: 'simulated', journalPath: 'disk', evidence: rules.source },
      fatal: stop,
    })
  }

  /** What was left besides the watch of the account and the strategies when nothing was asked of anybody. */
  get timers(): number {
    const { kill, unwinds, windDowns, strategies, tasksRunning } = this.#engine.status()
    const killing = kill !== undefined && kill.endedAtMs === undefined ? 1 : 0
    const unwinding = unwinds.length > 0 ? 1 : 0
    // Each kind of those that run has one wait between two of its looks.
    const working = taskRows.filter(({ name }) => (tasksRunning[name] ?? 0) > 0).length
    return this.#restingTimers - 1 - killing - unwinding - windDowns.length - strategies.length - working
  }

  waits(): boolean {
    return this.#world.executors?.waits(this.#clock.now()) === true
  }

  start(): void {
    const { journal, process, fatal } = this.#parts
    const { checks, exits, executors, roster } = this.#world
    checks.begin(journal.recentIntents(), journal.account().tasks, this.#world.configured())
    exits?.begin(journal.recentIntents(), journal.account().discrepancies)
    roster?.begin(this.#engine.strategies(), journal.account().strategies ?? noKeptStrategies)
    const names = this.#engine.strategies().map(({ name }) => name)
    executors?.begin(this.#parts.process, journal.recentIntents(), journal.account().tasks, names)
    this.#world.engine = this.#engine
    if (this.#world.folder !== undefined) this.#watch(this.#world.folder)
    this.#engine.start().catch((error: unknown) => {
      if (process.isAlive) fatal(error)
    })
  }

  accept(): void {
    throw new TypeError('accept: this daemon decides by itself')
  }

  states(): readonly IntentState[] {
    return this.#engine.orders.open().map(({ state }) => state)
  }

  stop(done: () => void): void {
    this.#engine.stop('SIGTERM').then(done, (error: unknown) => this.#parts.fatal(error))
  }

  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const { process, fatal } = this.#parts
    this.#engine
      .operate({ type: 'resolve', intentId, as }, { by: 'operator', via: 'cli' })
      .catch((error: unknown) => {
        if (process.isAlive) fatal(error)
      })
  }

  onDurable(record: JournalRecord | AccountRecord, state: IntentState | undefined): void {
    this.#world.checks.durable(record, state, this.#parts.journal.openIntents())
    this.#world.climber?.durable(record)
    this.#world.executors?.durable(record, state)
    this.#world.exits?.durable(record)
    this.#world.roster?.durable(record)
  }

  finish(): void {
    this.#world.checks.finish(this.#engine.status())
    const { exits, roster } = this.#world
    if (exits !== undefined) roster?.finish(this.#engine.status(), exits.parts())
    const { journal } = this.#parts
    const memory = journal.account().memories?.get(CLIMBER)?.memory
    this.#world.executors?.finish(this.#clock.now())
    this.#world.climber?.finish(journal.recentIntents(), memory, journal.ownEvents(CLIMBER))
  }

  #heard(event: Event): void {
    const { note, process } = this.#parts
    const truth: Truth = this.#parts.truth
    if (!process.isAlive) return
    holdToRegister(event)
    if (jsonText(event).includes(privateKey.slice(2))) truth.fail('I14', `${event.type} shows the key`)
    if (event.type === 'order.payload_rejected') checkBlame(this.#parts)
    if (event.type === 'account.booksDiffer')
      truth.fail(
        'I16',
        `the books of ${event.marketToken} are ${event.booksUsd}, not ${event.expectedUsd}; tokens ${event.booksTokens}, not ${event.expectedTokens}`,
      )
    // Nothing but orders and the owner, who takes something out at times, moves the account's tokens in these worlds.
    const takenUsd = usd(this.#world.market.lostUsd)
    if (event.type === 'account.transferred' && (event.amountUsd > 0n || -event.amountUsd > takenUsd))
      truth.fail('I16', `${event.amountUsd} that orders moved is taken for a transfer`)
    if (event.type === 'unwind.ended') this.#world.checks.unwound(event.intentId)
    if (event.type === 'order.moved') note(`event ${event.type} ${event.from} ${event.to}`)
    if (event.type.startsWith('tick.') && 'strategy' in event) this.#world.roster?.ticked(event.strategy)
    if (event.type === 'decision.denied') {
      const { strategy, decisionKey, decision, denial } = event
      const marketToken = 'marketToken' in decision ? decision.marketToken : ''
      this.#world.exits?.denied({
        strategy,
        decisionKey,
        kind: decision.kind,
        code: denial.code,
        marketToken,
      })
    }
    if (event.type === 'decision.denied')
      note(`denied ${event.strategy} ${event.decision.kind} ${event.denial.code}`)
    if (event.type === 'decision.invalid') note(`invalid ${event.strategy} ${event.denial.reason}`)
    if (event.type === 'tick.failed') note(`tick failed ${event.strategy} ${event.reason}`)
    if (event.type === 'trading.state') note(`trading ${event.scope} ${event.state} ${event.reason}`)
    if (event.type === 'task.started') note(`task started ${event.taskId}`)
    if (event.type === 'task.waits') note(`task waits ${event.taskId} ${event.reason}`)
    if (event.type === 'task.ended') note(`task ended ${event.taskId} ${event.outcome} ${event.statement}`)
    if (event.type === 'daemon.ready') note('ready')
  }

  /** Where the engine reads its strategies anew. */
  #files(folder: StrategyFolder): NonNullable<TraderParts['strategyFiles']> {
    const { boundary } = this.#parts
    const fixed = () => {
      throw new TypeError('nobody writes these files by field')
    }
    return {
      read: async () => (boundary('read files') ? never() : folder.read()),
      textOf: fixed,
      replace: fixed,
      isGone: (path) => folder.isGone(path),
    }
  }

  /** Once a second: what is on the disk is taken over where it changed, as the daemon's own watch does, and exits are judged. */
  #watch(folder: StrategyFolder): void {
    const { timeline, process } = this.#parts
    timeline.after(exitLookMs, () => {
      if (!process.isAlive) return
      const status = this.#engine.status()
      if (this.#world.engine === this.#engine) this.#look(status)
      if (folder.version === this.#takenVersion || status.state !== 'running') {
        this.#watch(folder)
        return
      }
      this.#takeOver(folder).then(
        () => this.#watch(folder),
        (error: unknown) => {
          if (process.isAlive) this.#parts.fatal(error)
        },
      )
    })
  }

  async #takeOver(folder: StrategyFolder): Promise<void> {
    const { version } = folder
    const asked = folder.whole()
    const isConfirmed = version % 3 === 0
    const answer = await this.#engine.operate(
      { type: 'reload', isConfirmed },
      { by: 'perpd', via: 'control' },
    )
    this.#parts.note(`reload ${answer.ok ? answer.statement : answer.code}`)
    if (!answer.ok && answer.code !== 'STRATEGIES_INVALID') return
    this.#takenVersion = version
    // What changed while it was taken over is taken over next.
    if (answer.ok && folder.version === version)
      this.#world.roster?.reloaded(asked, this.#engine.strategies())
  }

  #look({ state, kill, unwinds, halts, windDowns }: EngineStatus): void {
    const { exits, roster, folder } = this.#world
    const { venue, journal, timeline } = this.#parts
    const isWell =
      state === 'running' &&
      unwinds.length === 0 &&
      kill === undefined &&
      venue.peers.every(({ isDown }) => !isDown)
    const isHalted = (strategy: string) =>
      halts.some(
        ({ scope, state: held }) =>
          held === 'halted' &&
          (scope === 'global' || scope === 'account' || scope === `strategy:${strategy}`),
      )
    const strategies = this.#engine.strategies()
    exits?.look({ strategies, open: journal.openIntents(), isWell, isHalted })
    if (exits === undefined || folder === undefined) return
    const windingDown = new Set(windDowns.map(({ strategy }) => strategy))
    const isGone = (strategy: string) => folder.isGone(pathOf(strategy)) && strategy !== CLIMBER
    const isAnswered = [...this.#asking].every(({ atMs }) => timeline.nowMs - atMs <= slowestAnswerMs)
    roster?.look({ strategies, isWell, isAnswered, windingDown, held: exits.knownParts(), isGone })
  }

  /** Requests, counted: while one is in the air its timeout runs. */
  #counted(fetch: Fetch): Fetch {
    return async (url, init) => {
      const asked = { atMs: this.#parts.timeline.nowMs }
      this.#asking.add(asked)
      try {
        return await fetch(url, init)
      } finally {
        this.#asking.delete(asked)
        if (this.#asking.size === 0) void this.#rest()
      }
    }
  }

  /** Counts what is left once the client has taken the answer, and with it the timeout of its request, back. */
  async #rest(): Promise<void> {
    for (let turn = 0; turn < TURNS_OF_AN_ANSWER; turn += 1) await Promise.resolve()
    if (this.#asking.size === 0) this.#restingTimers = this.#clock.sleepers
  }

  /** The journal, with the checks told of a hold's end, and of what is accepted, before it is written. */
  #watched(journal: DaemonParts['journal']): Journal {
    const leaving = (record: JournalRecord | AccountRecord): void => this.#leaving(record)
    return new Proxy(journal, {
      get(target, name: keyof Journal) {
        if (name === 'appendAccount') {
          return (record: AccountRecord) => {
            leaving(record)
            return target.appendAccount(record)
          }
        }
        if (name === 'append') {
          return (record: JournalRecord) => {
            leaving(record)
            return target.append(record)
          }
        }
        if (name === 'appendTogether') {
          return (records: readonly (JournalRecord | AccountRecord)[]) => {
            for (const record of records) leaving(record)
            return target.appendTogether(records)
          }
        }
        const member: unknown = target[name]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  #leaving(record: JournalRecord | AccountRecord): void {
    const { checks, exits, roster } = this.#world
    checks.leaving(record)
    if (record.kind !== 'intent.accepted' || exits === undefined) return
    // One that was taken for dead decides by what it knew when it was frozen. The journal refuses to write it (I10 judges that), so nothing of it is placed.
    if (this.#parts.process.epoch !== this.#world.newestEpoch) return
    const strategies = this.#engine.strategies()
    exits.leaving(record, { strategies, open: this.#parts.journal.openIntents() })
    const loaded = strategies.find(({ name }) => name === record.intent.strategy)
    roster?.accepting(record.intent, loaded, exits.knownParts)
  }

  #reader(): ChainReader {
    const { chain, endpoints, timeline, random, process, boundary, transcript } = this.#parts
    const later = <T>(what: string, about: readonly Hex[], value: () => T): Promise<T> => {
      if (boundary('chain')) return never()
      transcript?.call(timeline.nowMs, what, JSON.stringify(about))
      return new Promise((resolve) => {
        timeline.after(random.int(1, 150), () => {
          if (!process.isAlive) return
          const seen = value()
          timeline.after(random.int(0, 100), () => {
            if (process.isAlive && !boundary('chain read')) resolve(seen)
          })
        })
      })
    }
    return {
      configured: endpoints.length,
      latestBlocks: () => later('newest', [], () => latestOf(chain, endpoints, timeline.nowMs)),
      poll: (queries) =>
        later(
          'look',
          queries.map(({ digest }) => digest),
          () => queries.map((query) => viewOf(chain, endpoints, query, timeline.nowMs)),
        ),
    }
  }
}
