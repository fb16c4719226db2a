/**
 * Bugs of the journal's and the guard's files, as patches of the source text: each must be caught on real files.
 * That tables are held against the records is tested by hand-made damage (test/journal/integrity.test.ts): no seed reaches it in thousands.
 */
import type { FirstMutant, Patch } from './mutants.ts'

function one(name: string, firstSeed: number, file: string, find: string, replace: string): FirstMutant {
  return several(name, firstSeed, [{ file, find, replace }])
}

function several(name: string, firstSeed: number, patches: readonly Patch[]): FirstMutant {
  return { name, tier: 'files', firstSeed, patches }
}

const setup = 'src/journal/sqlite/pragmas.ts'
const writer = 'src/journal/sqlite/fileWriter.ts'
const head = 'src/journal/sqlite/highWaterMark.ts'
const replay = 'src/journal/sqlite/recordReplay.ts'
const snapshot = 'src/journal/sqlite/journalSnapshot.ts'

/** All of them. */
export const fileMutants: readonly FirstMutant[] = [
  several('commits are not synced', 1, [
    { file: setup, find: "'PRAGMA synchronous = FULL'", replace: "'PRAGMA synchronous = OFF'" },
    { file: setup, find: "mode !== 'wal' || synchronous !== 2", replace: "mode !== 'wal'" },
  ]),
  several('commits are synced at checkpoints alone', 1, [
    { file: setup, find: "'PRAGMA synchronous = FULL'", replace: "'PRAGMA synchronous = NORMAL'" },
    { file: setup, find: "mode !== 'wal' || synchronous !== 2", replace: "mode !== 'wal'" },
  ]),
  one(
    'a journal older than its mark is opened',
    2,
    head,
    'if (loss !== undefined && !acceptLoss) throw rolledBack(path, loss)',
    'if (loss !== undefined && acceptLoss) throw rolledBack(path, loss)',
  ),
  one(
    'the mark is not moved',
    3,
    writer,
    'if (tail !== this.#tail) this.#withRoom(() => highWaterMark.write(tail))',
    '',
  ),
  one(
    'a mark that a power cut left behind stays behind',
    266,
    head,
    'if (loss === undefined && (mark?.seq ?? 0) < tail.seq) {',
    'if (loss !== undefined) {',
  ),
  several('records are not held against their hashes', 5, [
    { file: replay, find: 'if (written !== hash) throw', replace: 'if (written === undefined) throw' },
    { file: replay, find: 'tail = { seq, hash }', replace: 'tail = { seq, hash: written }' },
  ]),
  several('a snapshot is held against nothing', 32, [
    {
      file: snapshot,
      find: 'recordHash === undefined || checksum(recordHash, 0, seq, head) !== row.hash',
      replace: 'recordHash === undefined',
    },
    {
      file: snapshot,
      find: '!fits || checksum(hashThere, fromSeq, toSeq, text) !== part.hash',
      replace: '!fits',
    },
    {
      file: 'src/journal/ledgerState.ts',
      find: '    if (error instanceof SyntaxError || error instanceof TypeError) return undefined\n',
      replace: '',
    },
  ]),
  one(
    'a snapshot forgets which decisions were taken',
    9,
    'src/journal/identities.ts',
    'held(added.decisions, strategy, () => []).push(decisionKey)',
    '',
  ),
  one(
    'a writer that was replaced goes on',
    2,
    'src/journal/sqlite/lease.ts',
    'if (held?.epoch === epoch) return',
    'return',
  ),
  one(
    'a torn line of the guard stays',
    83,
    'src/journal/guardFile.ts',
    'if (whole < text.length) ftruncateSync(fd, whole)\n',
    '',
  ),
  one(
    "nobody waits for the guard's line",
    1,
    'src/keys/signingGuard.ts',
    'await table.append(entry, kept)',
    'void table.append(entry, kept)',
  ),
  several("bytes leave before the guard's line is durable", 1, [
    { file: 'src/execution/lanes/armed.ts', find: '  await signed.recorded\n', replace: '' },
    {
      file: 'src/execution/takeEvents.ts',
      find: 'await tracked.signed?.recorded.catch(() => undefined)',
      replace: 'tracked.signed?.recorded.catch(() => undefined)',
    },
  ]),
]
