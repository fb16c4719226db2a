/**
 * Writes the code of `dist`: a few large modules instead of a thousand small ones, since finding, reading and linking each is most of
 * what a start takes. Entries keep the places that `package.json` and threads name; what they share is in `dist/code`. Part of
 * `npm run build`.
 */
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { OutputChunk } from 'rolldown'
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

/** Writes the code of some entries; gives its chunks. */
async function write(entries: Readonly<Record<string, string>>): Promise<readonly OutputChunk[]> {
  const bundle = await bundled(
    Object.fromEntries(Object.entries(entries).map(([place, file]) => [place, join(source, file)])),
    placeOf,
  )
  const { output } = await bundle.write({
    dir: join(root, 'dist'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'code/[name]-[hash].js',
    // Errors are named by their classes.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()
  return output.filter((each) => each.type === 'chunk')
}

const chunks = (await Promise.all(bundles.map(write))).flat()
for (const { fileName, code } of chunks)
  if (code.includes('import.meta.url') && fileName.split('/').length !== 2)
    throw new Error(`${fileName} finds files by its place, which is not one folder below dist`)
for (const { fileName, code } of chunks) writeFileSync(join(root, 'dist', fileName), inAscii(code))
writeFileSync(join(root, 'dist', 'third-party.txt'), notices(chunks))
