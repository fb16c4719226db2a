/**
 * The machine that the daemon runs on: one process after the other over one disk. It starts them, ends them at the boundaries
 * that chance or a story chose, and does what an operator does when the journal is refused.
 */
import { BaseError } from '../../src/domain/errors.ts'
import type { Daemon, Process } from './daemon.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import type { DiskJournal, Storage } from './storage.ts'
import type { Timeline } from './timeline.ts'
import type { Truth } from './truth.ts'
import type { Scenario } from './worldTypes.ts'

/** What processes stand in. */
export interface ProcessesParts {
  readonly scenario: Scenario | undefined
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Faults
  readonly disk: Storage
  readonly wallMs: () => number
  readonly truth: Truth
  readonly note: (text: string) => void
  /** The world ends with this. */
  readonly fail: (error: unknown) => void
  readonly isQuiet: () => boolean
  readonly createDaemon: (process: Process, journal: DiskJournal, ends: ProcessEnds) => Daemon
  /** A process took up what was open: the strategy may decide. */
  readonly onReady: () => void
}

/** How a process may end. */
export interface ProcessEnds {
  /** A place where it may end; true when it did. */
  readonly boundary: (name: string) => boolean
  readonly fatal: (error: unknown) => void
}

/** The processes of a world. */
export class Processes {
  readonly #parts: ProcessesParts
  /** Boundaries that each process came to. */
  readonly boundaries: number[] = []
  #process: Process = { epoch: 0, isAlive: false }
  #daemon: Daemon | undefined
  #journal: DiskJournal | undefined
  #isReady = false
  #crashes = 0

  constructor(parts: ProcessesParts) {
    this.#parts = parts
  }

  /** The daemon of the process that runs. */
  get daemon(): Daemon | undefined {
    return this.#daemon
  }

  /** The journal that was opened last. */
  get journal(): DiskJournal | undefined {
    return this.#journal
  }

  /** Whether the process runs and took up what was open. */
  get isReady(): boolean {
    return this.#isReady
  }

  get isAlive(): boolean {
    return this.#process.isAlive
  }

  get crashes(): number {
    return this.#crashes
  }

  /** Starts a process. */
  boot(): void {
    const { disk, truth, note, createDaemon, onReady } = this.#parts
    const process: Process = { epoch: this.#process.epoch + 1, isAlive: true }
    this.#process = process
    this.boundaries.push(0)
    this.#isReady = false
    const ends: ProcessEnds = {
      boundary: (name) => this.#boundary(process, name),
      fatal: (error) => this.#onFatal(process, error),
    }
    let journal: DiskJournal
    try {
      journal = disk.open(process.epoch, {
        wallMs: this.#parts.wallMs,
        boundary: ends.boundary,
        onDurable: (record, state, body) => {
          note(body)
          truth.durable(record, state)
          this.#daemon?.onDurable?.(record, state)
        },
        onAccount: (record, body) => {
          note(body)
          this.#daemon?.onDurable?.(record, undefined)
        },
      })
    } catch (error) {
      this.#refusedToOpen(process, error)
      return
    }
    if (!process.isAlive) return
    this.#journal = journal
    for (const state of journal.intents()) truth.survived(state)
    note(`start ${process.epoch}: ${journal.openIntents().length} open`)
    this.#daemon = createDaemon(process, journal, ends)
    this.#daemon.start()
    if (!process.isAlive) return
    this.#isReady = true
    onReady()
  }

  /** Ends the process as a failing machine does, and starts another after a while. */
  crash(where: string): void {
    if (!this.#process.isAlive) return
    const { scenario, random, timeline, faults, disk, note, isQuiet } = this.#parts
    this.#process.isAlive = false
    this.#daemon = undefined
    this.#isReady = false
    this.#crashes += 1
    const tail = disk.crash(random, faults.isOn('power-cut') || scenario !== undefined)
    note(`crash at ${where}, tail ${tail}`)
    if (disk.hasBackup && !isQuiet() && random.chance(0.5)) disk.putBackupBack()
    const downMs = scenario === undefined ? random.int(100, 60_000) : 2_000
    timeline.after(downMs, () => this.boot())
  }

  /** The operator stops it, and starts it again after a while. */
  stopInOrder(): void {
    const { random, timeline, note } = this.#parts
    const process = this.#process
    if (!process.isAlive || this.#daemon === undefined || !this.#isReady) return
    this.#isReady = false
    this.#daemon.stop(() => {
      if (!process.isAlive) return
      process.isAlive = false
      this.#daemon = undefined
      note('stopped in order')
      timeline.after(random.int(100, 30_000), () => this.boot())
    })
  }

  /** The world is over: nothing wakes up any more. */
  end(): void {
    this.#process.isAlive = false
  }

  /** A journal that lost records is refused until the operator brings back the newest copy. */
  #refusedToOpen(process: Process, error: unknown): void {
    const { timeline, disk, note } = this.#parts
    process.isAlive = false
    const code = error instanceof BaseError ? error.code : undefined
    if (code !== 'JOURNAL_ROLLED_BACK' || !disk.restoreNewest()) throw error
    note('the journal is older than its mark: not opened')
    timeline.after(30_000, () => this.boot())
  }

  #boundary(process: Process, name: string): boolean {
    if (!process.isAlive) return true
    const { scenario, faults } = this.#parts
    const at = this.boundaries.length - 1
    const count = (this.boundaries[at] ?? 0) + 1
    this.boundaries[at] = count
    if (scenario !== undefined) {
      if (scenario.crashes[at] !== count) return false
      this.crash(name)
      return true
    }
    const isEarly = count < 12
    const isNow =
      this.#crashes < 6 &&
      (faults.comes('crash', 0.012) ||
        (isEarly && process.epoch > 1 && faults.comes('crash-in-recovery', 0.05)))
    if (isNow) this.crash(name)
    return isNow
  }

  #onFatal(process: Process, error: unknown): void {
    if (!process.isAlive) return
    const { timeline, disk, note, fail } = this.#parts
    const code = error instanceof BaseError ? error.code : undefined
    if (code !== 'JOURNAL_FULL') {
      fail(error)
      return
    }
    note('the disk is full: stopped on purpose')
    this.crash('disk full')
    timeline.after(0, () => disk.setFull(false))
  }
}
