/** The strategy files that ship with perpd: for each built-in kind one that shows it. */
import { readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { shippedFiles } from '../../daemon/ownFiles/shippedFiles.ts'
import { builtInKinds } from '../../strategy/kinds/kinds.ts'
import type { Strategy } from '../../strategy/strategy.ts'
import type { WrittenBlock } from './blockLines.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const shipped = join(root, 'strategies')

/** Path of the JSON Schema that editors read. */
export const shippedSchema = join(shipped, 'strategy.schema.json')

/** A shipped file. */
export interface Example {
  readonly path: string
  readonly kind: string
  /** As it is written. */
  readonly params: Readonly<Record<string, unknown>>
  readonly cadenceSeconds: number | undefined
  /** Its blocks of the same names, as they are written; undefined where it has none. */
  readonly exit: WrittenBlock | undefined
  readonly protect: WrittenBlock | undefined
}

/** The file that shows a kind. Where several do, one of strategies/ before one of examples/, and the last of them by name. */
export function exampleOf(kind: string): Example | undefined {
  const files = [...shippedFiles()].filter((path) => path.endsWith('.yaml')).map((path) => join(root, path))
  return [join(shipped, 'examples'), shipped]
    .flatMap((folder) =>
      files
        .filter((path) => dirname(path) === folder)
        .sort((one, other) => (basename(one) < basename(other) ? -1 : 1))
        .map(exampleIn),
    )
    .filter((example) => example.kind === kind)
    .at(-1)
}

function exampleIn(path: string): Example {
  const file = parse(readFileSync(path, 'utf8')) as Partial<Omit<Example, 'path'>>
  return {
    path,
    kind: file.kind ?? '',
    params: file.params ?? {},
    cadenceSeconds: file.cadenceSeconds,
    exit: file.exit,
    protect: file.protect,
  }
}

/** A path as it is typed from a folder: below it without the folder, elsewhere whole. */
export function typedPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  return below.startsWith('..') || isAbsolute(below) ? path : below
}

/**
 * The built-in kind of that name.
 *
 * @throws CommandError, code 2, when there is none
 */
export function builtInKind(name: string): Strategy {
  const known = Object.keys(builtInKinds)
  const kind = Object.hasOwn(builtInKinds, name) ? builtInKinds[name] : undefined
  if (kind !== undefined) return kind
  throw new CommandError(
    `perpd has no kind ${name}.${didYouMean(name, known)} Kinds: ${known.join(', ')}.`,
    exitCodes.notFound,
  )
}
