/**
 * Two real daemons on one journal: the first is frozen, its lock is removed, the second takes over, and the first wakes up.
 * The venue's own record is the judge.
 */
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  daemonFlags,
  type OrderRow,
  ordersOf,
  perpd,
  type Running,
  scratch,
  standingsOf,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

type Paper = Awaited<ReturnType<typeof startPaper>>

let paper: Paper
beforeAll(async () => {
  paper = await startPaper(['--paper.orderDeadlineSeconds=600', '--paper.keeperDelayMs=300'])
})
afterAll(async () => {
  paper.child.kill('SIGTERM')
  await paper.ended
})

/** Digests of every submit that the venue received. */
async function received(): Promise<readonly string[]> {
  const answer = await fetch(`${paper.control}/record`)
  return ((await answer.json()) as { readonly digest: string }[]).map(({ digest }) => digest)
}

/** Whether the kernel says that the process is stopped. */
function isFrozen({ child }: Running): boolean {
  return /^\d+ \(.*\) T /.test(readFileSync(`/proc/${child.pid}/stat`, 'latin1'))
}

/**
 * Whether the venue has closed every connection that the frozen process has to it, as hosts do with those that idle: the
 * process cannot know of it before it wakes up.
 */
function isCutOff({ child }: Running): boolean {
  const port = Number(new URL(paper.control).port).toString(16).toUpperCase().padStart(4, '0')
  const own = new Set(
    readdirSync(`/proc/${child.pid}/fd`).map((fd) => readlinkSync(`/proc/${child.pid}/fd/${fd}`)),
  )
  const rows = readFileSync(`/proc/${child.pid}/net/tcp`, 'latin1').trim().split('\n').slice(1)
  const states = rows.flatMap((row) => {
    const [, , remote = '', state = '', , , , , , inode = ''] = row.trim().split(/\s+/)
    return remote.endsWith(`:${port}`) && own.has(`socket:[${inode}]`) ? state : []
  })
  // 01 is ESTABLISHED; the last one that went is CLOSE_WAIT.
  return states.length > 0 && !states.includes('01')
}

async function over(folder: string, daemon: Running): Promise<readonly OrderRow[]> {
  return until(
    'the order is executed',
    async () => {
      const all = daemon.stdout().includes('daemon.ready') ? await standingsOf(folder) : []
      return all.includes('executed') ? ordersOf(folder) : undefined
    },
    { timeoutMs: 60_000, seen: daemon.said },
  )
}

test.concurrent.each([
  { point: 'attempt.preparing:after', isSentBy: 'the second' },
  { point: 'attempt.armed:after', isSentBy: 'the first' },
])(
  'a daemon that was frozen at $point while another took over sends nothing of its own and ends; $isSentBy sends',
  {
    timeout: 240_000,
  },
  async ({ point, isSentBy }) => {
    const folder = scratch()
    try {
      writeOnceStrategy(folder.path)
      const flags = daemonFlags(folder.path, paper.hosts)
      const first = perpd(['run', ...flags], { killAt: point, env: { KILL_WITH: 'SIGSTOP' } })
      await until('the first is frozen', () => (isFrozen(first) ? true : undefined), { seen: first.said })
      const refused = perpd(['run', ...flags])
      expect(await refused.ended).toBe(1)
      expect(refused.said()).toContain(`Another perpd uses this journal.`)

      rmSync(join(folder.path, 'journal.sqlite.lock'))
      const second = perpd(['run', ...flags])
      const early = isSentBy === 'the second' ? await over(folder.path, second) : undefined
      await until('the second is ready', () => (second.said().includes('daemon.ready') ? true : undefined), {
        seen: second.said,
      })
      await until('the venue has closed the connections of the first', () => isCutOff(first) || undefined)
      first.child.kill('SIGCONT')
      expect(await first.ended, first.said()).toBe(1)
      expect(first.said()).toContain('Another perpd has taken over this journal.')
      const rows = early ?? (await over(folder.path, second))
      second.child.kill('SIGTERM')
      expect(await second.ended).toBe(0)

      expect(rows).toHaveLength(1)
      // Whatever either of them gave to the key: the first may have signed one before its record was refused.
      const guarded = readFileSync(join(folder.path, 'journal.sqlite.signed'), 'latin1')
      const ours = (await received()).filter((digest) => guarded.includes(digest.toLowerCase()))
      expect(ours).toEqual([rows[0]?.digest])
    } finally {
      folder.remove()
    }
  },
)
