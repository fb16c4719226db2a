/** A worker thread of the adversary test: runs the blocks it is asked for, and answers with what they showed. */
import { parentPort } from 'node:worker_threads'
import { type BlockJob, reportOf } from './seeds.ts'

parentPort?.on('message', async (job: BlockJob) => {
  parentPort?.postMessage(await reportOf(job))
})
