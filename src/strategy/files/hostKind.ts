/**
 * Runs a kind of the user's own in a thread of its own, with a limit of time for each question and a limit of memory. A thread
 * that hangs is ended; one that ended is started anew for the next turn, with the same settings. Nothing that happens in it
 * reaches another instance or this process.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '../../base/errors.ts'
import type { StrategyInstance } from '../strategy.ts'
import { type HostedKind, KindFault, type KindRun, type Scene, type ThreadEnd } from './hosted.ts'
import type { KindAnswer, KindQuestion } from './kindMessages.ts'
import { placeOfError, placesIn, shownPath } from './sourcePlace.ts'

/** Limits of a kind of the user's own. */
export interface KindLimits {
  /** Longest turn of `decide`, ms. */
  readonly decideTimeoutMs: number
  /** Most memory of its JavaScript objects, MiB. */
  readonly memoryMiB: number
}

/** How kinds are hosted. */
export interface HostOptions extends KindLimits {
  /** The program of the thread; it is given the kind's path as `workerData`. */
  readonly program: URL
  /** Longest time for loading a kind and checking its settings, ms; a minute when absent. */
  readonly loadTimeoutMs?: number
  /** How long an ended thread may go on before it counts as left behind, ms; two seconds when absent. */
  readonly endGraceMs?: number
}

/** A start competes with everything else that starts; no turn waits as long. */
const LOAD_TIMEOUT_MS = 60_000
/** Largest view that is handed over, bytes: ten thousand candles are less than a tenth of it. */
const MOST_VIEW_BYTES = 16_777_216
/** A thread that its runtime has not ended by then counts as left behind, ms. */
const END_GRACE_MS = 2_000
/** Lines that a kind may print in a minute; and the longest one, characters. */
const [MOST_LINES, LONGEST_LINE] = [30, 500]

let leftBehind = 0

/**
 * How many threads of this process were ended and still run; at most one of each instance. Node waits for them at its end: there
 * is no leaving but by a signal. V8 ends loops, regular expressions and comparisons of a sort at once; a built-in function that
 * works on much, such as `Float64Array.prototype.sort` or `indexOf`, it ends when that function returns, and a few loops of such
 * functions never.
 */
export function threadsLeftBehind(): number {
  return leftBehind
}

/** A thread that is loaded, and may be asked one question at a time. */
interface Thread {
  ask(question: KindQuestion, timeoutMs: number): Promise<KindAnswer>
  /** Resolves when it is over, or counts as left behind. */
  end(): Promise<void>
  /** Why it ended by itself; undefined while it runs. */
  fault(): KindFault | undefined
}

