/** A worker thread of the simulation: runs the seeds it is asked for, and answers with their sum. */
import { parentPort } from 'node:worker_threads'
import { addWorld, type Batch, emptyReport } from './seeds.ts'
import { runSeed } from './tiers.ts'

parentPort?.on('message', async ({ tier, from, seeds, keepsTrace }: Batch) => {
  const report = emptyReport()
  for (let seed = from; seed < from + seeds; seed += 1) {
    addWorld(report, tier, await runSeed(tier, seed, { keepsTrace }))
  }
  parentPort?.postMessage(report)
})
