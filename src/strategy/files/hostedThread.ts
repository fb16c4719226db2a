/**
 * A thread with a kind of the user's own in it. One that hangs is ended, and counted as long as its runtime cannot end it.
 */
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '../../base/errors.ts'
import { hangingPlace } from './hangingPlace.ts'
import { KindFault, type ThreadEnd } from './hosted.ts'
import type { KindAnswer, KindQuestion } from './kindMessages.ts'
import { countLeftThread } from './leftThreads.ts'
import { placeOfError } from './sourcePlace.ts'

/** A thread that its runtime has not ended by then counts as left behind, ms. */
const END_GRACE_MS = 2_000
/** A thread halts within a few ms, but in a built-in function. */
const HANG_LOOK_MS = 500
/** Between two looks at the memory of a thread that works, ms: it answers them between two steps of a loop. */
const MEMORY_LOOK_MS = 50
const MIB = 1_048_576
/** Buffers that the engine lets lie before it collects those that nobody holds, bytes: more than that are held. */
const LYING_BUFFERS = 64 * MIB

/** Options for making a thread. */
export interface ThreadOptions {
  /** The program of the thread; it is given the kind's path as `workerData`. */
  readonly program: URL
  /** Most memory of its JavaScript objects and its buffers together, MiB. */
  readonly memoryMiB: number
  /** Time after its end that it may keep running before it counts as left behind, ms; two seconds when absent. */
  readonly endGraceMs?: number | undefined
  /** Time spent on finding the current line of a thread that did not answer, ms; half a second when absent. */
  readonly hangLookMs?: number | undefined
  /** The kind's path as people are shown it. */
  readonly shown: string
  /** Returns the best known place of a question's subject; the file without a question. */
  readonly placeOfQuestion: (question: KindQuestion | undefined) => string
  /** Hears the lines that it prints. */
  readonly hear: (text: string) => void
  /** Told when it was ended and still runs, and when that is over. */
  readonly hangs: (isHanging: boolean) => void
}

/** A loaded thread, which takes one question at a time. */
export interface KindThread {
  /** Waits for the pending answer. Rejects with KindFault when it does not come in time, and ends nothing by itself. */
  within(answer: Promise<KindAnswer>, timeoutMs: number, when: string): Promise<KindAnswer>
  ask(question: KindQuestion, timeoutMs: number): Promise<KindAnswer>
  /** Resolves when it is over, or counts as left behind. */
  end(): Promise<void>
  /** Returns the reason why it ended by itself; undefined while it runs. */
  fault(): KindFault | undefined
}

/** Starts a thread that loads the kind of a file, with its answer to that. */
export function startKindThread(
  file: string,
  options: ThreadOptions,
): readonly [KindThread, Promise<KindAnswer>] {
  const { program, memoryMiB, endGraceMs = END_GRACE_MS, shown, placeOfQuestion, hear, hangs } = options
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
  /** Question that it has not answered yet. */
  let asked: KindQuestion | undefined
  /** The question asked last; memory that its answer left behind is found after the answer. */
  let newest: KindQuestion | undefined
  const endedBy = (reason: string, ended: ThreadEnd, place: string | undefined): void => {
    if (isEnding || fault !== undefined) return
    fault = new KindFault(reason, { place: place ?? placeOfQuestion(asked), ended })
    waiting.reject(fault)
  }
  worker.on('message', (answer: KindAnswer) => {
    asked = undefined
    waiting.resolve(answer)
  })
  worker.on('messageerror', (error) => endedBy(reasonOf(error), 'crash', undefined))
  worker.on('error', (error: unknown) => {
    const isMemory = (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    if (isMemory) endedBy(`it used more than ${memoryMiB} MiB of memory`, 'memory', undefined)
    else endedBy(`nobody caught: ${reasonOf(error)}`, 'crash', placeOfError(error))
  })
  worker.on('exit', (code) => endedBy(`it ended its thread (process.exit(${code}))`, 'exit', undefined))
  // A fault that nobody waits for is reported at the next turn.
  waiting.promise.catch(() => undefined)
  const look = memoryLook(worker, memoryMiB, () =>
    endedBy(
      `it used more than ${memoryMiB} MiB of memory, buffers included`,
      'memory',
      placeOfQuestion(newest),
    ),
  )
  const thread: KindThread = {
    fault: () => fault,
    async ask(question, timeoutMs) {
      if (fault !== undefined) throw fault
      waiting = Promise.withResolvers<KindAnswer>()
      waiting.promise.catch(() => undefined)
      asked = question
      newest = question
      const transfer = question.ask === 'decide' ? [question.bytes.buffer as ArrayBuffer] : []
      worker.postMessage(question, transfer)
      return await thread.within(waiting.promise, timeoutMs, 'in its turn')
    },
    async within(answer, timeoutMs, when) {
      const late = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => late.resolve(undefined), timeoutMs)
      const looks = setInterval(look, MEMORY_LOOK_MS)
      try {
        const inTime = await Promise.race([answer, late.promise])
        // The memory that it retains from one turn to the next, however quick they are; one that hangs now answers no look.
        if (inTime !== undefined) await Promise.race([look(), late.promise])
        if (fault?.ended === 'memory') throw fault
        if (inTime !== undefined) return inTime
      } finally {
        clearTimeout(timer)
        clearInterval(looks)
      }
      const place = await hangingPlace(worker, options.hangLookMs ?? HANG_LOOK_MS)
      const at = place === undefined ? '' : ' (it was at this line then)'
      throw new KindFault(`it did not answer within ${timeoutMs} ms ${when}${at}, and its thread was ended`, {
        place: place ?? placeOfQuestion(asked),
        ended: 'timeout',
      })
    },
    end: () => {
      isEnding = true
      return endWorker(worker, endGraceMs, hangs)
    },
  }
  return [thread, loading]
}

/** Ends a thread. Resolves when it is over, or when it counts as left behind after `graceMs`. */
async function endWorker(worker: Worker, graceMs: number, hangs: ThreadOptions['hangs']): Promise<void> {
  let isOver = false
  const over = worker.terminate().then(() => {
    isOver = true
  })
  const grace = Promise.withResolvers<void>()
  const timer = setTimeout(grace.resolve, graceMs)
  await Promise.race([over, grace.promise])
  clearTimeout(timer)
  if (isOver) return
  hangs(true)
  const isEnded = countLeftThread()
  over.then(() => {
    hangs(false)
    isEnded()
  })
}

/**
 * Looks at the memory of a thread, one look at a time, since a thread in a long function answers none. The engine itself bounds objects, but not
 * memory outside of its heap: buffers, and memories of WebAssembly. `over` is called when both together are too much.
 */
function memoryLook(worker: Worker, memoryMiB: number, over: () => void): () => Promise<void> {
  let looking: Promise<void> | undefined
  async function lookAtBuffers(): Promise<void> {
    const { used_heap_size: objects, external_memory: buffers } = await worker.getHeapStatistics()
    if (objects + buffers > memoryMiB * MIB + LYING_BUFFERS) over()
  }
  return () => {
    // A thread that is over has no memory.
    looking ??= lookAtBuffers()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined
      })
    return looking
  }
}
