/**
 * A journal on real files: the product's own sqlite journal with its lock, mark, snapshots and checkpoints, and its guard. A
 * process ends on a copy of the files as they are at that instant, before anything is closed; what was not synced may be
 * lost. Each opening is held against what was acknowledged.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { Maintenance } from '../../src/journal/maintenance.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { openSqliteJournal, type SqliteJournalOptions } from '../../src/journal/sqlite/openSqlite.ts'
import { cutHead, emptyImage, flipBit, type Image, imageFiles, readImage, tornBetween } from './diskImage.ts'
import { type Random, randomOf } from './random.ts'
import { heldRows } from './sqliteHolds.ts'
import { journalOfProcess } from './sqliteJournal.ts'
import {
  closeAll,
  guardBeside,
  isAlive,
  numberOf,
  placeFiles,
  type Running,
  removeFiles,
  runningAt,
} from './sqliteRunning.ts'
import { tapSqlite } from './sqliteTap.ts'
import type { CreateStorage, DiskJournal, JournalHooks, Storage } from './storage.ts'
import { InvariantBroken } from './truth.ts'

/** Flips of single bits that are tried besides the one that comes. */
const flipsTried = 9
/** Makes a directory of its own for the world; `discard` removes it. */
export const createSqliteStorage: CreateStorage = (world) => new SqliteStorage(world)

class SqliteStorage implements Storage {
  readonly takesTwo = true
  readonly #timeline: Timeline
  readonly #upkeep: Omit<Maintenance, 'later'>
  readonly #root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'perpd-simulation-'))
  readonly #untap: () => void
  /** All records whose commit returned, in order: they may not be lost. */
  readonly #committed: string[] = []
  /** How many of them are synced. */
  #synced = 0
  /** How many of them the mark was moved over: without it, a backup that lacks the rest is not told from the newest copy. */
  #marked = 0
  /** Records of a commit in which the process ended: all of them are there, or none. */
  #doubtful: readonly string[] = []
  /** Digests that the guard let through. */
  readonly #claimed = new Set<string>()
  /** Processes whose files are still open, the newest last. */
  #left: Running[] = []
  /** Connections to journals, and whose they are. */
  readonly #owners = new WeakMap<DatabaseSync, Running>()
  /** The process that is opening its journal. */
  #opening: Running | undefined
  #image: Image = emptyImage
  /**
   * The newest mark that was written, before a power cut it: what flips and backups are judged with. A log with a flipped bit ends
   * as one whose last commit was torn before it was acknowledged, so the mark alone tells the two apart, and one whose newest
   * states a power cut took cannot: a cut mark and a damaged log are two faults at once. They stay two when the next opening ends
   * before it has raised the mark; what stands in the file then is still what the power cut left of it.
   */
  #wholeHead: Buffer = emptyImage.head
  #newest: Image | undefined
  #backup: Image | undefined
  /** A bit of the image flipped; draws where others may. */
  #flips: Random | undefined
  #isFull = false
  #running: Running | undefined
  #torn: { readonly random: Random; readonly isPowerCut: boolean } | undefined
  /** What else befalls the files of a process that ended in a write: it comes over what the write left. */
  #afterTear: (() => void) | undefined
  /** Where in what the guard had not synced a crash cut its table, from 0 to 1. */
  #guardCut: number | undefined
  #openings = 0
  /** Journals that are being closed. */
  readonly #closings: Promise<void>[] = []

