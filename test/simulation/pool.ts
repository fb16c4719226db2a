/** A few worker threads that take one job after the other, each answering with one message. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Threads that have done their jobs, by their script: loading the source again for the next ones takes most of a second of a processor. They hold no process up. */
const resting = new Map<string, Worker[]>()

/** Does all jobs; results stand in the order of the jobs. Rejects when a worker ends by a fault of its own. */
export async function runJobs<Job, Result>(script: URL, jobs: readonly Job[]): Promise<readonly Result[]> {
  const results: Result[] = []
  const rested = resting.get(script.href) ?? []
  resting.set(script.href, rested)
  let next = 0
  async function drive(): Promise<void> {
    const worker = rested.pop() ?? new Worker(script)
    worker.ref()
    try {
      while (next < jobs.length) {
        const index = next
        next += 1
        results[index] = await ask<Job, Result>(worker, jobs[index] as Job)
      }
    } catch (error) {
      await worker.terminate()
      throw error
    }
    worker.unref()
    rested.push(worker)
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, drive))
  return results
}

function ask<Job, Result>(worker: Worker, job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (result: Result) => {
      worker.off('error', reject)
      resolve(result)
    })
    worker.postMessage(job)
  })
}
