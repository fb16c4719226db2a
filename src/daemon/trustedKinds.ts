/**
 * Kinds of the user's own are code, from any folder: run only when nobody else can change them or what they import, and with
 * perpd's own contract under the names that docs give it. Runs in the thread of a kind.
 */
import { registerHooks } from 'node:module'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { untrustedPart, untrustedText } from '../keys/trustedPath.ts'
import type { Distrust } from '../strategy/files/problem.ts'

/** perpd's own modules, which run already. */
const ownCode = new URL('../', import.meta.url).href
/** Ending of perpd's own modules: TypeScript in a checkout and in the container, JavaScript in the package. */
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
/** Modules that kinds import by name, wherever the kinds lie: the contract of the perpd that runs them, and of no other copy. */
const contract: Readonly<Record<string, string>> = {
  '#strategy': `${ownCode}strategy/strategy${ending}`,
  'perpd/strategy': `${ownCode}strategy/strategy${ending}`,
  '#indicators': `${ownCode}strategy/indicators${ending}`,
  'perpd/indicators': `${ownCode}strategy/indicators${ending}`,
}
/** Packages of perpd that a kind may import when its own folder has none of that name. */
const lent: ReadonlySet<string> = new Set(['trading-signals', 'decimal.js', 'zod'])
/** Addresses of the user's modules, with all that they import. */
const theirs = new Set<string>()
let isWatching = false

/** Why a file is not read or run; undefined when it may be. */
export function untrusted(path: string): Distrust | undefined {
  const found = untrustedPart(path)
  return found === undefined ? undefined : untrustedText(found)
}

/** Imports a module of the user's. Rejects when it, or anything that it imports now or later, can be changed by others. */
export async function importKind(path: string): Promise<unknown> {
  if (!isWatching) watchImports()
  isWatching = true
  const address = pathToFileURL(path).href
  theirs.add(address)
  return await import(address)
}

/** Returns the files of the user's modules that were imported so far in this thread, links followed. */
export function importedFiles(): readonly string[] {
  return [...theirs].flatMap((url) => pathOf(url) ?? [])
}

function watchImports(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const parent = context.parentURL
      const isFromThem = parent !== undefined && theirs.has(parent)
      const ours = isFromThem && Object.hasOwn(contract, specifier) ? contract[specifier] : undefined
      if (ours !== undefined) return { url: ours, shortCircuit: true }
      const found = (): ReturnType<typeof next> => {
        try {
          return next(specifier, context)
        } catch (error) {
          if (!isFromThem || !lent.has(specifier)) throw error
          return next(specifier, { ...context, parentURL: import.meta.url })
        }
      }
      const result = found()
      const isTheirs = isFromThem || theirs.has(specifier)
      if (!isTheirs || result.url.startsWith(ownCode)) return result
      // The name as it is written counts too: a link on its way is gone from what it resolves to.
      for (const path of [pathOf(result.url), writtenPath(specifier, parent)]) {
        const distrust = path === undefined ? undefined : untrusted(path)
        if (distrust !== undefined)
          throw new Error(`it imports ${path}, but ${distrust.what}: ${distrust.fix}`)
      }
      theirs.add(result.url)
      return result
    },
  })
}

function pathOf(url: string): string | undefined {
  return url.startsWith('file:') ? fileURLToPath(url) : undefined
}

function writtenPath(specifier: string, parent: string | undefined): string | undefined {
  if (specifier.startsWith('file:')) return fileURLToPath(specifier)
  const from = parent === undefined ? undefined : pathOf(parent)
  if (from === undefined || !(isAbsolute(specifier) || /^\.{1,2}\//.test(specifier))) return undefined
  return resolve(dirname(from), specifier)
}