  constructor({ seed, timeline }: { readonly seed: number; readonly timeline: Timeline }) {
    this.#timeline = timeline
    const random = randomOf(seed, 'files')
    const checkpointAfterCommits = random.pick([2, 10, 100])
    this.#upkeep = {
      snapshotEveryRecords: random.pick([2, 9, 40, 10_000]),
      checkpointAfterCommits,
      checkpointAtLatestCommits: 2 * checkpointAfterCommits,
    }
    this.#untap = tapSqlite((db, sql, run) => this.#around(db, sql, run))
  }

  // --- a process ---------------------------------------------------------------------------------------------------

  open(_epoch: number, hooks: JournalHooks): DiskJournal | undefined {
    const running = this.#startAt(hooks)
    const { path } = running
    this.#opening = running
    try {
      running.journal = openSqliteJournal(this.#optionsOf(running), {}).journal
    } catch (error) {
      if (running.isDead) return undefined
      running.isDead = true
      running.isMoved = true
      throw error
    } finally {
      this.#opening = undefined
    }
    if (running.isDead) return undefined
    const { journal, db } = running
    if (db === undefined) throw new TypeError('a journal was opened and nothing was executed')
    const promised = { known: this.#committed, doubtful: this.#doubtful, claimed: this.#claimed }
    const rows = heldRows({ db, path, journal }, promised, this.#fail)
    this.#committed.push(...rows.slice(this.#committed.length))
    this.#synced = this.#committed.length
    this.#marked = this.#committed.length
    this.#doubtful = []
    this.#newest = undefined
    if (numberOf(db, 'PRAGMA synchronous') < 2) running.synced = readImage(path)
    if (this.#isFull) this.#limit(running)
    const guard = guardBeside(path, journal, hooks)
    running.guard = guard
    running.guardBytes = statSync(path + imageFiles.signed).size
    const { journal: wrapped, ...waits } = journalOfProcess({
      journal,
      guard,
      hooks,
      isDead: () => !isAlive(running),
      isClosed: () => running.journal === undefined,
      acknowledged: (seq, body) => {
        if (this.#committed[seq - 1] !== body) this.#fail('I12', `record ${seq} is not the one acknowledged`)
        running.heads.push(readFileSync(path + imageFiles.head))
      },
      claimed: (digest) => {
        this.#claimed.add(digest)
        const { size } = statSync(path + imageFiles.signed)
        for (const each of this.#left) if (each.path === path) each.guardBytes = size
      },
    })
    running.waits = waits
    return wrapped
  }

  /** Where a process begins: on what the one before left, or beside one that has the journal and is taken for dead. */
  #startAt(hooks: JournalHooks): Running {
    const before = this.#running
    const isBeside = before !== undefined && this.#isShared(before.path)
    if (!isBeside) {
      if (before?.isMoved === false) this.#leave(readImage(before.path))
      this.#cutGuard()
      this.#tryFlipped(hooks)
    }
    const running = runningAt(isBeside ? before.path : this.#place(this.#image), hooks)
    // The lock does not hold: an operator removed it, or the volume does not know locks.
    if (isBeside) for (const file of ['.lock', '.owner.json']) rmSync(running.path + file, { force: true })
    for (const left of this.#left) if (!isAlive(left)) this.#closing(closeAll(left))
    for (const { path } of this.#left) if (path !== running.path) removeFiles(path)
    this.#left = [...this.#left.filter(isAlive), running]
    this.#running = running
    return running
  }

  /** Whether a process that lives has its journal there. */
  #isShared(path: string): boolean {
    return this.#left.some((left) => left.path === path && isAlive(left))
  }

  async stop(): Promise<void> {
    const running = this.#running
    if (running === undefined || !isAlive(running)) return
    const closed = closeAll(running)
    this.#closing(closed)
    await closed
    if (!isAlive(running)) return
    running.isDead = true
    this.#leave(readImage(running.path))
  }

  /** The files as a process left them; a mark that it did not write is the one that it found. */
  #leave(image: Image): void {
    if (!image.head.equals(this.#image.head)) this.#wholeHead = image.head
    this.#image = image
  }

  crash(random: Random, losesTail: boolean): string {
    const sub = randomOf(random.int(0, 2 ** 31), 'crash')
    const running = this.#running
    if (running === undefined || running.isDead) return 'of nothing'
    running.isDead = true
    if (this.#isShared(running.path)) return 'kept beside another'
    running.isMoved = true
    const whole = readImage(running.path)
    this.#leave(whole)
    this.#guardCut = sub.next()
    this.#image = { ...this.#image, signed: whole.signed.subarray(0, running.guardBytes) }
    // Where power cuts come, processes are killed as well.
    const isPowerCut = losesTail && sub.chance(0.7)
    if (isPowerCut) {
      const lost = running.synced === undefined ? whole : tornBetween(running.synced, whole, sub, true)
      this.#image = {
        ...this.#image,
        db: lost.db,
        wal: lost.wal,
        head: cutHead([...running.heads, whole.head], sub),
      }
    }
    if (running.change === undefined) return isPowerCut ? 'cut' : 'kept'
    running.change.before = this.#image
    this.#torn = { random: sub, isPowerCut }
    return isPowerCut ? 'cut in a write' : 'torn in a write'
  }

  /** Lets all commits, closings and lines of the guard happen that wait for nothing but their turn. */
  async settle(): Promise<void> {
    while (this.#closings.length > 0) await this.#closings.shift()
    for (const { waits } of this.#left) await waits?.settle()
  }

  #closing(closed: Promise<void>): void {
    this.#closings.push(closed)
    // It is told by `settle`.
    closed.catch(() => undefined)
  }

  #optionsOf(running: Running): SqliteJournalOptions {
    return {
      path: running.path,
      clockNow: running.hooks.wallMs,
      holder: 'simulation',
      maintenance: {
        ...this.#upkeep,
        later: (ms, run) =>
          this.#timeline.after(ms, () => {
            if (running === this.#running && isAlive(running)) run()
          }),
      },
    }
  }

  /** Of the lines that the guard was writing when the process ended, a first part is there. */
  #cutGuard(): void {
    const running = this.#running
    if (running === undefined || this.#guardCut === undefined || !running.isMoved) return
    const written = readFileSync(running.path + imageFiles.signed, { flag: 'a+' })
    const { guardBytes } = running
    const more = Math.floor(this.#guardCut * (written.length - guardBytes + 1))
    const signed = written.subarray(0, guardBytes + more)
    this.#guardCut = undefined
    this.#image = { ...this.#image, signed }
    if (this.#newest !== undefined) this.#newest = { ...this.#newest, signed }
  }

  // --- what a connection executes ----------------------------------------------------------------------------------

  #around(db: DatabaseSync, sql: string, run: () => void): void {
    const opening = this.#opening
    if (opening !== undefined && db.location() === opening.path && !this.#owners.has(db)) {
      this.#owners.set(db, opening)
      opening.db = db
    }
    const running = this.#owners.get(db)
    if (running === undefined || !isAlive(running)) {
      // What a process had still to do, nobody does.
      if (running !== undefined && sql !== 'close') throw new Error('the process ended')
      run()
      return
    }
    if (sql === 'COMMIT') {
      this.#change(running, 'in a commit', run)
      const found = this.#newRows(running, db)
      if (!isAlive(running)) {
        // An opening of a backup that finds nothing says nothing of what the newest copy has.
        if (found.length > 0 || this.#newest === undefined) this.#doubtful = found
        return
      }
      if (running === this.#opening) this.#settleTorn(found)
      this.#committed.push(...found)
      if (running.synced === undefined) this.#synced = this.#committed.length
      if (found.length > 0 && running.hooks.boundary('committed, not marked')) return
      this.#marked = this.#committed.length
    } else if (sql.startsWith('PRAGMA wal_checkpoint')) this.#change(running, 'in a checkpoint', run)
    else if (sql === 'close') this.#change(running, 'in the last checkpoint', run)
    else run()
  }

  /**
   * What an opening finds beyond what was acknowledged. It writes no record itself: this is what a torn commit left, all of it or
   * nothing, and with the opening's own commit behind it that stays so. A backup may be opened, and refused, in between.
   */
  #settleTorn(found: readonly string[]): void {
    const isWhole =
      found.length === this.#doubtful.length && found.every((body, at) => body === this.#doubtful[at])
    if (found.length > 0 && !isWhole)
      this.#fail(
        'I12',
        `an opening finds ${found.length} of ${this.#doubtful.length} records of a torn commit`,
      )
    if (isWhole || this.#newest === undefined) this.#doubtful = []
  }

  /** Changes the files; the process may end in the middle. */
  #change(running: Running, name: string, run: () => void): void {
    const change: NonNullable<Running['change']> = {}
    running.change = change
    running.hooks.boundary(name)
    delete running.change
    try {
      run()
      this.#tear(change.before, running)
    } finally {
      this.#torn = undefined
      const befall = this.#afterTear
      this.#afterTear = undefined
      befall?.()
    }
  }

  #tear(before: Image | undefined, { path }: Running): void {
    if (before === undefined || this.#torn === undefined) return
    const { random, isPowerCut } = this.#torn
    const torn = tornBetween(before, readImage(path), random, isPowerCut)
    this.#image = { ...this.#image, db: torn.db, wal: torn.wal }
  }

  #newRows(running: Running, db: DatabaseSync): readonly string[] {
    const isNew =
      running === this.#opening &&
      numberOf(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'record'") === 0
    if (isNew) return []
    running.newRows ??= db.prepare('SELECT body FROM record WHERE seq > ? ORDER BY seq')
    return running.newRows.all(this.#committed.length).map(({ body }) => String(body))
  }

  // --- what is held at each opening --------------------------------------------------------------------------------

  /** Opens the files with a flipped bit in a place of their own: they are refused, or say what they said before. */
  #tryFlipped(hooks: JournalHooks): void {
    const random = this.#flips
    const good = this.#newest
    this.#flips = undefined
    if (random === undefined || good === undefined) return
    for (let more = 0; more < flipsTried; more += 1) {
      try {
        this.#holdFlipped(flipBit(good, random), hooks)
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
    }
    this.#holdFlipped(this.#image, hooks)
    this.restoreNewest()
  }

  /** @throws BaseError when the files are refused. */
  #holdFlipped(image: Image, hooks: JournalHooks): void {
    const trial = runningAt(this.#place(image), hooks)
    trial.isDead = true
    try {
      this.#holdTrial(trial)
    } finally {
      removeFiles(trial.path)
    }
  }

  #holdTrial(trial: Running): void {
    const { journal, replayedFrom } = openSqliteJournal(this.#optionsOf(trial), {})
    try {
      const { problems } = verifySqliteJournal(trial.path)
      // What is older than a snapshot is read again by `perpd journal verify` alone.
      if (problems.length > 0 && replayedFrom === 0) this.#fail('I12', `it opens, and ${problems.join('; ')}`)
      if (problems.length === 0) {
        const db = new DatabaseSync(trial.path, { readOnly: true })
        guardBeside(trial.path, journal, trial.hooks).close()
        const known = this.#committed.slice(0, this.#marked)
        const doubtful = [...this.#committed.slice(this.#marked), ...this.#doubtful]
        heldRows({ db, path: trial.path, journal }, { known, doubtful, claimed: this.#claimed }, this.#fail)
        db.close()
      }
    } finally {
      this.#closing(
        journal.close().catch((error: unknown) => {
          if (!(error instanceof BaseError)) throw error
        }),
      )
    }
  }

  readonly #fail = (invariant: string, text: string): never => {
    throw new InvariantBroken({ invariant, text, atMs: this.#timeline.nowMs })
  }

  // --- the disk ----------------------------------------------------------------------------------------------------

  get hasBackup(): boolean {
    return this.#backup !== undefined
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull
    const running = this.#running
    if (running !== undefined && isAlive(running)) this.#limit(running)
  }

  backUp(): void {
    const running = this.#running
    this.#backup = running === undefined || running.isMoved ? this.#image : readImage(running.path)
  }

  putBackupBack(): void {
    this.#onceTorn(() => this.#putBackupBack())
  }

  #putBackupBack(): void {
    if (this.#backup === undefined || this.#newest !== undefined || !this.#isStill()) return
    const { db, wal } = this.#backup
    // A mark that lost its newest states at the same moment could not tell.
    this.#newest = { ...this.#image, head: this.#wholeHead }
    this.#image = { ...this.#newest, db, wal }
    this.#backup = undefined
    this.#doubtful = [...this.#committed.splice(this.#marked), ...this.#doubtful]
  }

  dropBackup(): void {
    this.#backup = undefined
  }

  flipBit(random: Random): void {
    this.#onceTorn(() => this.#flipBit(random))
  }

  #flipBit(random: Random): void {
    if (this.#newest !== undefined || !this.#isStill()) return
    this.#newest = { ...this.#image, head: this.#wholeHead }
    this.#image = flipBit(this.#newest, random)
    this.#flips = randomOf(random.int(0, 2 ** 31), 'flips')
  }

  /** Runs it now, or when the write in which the process ended has left what it leaves. */
  #onceTorn(befall: () => void): void {
    if (this.#torn === undefined) befall()
    else this.#afterTear = befall
  }

  /** Whether nothing has the files open; then they are in the image. */
  #isStill(): boolean {
    const running = this.#running
    if (running !== undefined && this.#isShared(running.path)) return false
    if (running?.isMoved === false) {
      running.isMoved = true
      this.#leave(readImage(running.path))
    }
    return true
  }

  restoreNewest(): boolean {
    if (this.#newest === undefined) return false
    this.#image = this.#newest
    this.#newest = undefined
    return true
  }

  isOnDisk(digest: string): boolean {
    if (!this.#claimed.has(digest.toLowerCase())) return false
    return this.#committed.slice(0, this.#synced).some((body) => body.includes(`"digest":"${digest}"`))
  }

  contains(text: string): boolean {
    const running = this.#running
    const image = running === undefined || running.isMoved ? this.#image : readImage(running.path)
    return Object.values(image).some((bytes: Buffer) => bytes.includes(text))
  }

  discard(): void {
    for (const left of this.#left) void closeAll(left)
    this.#untap()
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** A full disk takes no page more than it has. */
  #limit({ db }: Running): void {
    if (db === undefined) return
    const pages = this.#isFull ? numberOf(db, 'PRAGMA page_count') : 1_073_741_823
    db.exec(`PRAGMA max_page_count = ${pages}`)
  }

  // --- files -------------------------------------------------------------------------------------------------------

  /** A directory of its own for what opens the image next, with the traces of the process before. */
  #place(image: Image): string {
    this.#openings += 1
    const directory = join(this.#root, String(this.#openings))
    const path = join(directory, 'journal.db')
    placeFiles(path, image)
    return path
  }
}
