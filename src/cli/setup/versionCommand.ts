/** `perpd version`: which perpd this is, and what it runs on. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { exitCodes } from '../../config/exit.ts'
import { version } from '../../config/version.ts'
import type { BareCall } from '../call/command.ts'

/** The folder of the checkout, or of the package. */
const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Build stamp that `npm run build` writes next to the code; a checkout has none. */
const stamp = fileURLToPath(new URL('../../build.json', import.meta.url))

/** Facts that `perpd version --json` prints. */
export interface VersionFacts {
  readonly version: string
  /** Version of Node, as `24.21.0`. */
  readonly node: string
  /** As `linux-x64`. */
  readonly platform: string
  /** The newest schema of journal files that this perpd reads and writes. */
  readonly journalSchema: number
  /** The commit that it was built from, or that is checked out; null where neither is known. */
  readonly commit: string | null
}

/** Prints the version alone, or with `--json` all facts. */
export async function printVersion({ flags, out }: BareCall): Promise<number> {
  out(flags.has('json') ? JSON.stringify(await versionFacts(), undefined, 2) : version)
  return exitCodes.ok
}

/** The facts of this perpd. */
async function versionFacts(): Promise<VersionFacts> {
  const { SCHEMA_VERSION } = await import('../../journal/sqlite/sqliteSchema.ts')
  return {
    version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    journalSchema: SCHEMA_VERSION,
    commit: commitOf() ?? null,
  }
}

function commitOf(): string | undefined {
  try {
    if (existsSync(stamp)) return JSON.parse(readFileSync(stamp, 'utf8')).commit
    // A folder inside somebody else's checkout says nothing of perpd.
    if (!existsSync(`${root}.git`)) return undefined
    const said = execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], {
      encoding: 'utf8',
      timeout: 2_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /^[0-9a-f]{40}/.exec(said)?.[0]
  } catch {
    // No git here, or not its checkout: it is not known then.
    return undefined
  }
}
