/**
 * Copies of strategy files that ship with perpd: a change made by command is written into one, in a folder of the user's, and the copy runs
 * in the place of its original, which stays as it was. So no command changes a file of a checkout or of the package.
 */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Config } from '../../config/configTypes.ts'
import { thisMachine } from '../../keys/trustedPath.ts'
import { shippedFiles, shippedFolder } from './shippedFiles.ts'

const root = thisMachine.ownFolder

/** Where copies are, and of what. */
export interface OwnCopies {
  /** Folder of all copies: beside the journal. */
  readonly folder: string
  /** Gives where the copy of a file is, or would be; undefined for a file that is none of perpd's own. */
  copyOf(file: string): string | undefined
  /** Gives the copy of a file where there is one, else the file. */
  inPlaceOf(file: string): string
  /** Gives the file that a copy is of; undefined for a file that is no copy. */
  originOf(file: string): string | undefined
}

/** Names the copies of a configuration. */
export function ownCopies({ journal, control }: Pick<Config, 'journal' | 'control'>): OwnCopies {
  const state = journal.path === 'memory:' ? control.tokenFile : journal.path.replace(/^sqlite:/, '')
  const folder = resolve(dirname(state), shippedFolder)
  const copyOf = (file: string): string | undefined => {
    const path = relative(root, existsSync(file) ? realpathSync(file) : file)
    return shippedFiles().has(path) ? join(folder, relative(shippedFolder, path)) : undefined
  }
  return {
    folder,
    copyOf,
    inPlaceOf(file) {
      const copy = copyOf(file)
      return copy !== undefined && existsSync(copy) ? copy : file
    },
    originOf(file) {
      const inside = relative(folder, resolve(file))
      const path = join(shippedFolder, inside)
      return shippedFiles().has(path) ? join(root, path) : undefined
    },
  }
}

/** Says of each strategy that a copy runs in the place of its file, a sentence each. */
export function copyNotes(
  config: Config,
  strategies: readonly { readonly name: string; readonly path: string }[],
): readonly string[] {
  const { originOf } = ownCopies(config)
  return strategies.flatMap(({ name, path }) => {
    const origin = originOf(path)
    return origin === undefined
      ? []
      : [`${name} is ${path}, instead of ${origin}, which ships with perpd and is unchanged`]
  })
}
