/**
 * Runs the deep tier: those files that no green run has proven by content (test/gate/proven.json), each with its share of a change (depth.ts), or
 * all of them whole.
 *
 *   node test/gate/run.ts            what is not proven; this is `npm run test:deep`
 *   node test/gate/run.ts --all      every file whole; a release needs it (`npm run test:full`)
 *   node test/gate/run.ts --write    records what passed at the first attempt, with how long it took
 *   node test/gate/run.ts --quick --write   runs the quick tier, and records how long its files took: the tiers follow from that (test/deepTests.ts)
 *   node test/gate/run.ts --list     says what would run, and runs nothing
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { aloneTests, deepTests, isSlow, processTests } from '../deepTests.ts'
import type { Outcome } from './outcomes.ts'
import { proofKeys, treeOf } from './proofKey.ts'
import { proofPage } from './proofTable.ts'
import { type Proof, readProofs, unproven, writeProofs } from './proven.ts'

const root = resolve(import.meta.dirname, '..', '..')
const { values: asked } = parseArgs({
  options: {
    all: { type: 'boolean' },
    quick: { type: 'boolean' },
    write: { type: 'boolean' },
    list: { type: 'boolean' },
  },
})

const deepFiles = [...deepTests, ...processTests, ...aloneTests].map((file) => `test/${file}`)
const keys = proofKeys(treeOf(root), deepFiles)
const proofs = readProofs()
const due = asked.all ? deepFiles : unproven(deepFiles, keys, proofs)
/** Names this change: the same tree tries the same cases, and the next one others. */
const change = createHash('sha256')
  .update([...keys.values()].join())
  .digest()
  .readUInt32BE()
const say = (text: string) => process.stdout.write(`${text}\n`)

if (asked.quick) {
  process.exitCode = run(['quick', 'quick-apart'], [])
} else {
  say(
    `${deepFiles.length - due.length} of ${deepFiles.length} deep test files are proven by content; ${due.length} run.`,
  )
  if (!asked.all) say(`GATE_CHANGE=${change} npx vitest run FILE tries the same cases of a file again.`)
  if (asked.list) for (const file of due) say(file)
  if (!asked.list && due.length > 0) process.exitCode = run(['deep', 'deep-processes', 'deep-alone'], due)
}

/** Runs files of some projects, all of theirs where none is named; returns the exit code. */
function run(names: readonly string[], files: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-gate-'))
  const path = join(folder, 'outcomes.json')
  try {
    const projects = names.flatMap((name) => ['--project', name])
    const reporters = ['--reporter', 'default', '--reporter', './test/gate/outcomes.ts']
    const { status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...projects, ...reporters, ...files],
      {
        cwd: root,
        stdio: 'inherit',
        env: {
          ...process.env,
          GATE_OUTCOMES: path,
          GATE_CHANGE: asked.all || asked.quick ? undefined : String(change),
        },
      },
    )
    if (asked.write) record(JSON.parse(readFileSync(path, 'utf8')) as readonly Outcome[])
    return status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Records clean outcomes: the seconds of each file, and the key of one that is deep, by its name or by what it took now. A file whose key is no longer
 * the one from before the run was changed meanwhile, and has proven nothing.
 */
function record(outcomes: readonly Outcome[]): void {
  const clean = outcomes.filter(({ isClean }) => isClean)
  const proving = clean
    .filter(({ file, seconds }) => keys.has(file) || isSlow({ seconds }))
    .map(({ file }) => file)
  const now = proofKeys(treeOf(root), proving)
  const taken = clean.flatMap(({ file, seconds, processor }): (readonly [string, Proof])[] => {
    const key = now.get(file)
    const isChanged = keys.has(file) && keys.get(file) !== key
    return isChanged ? [] : [[file, { ...(key !== undefined && { key }), seconds, processor }]]
  })
  const before = Object.entries(proofs).filter(([file]) => existsSync(join(root, file)))
  const next = Object.fromEntries([...before, ...taken])
  writeProofs(next)
  writeFileSync(join(import.meta.dirname, 'PROOFS.md'), proofPage(next))
  say(`${taken.length} of ${outcomes.length} files are recorded.`)
}
