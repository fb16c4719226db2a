/**
 * Files of `perpd init` that an editor reads; perpd itself needs none of them. Those in `strategies/` may be committed and moved. Paths of this
 * machine are in a folder of their own, which Git ignores.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the files that name places of this machine, in the folder of `perpd.json`. */
const machineFolder = '.perpd'
const pathsFile = `${machineFolder}/tsconfig.json`

/** The JSON Schema of settings, as `perpd.json` names it. */
export const schemaFile = `${machineFolder}/settings.schema.json`

/** perpd's own modules: TypeScript in a checkout, declarations in the package. */
const ownCode = fileURLToPath(new URL('../../', import.meta.url))
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.d.ts'

/** Files of `strategies/` by name: they let Node and an editor read the user's own kinds. No path in them leaves the folder of `perpd.json`. */
export function editorFiles(): Readonly<Record<string, string>> {
  return {
    // perpd brings its own modules to a kind; a test that Node runs alone finds those of the installed package.
    'package.json': jsonOf({
      private: true,
      type: 'module',
      imports: { '#strategy': 'perpd/strategy', '#indicators': 'perpd/indicators' },
    }),
    'tsconfig.json': jsonOf({
      // Written by `perpd init`, which also writes it again after a clone.
      extends: `../${pathsFile}`,
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
      },
      include: ['**/*.ts'],
    }),
  }
}

/** Git keeps neither what the daemon writes while it runs, journal and keys among it, nor installed packages. */
export const gitIgnore = 'var/\nnode_modules/\n'

/** Files of `.perpd/` by path: the places of this perpd's types, and a copy of its schema of settings. */
export function machineFiles(settingsSchema: string): Readonly<Record<string, string>> {
  const strategy = [join(ownCode, 'strategy', `strategy${ending}`)]
  const indicators = [join(ownCode, 'strategy', `indicators${ending}`)]
  const paths = {
    '#strategy': strategy,
    'perpd/strategy': strategy,
    '#indicators': indicators,
    'perpd/indicators': indicators,
  }
  return {
    // The folder ignores itself.
    [`${machineFolder}/.gitignore`]: '*\n',
    [pathsFile]: jsonOf({ compilerOptions: { paths } }),
    [schemaFile]: settingsSchema,
  }
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
