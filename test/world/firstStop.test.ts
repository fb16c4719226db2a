/** The strategies that perpd begins with, as real processes: what they hold has its stop at the venue before anybody is told that it has none. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, until } from './processes.ts'

/** Least time between an entry and the word that it has no stop: two looks of half a minute (src/notify/stopWatch.ts). */
const GRACE_MS = 30_000

const folder = folderOfEachTest()

async function ran(...words: readonly string[]): Promise<string> {
  const command = perpd(words, { cwd: folder.path })
  expect([words.join(' '), await command.ended], command.said()).toEqual([words.join(' '), 0])
  return command.stdout()
}

interface Status {
  readonly positions: readonly { readonly sizeUsd: string }[]
  readonly withoutStop?: readonly unknown[]
}

test('the first position of a new folder has its stop within the grace, and keeps it over kill -9', {
  timeout: 300_000,
}, async () => {
  await ran('init', '--yes')
  writeFileSync(join(folder.path, 'perpd.json'), '{ "control": { "port": 0 } }\n', { mode: 0o600 })
  const daemon = perpd(['run', '--log.format=json'], { cwd: folder.path })
  await until('an order is filled', () => daemon.stdout().includes('"order.filled"') || undefined, {
    seen: daemon.said,
  })
  const filledAtMs = performance.now()
  const protectedStatus = await until(
    'what is held has a stop',
    async () => {
      const status = JSON.parse(await ran('status', '--json')) as Status
      return status.positions.length > 0 && status.withoutStop?.length === 0 ? status : undefined
    },
    { timeoutMs: GRACE_MS, seen: daemon.said },
  )
  expect(performance.now() - filledAtMs).toBeLessThan(GRACE_MS)
  expect(protectedStatus.positions).toHaveLength(1)
  expect(await ran('status')).not.toContain('NO STOP')
  expect(await ran('positions')).not.toContain('NO STOP')
  const orders = await ran('orders', '--json')
  expect(orders).toContain('stop-loss')
  expect(orders).toContain('take-profit')
  daemon.child.kill('SIGKILL')
  await daemon.ended
  const next = perpd(['run', '--log.format=json'], { cwd: folder.path })
  await until('it is ready', () => next.stdout().includes('"daemon.ready"') || undefined, { seen: next.said })
  await until(
    'it sees the stop that rests',
    async () => {
      const { positions, withoutStop } = JSON.parse(await ran('status', '--json')) as Status
      return (positions.length > 0 && withoutStop?.length === 0) || undefined
    },
    { timeoutMs: GRACE_MS, seen: next.said },
  )
  expect(daemon.said() + next.said()).not.toContain('no stop-loss rests')
  next.child.kill('SIGTERM')
  expect(await next.ended, next.said()).toBe(0)
})
