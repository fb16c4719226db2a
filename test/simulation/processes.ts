/**
 * The machine that the daemon runs on: one process after the other over one disk. It starts them, ends or freezes them at the
 * boundaries that chance or a story chose, lets a second one take over from one that is frozen, and does what an operator
 * does when the journal is refused.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { AnyRecord, JournalRecord } from '../../src/domain/records.ts'
import type { Daemon, Process } from './daemon.ts'
import type { Faults } from './faults.ts'
import type { Network } from './network.ts'
import { wordOn } from './operator.ts'
import type { Random } from './random.ts'
import type { DiskJournal, JournalHooks, ServerHooks, Storage } from './storage.ts'
import type { Truth } from './truth.ts'
import type { Scenario } from './worldTypes.ts'

/** What processes stand in. */
export interface ProcessesParts {
  readonly scenario: Scenario | undefined
  /** Few faults, and much that is filled. */
  readonly isLively: boolean
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Faults
  readonly disk: Storage
  readonly wallMs: () => number
  readonly truth: Truth
  readonly note: (text: string) => void
  /** A record is durable, with this text. */
  readonly kept: (body: string) => void
  /** The world ends with this. */
  readonly fail: (error: unknown) => void
  readonly isQuiet: () => boolean
  readonly network: Network
  readonly createDaemon: (process: Process, journal: DiskJournal, place: ProcessPlace) => Daemon
  /** Faults go on for so long yet, ms. */
  readonly holdOn: (ms: number) => void
  /** A process took up what was open: the strategy may decide. */
  readonly onReady: () => void
}

/** What a process is given of its own. */
export interface ProcessPlace {
  /** A place where it may end; true when it did. It may also be frozen there: then nothing of it goes on before it thaws. */
  readonly boundary: (name: string) => boolean
  readonly fatal: (error: unknown) => void
  readonly timeline: Timeline
  readonly network: Network
}

/** One process with what it made. */
interface Run {
  readonly process: Process
  daemon: Daemon | undefined
  journal: DiskJournal | undefined
  /** It took up what was open. */
  isReady: boolean
  /** What waits until it thaws; absent while it runs. */
  waiting: (() => void)[] | undefined
}

const mostPauses = 3

/** The processes of a world. The newest that opened the journal is its owner; older ones may still be there, frozen or not. */
export class Processes {
  readonly #parts: ProcessesParts
  /** Boundaries that each process came to. */
  readonly boundaries: number[] = []
  readonly #stale: Run[] = []
  #run: Run | undefined
  #journal: DiskJournal | undefined
  #crashes = 0
  #pauses = 0

  constructor(parts: ProcessesParts) {
    this.#parts = parts
  }

  /** The daemon of the process that has the journal. */
  get daemon(): Daemon | undefined {
    return this.#run?.daemon
  }

  /** The journal that was opened last. */
  get journal(): DiskJournal | undefined {
    return this.#journal
  }

  /** Whether the process runs and took up what was open. */
  get isReady(): boolean {
    return this.#run?.isReady === true && this.#run.waiting === undefined
  }

  get isAlive(): boolean {
    return this.#run?.process.isAlive === true
  }

  get crashes(): number {
    return this.#crashes
  }

