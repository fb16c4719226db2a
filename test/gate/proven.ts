/** The record of green runs: for each test file how long it took, and for deep ones the key of what they proved. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A green run of one test file. */
export interface Proof {
  /** 16 hex digits (test/gate/proofKey.ts); undefined for a quick file, which runs at each change. */
  readonly key?: string | undefined
  /** Seconds of the clock that the file took, beside the others of its project. */
  readonly seconds: number
  /** Seconds of processors, with the processes that it started; undefined in a record from before they were measured. */
  readonly processor?: number | undefined
}

/** Proofs by test file, from the root of the project. */
export type Proofs = Readonly<Record<string, Proof>>

const recordPath = join(import.meta.dirname, 'proven.json')

/** Reads the record. A file that is not there says that nothing is proven. */
export function readProofs(path = recordPath): Proofs {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Proofs) : {}
}

/** Writes the record with a line a file, so that two changes seldom touch the same line. */
export function writeProofs(proofs: Proofs, path = recordPath): void {
  const lines = Object.entries(proofs)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([file, { key, seconds, processor }]) =>
        `  ${JSON.stringify(file)}: { ${key === undefined ? '' : `"key": "${key}", `}"seconds": ${seconds}${processor === undefined ? '' : `, "processor": ${processor}`} }`,
    )
  writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`)
}

/** Returns those files whose proof is missing or has another key, in the order given. */
export function unproven(
  files: readonly string[],
  keys: ReadonlyMap<string, string>,
  proofs: Proofs,
): readonly string[] {
  return files.filter((file) => {
    const key = keys.get(file)
    return key === undefined || proofs[file]?.key !== key
  })
}
