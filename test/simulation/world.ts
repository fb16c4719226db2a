/**
 * One world from one seed: daemon, venue, chain, network, disk, faults, and the truth that judges them. Its trace is the
 * list of everything that happened, and its hash is the same in every process.
 */
import { hash } from 'node:crypto'
import { createTimeline, epochMs, type Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Outcome } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { ModelChain } from './chainModel.ts'
import type { Daemon, DaemonParts, Process } from './daemon.ts'
import { createModelStorage } from './disk.ts'
import { createEnding, type Ending } from './ending.ts'
import type { Endpoint } from './endpoints.ts'
import { modelMarkets } from './engineMarkets.ts'
import { chooseFaults, chooseWeights, type Faults } from './faults.ts'
import { createNetwork } from './network.ts'
import { giveWord } from './operator.ts'
import { planFaults, tellsTimeOf } from './planFaults.ts'
import { createPriceWalk, type PriceWalk } from './priceWalk.ts'
import { Processes, type ProcessPlace } from './processes.ts'
import { type Random, randomOf } from './random.ts'
import { otherMode, type Settings, settingsOf } from './settings.ts'
import type { DiskJournal, Storage } from './storage.ts'
import { createStrategist, type Strategist } from './strategist.ts'
import { createTruth, InvariantBroken, type Truth, type Violation } from './truth.ts'
import { createVenueModel, type VenueModel } from './venueModel.ts'
import type { Peer } from './venuePeers.ts'
import { excludedFaults, livelySpanMs } from './worldFaults.ts'
import type { Mode, WorldOptions, WorldResult } from './worldTypes.ts'

/**
 * What exposure may never exceed. In a lively world reductions follow one another, which the lists show at once and the truth counts when
 * they are final, so that it is twice as much there: E1 holds what the engine admits to its own limits.
 */
const limitUsd = usd(6_000)
const scenarioDeadlineSeconds = 60
/** The longest deadline, finality, skews, an order that waits for its keeper, and the slowest cadence, ms. */
const quietMs = 300_000 + 120_000 + 90_000
/** What never ends reaches it; a world with a process that is frozen for hours has 22 events a second meanwhile. */
const maxEvents = 1_000_000

/** Runs a world to its end. */
export async function runWorld(options: WorldOptions): Promise<WorldResult> {
  return new World(options).run()
}

class World {
  readonly #options: WorldOptions
  readonly #random: Random
  readonly #timeline: Timeline = createTimeline()
  readonly #faults: Faults
  readonly #chain: ModelChain
  readonly #venue: VenueModel
  readonly #endpoints: readonly Endpoint[]
  /** Of the tier whose strategies wait for prices; a world of before it had any has none. */
  readonly #prices: PriceWalk | undefined
  readonly #truth: Truth
  readonly #disk: Storage
  readonly #network: ReturnType<typeof createNetwork>
  readonly #trace: string[] = []
  #settings: Settings
  readonly #processes: Processes
  readonly #strategist: Strategist
  readonly #ending: Ending
  /** One of two endpoints may say anything. */
  readonly #mayLie: boolean
  /** Few faults, and prices and strategies that move much. */
  readonly #isLively: boolean
  readonly #tasks: DaemonParts['tasks']
  #wallOffsetMs = 0
  #fault: Violation | undefined
  #isQuiet = false
  #faultsUntilMs = 0
  #quietEndMs = Number.POSITIVE_INFINITY

