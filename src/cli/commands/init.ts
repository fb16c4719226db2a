/**
 * `perpd init`: puts the shipped strategy files where a daemon that was installed as a package looks for its own, and what an
 * editor needs to know of the contract of kinds.
 */
import { constants, copyFileSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCodes } from '../../config/exit.ts'
import type { Call } from '../call/command.ts'

const shipped = fileURLToPath(new URL('../../../strategies/', import.meta.url))
/** perpd's own modules: TypeScript in a checkout, declarations in the package. */
const ownCode = fileURLToPath(new URL('../../', import.meta.url))
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.d.ts'

/**
 * Copies the shipped files into `strategies/` of the working directory, and writes a `package.json` and a `tsconfig.json` that
 * let an editor find `#strategy` there. A file that is there is left as it is and named.
 *
 * @throws what the file system refuses, but for files that are there.
 */
export async function init({ cwd, out }: Call): Promise<number> {
  const folder = join(cwd, 'strategies')
  mkdirSync(folder, { recursive: true })
  const put = (name: string, write: (path: string) => void): void => {
    try {
      write(join(folder, name))
      out(`wrote strategies/${name}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      out(`strategies/${name} is there already; left as it is`)
    }
  }
  mkdirSync(join(folder, 'examples'), { recursive: true })
  for (const name of shippedFiles())
    put(name, (path) => copyFileSync(join(shipped, name), path, constants.COPYFILE_EXCL))
  // The checkout's own folder has the checkout's.
  if (realpathSync(folder) !== realpathSync(shipped)) {
    for (const [name, value] of Object.entries(editorFiles()))
      put(name, (path) => writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`, { flag: 'wx' }))
  }
  out('Next: perpd run')
  return exitCodes.ok
}

/** Their paths in the folder, in order. */
function shippedFiles(): readonly string[] {
  return readdirSync(shipped, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(shipped, join(entry.parentPath, entry.name)))
    .sort()
}

/** What Node and an editor read beside kinds of the user's own. perpd itself needs none of it. */
function editorFiles(): Readonly<Record<string, unknown>> {
  const strategy = [join(ownCode, 'strategy', `strategy${ending}`)]
  const indicators = [join(ownCode, 'strategy', `indicators${ending}`)]
  return {
    'package.json': { private: true, type: 'module' },
    'tsconfig.json': {
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        lib: ['esnext', 'dom'],
        types: [],
        strict: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        // Where this perpd is; run `perpd init` in an empty folder again when it moves.
        paths: {
          '#strategy': strategy,
          'perpd/strategy': strategy,
          '#indicators': indicators,
          'perpd/indicators': indicators,
        },
      },
      include: ['**/*.ts'],
    },
  }
}
