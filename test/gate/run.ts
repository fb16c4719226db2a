/**
 * Runs the deep tier: those files that no green run has proven by content (test/gate/proven.json), each with its share of a change (depth.ts), or
 * all of them whole.
 *
 *   node test/gate/run.ts            what is not proven; this is `npm run test:deep`
 *   node test/gate/run.ts --all      every file whole; a release needs it (`npm run test:full`)
 *   node test/gate/run.ts --write    records what passed at the first attempt, with how long it took
 *   node test/gate/run.ts --list     says what would run, and runs nothing
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { aloneTests, deepTests, processTests } from '../deepTests.ts'
import type { Outcome } from './outcomes.ts'
import { proofKeys, treeOf } from './proofKey.ts'
import { type Proof, readProofs, unproven, writeProofs } from './proven.ts'

const root = resolve(import.meta.dirname, '..', '..')
const { values: asked } = parseArgs({
  options: { all: { type: 'boolean' }, write: { type: 'boolean' }, list: { type: 'boolean' } },
})

const files = [...deepTests, ...processTests, ...aloneTests].map((file) => `test/${file}`)
const keys = proofKeys(treeOf(root), files)
const proofs = readProofs()
const due = asked.all ? files : unproven(files, keys, proofs)
/** Names this change: the same tree tries the same cases, and the next one others. */
const change = createHash('sha256')
  .update([...keys.values()].join())
  .digest()
  .readUInt32BE()
const say = (text: string) => process.stdout.write(`${text}\n`)

say(
  `${files.length - due.length} of ${files.length} deep test files are proven by content; ${due.length} run.`,
)
if (!asked.all) say(`GATE_CHANGE=${change} npx vitest run FILE tries the same cases of a file again.`)
if (asked.list) for (const file of due) say(file)
if (!asked.list && due.length > 0) process.exitCode = run()

function run(): number {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-gate-'))
  const path = join(folder, 'outcomes.json')
  try {
    const projects = ['deep', 'deep-processes', 'deep-alone'].flatMap((name) => ['--project', name])
    const reporters = ['--reporter', 'default', '--reporter', './test/gate/outcomes.ts']
    const { status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...projects, ...reporters, ...due],
      {
        cwd: root,
        stdio: 'inherit',
        env: {
          ...process.env,
          GATE_OUTCOMES: path,
          GATE_CHANGE: asked.all ? undefined : String(change),
        },
      },
    )
    if (asked.write) record(JSON.parse(readFileSync(path, 'utf8')) as readonly Outcome[])
    return status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Records clean outcomes whose key is still the one from before the run: a file that was changed meanwhile has proven nothing. */
function record(outcomes: readonly Outcome[]): void {
  const now = proofKeys(treeOf(root), files)
  const proven = outcomes.flatMap(({ file, isClean, seconds, processor }): (readonly [string, Proof])[] => {
    const key = keys.get(file)
    return isClean && key !== undefined && key === now.get(file) ? [[file, { key, seconds, processor }]] : []
  })
  const known = new Set(files)
  const before = Object.entries(proofs).filter(([file]) => known.has(file))
  writeProofs(Object.fromEntries([...before, ...proven]))
  say(`${proven.length} of ${outcomes.length} files are recorded as proven.`)
}
