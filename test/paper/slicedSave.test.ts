/** The state file while orders go on: written in slices, of one moment, and whole or not at all wherever the process ends. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { saveNowAndThen } from '../../src/paper/server/saves.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { takeState } from '../../src/paper/venue/savedState.ts'
import { saveStateInSlices } from '../../src/paper/venue/stateFile.ts'
import {
  createStateLog,
  decodeState,
  encodeState,
  readStateLog,
  replayStateLog,
  type StateLogLine,
} from '../../src/paper/venue/stateLog.ts'
import { SLICE_CHARACTERS, slicesOf, statePieces } from '../../src/paper/venue/statePieces.ts'
import type { VenueParts } from '../../src/paper/venue/venueParts.ts'
import { writeWholeInSlices } from '../../src/paper/venue/wholeFile.ts'
import { writtenOperation } from '../../src/paper/venue/writtenOperation.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { manualClock, startVenue } from './support.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'perpd-sliced-'))
  folders.push(path)
  return path
}

type Paper = Awaited<ReturnType<typeof startVenue>>

/** The parts of a served venue, with its log where there is one. */
function partsOf({ venue }: Paper, stateFile?: string): VenueParts {
  return {
    venueState: venue.venueState,
    peers: venue.peers,
    faults: venue.faults,
    record: [],
    log: stateFile === undefined ? undefined : createStateLog(stateFile),
  }
}

/** The world as text, apart from the number of its part of the log. */
const worldOf = (parts: Pick<VenueParts, 'venueState' | 'peers'>): string =>
  encodeState(takeState({ ...parts, faults: {} as never, record: [], log: undefined }, 0))

async function order(paper: Paper): Promise<void> {
  const prepared = await paper.prepare({})
  expect((await paper.submit(prepared.body)).status).toBe(200)
}

test('pieces and slices, joined, are the text that is written in one go', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.bigInt(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie('value'), { maxLength: 40 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 6 }),
    ),
  }))
  fc.assert(
    fc.property(value, (given) => {
      const whole = { given }
      const pieces = [...statePieces(whole)]
      expect(pieces.join('')).toBe(encodeState(whole))
      expect([...slicesOf(pieces)].join('')).toBe(encodeState(whole))
    }),
    { seed: 7, numRuns: 500 },
  )
})

test('a save writes the moment at which it began, whatever happens between its slices', async () => {
  const stateFile = join(folder(), 'world.json')
  const paper = await startVenue({ settings: { keeperJitterMs: 0, traders: 30 } })
  for (let i = 0; i < 60; i += 1) {
    await order(paper)
    paper.clock.move(100)
  }
  const parts = partsOf(paper)
  const text = worldOf(parts)
  let looks = 0
  const isSaved = saveStateInSlices(stateFile, parts, () => {
    looks += 1
    // Orders land and are executed, others trade, and hours pass while the slices are made.
    paper.clock.move(3_000)
    paper.venue.advance()
    paper.venue.venueState.counters.nonce += 1
    return false
  })
  // What was prepared before is submitted, and more is prepared.
  await order(paper)
  expect(await isSaved).toBe(true)
  expect(readFileSync(stateFile, 'utf8')).toBe(text)
  expect(looks).toBeGreaterThan(3)
  expect(worldOf(parts)).not.toBe(text)
  await paper.close()
})

test('between two slices others go first, and a slice is no longer than it may be and one row', async () => {
  const paper = await startVenue()
  for (let i = 0; i < 60; i += 1) await order(paper)
  const parts = partsOf(paper)
  const state = takeState(parts, 0)
  const longest = Math.max(...[...statePieces(state)].map(({ length }) => length))
  const slices = [...slicesOf(statePieces(state))]
  expect(slices.length).toBeGreaterThanOrEqual(4)
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThanOrEqual(SLICE_CHARACTERS + longest)
  let isSaving = true
  const save = saveStateInSlices(join(folder(), 'world.json'), parts, () => false).then(() => {
    isSaving = false
  })
  let turns = 0
  while (isSaving) {
    turns += 1
    await new Promise(setImmediate)
  }
  await save
  expect(turns).toBeGreaterThanOrEqual(slices.length)
  await paper.close()
})

