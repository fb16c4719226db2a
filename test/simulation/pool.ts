/** A few worker threads that take one job after the other, each answering with one message. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Does all jobs; results stand in the order of the jobs. Rejects when a worker ends by a fault of its own. */
export async function runJobs<Job, Result>(script: URL, jobs: readonly Job[]): Promise<readonly Result[]> {
  const results: Result[] = []
  let next = 0
  async function drive(): Promise<void> {
    const worker = new Worker(script)
    try {
      while (next < jobs.length) {
        const index = next
        next += 1
        results[index] = await ask<Job, Result>(worker, jobs[index] as Job)
      }
    } finally {
      await worker.terminate()
    }
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
