/** Code for browsers, taken from where it lies: own modules without their types, and files of installed packages. */
import { existsSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Finds a file of an installed package: of the nearest `node_modules` above this one, wherever perpd itself is installed. */
export function packagedFile(name: string, file: string): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const path = join(at, 'node_modules', name, file)
    if (existsSync(path)) return path
    if (dirname(at) === at) return undefined
  }
}

/** Types become blanks, so that lines and columns stay. Node warns of this function once a process, on the operator's terminal: it is left out. */
export function withoutTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emitWarning
  }
}