  constructor(options: WorldOptions) {
    this.#options = options
    this.#disk = (options.tier.storage ?? createModelStorage)({
      seed: options.seed,
      timeline: this.#timeline,
      isQuiet: () => this.#isQuiet,
    })
    const { seed, scenario } = options
    const random = randomOf(seed, 'world')
    this.#random = random
    const modes: readonly Mode[] = ['chain-1', 'chain-1', 'chain-2', 'chain-2', 'chain-2', 'api', 'venue']
    const picked = random.pick(modes)
    const mode = scenario?.mode ?? options.mode ?? picked
    const hasChain = mode === 'chain-1' || mode === 'chain-2'
    // Where endpoints come and go no block is taken back: without them nobody could tell.
    const mayChange =
      scenario === undefined &&
      options.mode === undefined &&
      options.tier.decides !== true &&
      mode !== 'venue' &&
      randomOf(seed, 'settings').chance(0.4)
    const hasPrices =
      options.tier.decides === true && options.isBefore !== true && options.hasPrices !== false
    this.#isLively =
      hasPrices &&
      scenario === undefined &&
      (options.isLively === true || options.isCrowded === true || randomOf(seed, 'lively').chance(0.5))
    const isLively = this.#isLively
    const tasking = randomOf(seed, 'tasks')
    const hasTasks = hasPrices && scenario === undefined && !isLively && tasking.chance(0.5)
    // Most of them let its orders through: a task that only waits shows little.
    this.#tasks = !hasTasks ? 'none' : tasking.chance(0.7) ? 'calm' : 'hostile'
    const isCalm = this.#tasks === 'calm'
    const excluded = excludedFaults({ options, mode, hasChain, mayChange, isLively, isCalm })
    this.#faults = chooseFaults(
      randomOf(seed, 'faults'),
      scenario !== undefined,
      excluded,
      chooseWeights(randomOf(seed, 'fault weights')),
      randomOf(seed, 'later faults'),
    )
    this.#mayLie = mode === 'chain-2' && !mayChange
    const skewed = this.#faults.isOn('clock-skew')
    if (skewed) this.#faults.count('clock-skew')
    this.#chain = new ModelChain(randomOf(seed, 'chain'), {
      finalityMs: hasChain && !mayChange ? (scenario ? 5_000 : random.int(4, 40) * 1000) : 0,
      skewMs: skewed ? random.int(-20, 20) * 1000 : 0,
      keepsPositions: options.tier.decides === true,
    })
    const peers = ['http://a.test/v1', 'http://b.test/v1'].map(
      (host): Peer => ({
        host,
        records: new Map(),
        skewMs: skewed ? random.int(-20, 20) * 1000 : 0,
        isDown: false,
        lagMs: this.#faults.isOn('indexer-lag') ? random.int(0, 20_000) : 0,
      }),
    )
    const note = (text: string) => this.#note(text)
    this.#prices = hasPrices
      ? createPriceWalk(
          this.#timeline,
          randomOf(seed, 'prices'),
          modelMarkets.map(({ marketToken, index: { priceUsd, decimals } }) => ({
            marketToken,
            priceUsd,
            decimals,
          })),
          { isLively, ...(scenario?.exits === undefined ? {} : { path: scenario.exits.path }) },
        )
      : undefined
    this.#venue = createVenueModel({
      timeline: this.#timeline,
      chain: this.#chain,
      faults: this.#faults,
      random: randomOf(seed, 'venue'),
      peers,
      note,
      ...(this.#prices === undefined ? {} : { prices: this.#prices }),
    })
    const names = mode === 'chain-2' || mayChange ? ['one', 'two'] : hasChain ? ['one'] : []
    this.#endpoints = names.map((name): Endpoint => ({ name, illness: undefined }))
    this.#truth = createTruth(this.#timeline, this.#chain, isLively ? 2n * limitUsd : limitUsd, {
      broken: (violation) => this.#fail(new InvariantBroken(violation)),
      isOnDisk: (digest) => this.#disk.isOnDisk(digest),
      writerOf: this.#disk.server?.writerOf,
    })
    this.#network = createNetwork(this.#timeline, this.#faults, randomOf(seed, 'network'))
    this.#settings = settingsOf(mode, random, this.#endpoints)
    const shared = {
      options,
      random,
      timeline: this.#timeline,
      faults: this.#faults,
      disk: this.#disk,
      truth: this.#truth,
      venue: this.#venue,
      note,
      isQuiet: () => this.#isQuiet,
    }
    this.#processes = new Processes({
      ...shared,
      scenario,
      isLively,
      network: this.#network,
      holdOn: (ms) => {
        this.#faultsUntilMs = Math.max(this.#faultsUntilMs, this.#timeline.nowMs + ms)
      },
      wallMs: () => Math.floor(epochMs + this.#timeline.nowMs + this.#wallOffsetMs),
      fail: (error) => this.#fail(error),
      kept: (body) => {
        note(body)
        options.transcript?.record(this.#timeline.nowMs, body)
      },
      createDaemon: (process, journal, place) => this.#createDaemon(process, journal, place),
      onReady: () => this.#strategist.reoffer(),
    })
    this.#strategist = createStrategist({
      ...shared,
      limitUsd,
      wallOffsetMs: () => this.#wallOffsetMs,
      processes: () => this.#processes,
    })
    this.#ending = createEnding({
      ...shared,
      chain: this.#chain,
      settings: () => this.#settings,
      processes: this.#processes,
      drain: () => this.#drain(),
      trace: this.#trace,
    })
  }

  async run(): Promise<WorldResult> {
    const { scenario } = this.#options
    this.#faultsUntilMs = this.#plan()
    this.#venue.start()
    scenario?.setup?.({ venue: this.#venue, chain: this.#chain, timeline: this.#timeline })
    let events = 0
    try {
      this.#processes.boot()
      await this.#drain()
      for (;;) {
        if (!this.#isQuiet && this.#timeline.nowMs >= this.#faultsUntilMs) this.#beQuiet()
        if (this.#isQuiet && this.#isOver()) break
        if (!this.#timeline.runNext(Number.POSITIVE_INFINITY)) break
        await this.#drain()
        if (this.#fault !== undefined) break
        events += 1
        if (events > maxEvents) this.#truth.fail('L1', 'the world does not come to an end')
        if (events % 512 === 0) await this.#ending.checkLive()
      }
      if (this.#fault === undefined) await this.#ending.finish()
      if (this.#fault === undefined) await this.#ending.checkRest()
    } catch (error) {
      this.#fail(error)
    }
    this.#processes.end()
    const result = this.#result(events)
    this.#disk.discard()
    return result
  }

  /** Lets everything run that waits for nothing but its turn. */
  async #drain(): Promise<void> {
    await this.#options.tier.drain?.()
    await this.#disk.settle?.()
  }

  #fail(error: unknown): void {
    if (this.#fault !== undefined) return
    if (error instanceof InvariantBroken) this.#fault = error.violation
    else {
      const text = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
      this.#fault = { invariant: 'FAULT', text, atMs: this.#timeline.nowMs }
    }
    this.#note(`VIOLATION ${this.#fault.invariant} ${this.#fault.text}`)
  }

  #note(text: string): void {
    this.#trace.push(`${this.#timeline.nowMs} ${text}`)
  }

  // --- the story ---------------------------------------------------------------------------------------------------

  /** Lays out decisions and faults; gives the time when faults stop, ms. */
  #plan(): number {
    const random = this.#random
    const plannedMs = this.#strategist.plan()
    const spanMs = this.#isLively ? livelySpanMs : plannedMs
    const { scenario } = this.#options
    if (scenario !== undefined) return 30_000 + (scenario.exits?.spanMs ?? spanMs)
    planFaults(spanMs + 30_000, {
      random: randomOf(this.#options.seed, 'plans'),
      illnesses: random,
      later: randomOf(this.#options.seed, 'later plans'),
      mayLie: this.#mayLie,
      faults: this.#faults,
      timeline: this.#timeline,
      venue: this.#venue,
      chain: this.#chain,
      endpoints: this.#endpoints,
      truth: this.#truth,
      disk: this.#disk,
      note: (text) => this.#note(text),
      jumpClock: (ms) => {
        this.#wallOffsetMs += ms
        for (const endpoint of this.#endpoints)
          if (tellsTimeOf(endpoint.illness, this.#wallOffsetMs)) endpoint.illness = undefined
      },
      wallOffsetMs: () => this.#wallOffsetMs,
      stopInOrder: () => this.#processes.stopInOrder(),
      giveWord: () => {
        const { isReady, daemon } = this.#processes
        giveWord(isReady ? daemon : undefined, this.#truth, this.#random)
      },
      cutPower: () => this.#processes.crash('power cut'),
    })
    return spanMs + random.int(10, 60) * 1000
  }

  /** The operator starts it with other endpoints, or with none. */
  #changeSettings(): void {
    this.#settings = settingsOf(otherMode(this.#random), this.#random, this.#endpoints)
    const { mode, pollMaxMs } = this.#settings
    this.#note(`settings changed: ${mode}, a look each ${pollMaxMs} ms`)
  }

  /** What a process of the daemon is made of here. */
  #createDaemon(process: Process, journal: DiskJournal, place: ProcessPlace): Daemon {
    const { tier, seed, scenario, account, delegate, transcript } = this.#options
    if (process.epoch > 1 && this.#faults.comes('settings-change', 0.6)) this.#changeSettings()
    return tier.create({
      process,
      account,
      ...(delegate === undefined ? {} : { delegate }),
      random: randomOf(seed, `process ${process.epoch}`),
      worldTimeline: this.#timeline,
      ...(scenario?.exits === undefined ? {} : { story: scenario.exits }),
      later: randomOf(seed, 'unwinding operator'),
      climbing: randomOf(seed, 'climber'),
      tasks: this.#tasks,
      tasking: randomOf(seed, 'tasker'),
      filing: randomOf(seed, 'strategy files'),
      isLively: this.#isLively,
      isCrowded: this.#options.isCrowded === true,
      ...(this.#prices === undefined ? {} : { prices: this.#prices }),
      faults: this.#faults,
      venue: this.#venue,
      chain: this.#chain,
      endpoints: this.#settings.endpoints,
      truth: this.#truth,
      journal,
      rules: this.#settings.rules,
      pollMaxMs: this.#settings.pollMaxMs,
      deadlineSeconds: () =>
        scenario === undefined ? this.#random.pick([40, 60, 120, 300]) : scenarioDeadlineSeconds,
      wallOffsetMs: () => this.#wallOffsetMs,
      note: (text) => this.#note(text),
      ...(transcript === undefined ? {} : { transcript }),
      ...place,
    })
  }

  // --- the end -----------------------------------------------------------------------------------------------------

  #beQuiet(): void {
    this.#isQuiet = true
    this.#faults.stop()
    this.#note('quiet')
    for (const endpoint of this.#endpoints) endpoint.illness = undefined
    for (const peer of this.#venue.peers) {
      peer.isDown = false
      peer.lagMs = 0
    }
    this.#disk.setFull(false)
    this.#disk.dropBackup()
    this.#processes.thaw()
    this.#venue.hurry()
    this.#quietEndMs = this.#timeline.nowMs + quietMs
  }

  #isOver(): boolean {
    if (this.#timeline.nowMs >= this.#quietEndMs && !this.#mayStillEnd()) return true
    if (this.#timeline.nowMs < this.#quietEndMs - 450_000) return false
    const { isReady, daemon } = this.#processes
    return isReady && daemon?.states().length === 0 && daemon.waits?.() !== true
  }

  /** Exits are kept in the quiet phase too: what was decided late in it has its whole deadline, but nothing is awaited for ever. */
  #mayStillEnd(): boolean {
    const { nowMs } = this.#timeline
    if (this.#prices === undefined || nowMs >= this.#quietEndMs + 2 * quietMs) return false
    const sinceMs = epochMs + nowMs + this.#wallOffsetMs - quietMs
    const states = this.#processes.daemon?.states() ?? []
    return states.some(({ intent }) => intent.acceptedAtMs > sinceMs)
  }

  #result(events: number): WorldResult {
    const outcomes: Partial<Record<Outcome | 'OPEN' | 'RESOLVED', number>> = {}
    for (const { closing } of this.#processes.journal?.recentIntents() ?? []) {
      const name = closing?.evidence.level === 'operator' ? 'RESOLVED' : (closing?.outcome ?? 'OPEN')
      outcomes[name] = (outcomes[name] ?? 0) + 1
    }
    if (this.#ending.resolved > 0) this.#note(`${this.#ending.resolved} resolved by the operator`)
    return {
      seed: this.#options.seed,
      tier: this.#options.tier.name,
      mode: this.#settings.mode,
      violation: this.#fault,
      traceHash: hash('sha256', this.#trace.join('\n')),
      simulatedMs: this.#timeline.nowMs,
      events,
      crashes: this.#processes.crashes,
      boundaries: this.#processes.boundaries,
      intents: this.#truth.intents.size,
      outcomes,
      faults: Object.fromEntries(this.#faults.counts),
      trace: this.#options.keepsTrace === true ? this.#trace : [],
    }
  }
}
