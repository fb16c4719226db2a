/**
 * The real daemon in the relay lane on the real paper venue and its chain, killed with SIGKILL where it hurts most: before
 * the signature is durable, while the one POST is in the air, and before the landing is written.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  daemonFlags,
  ordersOf,
  perpd,
  type Running,
  scratch,
  standingsOf,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

let paper: Awaited<ReturnType<typeof startPaper>>

beforeAll(async () => {
  paper = await startPaper([
    '--paper.keeperDelayMs=300',
    '--paper.relayDelayMs=100',
    '--paper.safeLagBlocks=2',
  ])
})

afterAll(async () => {
  paper.child.kill('SIGTERM')
  await paper.ended
})

async function received(): Promise<readonly { readonly digest: string; readonly lane: string }[]> {
  const answer = await fetch(`${paper.control}/record`)
  return (await answer.json()) as readonly { readonly digest: string; readonly lane: string }[]
}

function relayFlags(folder: string): string[] {
  const rpc = paper.hosts.rpc.slice(0, 1).map((url) => `--rpc.http=${url}`)
  return [...daemonFlags(folder, paper.hosts), ...rpc, '--account.lane=relay']
}

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
}

test.concurrent.each(['attempt.armed:before', 'send.result:before', 'landed:before'])(
  'killed at %s in the relay lane: the order is found by the chain, and nothing is sent twice',
  { timeout: 240_000 },
  async (point) => {
    const folder = scratch()
    try {
      writeOnceStrategy(folder.path)
      const first = perpd(['run', ...relayFlags(folder.path)], { killAt: point })
      expect(await first.ended, first.said()).toBe('SIGKILL')

      const second = perpd(['run', ...relayFlags(folder.path)])
      const rows = await until(
        'a position is open by the chain',
        async () => {
          const all = second.stdout().includes('daemon.ready') ? await standingsOf(folder.path) : []
          return all.includes('executed') ? ordersOf(folder.path) : undefined
        },
        { timeoutMs: 60_000, seen: second.said },
      )
      await stop(second)
      expect(rows.map(({ status }) => status)).toEqual(['executed'])
      expect(rows[0]?.requestId).toBeNull()
      const mine = (await received()).filter(({ digest }) => digest === rows[0]?.digest)
      expect(mine.map(({ lane }) => lane)).toEqual(['relay'])
    } finally {
      folder.remove()
    }
  },
)

test.concurrent('killed between the durable signature and the send: it is unknown, and is not sent', {
  timeout: 240_000,
}, async () => {
  const folder = scratch()
  try {
    writeOnceStrategy(folder.path)
    const first = perpd(['run', ...relayFlags(folder.path)], { killAt: 'attempt.armed:after' })
    expect(await first.ended, first.said()).toBe('SIGKILL')
    const second = perpd(['run', ...relayFlags(folder.path)])
    const ready = () => second.stdout().includes('daemon.ready') || undefined
    await until('the daemon runs', ready, { timeoutMs: 60_000, seen: second.said })
    const rows = await ordersOf(folder.path)
    await stop(second)
    expect(rows.map(({ status }) => status)).toEqual(['unknown'])
    expect((await received()).some(({ digest }) => digest === rows[0]?.digest)).toBe(false)
  } finally {
    folder.remove()
  }
})
