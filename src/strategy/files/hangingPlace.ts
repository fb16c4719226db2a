/**
 * Finds the place of a thread that does not answer: the debugger of this process's runtime halts it for an instant and gives its call frames. No port
 * is opened for it, and nobody else can enter.
 */
import { Session } from 'node:inspector'
import type { Worker } from 'node:worker_threads'
import { placeOfFrames } from './sourcePlace.ts'

/** Message of a thread's debugger, as far as it is used; its frames count lines from 0. */
interface Told {
  readonly method?: string
  readonly params?: {
    readonly scriptId?: string
    readonly url?: string
    readonly callFrames?: readonly {
      readonly location: { readonly scriptId: string; readonly lineNumber: number }
    }[]
  }
}

/**
 * Returns `strategies/mine.ts:14` of the innermost frame of a running thread that lies in a user's file. Undefined when none does, or when the thread
 * does not halt within `waitMs`, as in a built-in function with much work. The thread continues afterwards.
 */
export async function hangingPlace(worker: Worker, waitMs: number): Promise<string | undefined> {
  const session = new Session()
  session.connect()
  const found = Promise.withResolvers<string | undefined>()
  const timer = setTimeout(() => found.resolve(undefined), waitMs)
  const urls = new Map<string, string>()
  let threadSession: string | undefined
  let asked = 0
  const ask = (method: string): void => {
    if (threadSession === undefined) return
    const message = JSON.stringify({ id: ++asked, method })
    session.post('NodeWorker.sendMessageToWorker', { sessionId: threadSession, message })
  }
  session.on('NodeWorker.attachedToWorker', ({ params }) => {
    // Its `workerId` is another number than the thread's.
    if (!params.workerInfo.title.startsWith(`[worker ${worker.threadId}]`)) return
    threadSession = params.sessionId
    ask('Debugger.enable')
    ask('Debugger.pause')
  })
  session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
    if (sessionId !== threadSession) return
    const { method, params } = JSON.parse(message) as Told
    if (method === 'Debugger.scriptParsed') urls.set(params?.scriptId ?? '', params?.url ?? '')
    if (method !== 'Debugger.paused') return
    const frames = params?.callFrames ?? []
    found.resolve(
      placeOfFrames(
        frames.map(({ location }) => ({
          url: urls.get(location.scriptId) ?? '',
          line: location.lineNumber + 1,
        })),
      ),
    )
  })
  try {
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    return await found.promise
  } finally {
    clearTimeout(timer)
    // A thread that stays halted could not be ended.
    ask('Debugger.disable')
    session.post('NodeWorker.disable')
    session.disconnect()
  }
}
