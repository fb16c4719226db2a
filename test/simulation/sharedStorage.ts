/**
 * A journal on a modelled server that machines share (`test/journal/sharedModel.ts`): the product's own store, lease, high-water mark and guard, over a
 * network that loses requests and answers, brings them late, or is parted for seconds. A process that ends is followed by one of the same machine, which
 * finds its mark and its guard's lines, or by one of another machine, which has the server's alone. No failover loses records here: `sharedWorld.ts` has those.
 */
import { processClock, type Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Clock } from '../../src/base/clock.ts'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { decodeAnyRecord, isAccountRecord, type JournalRecord } from '../../src/domain/records.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { openSharedStore } from '../../src/journal/fenced/openShared.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { defaultMaintenance } from '../../src/journal/maintenance.ts'
import { openGuard, type SigningGuard } from '../../src/keys/signingGuard.ts'
import type { Hex } from '../../src/protocol/address.ts'
import {
  type ModelDisk,
  type ModelNetwork,
  ModelServer,
  type ModelState,
  openDisk,
} from '../journal/sharedModel.ts'
import { jsonText } from './payload.ts'
import { type Random, randomOf } from './random.ts'
import { journalOfProcess, type Waits } from './sqliteJournal.ts'
import type { CreateStorage, DiskJournal, ServerHooks, Storage } from './storage.ts'

/** The guard's horizon and margin of these worlds: deadlines are within an hour. */
const GUARD = { horizonSeconds: 4_300, marginSeconds: 600 } as const
/** Time in which the outcome of a statement is settled, ms: shorter than the longest parting, so that both ends of it come. */
const SETTLE_MS = 8_000
const LONGEST_PARTING_MS = 20_000
/** Of a machine's way to the server and back, each, ms. */
const [LEAST_WAY_MS, MOST_WAY_MS] = [1, 15]

interface Machine extends ModelDisk {
  readonly name: string
}

/** One process that opens the journal. */
interface Life {
  readonly epoch: number
  readonly holder: string
  readonly machine: Machine
  readonly hooks: ServerHooks
  isDead: boolean
  journal?: Journal
  guard?: SigningGuard
  waits?: Waits
}

/** Makes the server of a world. */
export const createSharedStorage: CreateStorage = (world) => new SharedStorage(world)

