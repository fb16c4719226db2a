/**
 * Loads modules anew with bugs in their text: `import('./x.ts?mutant=3')` is x.ts with the third bug, and so is all that it imports and that imports
 * the file of the bug at any distance. What the bug cannot reach is loaded once for all bugs.
 */
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, resolve as resolvePath } from 'node:path'
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

/** A module that another one names: by its path, or by a name of package.json. Types alone are no imports. */
const NAMED_MODULE =
  /(?:^|[;\n]) *(?:import|export)(?! type\b)[^'"`;]*?['"]([.#][^'"\n]*)['"]|(?:import|URL)\(\s*['"`](\.[^'"`\n]*)['"`]/g

/** The modules that import a module, by its path, of those in these folders. */
function importersIn(folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly imports: Readonly<Record<string, string>>
  }
  const importers = new Map<string, string[]>()
  for (const file of folders.flatMap((folder) =>
    globSync('**/*.ts', { cwd: folder }).map((each) => join(folder, each)),
  ))
    for (const [, name = '', other = name] of readFileSync(file, 'utf8').matchAll(NAMED_MODULE)) {
      const own = imports[other]
      const named = own === undefined ? resolvePath(dirname(file), other) : join(root, own)
      const known = importers.get(named)
      if (known === undefined) importers.set(named, [file])
      else known.push(file)
    }
  return importers
}

/** Has modules of these folders, from the root of the project, loaded with the bug that their importer was. */
export function patchSources(all: readonly Patched[], folders: readonly string[]): void {
  const own = folders.map((folder) => join(root, folder))
  const importers = importersIn(own)
  /** Where own modules are, by who names them and how: the same with every bug. */
  const places = new Map<string, string>()
  const reachedBy = all.map(() => undefined as ReadonlySet<string> | undefined)
  /** The paths of the files of a bug and of all that import them. */
  const reached = (index: number): ReadonlySet<string> => {
    const before = reachedBy[index]
    if (before !== undefined) return before
    const paths = new Set(all[index]?.patches.map(({ file }) => join(root, file)))
    for (const path of paths) for (const importer of importers.get(path) ?? []) paths.add(importer)
    reachedBy[index] = paths
    return paths
  }
  const placed = (place: string, mutant: string) =>
    reached(Number(mutant)).has(fileURLToPath(place)) ? `${place}?mutant=${mutant}` : place
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const name = context.parentURL === undefined ? null : mutantIn(context.parentURL)
      if (name === null) return nextResolve(specifier, context)
      const key = `${context.parentURL?.split('?')[0]} ${specifier}`
      const place = places.get(key)
      if (place !== undefined)
        return { url: placed(place, name), format: 'module-typescript', shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      if (!resolved.url.startsWith('file:') || !resolved.url.endsWith('.ts')) return resolved
      if (!own.some((folder) => fileURLToPath(resolved.url).startsWith(folder))) return resolved
      places.set(key, resolved.url)
      return { ...resolved, url: placed(resolved.url, name) }
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