test('wherever the process ends during a save, nothing that was answered is lost and nothing lands twice', async () => {
  const home = folder()
  const stateFile = join(home, 'world.json')
  const paper = await startVenue({ stateFile })
  for (let i = 0; i < 40; i += 1) await order(paper)
  const copies: string[] = []
  const copy = (): void => {
    const to = folder()
    cpSync(home, to, { recursive: true })
    copies.push(to)
  }
  let isSaving = true
  const saved = paper.venue.saveInSlices().then(() => {
    isSaving = false
  })
  copy()
  while (isSaving) {
    await order(paper)
    copy()
  }
  await saved
  copy()
  const nowMs = paper.clock.now() + 10_000
  const settled = (venue: Paper['venue']) => ({
    orders: venue.venueState.counters.order,
    digests: venue.venueState.usedDigests.size,
    requests: [...(venue.peers[0]?.byRequestId.keys() ?? [])].length,
    trades: venue.venueState.trades.length,
  })
  for (const [at, kept] of copies.entries()) {
    const again = createVenue({
      clock: manualClock(nowMs),
      chain: chains.arbitrum,
      settings: { keeperJitterMs: 0 },
      stateFile: join(kept, 'world.json'),
    })
    again.advance()
    const submitted = Math.min(40 + at, 40 + copies.length - 2)
    expect(settled(again), `copy ${at}`).toEqual({
      orders: submitted,
      digests: submitted,
      requests: submitted,
      trades: 2 * submitted,
    })
    // Started once more it is the same world, and of the log one part at most is left.
    expect(readdirSync(kept).filter((name) => name.includes('.log')).length).toBeLessThanOrEqual(1)
  }
  await paper.close()
})

test('a save in slices ends without effect when the state is saved in one go meanwhile', async () => {
  const home = folder()
  const stateFile = join(home, 'world.json')
  const paper = await startVenue({ stateFile })
  for (let i = 0; i < 40; i += 1) await order(paper)
  const slow = paper.venue.saveInSlices()
  await order(paper)
  paper.venue.save()
  const text = readFileSync(stateFile, 'utf8')
  await slow
  expect(readFileSync(stateFile, 'utf8')).toBe(text)
  await paper.close()
  expect(readdirSync(home).filter((name) => name.includes('.log'))).toEqual([])
})

