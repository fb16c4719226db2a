/**
 * perpd from the source, as `npm start` starts it. Before any TypeScript is read it turns on the cache of compiled code: where all of it is in the
 * cache, Node need not load what takes the types out, which is half of a short command. Hence JavaScript, without an import of ours. Its rule for the
 * folder is simpler and stricter than that of `compileCache.ts`, which decides where this one does not.
 */
import { lstatSync } from 'node:fs'
import module from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

/** A process that is killed writes nothing at its end: what it has loaded by then is written this long after its start, ms. */
const FLUSH_AFTER_MS = 5_000
const STICKY = 0o1000

/** Tells whether this is a folder of this user or root, and so are all above it, and nobody else may write it or replace what lies in it. */
function isOwn(path) {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry?.isDirectory() !== true || ![0, process.geteuid?.()].includes(entry.uid)) return false
  if ((entry.mode & 0o022) !== 0 && (entry.mode & STICKY) === 0) return false
  return path === dirname(path) || isOwn(dirname(path))
}

const { HOME, XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE } = process.env
const base = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
// An older Node has no such cache; `bin.ts` says that it is too old.
const isOff = NODE_DISABLE_COMPILE_CACHE || module.getCompileCacheDir?.() !== undefined
if (!isOff && base !== undefined && isAbsolute(base) && module.enableCompileCache !== undefined) {
  const folder = join(base, 'perpd', 'compiled')
  try {
    if (isOwn(folder)) {
      module.enableCompileCache(folder)
      setTimeout(module.flushCompileCache, FLUSH_AFTER_MS).unref()
    }
  } catch {
    // What may not be looked at is not used.
  }
}

await import('./bin.ts')
