/** A worker thread of the ways out: tells the one that it is asked for, and answers with what it showed. */
import { parentPort } from 'node:worker_threads'
import { parties, type WayOutJob, wayOut } from './waysOut.ts'

parentPort?.on('message', async ({ party, seed }: WayOutJob) => {
  const found = parties.find(({ name }) => name === party)
  if (found === undefined) throw new TypeError(`no party is called ${party}`)
  parentPort?.postMessage(await wayOut(found, seed))
})