test('a save in slices that was cancelled before its file was open says so, and one that was not has the fault', async () => {
  const path = join(folder(), 'gone', 'world.json')
  expect(await writeWholeInSlices(path, ['{}'], () => true)).toBe(false)
  await expect(writeWholeInSlices(path, ['{}'], () => false)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('an accepted order is logged without what its prepared line says, and a line of before with all of it reads the same', async () => {
  const stateFile = join(folder(), 'world.json')
  const paper = await startVenue({ stateFile })
  await order(paper)
  const [operation] = paper.venue.venueState.operations.values()
  const [record] = paper.venue.peers[0]?.byRequestId.values() ?? []
  const [entry] = paper.venue.record()
  if (operation === undefined || record === undefined || entry === undefined) throw new Error('no order')
  // A save of the served venue may have taken the lines already: where there are any, they are short.
  for (const line of readStateLog(stateFile, 0)) {
    if (line.kind === 'accepted') expect(Object.keys(line.operation)).not.toContain('batch')
  }
  const written = writtenOperation(operation, paper.venue.peers)
  const logOf = (one: typeof written) =>
    decodeState(
      encodeState([
        { kind: 'prepared', host: 'api/0', record, request: 1, nonce: 1 },
        { kind: 'accepted', operation: one, entry, task: 1 },
      ]),
    ) as StateLogLine[]
  const [lines, whole] = [logOf(written), logOf(operation)]
  expect(encodeState(lines).length).toBeLessThan(encodeState(whole).length - 1000)
  for (const read of [lines, whole]) {
    const { venueState, peers } = createVenue({ clock: manualClock(), chain: chains.arbitrum })
    replayStateLog(read, { venueState, peers, record: [] })
    expect([...venueState.operations.values()]).toEqual([operation])
  }
  await paper.close()
})

test('a saved operation is without what the record of its request says, and whole once the record is forgotten', async () => {
  const stateFile = join(folder(), 'world.json')
  const paper = await startVenue({ stateFile })
  await order(paper)
  await order(paper)
  const { venueState, peers } = paper.venue
  const [first, second] = venueState.operations.values()
  const forget = (requestId: string) => peers.map(({ byRequestId }) => byRequestId.delete(requestId))
  forget(first?.requestId ?? '')
  await paper.close()
  const { operations } = JSON.parse(readFileSync(stateFile, 'utf8')) as { operations: object[] }
  expect(operations.map((one) => 'batch' in one)).toEqual([true, false])
  const again = await startVenue({ stateFile })
  expect([...again.venue.venueState.operations.values()]).toEqual([first, second])
  await again.close()
  const { peers: saved, ...rest } = JSON.parse(readFileSync(stateFile, 'utf8'))
  writeFileSync(
    stateFile,
    JSON.stringify({ ...rest, peers: saved.map((one: object) => ({ ...one, records: [] })) }),
  )
  expect(() => createVenue({ clock: manualClock(), chain: chains.arbitrum, stateFile })).toThrow(SyntaxError)
})

test('a state file of before is read with its log, which has no number', async () => {
  const home = folder()
  const stateFile = join(home, 'world.json')
  const paper = await startVenue({ stateFile })
  await paper.close()
  const { logPart, ...before } = JSON.parse(readFileSync(stateFile, 'utf8'))
  expect(logPart).toBe(1)
  const other = await startVenue({ stateFile: join(folder(), 'world.json') })
  const prepared = await other.prepare({})
  const [lines = ''] = folders
    .slice(-1)
    .flatMap((one) => readdirSync(one).map((name) => join(one, name)))
    .filter((name) => name.includes('.log'))
  writeFileSync(stateFile, JSON.stringify(before))
  writeFileSync(`${stateFile}.log`, readFileSync(lines))
  const again = await startVenue({ stateFile })
  expect((await again.status(prepared.body.requestId)).status).toBe(200)
  expect(readdirSync(home).filter((name) => name.includes('.log'))).toEqual([])
  await other.close()
  await again.close()
})

test('saves rest four times as long as they take, unless the log has grown long', async () => {
  let saves = 0
  let finish = (): void => undefined
  let isLong = false
  const venue = {
    saveInSlices: () =>
      new Promise<void>((resolve) => {
        saves += 1
        finish = resolve
      }),
    needsSave: () => isLong,
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    const stop = saveNowAndThen([venue as never], 1_000, () => undefined)
    vi.advanceTimersByTime(1_000)
    expect(saves).toBe(1)
    // One at a time, however long it takes.
    vi.advanceTimersByTime(3_000)
    expect(saves).toBe(1)
    finish()
    await Promise.resolve()
    await Promise.resolve()
    vi.advanceTimersByTime(11_000)
    expect(saves).toBe(1)
    vi.advanceTimersByTime(1_000)
    expect(saves).toBe(2)
    vi.advanceTimersByTime(3_000)
    finish()
    await Promise.resolve()
    await Promise.resolve()
    isLong = true
    vi.advanceTimersByTime(1_000)
    expect(saves).toBe(3)
    stop()
    finish()
    await Promise.resolve()
    await Promise.resolve()
    vi.advanceTimersByTime(60_000)
    expect(saves).toBe(3)
  } finally {
    vi.useRealTimers()
  }
})
