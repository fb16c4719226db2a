/**
 * An order that nobody wants any more, on real processes and the venue's chain: it lands after its relay gave it up, the daemon
 * is killed at every step of undoing it, and what it opened is closed once.
 */

import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { unwindOf } from '../../src/tasks/unwindTask.ts'
import { folderEach } from './folderEach.ts'
import {
  daemonFlags,
  ordersOf,
  perpd,
  type Running,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

const folder = folderEach(writeOnceStrategy)

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

test('an unwanted order that lands late is undone once, over kills -9 at every step of it, in a halt', {
  timeout: 240_000,
}, async () => {
  const paper = await startPaper([
    '--paper.orderDeadlineSeconds=20',
    '--paper.keeperDelayMs=300',
    '--paper.keeperJitterMs=0',
    '--paper.safeLagBlocks=2',
  ])
  const port = await freePort()
  const flags = [
    ...daemonFlags(folder.path, paper.hosts).map((flag) =>
      flag.startsWith('--control.port=') ? `--control.port=${port}` : flag,
    ),
    `--rpc.http=${paper.hosts.rpc[0]}`,
  ]
  const say = async (...words: string[]) => {
    const running = perpd([...words, ...flags])
    expect(await running.ended, running.said()).toBe(0)
    return running.stdout()
  }
  const command = async (path: string, body: object) => {
    const token = readFileSync(join(folder.path, 'control.token'), 'utf8').trim()
    const answer = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as { readonly statement?: string }
  }
  const run = (killAt?: string): Running => perpd(['run', ...flags], killAt === undefined ? {} : { killAt })
  const dies = async (killAt: string) => {
    const daemon = run(killAt)
    expect(await daemon.ended, daemon.said()).toBe('SIGKILL')
  }
  await fetch(`${paper.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ relay: 'lands-late', relayLateMs: 12_000, keeperExtraDelayMs: 5_000 }),
  })

  const first = run()
  const order = await until(
    'its host says that the relay failed',
    async () => {
      if (!first.stdout().includes('relay_failed')) return undefined
      return (await ordersOf(folder.path))[0]
    },
    { seen: first.said },
  )
  // Not by the command line, which is another process and takes its time: the order lands in some ten seconds.
  const asked = await command(`orders/${order.intentId.slice(0, 8)}/unwind`, { by: 'ann', reason: 'late' })
  expect(asked.statement).toBe(
    `${order.intentId} (increase long ETH/USD [WETH-USDC]) will be unwound: if it lands, perpd closes what it opens; by ann`,
  )
  await command('trading', { state: 'halted', by: 'ann' })
  first.child.kill('SIGKILL')
  await first.ended
  expect(await say('orders')).toContain('unknown, unwind requested')
  expect((await say('explain', order.intentId)).replace(/\s+/g, ' ')).toContain('ann unwinds it since')
  await fetch(`${paper.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ relay: 'none', keeperExtraDelayMs: 0 }),
  })

  // It lands while nobody looks, or soon after; then each daemon dies one step further.
  await dies('intent.accepted:before')
  await dies('intent.accepted:after')
  // Armed counts as sent, and nothing was: that close is proven dead, and another may follow.
  await dies('attempt.armed:after')
  await dies('task.ended:before')
  const last = run()
  await until('it is over', () => last.stdout().includes('"event":"unwind.ended"') || undefined, {
    seen: last.said,
  })
  const late = perpd(['orders', 'unwind', order.intentId, '--by', 'ann', ...flags])
  expect([await late.ended, late.said()]).toEqual([2, expect.stringContaining('(ORDER_NOT_FOUND)')])
  last.child.kill('SIGTERM')
  expect(await last.ended, last.said()).toBe(0)

  const reader = openSqliteReader(join(folder.path, 'journal.sqlite'))
  const made = (await reader.intents({ strategy: '@operator' })).toReversed()
  const account = await reader.account()
  const wanted = await reader.intent(order.intentId)
  await reader.close()
  expect(wanted?.closing?.outcome).toBe('EXECUTED')
  expect(made.map(({ intent, closing }) => [intent.decisionKey, intent.kind, closing?.outcome])).toEqual([
    [`unwind:${order.intentId}`, 'close', 'DEAD'],
    [`unwind:${order.intentId}#2`, 'close', 'EXECUTED'],
  ])
  expect(unwindOf(account.tasks, order.intentId)).toMatchObject({ by: 'ann', outcome: 'flat' })
  const owner = made[0]?.intent.account
  const held = await fetch(`${paper.hosts.api[0]}/positions?address=${owner}`)
  expect(await held.json()).toEqual([])
  const received = (await (await fetch(`${paper.control}/record`)).json()) as readonly { digest: string }[]
  expect(new Set(received.map(({ digest }) => digest)).size).toBe(received.length)
  // The order itself, and the one close that left.
  expect(received).toHaveLength(2)
  expect(await say('explain', order.intentId)).toContain('flat: the long of $500.00')
})
