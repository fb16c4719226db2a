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

/** An end at a point: by which means, with which exit code or signal, and what was said. */
interface End {
  /** A word of `killAt.ts`. */
  readonly with: string
  readonly ended: number | NodeJS.Signals
  readonly said: (running: Running) => void
}

const killed: End = { with: '', ended: 'SIGKILL', said: () => undefined }

/** The end of a daemon whose thread that writes the journal ends by one of the means of `killAt.ts`: it says so once, with its reason. */
export function threadEnded(by: 'memory' | 'throw', reason: string): End {
  return {
    with: by,
    ended: 1,
    said(running) {
      const lines = running.stdout().split('\n')
      const fatal = lines.filter((line) => line.includes('"event":"daemon.failed"'))
      expect(fatal, running.said()).toHaveLength(1)
      expect(fatal[0]).toContain('The journal could not be written.')
      expect(fatal[0]).toContain(reason)
    },
  }
}

/**
 * Runs a daemon that places one market order, kills it at a point (`attempt.armed:after`), starts it again, and expects that
 * nothing is sent twice and every intent ends.
 */
export async function expectOrderSurvives(
  point: string,
  venue: { readonly hosts: PaperHosts; readonly control: string },
  endOf: End = killed,
): Promise<void> {
  const folder = scratch()
  try {
    writeOnceStrategy(folder.path)
    const flags = daemonFlags(folder.path, venue.hosts)
    const first = perpd(['run', ...flags], { killAt: point, env: { KILL_WITH: endOf.with } })
    expect(await first.ended, first.said()).toBe(endOf.ended)
    endOf.said(first)

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
