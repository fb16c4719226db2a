/**
 * Notices strategy files that changed, came or went. It looks at the files themselves, a hundred a second: what an
 * operating system tells of changes is lost on network folders and in containers, and an editor's one saving is several of them.
 */
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Timer } from '../base/clock.ts'

/** Settings of the watch over files. */
export interface WatchOptions {
  /** Files and folders, as the setting names them. */
  readonly paths: readonly string[]
  readonly clock: Timer
  /**
   * Told once what is there when the watch begins, and then whenever something changed and has been still for a moment; the next look waits for it. False: it
   * is told again at the next look.
   */
  readonly changed: () => Promise<boolean>
  readonly signal: AbortSignal
}

/** Time between two looks, ms; a change counts once two looks in a row see the same. */
const lookMs = 1_000
/** Files that are looked at in that time: of more each look follows after as much more time, so that it costs no more a second. */
const filesInLook = 100
/** File names of strategies: a user's own kind lies next to its YAML file. */
const watched = /\.(ya?ml|[cm]?[jt]s)$/

/** Watches until the signal. Never rejects for what a file system says: what cannot be read looks as if it were not there. */
export async function watchStrategies({ paths, clock, changed, signal }: WatchOptions): Promise<void> {
  let known: string | undefined
  let before = await printOf(paths)
  while (!signal.aborted) {
    await clock.sleep(lookMs * Math.max(1, Math.ceil(before.split('\n').length / filesInLook)), signal)
    if (signal.aborted) return
    const now = await printOf(paths)
    const isStill = now === before
    before = now
    if (!isStill || now === known) continue
    // A change during this call gives another print, so the next look finds it.
    if (await changed()) known = now
  }
}

/** Returns one text for what the files of strategies in these places are, and all that lie beside them: their names, sizes, times and numbers. */
export async function printOf(paths: readonly string[]): Promise<string> {
  const folders = await Promise.all(
    paths.map(async (path) => ((await isFolder(path)) ? path : dirname(path))),
  )
  const rows = await Promise.all([...new Set(folders)].map(filesIn))
  return rows.flat().sort().join('\n')
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

/**
 * Returns the same of single files, a line each, in their order; undefined where one was changed after `beforeMs` (Unix ms), or is gone: what was read since
 * then may be another content than now.
 */
export async function settledPrintOf(
  files: readonly string[],
  beforeMs: number,
): Promise<string | undefined> {
  const found = await Promise.all(files.map(async (path) => ({ path, stats: await statOf(path) })))
  if (found.some(({ stats }) => stats === undefined || stats.ctimeMs >= beforeMs)) return undefined
  return found.map(({ path, stats }) => rowOf(path, stats)).join('\n')
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch {
    return undefined
  }
}

function rowOf(path: string, stats: Stats | undefined): string {
  if (stats === undefined) return `${path} gone`
  const { size, mtimeMs, ctimeMs, ino } = stats
  return `${path} ${size} ${mtimeMs} ${ctimeMs} ${ino}`
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => watched.test(name) && !name.startsWith('.'))
    return await Promise.all(
      names.map(async (name) => {
        const path = join(folder, name)
        return rowOf(path, await statOf(path))
      }),
    )
  } catch {
    return []
  }
}
