/**
 * One world from one seed: daemon, venue, chain, network, disk, faults, and the truth that judges them. Its trace is the
 * list of everything that happened, and its hash is the same in every process.
 */
import { hash } from 'node:crypto'
import type { Address, Hex } from '../../src/domain/address.ts'
import { BaseError } from '../../src/domain/errors.ts'
import { type IntentState, isOpen, isWaiting, lastAttempt, type Outcome } from '../../src/domain/intent.ts'
import { worstCase } from '../../src/domain/machine/exposure.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import type { EvidenceRules } from '../../src/domain/machine/observation.ts'
import { usd } from '../../src/domain/units.ts'
import { ModelChain } from './chainModel.ts'
import type { Daemon, Process } from './daemon.ts'
import { createDisk, cutPower, type Disk } from './disk.ts'
import { type DiskJournal, openDiskJournal } from './diskJournal.ts'
import type { Endpoint } from './endpoints.ts'
import { chooseFaults, type FaultName, type Faults } from './faults.ts'
import { intentOfWish, markets, type Wish } from './intentsOf.ts'
import { createNetwork } from './network.ts'
import { planFaults } from './planFaults.ts'
import { type Random, randomOf } from './random.ts'
import { createTimeline, epochMs, type Timeline } from './timeline.ts'
import { createTruth, InvariantBroken, type Truth, type Violation } from './truth.ts'
import { createVenueModel, type Peer, type VenueModel } from './venueModel.ts'
import type { Mode, WorldOptions, WorldResult } from './worldTypes.ts'

const limitUsd = usd(6_000)
const scenarioDeadlineSeconds = 60
const maxEvents = 200_000

const withoutChain: readonly FaultName[] = [
  'reorg',
  'rpc-error',
  'rpc-lag',
  'rpc-fork',
  'rpc-blind',
  'rpc-liar',
]
const trustedVenue: readonly FaultName[] = [
  'status-lies',
  'indexer-lag',
  'foreign-use',
  'clock-skew',
  'relay-edge',
]

/** Runs a world to its end. */
export async function runWorld(options: WorldOptions): Promise<WorldResult> {
  return new World(options).run()
}

class World {
  readonly #options: WorldOptions
  readonly #random: Random
  readonly #timeline: Timeline = createTimeline()
  readonly #mode: Mode
  readonly #faults: Faults
  readonly #chain: ModelChain
  readonly #venue: VenueModel
  readonly #endpoints: readonly Endpoint[]
  readonly #truth: Truth
  readonly #disk: Disk = createDisk()
  readonly #rules: EvidenceRules
  readonly #network: ReturnType<typeof createNetwork>
  readonly #trace: string[] = []
  readonly #boundaries: number[] = []
  readonly #taken = new Set<number>()
  readonly #wishes: Wish[] = []
  readonly #pollMaxMs: number
  #process: Process = { epoch: 0, isAlive: false }
  #daemon: Daemon | undefined
  #journal: DiskJournal | undefined
  #isReady = false
  #wallOffsetMs = 0
  #crashes = 0
  #fault: Violation | undefined
  #newest: readonly string[] | undefined
  #isQuiet = false
  #quietEndMs = Number.POSITIVE_INFINITY
  #resolved = 0