  /** Daemons of processes that lost the journal and do not know it yet. */
  get stale(): readonly Daemon[] {
    return this.#stale.flatMap(({ process, waiting, isReady, daemon }) =>
      process.isAlive && isReady && waiting === undefined && daemon !== undefined ? [daemon] : [],
    )
  }

  /** Starts a process. */
  boot(): void {
    const { disk, truth, kept } = this.#parts
    const process: Process = { epoch: this.boundaries.push(0), isAlive: true }
    const run: Run = { process, daemon: undefined, journal: undefined, isReady: false, waiting: undefined }
    this.#run = run
    const hooks: JournalHooks = {
      wallMs: this.#parts.wallMs,
      isAlive: () => process.isAlive,
      boundary: (name) => this.#boundary(run, name),
      onDurable: (record, state, body) => {
        kept(body)
        this.#checkOwner(run, record.kind)
        truth.durable(record, state)
        run.daemon?.onDurable?.(record, state)
      },
      onAccount: (record, body) => {
        kept(body)
        this.#checkOwner(run, record.kind)
        run.daemon?.onDurable?.(record, undefined)
      },
    }
    if (disk.server !== undefined) {
      this.#openLater(run, disk.server, hooks)
      return
    }
    let journal: DiskJournal | undefined
    try {
      journal = disk.open(process.epoch, hooks)
    } catch (error) {
      this.#refusedToOpen(process, error)
      return
    }
    this.#begin(run, journal)
  }

  /** Opens a journal on a server, which has a record before its process hears of it, and knows by itself whose it is. */
  #openLater(run: Run, server: NonNullable<Storage['server']>, hooks: JournalHooks): void {
    const { truth, kept } = this.#parts
    const onServer: ServerHooks = {
      ...hooks,
      timeline: this.#timelineOf(run),
      onDurable: (record, state) => run.daemon?.onDurable?.(record, state),
      onAccount: (record) => run.daemon?.onDurable?.(record, undefined),
      onCommitted(record, state, body) {
        kept(body)
        truth.durable(record, state)
      },
      onAccountCommitted: kept,
    }
    server
      .open(run.process.epoch, onServer)
      .then((journal) => this.#begin(run, journal))
      .catch((error: unknown) => this.#onFatal(run, error))
  }

  /** A process opened its journal, and takes up what is open there. */
  #begin(run: Run, journal: DiskJournal | undefined): void {
    const { truth, note, createDaemon, onReady } = this.#parts
    const { process } = run
    if (!process.isAlive || journal === undefined) return
    this.#journal = journal
    run.journal = journal
    truth.opened(journal.lease.epoch)
    for (const state of journal.recentIntents()) truth.survived(state)
    note(`start ${process.epoch}: ${journal.openIntents().length} open`)
    run.daemon = createDaemon(process, this.#journalOf(run, journal), this.#placeOf(run, journal.lease.epoch))
    run.daemon.start()
    if (!process.isAlive) return
    run.isReady = true
    onReady()
  }

  /** Ends the process as a failing machine does, and starts another after a while. */
  crash(where: string): void {
    const run = this.#run
    if (run === undefined || !run.process.isAlive) return
    const { scenario, random, timeline, faults, disk, note, isQuiet } = this.#parts
    end(run)
    this.#crashes += 1
    const tail = disk.crash(random, faults.isOn('power-cut') || scenario !== undefined)
    note(`crash at ${where}, tail ${tail}`)
    if (disk.hasBackup && !isQuiet() && random.chance(0.5)) disk.putBackupBack()
    else if (faults.comes('bit-flip', 0.4)) disk.flipBit(random)
    const downMs = scenario === undefined ? random.int(100, 60_000) : 2_000
    if (faults.comes('operator-word', 0.3)) timeline.after(downMs / 2, () => this.#giveWord())
    timeline.after(downMs, () => this.boot())
  }

  /** An operator's command on the journal of a daemon that is down: it opens it as a daemon does, and closes it again. */
  #giveWord(): void {
    const { disk, truth, note, kept, random, timeline, isQuiet } = this.#parts
    // On a server it would wait for the lease; there the operator speaks to a daemon that runs.
    if (isQuiet() || disk.server !== undefined) return
    const process: Process = { epoch: this.boundaries.push(0), isAlive: true }
    let journal: DiskJournal | undefined
    try {
      journal = disk.open(process.epoch, {
        wallMs: this.#parts.wallMs,
        isAlive: () => process.isAlive,
        boundary: () => false,
        onDurable: (record, state, body) => {
          kept(body)
          truth.durable(record, state)
        },
        onAccount: (_record, body) => kept(body),
      })
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      note(`the operator finds the journal closed: ${error.code}`)
      return
    }
    if (journal !== undefined) truth.opened(journal.lease.epoch)
    for (const state of journal?.recentIntents() ?? []) truth.survived(state)
    const record = wordOn(journal?.openIntents() ?? [], truth, random, this.#parts.wallMs())
    try {
      if (record !== undefined) journal?.commit(record)
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      note(`the word is not kept: ${error.code}`)
    }
    timeline.after(1, () => {
      const end = () => {
        process.isAlive = false
      }
      const stopped = disk.stop?.()
      if (stopped === undefined) end()
      else void stopped.then(end, end)
    })
  }

  /** The operator stops it, and starts it again after a while. */
  stopInOrder(): void {
    const { random, timeline, note } = this.#parts
    const run = this.#run
    if (run?.daemon === undefined || !this.isReady) return
    run.isReady = false
    run.daemon.stop(() => {
      const stopped = run.process.isAlive ? this.#parts.disk.stop?.() : undefined
      const ended = () => {
        if (!run.process.isAlive) return
        end(run)
        note('stopped in order')
        timeline.after(random.int(100, 30_000), () => this.boot())
      }
      if (stopped === undefined) ended()
      else void stopped.then(ended, ended)
    })
  }

  /** All that is frozen goes on. */
  thaw(): void {
    for (const run of [...this.#stale, this.#run]) if (run !== undefined) this.#goOn(run)
  }

  /** The world is over: nothing wakes up any more. */
  end(): void {
    for (const run of [...this.#stale, this.#run]) if (run !== undefined) end(run)
  }

  // --- what a process is given -------------------------------------------------------------------------------------

  /** Runs what reaches a process: now, when it thaws, or never. */
  #reach(run: Run, work: () => void): void {
    if (!run.process.isAlive) return
    if (run.waiting === undefined) work()
    else run.waiting.push(work)
  }

  #timelineOf(run: Run): Timeline {
    const { timeline } = this.#parts
    return {
      get nowMs() {
        return timeline.nowMs
      },
      get size() {
        return timeline.size
      },
      runNext: timeline.runNext,
      pass: timeline.pass,
      after: (ms, work) => {
        let isCancelled = false
        const cancel = timeline.after(ms, () =>
          this.#reach(run, () => {
            if (!isCancelled) work()
          }),
        )
        return () => {
          isCancelled = true
          cancel()
        }
      },
    }
  }

  #placeOf(run: Run, leaseEpoch: number): ProcessPlace {
    const { network, truth } = this.#parts
    const reach = (work: () => void) => this.#reach(run, work)
    return {
      boundary: (name) => this.#boundary(run, name),
      fatal: (error) => this.#onFatal(run, error),
      timeline: this.#timelineOf(run),
      network: {
        request: (request) =>
          reach(() =>
            network.request({
              ...request,
              left: () => truth.sentBy(leaseEpoch, request.left),
              done: (outcome) => reach(() => request.done(outcome)),
            }),
          ),
      },
    }
  }

  /** The journal as the process has it: frozen before an append, it appends when it thaws. */
  #journalOf(run: Run, journal: DiskJournal): DiskJournal {
    const waited =
      <P, R>(append: (record: P) => Promise<R>) =>
      (record: P): Promise<R> =>
        run.waiting === undefined
          ? append(record)
          : new Promise((resolve, reject) => {
              this.#reach(run, () => append(record).then(resolve, reject))
            })
    const append = waited((record: JournalRecord) => journal.append(record))
    const writing = (record: AnyRecord) => {
      if (record.kind === 'intent.accepted') this.#parts.truth.writing(record.intent)
    }
    const own: Partial<DiskJournal> = {
      append(record) {
        writing(record)
        return append(record)
      },
      appendAccount: waited((record) => journal.appendAccount(record)),
      appendTogether(records) {
        records.forEach(writing)
        return journal.appendTogether(records)
      },
    }
    return new Proxy(journal, {
      get(target, name: keyof DiskJournal) {
        if (name in own) return own[name]
        const member: unknown = target[name]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  // --- how it may end ----------------------------------------------------------------------------------------------

  /** I10: whoever lost the journal writes nothing. */
  #checkOwner(run: Run, kind: string): void {
    const { truth } = this.#parts
    const owner = this.#run
    if (owner !== run && owner?.journal !== undefined)
      truth.fail(
        'I10',
        `process ${run.process.epoch} wrote ${kind}, and ${owner.process.epoch} has the journal`,
      )
  }

  /** A journal that lost records, or a bit of which flipped, is refused until the operator brings back the newest copy. */
  #refusedToOpen(process: Process, error: unknown): void {
    const { timeline, disk, note } = this.#parts
    process.isAlive = false
    const code = error instanceof BaseError ? error.code : ''
    if (!refusals.has(code) || !disk.restoreNewest()) throw error
    note(`the journal is not opened: ${code}`)
    timeline.after(30_000, () => this.boot())
  }

  #boundary(run: Run, name: string): boolean {
    const { process } = run
    if (!process.isAlive) return true
    const { scenario, faults } = this.#parts
    const at = process.epoch - 1
    const count = (this.boundaries[at] ?? 0) + 1
    this.boundaries[at] = count
    if (scenario !== undefined) {
      const { takeover } = scenario
      if (at === 0 && takeover?.at === count) this.#standStill(run, name, takeover.goesOnMs, 1_000)
      if (scenario.crashes[at] !== count) return false
      this.crash(name)
      return true
    }
    const isEarly = count < 12
    const isNow =
      this.#crashes < 6 &&
      (faults.comes('crash', this.#crashChance(name)) ||
        (isEarly && process.epoch > 1 && faults.comes('crash-in-recovery', 0.05)))
    if (isNow && run === this.#run) this.crash(name)
    else if (isNow) end(run)
    else if (this.#pauses < mostPauses && faults.comes('pause', 0.006)) this.#freeze(run, name)
    return isNow
  }

  /** In a lively world it ends where something of an order or of a file was just written, rather than anywhere. */
  #crashChance(name: string): number {
    if (!this.#parts.isLively) return 0.012
    return turningPoints.has(name) ? 0.04 : 0.002
  }

  /** The process stands still for seconds, or for longer than any deadline; another may take the journal meanwhile. */
  #freeze(run: Run, name: string): void {
    if (run.waiting !== undefined) return
    const { random, faults, disk } = this.#parts
    this.#pauses += 1
    const isLong = random.chance(0.1)
    const forMs = isLong ? random.int(3_600_000, 10_800_000) : random.int(500, random.pick([10_000, 600_000]))
    const isTaken = disk.takesTwo === true && faults.comes('lease-lost', 0.8)
    this.#standStill(run, name, forMs, isTaken ? random.int(500, isLong ? 60_000 : forMs) : undefined)
  }

  #standStill(run: Run, name: string, forMs: number, takenAfterMs: number | undefined): void {
    const { timeline, note, holdOn } = this.#parts
    run.waiting = []
    note(`process ${run.process.epoch} is frozen at ${name}`)
    holdOn(forMs + 30_000)
    timeline.after(forMs, () => this.#goOn(run))
    if (takenAfterMs !== undefined) timeline.after(takenAfterMs, () => this.#takeOver(run))
  }

  /** A second process opens the same journal: the lock of the first did not hold. */
  #takeOver(run: Run): void {
    if (run !== this.#run || !run.process.isAlive || run.journal === undefined) return
    this.#parts.note(`process ${run.process.epoch} is taken for dead`)
    this.#stale.push(run)
    this.boot()
  }

  #goOn(run: Run): void {
    const { waiting } = run
    if (waiting === undefined) return
    run.waiting = undefined
    if (run.process.isAlive) this.#parts.note(`process ${run.process.epoch} goes on`)
    this.#endBefore(run)
    for (const work of waiting) this.#parts.timeline.after(0, () => this.#reach(run, work))
  }

  /** One that thaws before another could take its lease has it still, and the other waits: somebody stops it after a while. */
  #endBefore(run: Run): void {
    const { timeline, disk, random, note } = this.#parts
    if (disk.server === undefined || run === this.#run || !run.process.isAlive) return
    timeline.after(random.int(1_000, 40_000), () => {
      if (!run.process.isAlive || this.#run?.journal !== undefined) return
      note(`process ${run.process.epoch} is stopped for good`)
      end(run)
    })
  }

  #onFatal(run: Run, error: unknown): void {
    if (!run.process.isAlive) return
    const { timeline, disk, note, fail } = this.#parts
    const code = error instanceof BaseError ? error.code : undefined
    if (code === 'JOURNAL_FENCED' && run !== this.#run) {
      note(`process ${run.process.epoch} finds that it lost the journal, and ends`)
      end(run)
      return
    }
    if (code !== undefined && disk.server?.endsBy.has(code) === true) {
      note(`process ${run.process.epoch} ends by ${code}`)
      if (run === this.#run) this.crash(code)
      else end(run)
      return
    }
    if (code !== 'JOURNAL_FULL') {
      fail(error)
      return
    }
    note('the disk is full: stopped on purpose')
    if (run === this.#run) this.crash('disk full')
    else end(run)
    timeline.after(0, () => disk.setFull(false))
  }
}

/** Boundaries at which something of an order or of a file has just become durable, or is about to. */
const turningPoints: ReadonlySet<string> = new Set([
  'before intent.accepted',
  'after intent.accepted',
  'after landed',
  'after child.executed',
  'after child.cancelled',
  'after strategy.changed',
  'after commit',
  'read files',
  'sign',
])

const refusals: ReadonlySet<string> = new Set([
  'JOURNAL_ROLLED_BACK',
  'JOURNAL_CORRUPT',
  'JOURNAL_NOT_SQLITE',
  'JOURNAL_FOREIGN',
  'JOURNAL_NEWER',
  'JOURNAL_NOT_OPENED',
  'GUARD_DAMAGED',
])

function end(run: Run): void {
  run.process.isAlive = false
  run.daemon = undefined
  run.isReady = false
}
