/** Bugs of a journal on a server, as patches of the source text or of the model: each must be caught by a world with faults. */
import type { Patched } from '../simulation/mutantSource.ts'

/** A bug, and the seed that is known to show it. */
export interface SharedMutant extends Patched {
  readonly firstSeed: number
}

function bug(name: string, firstSeed: number, file: string, find: string, replace: string): SharedMutant {
  return { name, firstSeed, patches: [{ file, find, replace }] }
}

const store = 'src/journal/fenced/sharedStore.ts'
const opening = 'src/journal/fenced/openShared.ts'
const known = 'src/journal/fenced/knownRecords.ts'
const model = 'test/journal/sharedModel.ts'

/** All of them. */
export const sharedMutants: readonly SharedMutant[] = [
  bug(
    'a lost answer counts as a success',
    6,
    store,
    'if (await write(writer)) {',
    'if (await write(writer).catch(() => true)) {',
  ),
  bug(
    'a commit that was made is made again behind itself',
    1,
    store,
    "if (end !== undefined && isSamePlace(head, end)) return 'committed'\n",
    '',
  ),
  bug(
    'who lost the right takes it back',
    116,
    store,
    'if (!isOwn && head.epoch >= this.#right.epoch) throw',
    'if (head.epoch < 0) throw',
  ),
  bug(
    'the right of another is taken for its own',
    116,
    store,
    "      await this.#retake(server, head, asked)\n      return 'again'",
    "      this.#right = head\n      return 'again'",
  ),
  bug(
    'a right whose last beat is old is trusted',
    63,
    'src/journal/fenced/confirmation.ts',
    'return ageMs > this.#times.staleMs ?',
    'return ageMs < 0 ?',
  ),
  bug(
    'who lost the right lives on while it has nothing to write',
    168,
    store,
    '      if (error instanceof JournalFaultError) this.#fail(error)\n',
    '      if (error instanceof JournalFaultError) this.#fault ??= error\n',
  ),
  bug(
    'a renewal that comes too late counts while the records are read',
    83_571_126_324_987,
    opening,
    'isSameRight(head, right) && confirmation.isYoung(askedAgain)',
    'isSameRight(head, right)',
  ),
  bug('the mark is not moved', 18, store, 'this.#parts.mark?.write(end)', 'void end'),
  bug(
    'the guard knows the lines of its own machine alone',
    2,
    store,
    'entries: [...rows.filter(({ digest }) => !known.has(digest)), ...lines]',
    'entries: lines',
  ),
  bug(
    'a server that went back is taken as it is',
    3,
    store,
    '    await server.append(this.#right, head, missing)',
    '    await server.append(this.#right, head, missing.slice(-1))',
  ),
  bug(
    'a record is healed one too late',
    3,
    known,
    'return from < 0 ? undefined : this.#kept.slice(from)',
    'return from < 0 ? undefined : this.#kept.slice(from + 1)',
  ),
  bug(
    'no line of the guard comes with its record',
    2,
    known,
    'return signed === undefined ? record : { ...record, signed }',
    'return record',
  ),
  bug(
    'beats go over the connection of appends',
    10,
    store,
    'const { beats } = this.#parts.connections',
    'const { writer: beats } = this.#parts.connections',
  ),
  bug(
    'the right is taken from one that lives',
    1,
    opening,
    "if (head.holder !== '' && isOwnDead?.(head.holder) !== true) head = await stoodStill(options, head)",
    'if (head.epoch < 0) head = await stoodStill(options, head)',
  ),
  bug(
    'a beat that moves is no life',
    4,
    opening,
    'if (head.beat !== from.beat || !isSameRight(head, from)) throw',
    'if (!isSameRight(head, from)) throw',
  ),
  {
    name: 'the records are read before the right is taken',
    firstSeed: 5,
    patches: [
      {
        file: opening,
        find: '    right = await takeRight(options)',
        replace:
          '    const early = await recoverLedger(new SharedReads(reader, steady), clock.now())\n    right = await takeRight(options)',
      },
      { file: opening, find: 'await recoverLedger(reads, clock.now())', replace: 'early' },
      { file: opening, find: '    if (ledger.seq !== tail.seq ||', replace: '    if (tail.seq < 0 ||' },
    ],
  },
  bug(
    'the mark is not asked at the opening',
    18,
    opening,
    'mark = await openMark?.(tail, (seq) => reads.hashAt(seq))',
    'mark = undefined',
  ),
  bug(
    'a server that was replaced is trusted',
    6,
    opening,
    'const { mayMissRecords } = head',
    'const mayMissRecords = undefined',
  ),
  bug(
    'a holder goes on after its server was replaced though another may have had the right meanwhile',
    77,
    store,
    'if (isReplaced && this.#confirmation.mayBeTaken(asked))',
    'if (head.epoch < 0)',
  ),
  bug(
    'a record is written by a right that another may have had meanwhile',
    77,
    store,
    '        if (this.#confirmation.mayBeTaken(asked)) {',
    '        if (asked.wallMs < 0) {',
  ),
  bug(
    'what a lost record may have signed is signed once more',
    6,
    'src/journal/service/lostRecords.ts',
    "return phase === undefined || phase === 'PREPARING' || phase === 'NOT_SENT'",
    "return phase === 'NOT_SENT'",
  ),
  bug(
    'a holder that dies before it noted the doubt takes it away',
    6,
    model,
    'moveHead({ epoch: to.epoch, holder: to.holder })',
    'const { mayMissRecords: _, ...head } = this.state.head\n          this.#move({ ...this.state, head: { ...head, beat: head.beat + 1, ...to } })',
  ),
  bug(
    'a gap behind the head is accepted',
    1,
    model,
    'return isHeld && (at === undefined || (head.seq === at.seq && head.hash === at.hash))',
    'return isHeld && (at === undefined || at.seq >= 0)',
  ),
  bug(
    'who goes gives the right of another away',
    9,
    model,
    'if (isAt(right)) moveHead({ holder:',
    'if (right.epoch >= 0) moveHead({ holder:',
  ),
]
