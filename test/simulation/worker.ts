/** A worker thread of the simulation: runs the seeds or the crash points it is asked for, and answers with what they showed. */
import { parentPort } from 'node:worker_threads'
import { type CrashJob, type CrashPoints, everyCrash, everyPair, everyTakeover } from './crashPoints.ts'
import { engineStories, stories } from './scenarios.ts'
import { addWorld, type Batch, emptyReport, type Report } from './seeds.ts'
import { runSeed } from './tiers.ts'

async function seedsOf({ tier, from, seeds, isCrowded }: Batch): Promise<Report> {
  const report = emptyReport()
  for (let seed = from; seed < from + seeds; seed += 1)
    addWorld(report, tier, await runSeed(tier, seed, { isCrowded }), isCrowded)
  return report
}

async function crashesOf({ tier, story, what, share }: CrashJob): Promise<CrashPoints> {
  const found = [...stories, ...engineStories].find(({ name }) => name === story)
  if (found === undefined) throw new RangeError(`there is no story "${story}"`)
  if (what === 'takeover') return everyTakeover(tier, found, share)
  return what === 'pair' ? everyPair(tier, found, share) : everyCrash(tier, found, share)
}

parentPort?.on('message', async (job: Batch | CrashJob) => {
  parentPort?.postMessage(job.kind === 'seeds' ? await seedsOf(job) : await crashesOf(job))
})
