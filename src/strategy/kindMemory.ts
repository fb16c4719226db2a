/**
 * The memory of a kind: a value that `decide` receives and returns anew each turn, persisted in the journal with the decisions. It is read back as
 * the next start reads it before it counts, so that no restart finds something else.
 */
import type { z } from 'zod'
import { BaseError, reasonOf } from '../base/errors.ts'
import { type KeptMemory, MEMORY_MOST_BYTES } from '../domain/memory/memoryRecord.ts'
import { decodeExact, encodeExact } from '../domain/records.ts'
import type { StrategyDecision } from './strategyDecision.ts'

/** The `memory` of a kind's definition. */
export interface MemoryDefinition<Memory> {
  /** 1, 2, 3, ...: raised whenever the schema changes. */
  readonly version: number
  /** Form of a memory: plain values, bigints and maps. */
  readonly schema: z.ZodType<Memory>
  /** Initial memory of an instance. */
  readonly first: Memory
  /** A memory of an older version as one of today's. Without it, or when it throws, the instance pauses. */
  upcast?(version: number, memory: unknown): Memory
}

/** Return value of `decide` for a kind with a memory. */
export interface Turn<Memory> {
  readonly decisions: readonly StrategyDecision[]
  /** The next memory; the one that was given when nothing changed. */
  readonly memory: Memory
  /** Signals that lead to no order, with the reason, for a kind that takes signals. People are notified. None when absent. */
  readonly unserved?: readonly UnservedSignal[]
}

/** A signal from outside that leads to no order. */
export interface UnservedSignal {
  /** Its number, as `view.signals` gave it, in this turn or an earlier one. */
  readonly signal: number
  /** The reason, in one sentence without a full stop. */
  readonly reason: string
}

/** A turn whose memory may be kept. */
export interface CheckedTurn {
  /** Whatever stood there; not looked at yet. */
  readonly decisions: unknown
  readonly memory: unknown
  readonly version: number
  /** Absent: none. */
  readonly unserved?: readonly UnservedSignal[]
}

/** A memory as it is handed to a kind. */
export type GivenMemory = Pick<KeptMemory, 'strategyKind' | 'version' | 'memory'>

/** The memory that is kept fits the kind no longer; the instance is not asked with it. */
export class MemoryUnfitError extends BaseError {
  /** `cause`: the error of the kind's own code. */
  constructor(reason: string, facts: Readonly<Record<string, string | number>> = {}, cause?: unknown) {
    super(reason, {
      code: 'STRATEGY_MEMORY_UNFIT',
      facts,
      cause,
      details:
        'The instance pauses and its memory is unchanged. Correct the kind (a `memory.upcast` for the older version) and restart, or discard the memory: perpd strategies forget NAME',
    })
  }
}

/** Returns the memory for a kind's turn: the first one when none is saved. Throws MemoryUnfitError. */
export function memoryFor<Memory>(
  kind: string,
  definition: MemoryDefinition<Memory>,
  kept: GivenMemory | undefined,
): Memory {
  if (kept === undefined) return definition.first
  const { version } = definition
  const facts = { kept: kept.version, kind: version }
  if (kept.strategyKind !== kind) {
    throw new MemoryUnfitError(
      `its memory belongs to the kind ${kept.strategyKind}, but its kind is now ${kind}`,
    )
  }
  if (kept.version > version) {
    throw new MemoryUnfitError(
      `its memory has version ${kept.version}, newer than the kind's ${version}`,
      facts,
    )
  }
  const raised = kept.version === version ? kept.memory : upcast(definition, kept)
  const checked = definition.schema.safeParse(raised)
  if (checked.success) return checked.data
  throw new MemoryUnfitError(
    `its memory of version ${kept.version} does not fit the schema of version ${version}: ${firstIssue(checked.error)}`,
    facts,
  )
}

function upcast<Memory>(definition: MemoryDefinition<Memory>, kept: GivenMemory): unknown {
  const facts = { kept: kept.version, kind: definition.version }
  if (definition.upcast === undefined) {
    throw new MemoryUnfitError(
      `its memory has version ${kept.version}, and the kind has version ${definition.version} without an upcast`,
      facts,
    )
  }
  try {
    return definition.upcast(kept.version, kept.memory)
  } catch (error) {
    throw new MemoryUnfitError(
      `upcast of its memory from version ${kept.version} failed: ${reasonOf(error)}`,
      facts,
      error,
    )
  }
}

/** Checks the return value of `decide` for a kind with a memory, and reads the memory back from its text. Throws TypeError or RangeError. */
export function checkTurn(definition: MemoryDefinition<unknown>, returned: unknown): CheckedTurn {
  if (
    typeof returned !== 'object' ||
    returned === null ||
    !('decisions' in returned && 'memory' in returned)
  ) {
    throw new TypeError('decide of a kind with a memory returns { decisions, memory }')
  }
  const text = encodeExact(returned.memory)
  if (text === undefined)
    throw new TypeError('the memory that decide returned contains other than plain values')
  const bytes = utf8Length(text)
  if (bytes > MEMORY_MOST_BYTES) {
    throw new RangeError(
      `the memory that decide returned has ${bytes} bytes; the most is ${MEMORY_MOST_BYTES}`,
    )
  }
  const memory = decodeExact(text)
  const checked = definition.schema.safeParse(memory)
  const unserved = unservedOf((returned as { readonly unserved?: unknown }).unserved)
  if (checked.success) {
    const turn = { decisions: returned.decisions, memory, version: definition.version }
    return unserved.length === 0 ? turn : { ...turn, unserved }
  }
  throw new TypeError(`the memory that decide returned does not fit its schema: ${firstIssue(checked.error)}`)
}

/** Decisions in the answer of a kind: a list, or a turn with its memory; none in anything else. They are not checked. */
export function decisionsIn(returned: unknown): readonly unknown[] {
  if (Array.isArray(returned)) return returned
  if (typeof returned !== 'object' || returned === null || !('decisions' in returned)) return []
  return Array.isArray(returned.decisions) ? returned.decisions : []
}

/** Most signals that a turn may speak of. */
const MOST_UNSERVED = 200

function unservedOf(value: unknown): readonly UnservedSignal[] {
  if (value === undefined) return []
  const isGood = (each: unknown): each is UnservedSignal => {
    const { signal, reason } = (each ?? {}) as Readonly<Record<string, unknown>>
    return Number.isSafeInteger(signal) && typeof reason === 'string' && reason !== '' && reason.length <= 500
  }
  if (Array.isArray(value) && value.length <= MOST_UNSERVED && value.every(isGood))
    return value.map(({ signal, reason }) => ({ signal, reason }))
  throw new TypeError('the unserved that decide returned is not a list of { signal, reason }')
}

/** Bytes of a text in UTF-8. What a kind imports has no library but the language's. */
function utf8Length(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

/** The first thing that a schema says, with the field that it says it of. */
export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'it is not such a value'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
