/**
 * Runs a kind of the user's own in a separate thread, with a time limit for each question and a memory limit. A hanging thread is ended; an ended one
 * is started anew for the next turn, with the same settings. Nothing that happens in it reaches another instance or this process.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { defined } from '../../base/defined.ts'
import { MemoryUnfitError } from '../kindMemory.ts'
import type { StrategyInstance } from '../strategy.ts'
import { type HostedKind, KindFault, type KindRun, type Scene } from './hosted.ts'
import { type KindThread, startKindThread } from './hostedThread.ts'
import type { KindAnswer, KindQuestion } from './kindMessages.ts'
import { placesIn, shownPath } from './sourcePlace.ts'

/** Limits of a kind of the user's own. */
export interface KindLimits {
  /** Longest turn of `decide`, ms. */
  readonly decideTimeoutMs: number
  /** Most memory of its JavaScript objects and its buffers together, MiB. */
  readonly memoryMiB: number
}

/** Options for hosting kinds. */
export interface HostOptions extends KindLimits {
  /** The program of the thread; it is given the kind's path as `workerData`. */
  readonly program: URL
  /** Longest time for loading a kind and checking its settings, ms; a minute when absent. */
  readonly loadTimeoutMs?: number
  /** Time after its end that a thread may keep running before it counts as left behind, ms; two seconds when absent. */
  readonly endGraceMs?: number
  /** Time spent on finding the current line of a thread that did not answer, ms; half a second when absent. */
  readonly hangLookMs?: number
}

/** A start competes with everything else that starts; no turn waits as long. */
const LOAD_TIMEOUT_MS = 60_000
/** Largest view that is handed over, bytes: ten thousand candles are less than a tenth of it. */
const MOST_VIEW_BYTES = 16_777_216
/** Lines that a kind may print in a minute; and the longest one, characters. */
const [MOST_LINES, LONGEST_LINE] = [30, 500]

/** Loads a kind in a thread. Rejects with KindFault when it cannot be loaded. */
export async function hostKind(path: string, options: HostOptions): Promise<HostedKind> {
  const shown = shownPath(path)
  const loadMs = options.loadTimeoutMs ?? LOAD_TIMEOUT_MS
  const placeOf = placesIn(path)
  const sourceHash = createHash('sha256').update(readFileSync(path)).digest('hex')
  const said = createSaid()
  const placeOfQuestion = (question: KindQuestion | undefined) =>
    question?.ask === 'decide' ? placeOf() : shown
  const threads = createThreads(path, shown, loadMs, { ...options, placeOfQuestion, hear: said.hear })
  const loaded = await threads.load()

  return {
    path: shown,
    sourceHash,
    modules: loaded.modules,
    kind: loaded.kind,
    description: loaded.description,
    opensPositions: loaded.opensPositions,
    remembers: loaded.remembers,
    takesSignals: loaded.takesSignals,
    placeOf,
    onSaid: said.listen,
    async takeParams(raw) {
      const answer = await threads.ask({ ask: 'params', raw }, loadMs)
      return answer.is === 'params' ? answer.issues : []
    },
    async takeInstance(instance) {
      const answer = await threads.ask({ ask: 'instance', instance }, loadMs)
      return answer.is === 'needs' ? answer.needs : { symbols: [] }
    },
    async decide(scene): Promise<KindRun> {
      const crash = threads.fault()
      if (crash !== undefined) await threads.end()
      const bytes = bytesOf(scene, shown)
      // Handing them over empties them.
      const viewBytes = bytes.byteLength
      const answer = await threads.ask({ ask: 'decide', bytes }, options.decideTimeoutMs)
      const returned =
        answer.is === 'decided' ? deserialize(answer.bytes) : answer.is === 'promise' ? promised : undefined
      const { spentMs, status } = answer.is === 'decided' ? answer : {}
      return { returned, viewBytes, ...defined({ spentMs, status, crash }) }
    },
    close: threads.close,
  }
}

/** The thread of a kind, and those that come after it with the same settings. */
interface Threads {
  /** Starts the first one. Rejects with KindFault when the kind cannot be loaded. */
  load(): Promise<LoadedAnswer>
  /** Asks the one that runs, or a new one; ends one that hangs. Rejects with KindFault for an answer that is none. */
  ask(question: KindQuestion, timeoutMs: number): Promise<KindAnswer>
  /** Returns the reason why the running one ended by itself; undefined: it did not. */
  fault(): KindFault | undefined
  end(): Promise<void>
  /** Ends it for good. */
  close(): Promise<void>
}

