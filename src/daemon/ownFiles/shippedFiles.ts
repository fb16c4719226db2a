/** The strategy files that ship with perpd, by the package's own list: beside them a user may have files of his own, broken ones too. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { thisMachine } from '../../keys/trustedPath.ts'

/** The folder of them, in the package. */
export const shippedFolder = 'strategies'

let names: ReadonlySet<string> | undefined

/** Gives their paths within the package; the schema and the page about them are files there too. */
export function shippedFiles(): ReadonlySet<string> {
  if (names === undefined) {
    const { files }: { readonly files: readonly string[] } = JSON.parse(
      readFileSync(join(thisMachine.ownFolder, 'package.json'), 'utf8'),
    )
    names = new Set(files.filter((path) => path.startsWith(`${shippedFolder}/`)))
  }
  return names
}
