/** The strategy files that ship with perpd, all of them on. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'

const root = join(import.meta.dirname, '..', '..')

/** Loads copies of them with `enabled: true`. Throws when one has a problem. */
export async function loadShippedFiles(): Promise<readonly LoadedStrategy[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-shipped-'))
  try {
    for (const each of ['strategies/examples', 'strategies'])
      for (const name of readdirSync(join(root, each)).filter((file) => file.endsWith('.yaml')))
        writeFileSync(
          join(folder, name),
          readFileSync(join(root, each, name), 'utf8').replace('enabled: false', 'enabled: true'),
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