  constructor(options: WorldOptions) {
    this.#options = options
    const { seed, scenario } = options
    const random = randomOf(seed, 'world')
    this.#random = random
    const modes: readonly Mode[] = ['chain-1', 'chain-1', 'chain-2', 'chain-2', 'chain-2', 'api', 'venue']
    const picked = random.pick(modes)
    this.#mode = scenario?.mode ?? options.mode ?? picked
    const hasChain = this.#mode === 'chain-1' || this.#mode === 'chain-2'
    const excluded = new Set<FaultName>([
      ...(hasChain ? [] : withoutChain),
      ...(this.#mode === 'venue' ? trustedVenue : []),
      ...(this.#mode === 'chain-2' ? [] : (['rpc-liar'] as const)),
    ])
    this.#faults = chooseFaults(randomOf(seed, 'faults'), scenario !== undefined, excluded)
    const skewed = this.#faults.isOn('clock-skew')
    this.#chain = new ModelChain(randomOf(seed, 'chain'), {
      finalityMs: hasChain ? (scenario ? 5_000 : random.int(4, 40) * 1000) : 0,
      skewMs: skewed ? random.int(-20, 20) * 1000 : 0,
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
    this.#venue = createVenueModel({
      timeline: this.#timeline,
      chain: this.#chain,
      faults: this.#faults,
      random: randomOf(seed, 'venue'),
      peers,
      note,
    })
    const names = this.#mode === 'chain-2' ? ['one', 'two'] : hasChain ? ['one'] : []
    this.#endpoints = names.map((name): Endpoint => ({ name, illness: undefined }))
    this.#truth = createTruth(this.#timeline, this.#chain, limitUsd, {
      broken: (violation) => this.#fail(new InvariantBroken(violation)),
      isOnDisk: (digest) => this.#disk.durable.some((line) => line.includes(`"digest":"${digest}"`)),
    })
    this.#network = createNetwork(this.#timeline, this.#faults, randomOf(seed, 'network'))
    this.#rules = {
      source: hasChain ? 'chain' : 'api',
      trustVenue: this.#mode === 'venue',
      deadlineMarginMs: 5_000,
    }
    this.#pollMaxMs = random.pick([5_000, 10_000, 20_000])
  }

  async run(): Promise<WorldResult> {
    const { tier, scenario } = this.#options
    const untilMs = this.#plan()
    this.#venue.start()
    scenario?.setup?.({ venue: this.#venue, chain: this.#chain, timeline: this.#timeline })
    let events = 0
    try {
      this.#boot()
      await tier.drain?.()
      for (;;) {
        if (!this.#isQuiet && this.#timeline.nowMs >= untilMs) this.#beQuiet()
        if (this.#isQuiet && this.#isOver()) break
        if (!this.#timeline.runNext(Number.POSITIVE_INFINITY)) break
        await tier.drain?.()
        if (this.#fault !== undefined) break
        events += 1
        if (events > maxEvents) this.#truth.fail('L1', 'the world does not come to an end')
        if (events % 512 === 0) this.#checkLive()
      }
      if (this.#fault === undefined) this.#finish()
      if (this.#fault === undefined) await this.#checkRest()
    } catch (error) {
      this.#fail(error)
    }
    this.#process.isAlive = false
    return this.#result(events)
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

  /** Lays out wishes and faults; gives the time when faults stop, ms. */
  #plan(): number {
    const { scenario, account, shapes, lanes } = this.#options
    const random = this.#random
    if (scenario !== undefined) {
      scenario.shapes.forEach((shape, index) => {
        this.#planWish(1_000 + index * 8_000, {
          shape,
          number: index + 1,
          account,
          lane: scenario.lane,
          sizeUsd: 500 + index,
          market: markets[0] as Address,
          direction: 'long',
          expiresAfterMs: 30_000,
        })
      })
      return 30_000 + scenario.shapes.length * 8_000
    }
    const count = random.int(3, 15)
    const spanMs = random.int(20, 240) * 1000
    for (let number = 1; number <= count; number += 1) {
      this.#planWish(random.int(500, spanMs), {
        shape: random.pick(shapes),
        number,
        account,
        lane: random.pick(lanes),
        sizeUsd: random.chance(0.2) ? 500 : random.int(100, 1_500),
        market: random.pick(markets.slice(0, random.int(1, 3))) as Address,
        direction: random.chance(0.6) ? 'long' : 'short',
        expiresAfterMs: random.int(5, 90) * 1000,
      })
    }
    planFaults(spanMs + 30_000, {
      random: randomOf(this.#options.seed, 'plans'),
      illnesses: random,
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
      },
      stopInOrder: () => this.#stopInOrder(),
      cutPower: () => this.#crash('power cut'),
    })
    return spanMs + random.int(10, 60) * 1000
  }

  #planWish(atMs: number, wish: Omit<Wish, 'nowMs'>): void {
    const made: Wish = { ...wish, nowMs: 0 }
    this.#wishes.push(made)
    this.#timeline.after(atMs, () => this.#offer(made))
  }

  // --- the process -------------------------------------------------------------------------------------------------

  #boot(): void {
    const { tier, seed } = this.#options
    const process: Process = { epoch: this.#process.epoch + 1, isAlive: true }
    this.#process = process
    this.#boundaries.push(0)
    this.#isReady = false
    let journal: DiskJournal
    try {
      journal = openDiskJournal(this.#disk, process.epoch, {
        boundary: (name) => this.#boundary(process, name),
        onDurable: (record, state, body) => {
          this.#note(body)
          this.#truth.durable(record, state)
        },
      })
    } catch (error) {
      this.#refusedToOpen(process, error)
      return
    }
    this.#journal = journal
    for (const state of journal.intents()) this.#truth.survived(state)
    this.#note(`start ${process.epoch}: ${journal.openIntents().length} open`)
    this.#daemon = tier.create({
      process,
      timeline: this.#timeline,
      random: randomOf(seed, `process ${process.epoch}`),
      faults: this.#faults,
      network: this.#network,
      venue: this.#venue,
      chain: this.#chain,
      endpoints: this.#endpoints,
      truth: this.#truth,
      journal,
      rules: this.#rules,
      pollMaxMs: this.#pollMaxMs,
      deadlineSeconds: () =>
        this.#options.scenario === undefined
          ? this.#random.pick([40, 60, 120, 300])
          : scenarioDeadlineSeconds,
      wallOffsetMs: () => this.#wallOffsetMs,
      boundary: (name) => this.#boundary(process, name),
      fatal: (error) => this.#onFatal(process, error),
      note: (text) => this.#note(text),
    })
    this.#daemon.start()
    if (!process.isAlive) return
    this.#isReady = true
    this.#reoffer()
  }

  /** A journal that lost records is refused until the operator brings back the newest copy. */
  #refusedToOpen(process: Process, error: unknown): void {
    process.isAlive = false
    const code = error instanceof BaseError ? error.code : undefined
    if (code !== 'JOURNAL_ROLLED_BACK' || this.#newest === undefined) throw error
    this.#note('the journal is older than its mark: not opened')
    const newest = this.#newest
    this.#newest = undefined
    this.#timeline.after(30_000, () => {
      this.#disk.durable.splice(0, Number.POSITIVE_INFINITY, ...newest)
      this.#boot()
    })
  }

  #boundary(process: Process, name: string): boolean {
    if (!process.isAlive) return true
    const at = this.#boundaries.length - 1
    const count = (this.#boundaries[at] ?? 0) + 1
    this.#boundaries[at] = count
    const { scenario } = this.#options
    if (scenario !== undefined) {
      if (scenario.crashes[at] !== count) return false
      this.#crash(name)
      return true
    }
    const isEarly = count < 12
    const isNow =
      this.#crashes < 6 &&
      (this.#faults.comes('crash', 0.012) ||
        (isEarly && process.epoch > 1 && this.#faults.comes('crash-in-recovery', 0.05)))
    if (isNow) this.#crash(name)
    return isNow
  }

  #crash(where: string): void {
    if (!this.#process.isAlive) return
    this.#process.isAlive = false
    this.#daemon = undefined
    this.#isReady = false
    this.#crashes += 1
    const random = this.#random
    const tail = cutPower(
      this.#disk,
      random,
      this.#faults.isOn('power-cut') || this.#options.scenario !== undefined,
    )
    this.#note(`crash at ${where}, tail ${tail}`)
    const { backup } = this.#disk
    if (backup !== undefined && !this.#isQuiet && random.chance(0.5)) {
      this.#newest = [...this.#disk.durable]
      this.#disk.durable.splice(0, Number.POSITIVE_INFINITY, ...backup)
      this.#disk.backup = undefined
    }
    const downMs = this.#options.scenario === undefined ? random.int(100, 60_000) : 2_000
    this.#timeline.after(downMs, () => this.#boot())
  }

  #onFatal(process: Process, error: unknown): void {
    if (!process.isAlive) return
    const code = error instanceof BaseError ? error.code : undefined
    if (code !== 'JOURNAL_FULL') {
      this.#fail(error)
      return
    }
    this.#note('the disk is full: stopped on purpose')
    this.#crash('disk full')
    this.#timeline.after(0, () => {
      this.#disk.isFull = false
    })
  }

  #stopInOrder(): void {
    const process = this.#process
    if (!process.isAlive || this.#daemon === undefined || !this.#isReady) return
    this.#isReady = false
    this.#daemon.stop(() => {
      if (!process.isAlive) return
      process.isAlive = false
      this.#daemon = undefined
      this.#note('stopped in order')
      this.#timeline.after(this.#random.int(100, 30_000), () => this.#boot())
    })
  }

  // --- the strategy ------------------------------------------------------------------------------------------------

  #offer(wish: Wish): void {
    const daemon = this.#daemon
    if (daemon === undefined || !this.#isReady || this.#isQuiet) return
    const states = daemon.states()
    const target = this.#targetOf(wish, states)
    const shape =
      (wish.shape === 'edit' || wish.shape === 'cancel') && target === undefined ? 'close market' : wish.shape
    const intent = intentOfWish({
      ...wish,
      shape,
      nowMs: epochMs + this.#timeline.nowMs + this.#wallOffsetMs,
      ...(target === undefined || (shape === 'batch' && !this.#random.chance(0.5)) ? {} : { target }),
    })
    const heldUsd = worstCase(states) + this.#truth.finalPositionUsd()
    if (heldUsd + intent.reservationUsd > limitUsd) {
      this.#note(`denied ${wish.number}`)
      return
    }
    this.#note(`offer ${wish.number} ${shape}`)
    daemon.accept(intent, (isAccepted) => {
      this.#note(`${wish.number} ${isAccepted ? 'accepted' : 'known'}`)
      if (isAccepted && this.#taken.has(wish.number))
        this.#truth.fail('I1', `decision ${wish.number} was taken twice`)
      this.#taken.add(wish.number)
    })
  }

  /** A resting order that no other open intent is changing. */
  #targetOf(wish: Wish, states: readonly IntentState[]): Hex | undefined {
    if (wish.shape !== 'edit' && wish.shape !== 'cancel' && wish.shape !== 'batch') return undefined
    const busy = new Set(
      states.flatMap(({ intent: { terms } }) => [
        ...(terms.edit === undefined ? [] : [terms.edit.orderKey]),
        ...(terms.cancelOrderKeys ?? []),
        ...(terms.batch?.cancelOrderKeys ?? []),
      ]),
    )
    const resting = states.flatMap((state) =>
      (lastAttempt(state)?.children ?? []).filter(
        (child) =>
          (child.phase === 'OPEN' || child.phase === 'FROZEN') &&
          isWaiting(state.intent, child) &&
          !busy.has(child.orderKey),
      ),
    )
    return resting.length === 0 ? undefined : this.#random.pick(resting).orderKey
  }

  /** After a start the strategy decides again: what was not taken, and sometimes what was. */
  #reoffer(): void {
    if (this.#isQuiet) return
    const nowMs = this.#timeline.nowMs
    for (const wish of this.#wishes) {
      const isTaken = this.#taken.has(wish.number)
      const repeats = isTaken
        ? this.#faults.comes('repeated-decision', 0.3)
        : nowMs > 1_000 && this.#random.chance(0.5)
      if (repeats) this.#timeline.after(this.#random.int(10, 2_000), () => this.#offer(wish))
    }
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
    this.#disk.isFull = false
    this.#disk.backup = undefined
    this.#venue.hurry()
    // The longest deadline, finality, skews, an order that waits for its keeper, the slowest cadence.
    this.#quietEndMs = this.#timeline.nowMs + 300_000 + 120_000 + 90_000
  }

  #isOver(): boolean {
    if (this.#timeline.nowMs >= this.#quietEndMs) return true
    if (this.#timeline.nowMs < this.#quietEndMs - 450_000) return false
    return this.#isReady && this.#daemon?.states().length === 0
  }

  #checkLive(): void {
    if (this.#daemon === undefined || this.#journal === undefined) return
    for (const state of this.#daemon.states()) this.#checkFold(state)
  }

  /** I5. */
  #checkFold(state: IntentState): void {
    const { intentId } = state.intent
    const folded = foldRecords((this.#journal?.records(intentId) ?? []).map(({ record }) => record))
    if (textOf(folded) !== textOf(state))
      this.#truth.fail('I5', `${intentId}: the live state is not the fold`)
  }

  #finish(): void {
    const daemon = this.#daemon
    const journal = this.#journal
    if (daemon === undefined || journal === undefined || !this.#process.isAlive)
      this.#truth.fail('L1', 'the daemon is down after the faults stopped')
    for (const state of daemon.states()) this.#checkFold(state)
    this.#truth.finish(journal.intents())
    const open = daemon.states()
    // Without a chain, an order that its host forgot may be anybody's: what looks like it waits for the operator as well.
    const isDoubtful = this.#rules.source === 'api' && open.some((state) => !this.#hasWord(state))
    for (const state of open) this.#checkClosable(state, isDoubtful)
    const left = daemon.states().filter(isOpen)
    if (left.length === 0 && worstCase(journal.openIntents()) !== 0n)
      this.#truth.fail('L3', 'a reservation is held by nothing')
  }

  /** L4: when nothing is open, nothing but the look at new blocks waits for its time. I14: the key shows nowhere. */
  async #checkRest(): Promise<void> {
    const { tier, secret } = this.#options
    const untilMs = this.#timeline.nowMs + 60_000
    while (this.#timeline.runNext(untilMs)) await tier.drain?.()
    const daemon = this.#daemon
    if (daemon !== undefined && daemon.states().length === 0 && daemon.timers > 1)
      this.#truth.fail('L4', `${daemon.timers} timers are left and nothing is open`)
    if (secret !== undefined && [...this.#disk.durable, ...this.#trace].some((line) => line.includes(secret)))
      this.#truth.fail('I14', 'the key stands in the journal or in an event')
  }

  /** L1: what can be proven is closed; the rest waits for the operator, who looks it up on the chain. */
  #checkClosable(state: IntentState, isDoubtful: boolean): void {
    const { intentId } = state.intent
    const fate = this.#truth.fateOf(intentId)
    const isLost = fate === 'dead' || fate === 'never-left' || fate === 'void'
    const isByHand = this.#faults.counts.has('manual-trade')
    const isOperators =
      this.#mode === 'api'
        ? isLost || isDoubtful || state.intent.lane === 'relay'
        : this.#mode === 'venue' &&
          (isDoubtful || fate === 'void' || state.intent.lane === 'relay' || (isLost && isByHand))
    if (isOperators) {
      this.#resolve(state)
      return
    }
    const phase = lastAttempt(state)?.phase ?? 'ACCEPTED'
    this.#truth.fail('L1', `${intentId} is ${phase} and does not close; in truth it is ${fate}`)
  }

  /** Whether a host still knows of the attempt. */
  #hasWord(state: IntentState): boolean {
    const attempt = lastAttempt(state)
    const armed = attempt?.armed
    if (armed === undefined) return true
    if (armed.requestId === undefined) return attempt?.send?.taskId !== undefined
    return this.#venue.peer(armed.host).records.has(armed.requestId)
  }

  #resolve(state: IntentState): void {
    this.#resolved += 1
    const fate = this.#truth.fateOf(state.intent.intentId)
    const as =
      fate === 'executed' || fate === 'partial' ? 'executed' : fate === 'cancelled' ? 'cancelled' : 'dead'
    this.#daemon?.resolve(state.intent.intentId, as)
  }

  #result(events: number): WorldResult {
    const outcomes: Partial<Record<Outcome | 'OPEN' | 'RESOLVED', number>> = {}
    for (const { closing } of this.#journal?.intents() ?? []) {
      const name = closing?.evidence.level === 'operator' ? 'RESOLVED' : (closing?.outcome ?? 'OPEN')
      outcomes[name] = (outcomes[name] ?? 0) + 1
    }
    if (this.#resolved > 0) this.#note(`${this.#resolved} resolved by the operator`)
    return {
      seed: this.#options.seed,
      tier: this.#options.tier.name,
      mode: this.#mode,
      violation: this.#fault,
      traceHash: hash('sha256', this.#trace.join('\n')),
      simulatedMs: this.#timeline.nowMs,
      events,
      crashes: this.#crashes,
      boundaries: this.#boundaries,
      intents: this.#truth.intents.size,
      outcomes,
      faults: Object.fromEntries(this.#faults.counts),
      trace: this.#options.keepsTrace === true ? this.#trace : [],
    }
  }
}

function textOf(state: IntentState | undefined): string {
  return (
    JSON.stringify(state, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ?? ''
  )
}
