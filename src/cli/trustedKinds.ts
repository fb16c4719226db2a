/** Strategy files and kinds of the user's own are code and orders: read, and run, only when nobody else can change them. */
import { registerHooks } from 'node:module'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { untrustedPart, untrustedText } from '../keys/trustedPath.ts'
import type { LoadOptions } from '../strategy/load.ts'
import type { Distrust } from '../strategy/problem.ts'

/** perpd's own modules, which run already. */
const ownCode = new URL('../', import.meta.url).href
/** Addresses of the user's modules, with all that they import. */
const theirs = new Set<string>()
let isWatching = false

/** How strategies are read: nothing of another user's, and no code that imports something of another user's. */
export const trustedFiles = { untrusted, importKind } satisfies LoadOptions

function untrusted(path: string): Distrust | undefined {
  const found = untrustedPart(path)
  return found === undefined ? undefined : untrustedText(found)
}

/** Imports a module of the user's. Rejects when it, or anything that it imports now or later, can be changed by others. */
async function importKind(path: string): Promise<unknown> {
  if (!isWatching) watchImports()
  isWatching = true
  const address = pathToFileURL(path).href
  theirs.add(address)
  return await import(address)
}

function watchImports(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context)
      const isTheirs =
        theirs.has(specifier) || (context.parentURL !== undefined && theirs.has(context.parentURL))
      if (!isTheirs || result.url.startsWith(ownCode)) return result
      // The name as it is written counts too: a link on its way is gone from what it resolves to.
      for (const path of [pathOf(result.url), writtenPath(specifier, context.parentURL)]) {
        const distrust = path === undefined ? undefined : untrusted(path)
        if (distrust !== undefined)
          throw new Error(`it imports ${path}, and ${distrust.what}: ${distrust.fix}`)
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
