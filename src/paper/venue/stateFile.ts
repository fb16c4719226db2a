/** The venue on disk between runs: one JSON file, replaced whole, so that a crash leaves the old or the new one. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { hoursPathOf, hoursWritten, restoreLedger, type TakenHours, takeHours } from './ledgerFile.ts'
import { restoreState, type SavedState, STATE_VERSION, takeState } from './savedState.ts'
import { decodeState, encodeState } from './stateLog.ts'
import { slicesOf, statePieces } from './statePieces.ts'
import type { VenueParts } from './venueParts.ts'
import { writeWhole, writeWholeInSlices } from './wholeFile.ts'

/** A saved venue: where its prices begin, and how to put the rest back into a fresh venue. */
export interface LoadedState {
  readonly seed: number
  readonly epochSeconds: number
  readonly onlyMarkets: readonly string[]
  /** Time up to which the venue had advanced, Unix seconds. */
  readonly advancedToSeconds: number
  /** The part of the log that begins where the state was taken. */
  readonly logPart: number
  restore(venue: VenueParts): void
}

function unreadable(path: string, why: string, cause?: unknown): BaseError {
  return new BaseError(`The paper venue's state file cannot be read: ${why}.`, {
    code: 'PAPER_STATE_UNREADABLE',
    facts: { path },
    details: 'Nothing was changed. Move the file away to begin a new paper venue, or restore it from a copy.',
    ...defined({ cause }),
  })
}

/** Reads a state file; undefined when there is none yet. Throws BaseError PAPER_STATE_UNREADABLE. */
export function loadState(path: string, chain: Chain): LoadedState | undefined {
  const saved = readState(path)
  if (saved === undefined) return undefined
  if (saved.chain !== chain.name)
    throw unreadable(path, `it is the state of ${saved.chain}, not of ${chain.name}`)
  return {
    seed: saved.seed,
    epochSeconds: saved.epochSeconds,
    onlyMarkets: saved.onlyMarkets,
    advancedToSeconds: saved.advancedToSeconds,
    logPart: saved.logPart ?? 0,
    restore: (venue) => {
      restoreState(saved, venue)
      if (saved.ledger !== undefined) restoreLedger(path, venue.venueState, saved.ledger)
    },
  }
}

/** Where the prices of a state file begin; undefined when there is no file yet. Throws BaseError PAPER_STATE_UNREADABLE. */
export function savedStart(
  path: string,
): { readonly seed: number; readonly epochSeconds: number } | undefined {
  return readState(path)
}

function readState(path: string): SavedState | undefined {
  if (!existsSync(path)) return undefined
  let saved: SavedState
  try {
    saved = decodeState(readFileSync(path, 'utf8')) as SavedState
  } catch (cause) {
    throw unreadable(path, 'it is not JSON', cause)
  }
  if (saved.version !== STATE_VERSION) throw unreadable(path, `its version is ${String(saved.version)}`)
  return saved
}

/** A venue at one moment, and its way to disk. */
interface Taken {
  readonly state: SavedState
  readonly hours: TakenHours | undefined
}

/** Takes the venue, and begins the part of its log that comes after it. */
function take(venue: VenueParts): Taken {
  return { state: takeState(venue, venue.log?.begin() ?? 0), hours: takeHours(venue.venueState) }
}

/** Called once the files of a save are in place: the parts of the log of before are in them. */
function settle({ venueState, log }: VenueParts, { state, hours }: Taken): void {
  if (hours !== undefined) hoursWritten(venueState, hours)
  log?.forgetBefore(state.logPart ?? 0)
}

/** Writes the state beside the file, forces it to disk, and renames it into place. Throws what the file system throws. */
export function saveState(path: string, venue: VenueParts): void {
  mkdirSync(dirname(path), { recursive: true })
  const taken = take(venue)
  if (taken.hours !== undefined) writeWhole(hoursPathOf(path), encodeState(taken.hours.rows))
  writeWhole(path, encodeState(taken.state))
  settle(venue, taken)
}

/**
 * As `saveState`, of this moment, while the venue continues: the text is made and written in slices, between which others go first. Says
 * whether it came into place; once `isCancelled`, what lies there stays. Rejects with what the file system says.
 */
export async function saveStateInSlices(
  path: string,
  venue: VenueParts,
  isCancelled: () => boolean,
): Promise<boolean> {
  mkdirSync(dirname(path), { recursive: true })
  const taken = take(venue)
  if (taken.hours !== undefined) {
    const slices = slicesOf(statePieces(taken.hours.rows))
    if (!(await writeWholeInSlices(hoursPathOf(path), slices, isCancelled))) return false
  }
  if (!(await writeWholeInSlices(path, slicesOf(statePieces(taken.state)), isCancelled))) return false
  settle(venue, taken)
  return true
}
