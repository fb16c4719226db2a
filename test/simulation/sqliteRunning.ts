/** One process of the daemon over real files: what it has open, and where its files are. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { BaseError } from '../../src/base/errors.ts'
import { openGuardFile } from '../../src/journal/guardFile.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openGuard, type SigningGuard } from '../../src/keys/signingGuard.ts'
import { type Image, imageFiles, readImage, writeImage } from './diskImage.ts'
import type { Waits } from './sqliteJournal.ts'
import type { JournalHooks } from './storage.ts'

/** Deadlines of the worlds are within an hour; the guard's margins are the daemon's. */
const guardHorizonSeconds = 4_300
const guardMarginSeconds = 600
/** A process that died: no process has this id, and this machine was booted since. */
const deadOwner = JSON.stringify({
  pid: 4_194_305,
  startedAt: '',
  hostname: '',
  bootId: 'before',
  holder: '',
})

/** One process of the daemon. */
export interface Running {
  readonly path: string
  readonly hooks: JournalHooks
  /** What the mark was since it was last synced, the newest last. */
  readonly heads: Buffer[]
  isDead: boolean
  /** The image has what is left of it; otherwise its files have. */
  isMoved: boolean
  /** Bytes of the guard's table that are synced. */
  guardBytes: number
  db?: DatabaseSync
  newRows?: StatementSync
  journal?: Journal
  guard?: SigningGuard
  waits?: Waits
  /** The files when they were last synced, where the connection does not sync each commit. */
  synced?: Image
  /** The files are about to change: those before, once the process ended there. */
  change?: { before?: Image }
}

/** A process whose files are at `path`. */
export function runningAt(path: string, hooks: JournalHooks): Running {
  const { head, signed } = readImage(path)
  return { path, hooks, heads: [head], isDead: false, isMoved: false, guardBytes: signed.length }
}

/** Opens the guard beside the journal, as the daemon does. Throws GuardError as `openGuard`. */
export function guardBeside(path: string, journal: Journal, hooks: JournalHooks): SigningGuard {
  return openGuard({
    table: openGuardFile({ path: path + imageFiles.signed }),
    horizonSeconds: guardHorizonSeconds,
    marginSeconds: guardMarginSeconds,
    now: hooks.wallMs,
    neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest),
  })
}

/** Puts files in a directory of their own, with the traces of the process that had them. */
export function placeFiles(path: string, image: Image): void {
  mkdirSync(dirname(path))
  writeImage(path, image)
  writeFileSync(`${path}.lock`, '')
  writeFileSync(`${path}.owner.json`, deadOwner)
}

/** Removes the directory of a journal. */
export function removeFiles(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true })
}

/** Whether the process is there, running or frozen. */
export function isAlive({ isDead, hooks }: Running): boolean {
  return !isDead && hooks.isAlive()
}

/**
 * Closes what a process had open. A snapshot that finds no space is no loss; of a process that ended nothing counts.
 * `settle` of its storage waits for it.
 */
export async function closeAll(running: Running): Promise<void> {
  const { journal, guard } = running
  delete running.journal
  delete running.guard
  guard?.close()
  try {
    await journal?.close()
  } catch (error) {
    const isFull = error instanceof BaseError && error.code === 'JOURNAL_FULL'
    if (isAlive(running) && !isFull) throw error
  }
}

/** The first column of the first row. */
export function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0)
}