type LoadedAnswer = Extract<KindAnswer, { is: 'loaded' }>

function createThreads(
  path: string,
  shown: string,
  loadMs: number,
  options: HostOptions & {
    readonly hear: (text: string) => void
    readonly placeOfQuestion: (question: KindQuestion | undefined) => string
  },
): Threads {
  const { placeOfQuestion } = options
  let raw: unknown
  let instance: StrategyInstance | undefined
  let thread: KindThread | undefined
  let isClosed = false
  /** Threads of this kind that were ended and still run. */
  let hanging = 0

  async function start(): Promise<readonly [KindThread, KindAnswer]> {
    const hangs = (isHanging: boolean) => {
      hanging += isHanging ? 1 : -1
    }
    const [started, loaded] = startKindThread(path, { ...options, shown, hangs })
    try {
      return [started, checked(await started.within(loaded, loadMs, 'while it was loaded'), shown)]
    } catch (error) {
      await started.end()
      throw error
    }
  }

  /** A thread with the settings that the first one had. */
  async function startAgain(): Promise<KindThread> {
    const [started] = await start()
    try {
      checked(await started.ask({ ask: 'params', raw }, loadMs), shown)
      if (instance !== undefined) checked(await started.ask({ ask: 'instance', instance }, loadMs), shown)
      return started
    } catch (error) {
      await started.end()
      throw error
    }
  }

  async function end(): Promise<void> {
    const ending = thread
    thread = undefined
    await ending?.end()
  }

  return {
    async load() {
      const [first, loaded] = await start()
      if (loaded.is !== 'loaded') throw new TypeError(`a thread that was loaded answered ${loaded.is}`)
      thread = first
      return loaded
    },
    async ask(question, timeoutMs) {
      if (question.ask === 'params') raw = question.raw
      if (question.ask === 'instance') instance = question.instance
      if (isClosed) throw new KindFault('its thread was closed', { place: shown })
      // A second thread next to it would take another core, and more memory, each turn.
      if (hanging > 0) {
        throw new KindFault(
          'its thread hangs in a built-in function, cannot be ended, and uses a core; the kind resumes when that thread ends, or after a restart',
          { place: shown },
        )
      }
      thread ??= await startAgain()
      const now = thread
      try {
        return checked(await now.ask(question, timeoutMs), placeOfQuestion(question))
      } catch (error) {
        if (now.fault() !== undefined || (error instanceof KindFault && error.ended !== undefined)) {
          await end()
        }
        throw error
      }
    },
    fault: () => thread?.fault(),
    end,
    async close() {
      isClosed = true
      await end()
    },
  }
}

/** An answer that is none is thrown; `place`: where to look when it does not say where. */
function checked(answer: KindAnswer, place: string): KindAnswer {
  if (answer.is === 'unfit') throw new MemoryUnfitError(answer.reason, answer.facts)
  if (answer.is !== 'failed') return answer
  throw new KindFault(answer.reason, { place: answer.place ?? place })
}

/** The scene as it crosses; a copy of exactly its size, so that it can be handed over whole. */
function bytesOf(scene: Scene, shown: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(serialize(scene))
  if (bytes.byteLength <= MOST_VIEW_BYTES) return bytes
  throw new KindFault(
    `its view has ${bytes.byteLength} bytes, more than ${MOST_VIEW_BYTES}; request fewer candles or markets in needs`,
    { place: shown },
  )
}

/** Stands for the promise that `decide` returned. */
const promised = new Promise<never>(() => {})

/** Hears the lines of all threads of a kind, no more of them than somebody reads. */
function createSaid() {
  let listener: ((text: string) => void) | undefined
  let [left, sinceMs] = [MOST_LINES, performance.now()]
  return {
    listen: (to: (text: string) => void) => {
      listener = to
    },
    hear: (text: string) => {
      if (performance.now() - sinceMs > 60_000) [left, sinceMs] = [MOST_LINES, performance.now()]
      if (text.trim() === '' || left <= 0) return
      left -= 1
      listener?.(
        left === 0
          ? 'prints more than the log shows'
          : text.length > LONGEST_LINE
            ? `${text.slice(0, LONGEST_LINE)}…`
            : text,
      )
    },
  }
}
