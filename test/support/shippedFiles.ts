/** The strategy files that ship with perpd, all of them on. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'

const root = join(import.meta.dirname, '..', '..')

/** Files that ship, by package.json: a checkout that is used holds files of its user beside them. */
const shipped: readonly string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).files

/** Paths of the strategy files that ship, those of `strategies/` before the examples. */
export const shippedStrategies: readonly string[] = ['strategies/', 'strategies/examples/'].flatMap(
  (folder) =>
    shipped
      .filter((path) => path.endsWith('.yaml') && path === `${folder}${basename(path)}`)
      .map((path) => join(root, path)),
)

/** Paths of the profiles that ship. */
export const shippedProfiles: readonly string[] = shipped
  .filter((path) => /^config\/[^/]+\.json$/.test(path))
  .map((path) => join(root, path))

/** Loads copies of them with `enabled: true`. Throws when one has a problem. */
export async function loadShippedFiles(): Promise<readonly LoadedStrategy[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-shipped-'))
  try {
    for (const path of shippedStrategies)
      writeFileSync(
        join(folder, basename(path)),
        readFileSync(path, 'utf8').replace('enabled: false', 'enabled: true'),
      )
    const { strategies, problems } = await loadStrategies([folder])
    if (problems.length > 0) throw new Error(JSON.stringify(problems))
    return strategies
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** One file of each kind: the last by name. */
export async function loadShippedKinds(): Promise<readonly LoadedStrategy[]> {
  const files = await loadShippedFiles()
  return [...new Map(files.map((each) => [each.strategy.kind, each])).values()]
}