/** Loads a kind in a thread. Rejects with KindFault when it cannot be loaded. */
export async function hostKind(path: string, options: HostOptions): Promise<HostedKind> {
  const shown = shownPath(path)
  const loadMs = options.loadTimeoutMs ?? LOAD_TIMEOUT_MS
  const placeOf = placesIn(path)
  const sourceHash = createHash('sha256').update(readFileSync(path)).digest('hex')
  const said = createSaid()
  let raw: unknown
  let instance: StrategyInstance | undefined
  /** Threads of this kind that were ended and still run. */
  let hanging = 0

  async function start(): Promise<readonly [Thread, KindAnswer]> {
    const [thread, loaded] = startThread(path, options, said.hear)
    try {
      return [thread, checked(await within(loaded, loadMs, 'while it was loaded'))]
    } catch (error) {
      await thread.end()
      throw error
    }
  }

  /** A thread with the settings that the first one had. */
  async function startAgain(): Promise<Thread> {
    const [thread] = await start()
    try {
      checked(await thread.ask({ ask: 'params', raw }, loadMs))
      if (instance !== undefined) checked(await thread.ask({ ask: 'instance', instance }, loadMs))
      return thread
    } catch (error) {
      await thread.end()
      throw error
    }
  }

  const [first, loaded] = await start()
  if (loaded.is !== 'loaded') throw new TypeError(`a thread that was loaded answered ${loaded.is}`)
  let thread: Thread | undefined = first
  let isClosed = false

  async function endThread(): Promise<void> {
    const ending = thread
    thread = undefined
    await ending?.end()
  }

  async function askNow(question: KindQuestion, timeoutMs: number): Promise<KindAnswer> {
    if (isClosed) throw new KindFault('its thread was closed', { place: shown })
    // Another one beside it would take another core, and more memory, each turn.
    if (hanging > 0) {
      throw new KindFault(
        'its thread hangs in a built-in function, where nothing can end it, and takes a core; it runs again once that thread has ended, or after a restart',
        { place: shown },
      )
    }
    thread ??= await startAgain()
    const now = thread
    try {
      return checked(await now.ask(question, timeoutMs))
    } catch (error) {
      if (now.fault() !== undefined || (error instanceof KindFault && error.ended !== undefined)) {
        await endThread()
      }
      throw error
    }
  }

  return {
    path: shown,
    sourceHash,
    kind: loaded.kind,
    description: loaded.description,
    opensPositions: loaded.opensPositions,
    placeOf,
    onSaid: said.listen,
    async takeParams(given) {
      raw = given
      const answer = await askNow({ ask: 'params', raw }, loadMs)
      return answer.is === 'params' ? answer.issues : []
    },
    async takeInstance(given) {
      instance = given
      const answer = await askNow({ ask: 'instance', instance }, loadMs)
      return answer.is === 'needs' ? answer.needs : { symbols: [] }
    },
    async decide(scene): Promise<KindRun> {
      const crash = thread?.fault()
      if (crash !== undefined) await endThread()
      const bytes = bytesOf(scene)
      // Handing them over empties them.
      const viewBytes = bytes.byteLength
      const answer = await askNow({ ask: 'decide', bytes }, options.decideTimeoutMs)
      const returned =
        answer.is === 'decided' ? deserialize(answer.bytes) : answer.is === 'promise' ? promised : undefined
      return { returned, viewBytes, ...(crash === undefined ? {} : { crash }) }
    },
    async close() {
      isClosed = true
      await endThread()
    },
  }

  /** An answer that is none is thrown. */
  function checked(answer: KindAnswer): KindAnswer {
    if (answer.is !== 'failed') return answer
    throw new KindFault(answer.reason, { place: answer.place })
  }

  /** Ends nothing by itself: the caller ends the thread. */
  async function within<T>(work: Promise<T>, timeoutMs: number, when: string): Promise<T> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const reason = `it did not answer within ${timeoutMs} ms ${when}, and its thread was ended`
      late.reject(new KindFault(reason, { place: shown, ended: 'timeout' }))
    }, timeoutMs)
    try {
      return await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  function startThread(
    file: string,
    { program, memoryMiB }: HostOptions,
    hear: (text: string) => void,
  ): readonly [Thread, Promise<KindAnswer>] {
    const worker = new Worker(program, {
      workerData: { path: file },
      // No secret of the environment, and no option that was meant for the daemon.
      env: {},
      argv: [],
      execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
      stdin: false,
      stdout: true,
      stderr: true,
      name: shown,
      resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    })
    worker.unref()
    for (const stream of [worker.stdout, worker.stderr]) createInterface({ input: stream }).on('line', hear)
    let waiting = Promise.withResolvers<KindAnswer>()
    const loading = waiting.promise
    let fault: KindFault | undefined
    let isEnding = false
    const endedBy = (reason: string, ended: ThreadEnd, place: string | undefined): void => {
      if (isEnding || fault !== undefined) return
      fault = new KindFault(reason, { place: place ?? shown, ended })
      waiting.reject(fault)
    }
    worker.on('message', (answer: KindAnswer) => waiting.resolve(answer))
    worker.on('messageerror', (error) => endedBy(reasonOf(error), 'crash', undefined))
    worker.on('error', (error: unknown) => {
      const isMemory = (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (isMemory) endedBy(`it used more than ${memoryMiB} MiB of memory`, 'memory', undefined)
      else endedBy(`nobody caught: ${reasonOf(error)}`, 'crash', placeOfError(error))
    })
    worker.on('exit', (code) => endedBy(`it ended its thread (process.exit(${code}))`, 'exit', undefined))
    // A fault that nobody waits for is told at the next turn.
    waiting.promise.catch(() => undefined)
    const thread: Thread = {
      fault: () => fault,
      async ask(question, timeoutMs) {
        if (fault !== undefined) throw fault
        waiting = Promise.withResolvers<KindAnswer>()
        waiting.promise.catch(() => undefined)
        const transfer = question.ask === 'decide' ? [question.bytes.buffer as ArrayBuffer] : []
        worker.postMessage(question, transfer)
        return await within(waiting.promise, timeoutMs, 'in its turn')
      },
      async end() {
        isEnding = true
        let isOver = false
        const over = worker.terminate().then(() => {
          isOver = true
        })
        const grace = Promise.withResolvers<void>()
        const timer = setTimeout(grace.resolve, options.endGraceMs ?? END_GRACE_MS)
        await Promise.race([over, grace.promise])
        clearTimeout(timer)
        if (isOver) return
        hanging += 1
        leftBehind += 1
        over.then(() => {
          hanging -= 1
          leftBehind -= 1
        })
      },
    }
    return [thread, loading]
  }

  /** The scene as it crosses; a copy of exactly its size, so that it can be handed over whole. */
  function bytesOf(scene: Scene): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(serialize(scene))
    if (bytes.byteLength <= MOST_VIEW_BYTES) return bytes
    throw new KindFault(
      `its view has ${bytes.byteLength} bytes, more than ${MOST_VIEW_BYTES}; let needs ask for fewer candles or markets`,
      { place: shown },
    )
  }
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
          ? 'prints more than is shown'
          : text.length > LONGEST_LINE
            ? `${text.slice(0, LONGEST_LINE)}…`
            : text,
      )
    },
  }
}
