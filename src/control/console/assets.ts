/**
 * The files of the console's page: served from a folder of the package, and from the few packages that the page uses. Nothing
 * is bundled: a module is served as it is written, without its types and with its packages named by their address here.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { packagedFile, withoutTypes } from '../../base/browser/browserCode.ts'
import { shortModule, shortSheet, withVendoredImports } from './moduleText.ts'
import { vendored } from './vendored.ts'

/** A file as it is served. */
export interface Asset {
  readonly type: string
  readonly body: string | Uint8Array<ArrayBuffer>
  /** The same compressed, where that is smaller. */
  readonly gzip: Uint8Array<ArrayBuffer> | undefined
}

/** The page's files. */
export interface Assets {
  /** Reads the file served below `/console/` under this name; undefined: there is none. */
  read(name: string): Asset | undefined
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
}
/** Where the page lies: beside this file, in the source and in what is built. */
const pageFolder = fileURLToPath(new URL('./page', import.meta.url))
const vendorPrefix = 'vendor/'

/**
 * The files of a folder and of the packages. A name is looked up among those that the folder has; none is ever put together
 * into a path, so that none leads out of it.
 */
export function createAssets(folder: string = pageFolder): Assets {
  const kept = new Map<string, { readonly changedMs: number; readonly asset: Asset }>()
  let files = filesOf(folder)

  function fileOf(name: string): string | undefined {
    // A load of the page begins with its index: files that are new are found then, and not looked for at each of a hundred requests.
    if (name === indexName) files = filesOf(folder)
    if (!name.startsWith(vendorPrefix)) return files.get(name)
    const packaged = vendored.get(name.slice(vendorPrefix.length))
    return packaged === undefined ? undefined : packagedFile(packaged.package, packaged.file)
  }

  return {
    read(name) {
      const file = fileOf(name)
      const type = file === undefined ? undefined : types[extname(file)]
      if (file === undefined || type === undefined) return undefined
      const changedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
      if (changedMs === undefined) return undefined
      const known = kept.get(file)
      if (known?.changedMs === changedMs) return known.asset
      const exported = name.startsWith(vendorPrefix)
        ? vendored.get(name.slice(vendorPrefix.length))?.exported
        : undefined
      const body = name === indexName ? withPreloads(file, folder) : bodyOf(file, type, exported)
      const asset = { type, body, gzip: smallerOf(body) }
      kept.set(file, { changedMs, asset })
      return asset
    },
  }
}

function bodyOf(file: string, type: string, exported: string | undefined): Asset['body'] {
  if (extname(file) === '.css') return shortSheet(readFileSync(file, 'utf8'))
  if (!type.startsWith('text/javascript')) return new Uint8Array(readFileSync(file))
  // A package's map of its source is not served.
  const text = readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '')
  if (exported !== undefined) return `${text.trim()}\nexport default ${exported}\n`
  return withVendoredImports(file.endsWith('.ts') ? shortModule(withoutTypes(text)) : text)
}

const indexName = 'index.html'
/** The one package that is loaded when its page is opened, and not with the first one. */
const LATER = 'lightweight-charts'

/** The first page, which names every module: a browser asks for all of them at once and not for each when another one names it. */
function withPreloads(file: string, folder: string): string {
  const own = [...filesOf(folder)].filter(
    ([name, path]) => name.endsWith('.ts') && !readFileSync(path, 'utf8').includes(`from '${LATER}'`),
  )
  const scripts = [...vendored].filter(([name, { file: path }]) => name !== LATER && /\.m?js$/.test(path))
  const names = [...own.map(([name]) => name), ...scripts.map(([name]) => `${vendorPrefix}${name}`)]
  const links = names.map((name) => `<link rel=modulepreload href=${name}>`)
  return readFileSync(file, 'utf8').replace('  </head>', `${links.join('')}  </head>`)
}

/** A file is compressed once, when it is asked for first: it is no secret, and its length tells nothing. */
function smallerOf(body: Asset['body']): Asset['gzip'] {
  const gzip = new Uint8Array(gzipSync(body, { level: 9 }))
  return gzip.byteLength < Buffer.byteLength(body) ? gzip : undefined
}

/** Every file of the page by its name below the folder, with slashes. Links lead nowhere. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (path: string, prefix: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      if (entry.isDirectory()) walk(join(path, entry.name), `${prefix}${entry.name}/`)
      else if (entry.isFile()) found.set(`${prefix}${entry.name}`, join(path, entry.name))
    }
  }
  if (existsSync(folder)) walk(folder, '')
  return found
}
