/**
 * Node's cache of compiled code, in a folder of the user's own: reading and compiling is most of what a short command takes. What is
 * in it is run, so the rules for code hold: nobody but this user and root may change it, or a folder above it.
 */
import { mkdirSync } from 'node:fs'
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { untrustedPart } from '../keys/trustedPath.ts'

/** A process that is killed writes nothing at its end: what it has loaded by then is written this long after its start, ms. */
const FLUSH_AFTER_MS = 5_000

/**
 * Has Node compile into `$XDG_CACHE_HOME/perpd/compiled`, or `~/.cache/perpd/compiled`, from now on. Nothing happens without such a
 * folder, where another user can change it, where it cannot be made, or where NODE_COMPILE_CACHE or NODE_DISABLE_COMPILE_CACHE says
 * otherwise; perpd works the same, and starts slower.
 */
export function useCompileCache(env: Readonly<Record<string, string | undefined>>): void {
  const { HOME, XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE } = env
  if (getCompileCacheDir() !== undefined || NODE_DISABLE_COMPILE_CACHE) return
  const base = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
  if (base === undefined || !isAbsolute(base)) return
  const folder = join(base, 'perpd', 'compiled')
  try {
    // Before anything is made: as another user, in the home of this one, nothing is left behind.
    if (untrustedPart(folder) !== undefined) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (untrustedPart(folder) !== undefined) return
    enableCompileCache(folder)
  } catch {
    return
  }
  setTimeout(flushCompileCache, FLUSH_AFTER_MS).unref()
}
