/** `perpd backtest --export-params RUN`: writes the parameters that a run was made with into the strategy files that it was made of. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { parse } from 'yaml'
import { parseManifest, type RunStrategy, runFileNames } from '../../backtest/runFiles.ts'
import { replaceFile } from '../../base/replaceFile.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { readStrategyFiles, strategyProblems } from '../../daemon/readStrategies.ts'
import { setField } from '../../engine/roster/setField.ts'
import { changedFields, writtenFields } from '../../strategy/files/fileLife.ts'
import { closeStrategies } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { confirm } from '../call/whoAsks.ts'

/** A file with the parameters of the run. */
interface Exported {
  readonly path: string
  readonly text: string
  /** Lines that say what changes. */
  readonly changes: readonly string[]
}

/** Shows what changes, and writes it after a confirmation. Exit code 4 for what cannot be written as it was run. */
export async function exportParams(call: Call, run: string): Promise<number> {
  const { flags, cwd, out, loaded } = call
  const path = join(resolve(cwd, run), runFileNames.manifest)
  if (!existsSync(path)) throw refused(`No run found in ${run}.`)
  const files = parseManifest(readFileSync(path, 'utf8')).strategies.map(exportedOf)
  const changed = files.filter(({ changes }) => changes.length > 0)
  if (changed.length === 0) {
    out('The files already have the parameters of the run; nothing was changed.')
    return exitCodes.ok
  }
  const texts = new Map(changed.map((each) => [each.path, each.text]))
  const paths = [...texts.keys()]
  const found = await readStrategyFiles({ strategies: { ...loaded.config.strategies, paths } }, true, texts)
  await closeStrategies(found.strategies)
  if (found.problems.length > 0) throw strategyProblems(found.problems)
  for (const each of changed) out([each.path, ...each.changes.map((line) => `  ${line}`)].join('\n'))
  if (!flags.has('yes')) {
    if (!isatty(0)) throw refused('No terminal to confirm the change; to make it: --yes.')
    if (!(await confirm('Write it?'))) {
      out('Nothing was changed.')
      return exitCodes.error
    }
  }
  for (const each of changed) replaceFile(each.path, each.text)
  out(`Written. To apply it to a running daemon: perpd strategies reload.`)
  return exitCodes.ok
}

/** The present text of a strategy's file with each parameter as it was in the run. */
function exportedOf({ name, path, text: ran }: RunStrategy): Exported {
  if (!existsSync(path))
    throw refused(`${path} is gone. The run has its whole text in ${runFileNames.manifest}, under ${name}.`)
  const present = readFileSync(path, 'utf8')
  const [was, is] = [valuesOf(present), valuesOf(ran)]
  if (was.kind !== is.kind)
    throw refused(`${path} has the kind ${String(was.kind)}, the run had ${String(is.kind)}.`)
  let text = present
  const changes: string[] = []
  for (const { field, from, to } of changedFields(paramsOf(was), paramsOf(is))) {
    if (to === undefined)
      throw refused(`${path} has ${field}, which the run did not have: remove it by hand.`)
    const set = setField(text, field, to)
    if (!set.ok) throw refused(`${path}: ${set.reason}.`)
    text = set.text
    changes.push(`${field}: ${from ?? 'not there'} -> ${to}`)
  }
  return { path, text, changes }
}

/** The values of a file that is YAML; the daemon read it before. */
function valuesOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = parse(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function paramsOf({ params = {} }: Readonly<Record<string, unknown>>) {
  const { params: none, ...fields } = writtenFields({ params })
  return none === undefined || none === '{}' ? fields : { ...fields, params: none }
}

function refused(text: string): CommandError {
  return new CommandError(`${text}\n  Nothing was changed.`, exitCodes.configuration)
}
