/** The page that says where each proof runs and how long it took when it was last measured: test/gate/PROOFS.md, from the record (proven.ts). */
import { aloneTests, testFiles, tiersOf } from '../deepTests.ts'
import type { Proofs } from './proven.ts'

/** Rows of files that take longest. */
const LONGEST = 20

/** Returns the page: a row for each folder of tests, by the seconds of the clock that its files took one after the other, and the longest files. */
export function proofPage(proofs: Proofs): string {
  const tiers = tiersOf(testFiles, proofs)
  const below = (files: readonly string[]) => files.map((file) => `test/${file}`)
  const quick = below(tiers.quick)
  const deep = below([...tiers.deep, ...tiers.processes, ...aloneTests])
  const secondsOf = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + (proofs[file]?.seconds ?? 0), 0)
  const roomOf = (file: string) => (file.split('/')[2] === undefined ? 'test' : `test/${file.split('/')[1]}`)
  const rooms = [...new Set([...quick, ...deep].map(roomOf))]
    .map((room) => {
      const of = (files: readonly string[]) => files.filter((file) => roomOf(file) === room)
      return { room, quick: of(quick), deep: of(deep) }
    })
    .sort((one, other) => secondsOf([...other.quick, ...other.deep]) - secondsOf([...one.quick, ...one.deep]))
  const row = (
    name: string,
    files: { readonly quick: readonly string[]; readonly deep: readonly string[] },
  ) =>
    `| ${name} | ${files.quick.length} | ${secondsOf(files.quick)} | ${files.deep.length} | ${secondsOf(files.deep)} |`
  const longest = [...quick, ...deep]
    .toSorted((one, other) => secondsOf([other]) - secondsOf([one]))
    .slice(0, LONGEST)
  return `${[
    '# Where each proof runs, and how long it took',
    '',
    'Printed from `proven.json` by `node test/gate/run.ts --write`. Seconds of the clock, of each file beside the others of its tier; deep files that try a',
    'share of their cases at a change took those seconds for the share.',
    '',
    '| folder | quick files | seconds | deep files | seconds |',
    '|---|---|---|---|---|',
    ...rooms.map(({ room, ...files }) => row(`\`${room}\``, files)),
    row('all', { quick, deep }),
    '',
    '| longest file | tier | seconds | of processors |',
    '|---|---|---|---|',
    ...longest.map(
      (file) =>
        `| \`${file}\` | ${quick.includes(file) ? 'quick' : 'deep'} | ${secondsOf([file])} | ${proofs[file]?.processor ?? ''} |`,
    ),
  ].join('\n')}\n`
}
