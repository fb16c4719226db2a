/**
 * A `FileWriter` in a thread of its own: a commit waits for the disk there, and the event loop of this thread goes on meanwhile. A thread that
 * ends before it has answered leaves nobody knowing what the disk holds: that is the fault of every call then and later.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { JournalFaultError } from '../journal.ts'
import { closedFault, writeFault } from '../journalFaults.ts'
import type { FileWriter } from './fileWriter.ts'
import { receivedFault, type WriterAnswer, type WriterQuestion, type WriterStart } from './writerMessages.ts'

const program = new URL(
  import.meta.url.endsWith('.ts') ? './writerThread.ts' : './writerThread.js',
  import.meta.url,
)

/**
 * Most memory of the thread's objects, MiB: the records of a commit; what is young is little. The texts of a snapshot are none of them, whatever
 * their size: a thread that has no room for a message ends the whole process without a word.
 */
const resourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 }

/** Makes bytes of a text, which are handed over to the thread and not copied. */
const encoder = new TextEncoder()

/** The environment with the folder of compiled code: a thread knows of one by that alone, and takes half of its start without it. */
function cachedEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) }
}

/** Starts the thread. What is asked before it has opened the file waits. `tookRoom` is called when it took from the ballast. */
export function startThreadWriter(start: WriterStart, tookRoom: () => void): FileWriter {
  const worker = new Worker(program, { name: 'journal', workerData: start, env: cachedEnv(), resourceLimits })
  const waiting: PromiseWithResolvers<number | undefined>[] = []
  let fault: JournalFaultError | undefined
  let closing: Promise<unknown> | undefined
  let isOpen = false
  const ended = Promise.withResolvers<JournalFaultError>()

  function expectAnswer(): Promise<number | undefined> {
    const answer = Promise.withResolvers<number | undefined>()
    // A process lives as long as something is being written, and not for a journal that nobody closed.
    if (waiting.push(answer) === 1) worker.ref()
    return answer.promise
  }

  async function ask(question: WriterQuestion, handedOver: ArrayBuffer[] = []): Promise<number | undefined> {
    if (fault !== undefined) throw fault
    if (closing !== undefined) throw closedFault(start.path)
    // A question that cannot be sent gets no answer, and nobody may wait for it: answers come in the order of the questions.
    worker.postMessage(question, handedOver)
    return await expectAnswer()
  }

  function endedBy(cause: unknown): void {
    fault ??= writeFault(start.path, waiting.length, cause)
    for (const { reject } of waiting.splice(0)) reject(fault)
    if (closing === undefined) ended.resolve(fault)
  }

  worker.on('message', (answer: WriterAnswer) => {
    if (answer.tookRoom) tookRoom()
    const asked = waiting.shift()
    if (waiting.length === 0) worker.unref()
    if (answer.fault === undefined) {
      isOpen = true
      asked?.resolve(answer.seq)
      return
    }
    const received = receivedFault(answer.fault)
    // A thread that could not open the file writes nothing: all who ask get the reason. It is set at once, since the exit may follow in this very turn.
    if (!isOpen) fault ??= received
    asked?.reject(received)
  })
  worker.on('error', endedBy)
  worker.on('messageerror', endedBy)
  worker.on('exit', (code) => endedBy(new Error(`the thread that writes it ended (${code})`)))
  // The first answer says that the file is open, or why not; who asks is given the reason.
  expectAnswer().catch(() => undefined)

  return {
    append: async (records) => (await ask({ call: 'append', records })) ?? 0,
    async keep(snapshot) {
      const [head, part] = [bytesOf(snapshot.head), bytesOf(snapshot.part)]
      await ask({ call: 'keep', snapshot: { ...snapshot, head, part } }, [head.buffer, part.buffer])
    },
    checkpoint: async () => void (await ask({ call: 'checkpoint' })),
    ended: ended.promise,
    async close() {
      closing ??= ask({ call: 'close' }).finally(() => {
        fault ??= closedFault(start.path)
        return worker.terminate()
      })
      await closing
    },
  }
}

function bytesOf(text: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof text === 'string' ? encoder.encode(text) : new Uint8Array(text)
}
