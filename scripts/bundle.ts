/**
 * Writes the code of `dist`: a few large modules instead of a thousand small ones, since finding, reading and linking each is most of
 * what a start takes. Entries keep the places that `package.json` and threads name; what they share is in `dist/code`. Part of
 * `npm run build`.
 */
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import type { OutputChunk, RolldownOutput } from 'rolldown'
import { bundled } from './bundled.ts'

const root = process.cwd()
const source = realpathSync(join(root, 'src'))
/**
 * By their places in `dist`; the files of the console's page are looked up by themselves too. What the thread of a user's kind loads is a bundle of its
 * own: its door exports all of zod, which every start would load where both are one.
 */
const bundles: readonly Readonly<Record<string, string>>[] = [
  {
    'api/index': 'api/index.ts',
    'cli/bin': 'cli/bin.ts',
    'control/assets': 'control/console/assets.ts',
    'journal/sqlite/writerThread': 'journal/sqlite/writerThread.ts',
  },
  {
    'daemon/kindThread': 'daemon/kindThread.ts',
    'strategy/strategy': 'strategy/strategy.ts',
    'strategy/indicators': 'strategy/indicators.ts',
  },
]

/** The place of a module as it would be without this script: files that the code reads are found from there, one folder below `dist`. */
function placeOf(id: string): string | undefined {
  if (!id.startsWith(source + sep)) return undefined
  const place = relative(source, id).replaceAll(sep, '/').replace(/\.ts$/, '.js')
  return `new URL('../${place}', import.meta.url).href`
}

/**
 * Code in ASCII alone, what is not as escapes: one other character makes V8 hold the text of a whole module in two bytes a character, for
 * as long as the process runs. No escape stands behind a backslash, nor in a template whose raw text somebody reads.
 */
function inAscii(code: string): string {
  const misread = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f]/.exec(code)
  if (misread !== null) throw new Error(`an escape would be misread: ${misread[0]}`)
  return code.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** `node_modules/NAME` of a module; undefined for one of ours. */
function packageOf(id: string): string | undefined {
  return /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]
}

/** Names, versions and licences of packages that are part of the code, in the order of their names. */
function notices(chunks: readonly OutputChunk[]): string {
  const folders = new Set(
    chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => packageOf(id.replace(/^\0/, '')) ?? [])),
  )
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    return `${name} ${version} (${license})\n${text}`
  })
  return `The code in this folder holds parts of these packages, each under its own licence.\n\n${texts.sort().join(`\n${'-'.repeat(80)}\n\n`)}`
}

/** Files of the source whose modules lie together, what is loaded first before the others: every command loads the first two, and most the third. */
const together: Readonly<Record<string, readonly string[]>> = {
  // Until the cache of compiled code is on, nothing comes out of it.
  cache: ['cli/compileCache.ts'],
  start: ['cli/main.ts'],
  client: ['config/loadConfig.ts', 'cli/verbs/statusCommand.ts'],
}

/** The modules that are loaded with a file of the source, by imports at any distance, none that is made on demand. */
function loadedWith(file: string, chunks: readonly OutputChunk[]): ReadonlySet<string> {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const found = new Set<OutputChunk>()
  const follow = (chunk: OutputChunk | undefined): void => {
    if (chunk === undefined || found.has(chunk)) return
    found.add(chunk)
    for (const name of chunk.imports) follow(byName.get(name))
  }
  follow(chunks.find(({ facadeModuleId }) => facadeModuleId === join(source, file)))
  if (found.size === 0) throw new Error(`${file} is not loaded by itself`)
  return new Set([...found].flatMap(({ moduleIds }) => moduleIds))
}

/**
 * The chunks of what lies together, by the chunks of a bundle that the bundler parted by itself. A module that other entries load too lies apart, with those that the
 * same ones load: a thread loads no command. The bundler gives a chunk all that its modules import and no chunk before it took, so the most read go first.
 */
function groupsOf(chunks: readonly OutputChunk[], entries: Readonly<Record<string, string>>) {
  const others = Object.entries(entries).map(([place, file]) => ({
    name: basename(place),
    ids: loadedWith(file, chunks),
  }))
  const groups = new Map<string, { readonly name: string; readonly priority: number; ids: Set<string> }>()
  const taken = new Set<string>()
  const sets = Object.entries(together)
  for (const [index, [first, files]] of sets.entries())
    for (const id of files.flatMap((file) => [...loadedWith(file, chunks)])) {
      if (taken.has(id)) continue
      taken.add(id)
      const readers = others.filter(({ ids }) => ids.has(id)).map(({ name }) => name)
      const name = [first, ...readers].join('-')
      const priority = readers.length + (sets.length - index) * (others.length + 1)
      const group = groups.get(name) ?? { name, priority, ids: new Set() }
      groups.set(name, group)
      group.ids.add(id)
    }
  return [...groups.values()].map(({ name, priority, ids }) => ({
    ...{ name, priority },
    test: (id: string) => ids.has(id),
  }))
}

function chunksIn({ output }: RolldownOutput): readonly OutputChunk[] {
  return output.filter((each) => each.type === 'chunk')
}

/** Writes the code of some entries; gives its chunks. */
async function write(entries: Readonly<Record<string, string>>): Promise<readonly OutputChunk[]> {
  const bundle = await bundled(
    Object.fromEntries(Object.entries(entries).map(([place, file]) => [place, join(source, file)])),
    placeOf,
  )
  const isCommand = entries['cli/bin'] !== undefined
  const draft = isCommand ? chunksIn(await bundle.generate({ format: 'esm' })) : []
  const written = await bundle.write({
    ...(isCommand && { codeSplitting: { groups: groupsOf(draft, entries) } }),
    dir: join(root, 'dist'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'code/[name]-[hash].js',
    // Errors are named by their classes.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()
  return chunksIn(written)
}

const chunks = (await Promise.all(bundles.map(write))).flat()
for (const { fileName, code } of chunks)
  if (code.includes('import.meta.url') && fileName.split('/').length !== 2)
    throw new Error(`${fileName} finds files by its place, which is not one folder below dist`)
for (const { fileName, code } of chunks) writeFileSync(join(root, 'dist', fileName), inAscii(code))
writeFileSync(join(root, 'dist', 'third-party.txt'), notices(chunks))
