/** The program of the thread that writes the journal's file: it answers the questions of `threadWriter.ts`. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { JournalFaultError } from '../journal.ts'
import { openFault } from '../journalFaults.ts'
import { createFileWriter, type FileWriter } from './fileWriter.ts'
import { openHighWaterMark } from './highWaterMark.ts'
import { heldLease } from './lease.ts'
import { configure, connect } from './pragmas.ts'
import { sentFault, type WriterAnswer, type WriterQuestion, type WriterStart } from './writerMessages.ts'

if (parentPort !== null) serve(parentPort, workerData as WriterStart)

function serve(port: MessagePort, start: WriterStart): void {
  let tookRoom = false
  const answer = (more: Omit<WriterAnswer, 'tookRoom'>) => {
    port.postMessage({ ...more, tookRoom } satisfies WriterAnswer)
    tookRoom = false
  }
  const refuse = (error: unknown) => {
    if (!(error instanceof JournalFaultError)) throw error
    answer({ fault: sentFault(error) })
  }
  try {
    const writer = openWriter(start, () => {
      tookRoom = true
    })
    port.on('message', (question: WriterQuestion) => {
      asked(writer, question).then((seq) => answer(seq === undefined ? {} : { seq }), refuse)
    })
    answer({})
  } catch (cause) {
    refuse(openFault(start.path, cause))
  }
}

/** Opens what this thread writes through: a connection and the mark. Throws what sqlite and the file system throw. */
function openWriter(start: WriterStart, tookRoom: () => void): FileWriter {
  const { path, headPath, maxBytes, ballast, tail, intents, leaseEpoch } = start
  const db = connect(path)
  configure(db, path, maxBytes)
  const hashAt = (seq: number) => (seq === tail.seq ? tail.hash : undefined)
  const highWaterMark = openHighWaterMark(path, headPath, tail, hashAt)
  const lease = heldLease(db, path, leaseEpoch)
  return createFileWriter({ db, path, tail, intents, lease, highWaterMark, ballast, tookRoom })
}

async function asked(writer: FileWriter, question: WriterQuestion): Promise<number | undefined> {
  switch (question.call) {
    case 'append':
      return await writer.append(question.records)
    case 'keep':
      await writer.keep(question.snapshot)
      return
    case 'checkpoint':
      await writer.checkpoint()
      return
    case 'close':
      await writer.close()
      return
  }
}
