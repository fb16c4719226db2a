/** The real daemon on the real paper venue, killed with SIGKILL at a record of its journal and started again. The venue's record judges. */
import { expect } from 'vitest'
import {
  daemonFlags,
  ordersOf,
  type PaperHosts,
  perpd,
  type Running,
  scratch,
  standingsOf,
  until,
  writeOnceStrategy,
} from './processes.ts'

/** Flags of a venue where orders end soon. */
export const hastyVenue = ['--paper.orderDeadlineSeconds=6', '--paper.keeperDelayMs=300'] as const

/** Every submit the venue received, by its own record. */
interface Received {
  readonly digest: string
  readonly account: string
}

async function received(control: string): Promise<readonly Received[]> {
  const answer = await fetch(`${control}/record`)
  return (await answer.json()) as readonly Received[]
}

const ends = new Set(['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused'])

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
}

/**
 * Runs a daemon that places one market order, kills it at a point (`attempt.armed:after`), starts it again, and expects that
 * nothing is sent twice and every intent ends.
 */
export async function expectOrderSurvives(
  point: string,
  venue: { readonly hosts: PaperHosts; readonly control: string },
): Promise<void> {
  const folder = scratch()
  try {
    writeOnceStrategy(folder.path)
    const flags = daemonFlags(folder.path, venue.hosts)
    const first = perpd(['run', ...flags], { killAt: point })
    expect(await first.ended, first.said()).toBe('SIGKILL')

    const second = perpd(['run', ...flags])
    const rows = await until(
      'every intent ended and a position is open',
      async () => {
        const all = second.stdout().includes('daemon.ready') ? await standingsOf(folder.path) : []
        const isOver = all.length > 0 && all.every((standing) => ends.has(standing))
        return isOver && all.includes('executed') ? ordersOf(folder.path) : undefined
      },
      { timeoutMs: 60_000, seen: second.said },
    )
    await stop(second)

    const digests = (await received(venue.control)).map(({ digest }) => digest)
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
}
