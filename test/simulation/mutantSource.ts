/** Loads modules anew with bugs in their text: `import('./x.ts?mutant=3')` is x.ts, and all it imports, with the third bug. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A bug as text of a file and what stands there instead. */
export interface Patched {
  readonly name: string
  readonly patches: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
}

const root = join(import.meta.dirname, '..', '..')

function mutantIn(url: string): string | null {
  return url.startsWith('file:') ? new URL(url).searchParams.get('mutant') : null
}

/** Has modules of these folders, from the root of the project, loaded with the bug that their importer was. */
export function patchSources(all: readonly Patched[], folders: readonly string[]): void {
  const own = folders.map((folder) => join(root, folder))
  /** Where own modules are, by who names them and how: the same with every bug. */
  const places = new Map<string, string>()
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const name = context.parentURL === undefined ? null : mutantIn(context.parentURL)
      if (name === null) return nextResolve(specifier, context)
      const key = `${context.parentURL?.split('?')[0]} ${specifier}`
      const place = places.get(key)
      if (place !== undefined)
        return { url: `${place}?mutant=${name}`, format: 'module-typescript', shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      if (!resolved.url.startsWith('file:') || !resolved.url.endsWith('.ts')) return resolved
      if (!own.some((folder) => fileURLToPath(resolved.url).startsWith(folder))) return resolved
      places.set(key, resolved.url)
      return { ...resolved, url: `${resolved.url}?mutant=${name}` }
    },
    load(url, context, nextLoad) {
      const name = mutantIn(url)
      const mutant = name === null ? undefined : all[Number(name)]
      if (mutant === undefined) return nextLoad(url, context)
      const path = fileURLToPath(url.split('?')[0] ?? url)
      return { format: 'module-typescript', source: patched(mutant, path), shortCircuit: true }
    },
  })
}

function patched({ name, patches }: Patched, path: string): string {
  let source = readFileSync(path, 'utf8')
  for (const { file, find, replace } of patches) {
    if (join(root, file) !== path) continue
    const pieces = source.split(find)
    if (pieces.length !== 2)
      throw new Error(`the patch of "${name}" stands ${pieces.length - 1} times in ${file}:\n${find}`)
    source = pieces.join(replace)
  }
  return source
}