class SharedStorage implements Storage {
  readonly takesTwo = true
  readonly server = {
    open: (epoch: number, hooks: ServerHooks) => this.#open(epoch, hooks),
    endsBy: new Set(['JOURNAL_FENCED', 'JOURNAL_UNREACHABLE']),
    writerOf: (leaseEpoch: number) => this.#writers.get(leaseEpoch),
    records: (intentId: string) =>
      this.#model.state.records.flatMap(({ rows }): JournalRecord[] => {
        if (rows.record[1] !== intentId) return []
        const record = decodeAnyRecord(rows.record[4])
        return isAccountRecord(record) ? [] : [record]
      }),
  }
  readonly hasBackup = false
  readonly #timeline: Timeline
  readonly #isSound: () => boolean
  readonly #faults: Random
  readonly #model: ModelServer
  readonly #states = new Map<string, IntentState>()
  readonly #lives: Life[] = []
  readonly #writers = new Map<number, number>()
  readonly #snapshotEveryRecords: number
  /** How often a request goes astray. */
  readonly #loss: number
  #partedUntilMs = 0
  #machines = 0

  constructor({ seed, timeline, isQuiet }: Parameters<CreateStorage>[0]) {
    this.#timeline = timeline
    this.#isSound = isQuiet
    const random = randomOf(seed, 'journal server')
    this.#faults = random
    this.#loss = random.pick([0, 0.02, 0.08])
    this.#snapshotEveryRecords = random.pick([9, 40, 10_000])
    this.#model = new ModelServer((before, after) => this.#committed(before, after))
    if (this.#loss > 0) this.#planParting()
  }

  /** The server is away for a while, again and again until the world is quiet. */
  #planParting(): void {
    this.#timeline.after(this.#faults.int(10_000, 200_000), () => {
      if (this.#isSound()) return
      this.#partedUntilMs = this.#timeline.nowMs + this.#faults.int(500, LONGEST_PARTING_MS)
      this.#planParting()
    })
  }

  /** A record is durable once the server has it, whoever hears of that. */
  #committed(before: ModelState, after: ModelState): void {
    const { holder, epoch } = after.head
    const life = this.#lives.find((each) => each.holder === holder)
    if (life !== undefined) this.#writers.set(epoch, life.epoch)
    const hooks = life?.hooks
    for (const { rows } of after.records.slice(before.records.length)) {
      const body = rows.record[4]
      const record = decodeAnyRecord(body)
      if (isAccountRecord(record)) {
        hooks?.onAccountCommitted(body)
        continue
      }
      const state = applyRecord(this.#states.get(record.intentId), record)
      this.#states.set(record.intentId, state)
      hooks?.onCommitted(record, state, body)
    }
  }

  open(): never {
    throw new TypeError('a journal on a server is opened later')
  }

  async #open(epoch: number, hooks: ServerHooks): Promise<DiskJournal | undefined> {
    const before = this.#lives.at(-1)
    const isBeside = this.#lives.some(isAlive)
    const isMoved = before === undefined || isBeside || this.#faults.chance(0.3)
    const machine = isMoved ? this.#newMachine() : before.machine
    const life: Life = { epoch, holder: `${machine.name}/${epoch}`, machine, hooks, isDead: false }
    this.#lives.push(life)
    const own = new Set(this.#lives.flatMap((each) => (each.machine === machine ? [each.holder] : [])))
    const { timeline } = hooks
    const clock: Clock = {
      ...processClock(
        timeline,
        () => isAlive(life),
        () => 0,
      ),
      now: hooks.wallMs,
    }
    const later = (ms: number, run: () => void): (() => void) =>
      timeline.after(ms, () => {
        if (isAlive(life)) run()
      })
    const connect = () => this.#model.connect(this.#network(life))
    const { store, ledger, snapshotSeq } = await openSharedStore({
      connections: { writer: connect(), beats: connect(), reader: connect() },
      ...{ clock, later, times: defaultLeaseTimes, holder: life.holder, settleMs: SETTLE_MS },
      isOwnDead: (holder) => own.has(holder) && holder !== life.holder,
      ...openDisk(machine),
      waiting: () => {},
    })
    if (!isAlive(life)) return undefined
    const journal = createJournal({
      ...{ store, ledger, snapshotSeq, soon: queueMicrotask },
      maintenance: { ...defaultMaintenance, snapshotEveryRecords: this.#snapshotEveryRecords, later },
    })
    life.journal = journal
    life.guard = openGuard({
      table: await journal.openGuardTable(),
      ...GUARD,
      now: hooks.wallMs,
      leaseLost: () => journal.lease.lost(),
      neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest),
    })
    if (!isAlive(life)) return undefined
    const { journal: wrapped, ...waits } = journalOfProcess({
      journal,
      guard: life.guard,
      hooks,
      isDead: () => !isAlive(life),
      isClosed: () => life.journal === undefined,
      acknowledged: (seq, body) => {
        if (this.#model.state.records[seq - 1]?.rows.record[4] !== body)
          throw new TypeError(`record ${seq} is acknowledged and is not the server's`)
      },
      claimed: () => {},
    })
    life.waits = waits
    return wrapped
  }

  #newMachine(): Machine {
    this.#machines += 1
    return { name: `machine ${this.#machines}`, mark: undefined, lines: [] }
  }

  /** What is under way when a process freezes arrives; it hears of the answer when it thaws. */
  #network({ hooks }: Life): ModelNetwork {
    const random = this.#faults
    let isBack = false
    return {
      fate: () => {
        if (this.#isSound()) return 'goes'
        if (this.#timeline.nowMs < this.#partedUntilMs) return 'lost'
        return random.chance(this.#loss) ? random.pick(['lost', 'unanswered', 'late'] as const) : 'goes'
      },
      travel: () =>
        new Promise((resolve) => {
          const timeline = isBack ? hooks.timeline : this.#timeline
          isBack = !isBack
          timeline.after(random.int(LEAST_WAY_MS, MOST_WAY_MS), resolve)
        }),
      later: (work) => void this.#timeline.after(random.int(10, 9_000), work),
    }
  }

  crash(): string {
    const life = this.#lives.at(-1)
    if (life !== undefined) life.isDead = true
    return 'on the server'
  }

  async stop(): Promise<void> {
    const life = this.#lives.at(-1)
    if (life?.journal === undefined || !isAlive(life)) return
    const { journal, guard } = life
    delete life.journal
    guard?.close()
    await journal.close()
    life.isDead = true
  }

  async settle(): Promise<void> {
    for (const life of this.#lives) if (isAlive(life)) await life.waits?.settleClaims()
  }

  isOnDisk(digest: Hex): boolean {
    return this.#model.state.records.some(
      ({ rows, signed }) =>
        rows.record[2] === 'attempt.armed' &&
        rows.record[4].includes(`"digest":"${digest}"`) &&
        signed?.entry.digest.toLowerCase() === digest.toLowerCase(),
    )
  }

  contains(text: string): boolean {
    return jsonText(this.#model.state).includes(text)
  }

  setFull(): void {}
  flipBit(): void {}
  backUp(): void {}
  putBackupBack(): void {}
  dropBackup(): void {}
  discard(): void {}
  restoreNewest(): boolean {
    return false
  }
}

function isAlive({ isDead, hooks }: Life): boolean {
  return !isDead && hooks.isAlive()
}
