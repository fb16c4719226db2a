/**
 * A scenario: faults at given times after the start of the venue. `set` changes switches, `wire` adds a rule; with `forMs`
 * each is taken back after that time. `reorg` reorganises the chain, once.
 */
import { parse } from 'yaml'
import { fileBounds } from '../../base/boundedJson.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { isObject } from '../../base/isObject.ts'
import { jsonProblem, parseStrict } from '../../base/strictJson.ts'
import { readTextFile } from '../../base/textFile.ts'
import { readWireFault } from '../http/wireFaultRule.ts'
import type { WireFaults } from '../http/wireFaults.ts'
import { applyFaults, type Faults, noFaults, showsAtOnce } from '../venue/venueFaults.ts'
import { type ReorgOrder, readReorg } from './reorgControl.ts'

/** One step. */
export interface ScenarioStep {
  /** Milliseconds after the start. */
  readonly atMs: number
  /** Milliseconds until it is taken back; undefined = it stays. */
  readonly forMs: number | undefined
  readonly set: Readonly<Record<string, unknown>> | undefined
  readonly wire: Readonly<Record<string, unknown>> | undefined
  readonly reorg?: ReorgOrder
}

/** Longest file, characters: the YAML parser needs seconds for a few megabytes of nonsense. */
const MAX_FILE_LENGTH = 1_048_576

/** Most steps of a scenario. */
const MAX_SCENARIO_STEPS = 1000

/** Reads the steps of a scenario; a text says what is wrong, with the number of the step. */
export function readScenario(value: unknown): ScenarioStep[] | string {
  const list = isObject(value) ? value.faults : value
  if (!Array.isArray(list)) return 'a scenario is a list of steps, or an object with the list `faults`'
  if (list.length > MAX_SCENARIO_STEPS) return `a scenario has at most ${MAX_SCENARIO_STEPS} steps`
  const steps: ScenarioStep[] = []
  for (const [i, step] of list.entries()) {
    const wrong = wrongStep(step)
    if (wrong !== undefined) return `step ${i + 1}: ${wrong}`
    const { set, wire } = step
    const reorg = step.reorg === undefined ? undefined : readReorg(step.reorg)
    if (typeof reorg === 'string') return `step ${i + 1}: ${reorg}`
    steps.push({
      atMs: step.atMs ?? 0,
      forMs: step.forMs,
      set,
      wire: wire === undefined ? undefined : { id: `step-${i + 1}`, ...wire },
      ...defined({ reorg }),
    })
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}

function wrongStep(step: unknown): string | undefined {
  if (!isObject(step)) return 'it must be an object'
  for (const name of Object.keys(step)) {
    if (!['atMs', 'forMs', 'set', 'wire', 'reorg'].includes(name)) {
      return `unknown field ${name}; known are atMs, forMs, set, wire and reorg`
    }
  }
  for (const name of ['atMs', 'forMs'] as const) {
    const value = step[name]
    if (value !== undefined && !(typeof value === 'number' && Number.isInteger(value) && value >= 0)) {
      return `${name} must be a whole number of milliseconds`
    }
  }
  if (step.set === undefined && step.wire === undefined && step.reorg === undefined) {
    return 'it needs `set`, `wire` or `reorg`'
  }
  if (step.set !== undefined) {
    const wrong = applyFaults(noFaults(), step.set)
    if (wrong !== undefined) return wrong
  }
  if (step.wire !== undefined) {
    const read = readWireFault(step.wire, 'step')
    if (typeof read === 'string') return read
  }
  return undefined
}

/**
 * Steps of faults that are there from the start, from JSON text: an object or a list of objects as the control routes take
 * them, wire rules (which have a `kind`) and switches mixed. A text says what is wrong.
 */
export function readFaults(text: string): ScenarioStep[] | string {
  let value: unknown
  try {
    value = parseStrict(text, fileBounds)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return jsonProblem(error)
  }
  const list = Array.isArray(value) ? value : [value]
  return readScenario(list.map((one) => (isObject(one) && 'kind' in one ? { wire: one } : { set: one })))
}

/** Reads a YAML or JSON file. Throws BaseError PAPER_SCENARIO_UNREADABLE. */
export function loadScenario(path: string): ScenarioStep[] {
  const unreadable = (why: string): BaseError =>
    new BaseError(`The scenario file cannot be used: ${why}.`, {
      code: 'PAPER_SCENARIO_UNREADABLE',
      facts: { path },
      details: 'Nothing was started. Correct the file; docs/reference/paper-venue.md shows one.',
    })
  let text: string
  let value: unknown
  try {
    text = readTextFile(path)
  } catch (error) {
    throw unreadable(reasonOf(error))
  }
  if (text.length > MAX_FILE_LENGTH) throw unreadable(`it has more than ${MAX_FILE_LENGTH} characters`)
  try {
    value = parse(text)
  } catch (error) {
    throw unreadable(reasonOf(error))
  }
  const steps = readScenario(value)
  if (typeof steps === 'string') throw unreadable(steps)
  return steps
}

/** Plays a scenario; call it with the time as often as there is something to look at. */
export function createScenario(
  steps: readonly ScenarioStep[],
  startMs: number,
  targets: {
    readonly faults: Faults
    readonly wire: WireFaults
    /** Forgets kept answers, so that a fault shows at once. */
    readonly forget: () => void
    readonly reorganise: (order: ReorgOrder) => void
  },
): (nowMs: number) => void {
  const due: { readonly atMs: number; readonly work: () => void }[] = []
  const schedule = (atMs: number, work: () => void): void => {
    due.push({ atMs, work })
    due.sort((a, b) => a.atMs - b.atMs)
  }
  const change = (switches: Readonly<Record<string, unknown>>): void => {
    applyFaults(targets.faults, switches)
    targets.wire.note(switches)
    if (showsAtOnce(switches)) targets.forget()
  }
  for (const { atMs, forMs, set, wire, reorg } of steps) {
    schedule(startMs + atMs, () => {
      if (reorg !== undefined) {
        targets.reorganise(reorg)
        targets.wire.note({ reorg })
      }
      if (set !== undefined) {
        const before = Object.fromEntries(
          Object.keys(set).map((name) => [name, targets.faults[name as keyof Faults]]),
        )
        change(set)
        if (forMs !== undefined) schedule(startMs + atMs + forMs, () => change(before))
      }
      if (wire === undefined) return
      const rule = targets.wire.add(wire)
      if (typeof rule !== 'string' && forMs !== undefined) {
        schedule(startMs + atMs + forMs, () => targets.wire.remove(rule.id))
      }
    })
  }
  return (nowMs) => {
    while (due[0] !== undefined && due[0].atMs <= nowMs) due.shift()?.work()
  }
}
