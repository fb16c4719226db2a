/** The places that a run writes its state to, and those of them that this user may not write. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isReadOnlyMount, readOnlyRemedy } from '../../base/readOnlyMount.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'

/** A folder that a run needs to write in. */
export interface StatePlace {
  readonly folder: string
  /** The settings whose files lie there. */
  readonly settings: readonly string[]
  /** The folder itself, or the nearest one above it that is there. */
  readonly there: string
  /** The reason why nothing can be written there, and the remedy before the settings' names; undefined: it can be written. */
  readonly problem?: { readonly reason: string; readonly remedy: string }
}

/** Lists the folders of a configuration's state. A key or token that is there already needs to be read alone. */
export function statePlaces({
  journal,
  control,
  paper,
  isPaper,
  embedsVenue,
}: Config): readonly StatePlace[] {
  const files: readonly (readonly [setting: string, path: string])[] = [
    ...(journal.path === 'memory:'
      ? []
      : ([['journal.path', journal.path.replace(/^sqlite:/, '')]] as const)),
    ...(existsSync(control.tokenFile) ? [] : ([['control.tokenFile', control.tokenFile]] as const)),
    ...(!isPaper || existsSync(paper.keyFile) ? [] : ([['paper.keyFile', paper.keyFile]] as const)),
    ...(embedsVenue ? ([['paper.stateFile', paper.stateFile]] as const) : []),
  ]
  const byFolder = Map.groupBy(files, ([, path]) => dirname(path))
  return [...byFolder].map(([folder, its]) =>
    placeOf(
      folder,
      its.map(([setting]) => setting),
    ),
  )
}

/**
 * Refuses to start where a place of the state cannot be written, with all settings that name one: told one after another they would be
 * found one start at a time.
 *
 * @throws CommandError with exit code 1: a disk that is read-only for a while may come back, so that a supervisor tries again.
 */
export function refuseUnwritable(config: Config): void {
  const faulty = statePlaces(config).filter(({ problem }) => problem !== undefined)
  if (faulty.length === 0) return
  const lines = faulty.map(
    ({ folder, there, problem }) => `  ${placeText({ folder, there })} ${problem?.reason}.`,
  )
  const names = faulty.flatMap(({ settings }) => settings)
  const [first] = faulty
  throw new CommandError(
    [
      'perpd cannot write its state, and did not start.',
      ...lines,
      `  ${first?.problem?.remedy}: ${names.map((name) => `--${name} FILE`).join(' ')}. The simplest way is a folder of your own: go there and run perpd init.`,
    ].join('\n'),
    exitCodes.error,
  )
}

/** A place by its folder; one that is to be made, by where too. */
export function placeText({ folder, there }: { readonly folder: string; readonly there: string }): string {
  return folder === there ? folder : `${folder}, to be made below ${there},`
}

function placeOf(folder: string, settings: readonly string[]): StatePlace {
  const there = nearestFolder(folder)
  const place = { folder, settings, there }
  const { uid, mode } = statSync(there)
  if (!statSync(there).isDirectory())
    return {
      ...place,
      problem: {
        reason: folder === there ? 'is no folder' : 'which is no folder',
        remedy: 'Name another place',
      },
    }
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
    return place
  } catch (error) {
    const reason = `cannot be written (user ${uid}, mode ${(mode & 0o777).toString(8)})`
    const remedy = isReadOnlyMount(error, there)
      ? readOnlyRemedy
      : 'Give it to the user who runs perpd (chown, chmod 700), or name another place'
    return { ...place, problem: { reason, remedy } }
  }
}

/** Gives the folder itself, or the nearest one above it that is there. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}
