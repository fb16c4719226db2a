/**
 * Bundles `perpd` once before tests that start it: of a start from the source, finding and linking a thousand modules is more than half. The
 * bundle is the source of now, with the places of its files, so that pages and recorded data are those of the checkout. The programs of its threads are
 * bundled too, as in the package: the thread of a kind has no cache of compiled code, and takes three times as long from the source.
 * TEST_PROGRAM names it to the processes that tests start (guardedMain.ts); set to nothing, they run the source file by file.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundled } from '../../scripts/bundled.ts'

const root = resolve(import.meta.dirname, '..', '..')
const source = join(root, 'src')
const kept = join(root, 'node_modules', '.cache', 'perpd-programs')
/** Bundles of earlier sources that are kept, for another run may have one in use. */
const KEPT_MAX = 3

/** Paths of modules below `src` by the names of their outputs. */
const entries: Readonly<Record<string, string>> = {
  main: 'cli/main.ts',
  kindThread: 'daemon/kindThread.ts',
  writerThread: 'journal/sqlite/writerThread.ts',
  'strategy/strategy': 'strategy/strategy.ts',
  'strategy/indicators': 'strategy/indicators.ts',
}

/** Modules that look for other programs beside their own place, with the place in the bundle that they are given for it. */
const placesInBundle: ReadonlyMap<string, string> = new Map([
  ['daemon/readStrategies.ts', 'readStrategies.js'],
  ['journal/sqlite/threadWriter.ts', 'threadWriter.js'],
  // It finds what kinds import one folder above.
  ['daemon/trustedKinds.ts', 'daemon/trustedKinds.js'],
])

/** Changes with the source, where it lies, the packages, the version of Node, and how it is bundled. */
function contentKey(): string {
  const hash = createHash('sha256').update(`${process.version}\n${root}`)
  const code = globSync('src/**/*.ts', { cwd: root }).sort()
  for (const file of [...code, 'package-lock.json', 'scripts/bundled.ts', 'test/support/bundleProgram.ts'])
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

/** Vitest calls it once before the files of a project (`globalSetup`); workers, and what they start, inherit the environment. */
export default async function bundleProgram(): Promise<void> {
  if (process.env.TEST_PROGRAM !== undefined) return
  const folder = join(kept, contentKey())
  if (!existsSync(folder)) await writeBundle(folder)
  process.env.TEST_PROGRAM = join(folder, 'main.js')
}

/** Writes to a folder of its own and renames it, so that a run beside this one finds a whole bundle or none. */
async function writeBundle(folder: string): Promise<void> {
  removeOldest()
  const bundle = await bundled(
    Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(source, file)])),
    (path) => {
      if (!path.startsWith(source + sep)) return undefined
      const place = placesInBundle.get(relative(source, path).replaceAll(sep, '/'))
      return JSON.stringify(pathToFileURL(place === undefined ? path : join(folder, place)).href)
    },
  )
  const written = mkdtempSync(`${folder}-`)
  // Some tests run perpd as another user.
  chmodSync(written, 0o755)
  await bundle.write({ dir: written, format: 'esm', keepNames: true })
  await bundle.close()
  // Below node_modules no package says what these files are, and Node would compile each as a script first, to find that it is a module.
  writeFileSync(join(written, 'package.json'), '{ "type": "module" }\n')
  try {
    renameSync(written, folder)
  } catch (error) {
    rmSync(written, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}

function removeOldest(): void {
  mkdirSync(kept, { recursive: true })
  const byAge = readdirSync(kept)
    .map((name) => join(kept, name))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  for (const folder of byAge.slice(KEPT_MAX - 1)) rmSync(folder, { recursive: true, force: true })
}
