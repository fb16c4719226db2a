/**
 * Seeds that nobody has run: where they begin follows from the source text, so that a tree gives the same in every process and
 * every change gives others. In seeds that run at each change all that breaks is mended, and they show nothing any more.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CaseShare } from '../gate/depth.ts'
import { addReport, type Report, runSeeds, type TierName } from './seeds.ts'

const root = join(import.meta.dirname, '..', '..')

/** The first of them, a whole number below 2^48: by the text of the product and of the simulation. Reads the files of both. */
export function freshFrom(): number {
  const hash = createHash('sha256')
  for (const folder of ['src', 'test/simulation']) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    for (const name of names.filter((each) => each.endsWith('.ts')).sort()) {
      hash.update(`${name}\n`)
      hash.update(readFileSync(join(root, folder, name)))
    }
  }
  return hash.digest().readUIntBE(0, 6)
}

/** Runs a share of a tier's first `known` seeds, and `fresh` ones that nobody has run. Rejects when a worker ends by a fault of its own. */
export async function runKnownAndFresh(
  tier: TierName,
  { from, every }: CaseShare,
  seeds: { readonly known: number; readonly fresh: number },
): Promise<Report> {
  const known = seeds.known / every
  const report = await runSeeds(tier, 1 + from * known, known)
  addReport(report, await runSeeds(tier, freshFrom(), seeds.fresh))
  return report
}

/** Names what each failed seed broke, with the command that shows it again. */
export function failuresOf({ failures }: Report): readonly string[] {
  return failures.map(({ invariant, text, command }) => `${invariant} ${text}\n${command}`)
}
