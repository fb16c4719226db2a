/**
 * The real daemon on the real paper venue, killed with SIGKILL before and after every journal record of a market order's
 * road, and started again. The venue's own record is the judge.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  daemonFlags,
  ordersOf,
  perpd,
  type Running,
  scratch,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

type Paper = Awaited<ReturnType<typeof startPaper>>

let paper: Paper

beforeAll(async () => {
  paper = await startPaper(['--paper.orderDeadlineSeconds=6', '--paper.keeperDelayMs=300'])
})

afterAll(async () => {
  paper.child.kill('SIGTERM')
  await paper.ended
})

/** Every submit the venue received, by its own record. */
interface Received {
  readonly digest: string
  readonly account: string
}

async function received(): Promise<readonly Received[]> {
  const answer = await fetch(`${paper.control}/record`)
  return (await answer.json()) as readonly Received[]
}

const ends = new Set(['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused'])
const kinds = [
  'intent.accepted',
  'attempt.preparing',
  'attempt.armed',
  'send.result',
  'landed',
  'child.executed',
  'intent.closed',
]

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
}

const points = kinds.flatMap((kind) => [`${kind}:before`, `${kind}:after`])

test.concurrent.each(points)(
  'killed at %s: nothing is sent twice and every intent ends',
  { timeout: 240_000 },
  async (point) => {
    const folder = scratch()
    try {
      writeOnceStrategy(folder.path)
      const flags = daemonFlags(folder.path, paper.hosts)
      const first = perpd(['run', ...flags], { killAt: point })
      expect(await first.ended, first.said()).toBe('SIGKILL')

      const second = perpd(['run', ...flags])
      const rows = await until(
        'every intent ended and a position is open',
        async () => {
          const all = second.stdout().includes('daemon.ready') ? await ordersOf(folder.path) : []
          const isOver = all.length > 0 && all.every(({ status }) => ends.has(status))
          return isOver && all.some(({ status }) => status === 'executed') ? all : undefined
        },
        { timeoutMs: 60_000, seen: second.said },
      )
      await stop(second)

      const digests = (await received()).map(({ digest }) => digest)
      expect(new Set(digests).size, 'a digest was received twice').toBe(digests.length)
      const executed = rows.filter(({ status }) => status === 'executed')
      expect(executed, JSON.stringify(rows)).toHaveLength(1)
      // What the journal says was executed was received once; what it says never landed was received at most once.
      for (const { digest, status } of rows) {
        const times = digests.filter((each) => each === digest).length
        expect(times).toBe(status === 'executed' ? 1 : Math.min(times, 1))
      }
    } finally {
      folder.remove()
    }
  },
)
