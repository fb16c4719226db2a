/** A delegated key on paper with real processes: made, approved here and elsewhere, traded with over a restart, revoked. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Hex, hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  daemonFlags,
  killLeftOver,
  ordersOf,
  perpd,
  scratch,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

let paper: Awaited<ReturnType<typeof startPaper>>
let folder: ReturnType<typeof scratch>
let flags: string[]

beforeEach(async () => {
  folder = scratch()
  writeOnceStrategy(folder.path)
  paper = await startPaper()
  flags = [
    ...daemonFlags(folder.path, paper.hosts),
    `--paper.ownerKeyFile=${join(folder.path, 'owner')}`,
    `--account.approvalFile=${join(folder.path, 'approval.json')}`,
  ]
})

afterEach(async () => {
  await killLeftOver()
  folder.remove()
})

async function command(...args: readonly string[]) {
  const running = perpd([...args, ...flags])
  const code = await running.ended
  return { code, out: running.stdout().trim(), err: running.stderr() }
}

async function ask(path: string): Promise<readonly Record<string, unknown>[]> {
  return (await (await fetch(`${paper.hosts.api[0]}${path}`)).json()) as readonly Record<string, unknown>[]
}

test('a delegated key trades for its owner from its approval to its revocation, over a restart', async () => {
  const created = await command('subaccount', 'create')
  expect(created, created.err).toMatchObject({ code: 0, out: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) })
  const approved = await command('subaccount', 'approve', '--days', '2', '--actions', '40')
  expect(approved, approved.err).toMatchObject({ code: 0, out: expect.stringMatching(/^0x[0-9a-f]{130}$/) })
  const owner = /--account\.owner (0x[0-9a-fA-F]{40})/.exec(approved.err)?.[1] ?? ''
  expect(approved.err).toContain(created.out)
  flags.push(`--account.owner=${owner}`)

  // Elsewhere: a wallet of another make signs the file, and what it signed comes back.
  const [request, signature] = [join(folder.path, 'request.json'), join(folder.path, 'signature')]
  const written = await command('subaccount', 'approve', '--actions', '60', '--out', request)
  expect(written.code, written.err).toBe(0)
  const typedData = JSON.parse(readFileSync(request, 'utf8'))
  expect(hashTypedData(typedData)).toBe(written.out)
  const wallet = privateKeyToAccount(
    readFileSync(join(folder.path, 'owner'), 'utf8').trim().split('\n').at(-1) as Hex,
  )
  expect(wallet.address).toBe(owner)
  writeFileSync(signature, await privateKeyToAccount(`0x${'77'.repeat(32)}`).signTypedData(typedData))
  const before = readFileSync(join(folder.path, 'approval.json'), 'utf8')
  const foreign = await command('subaccount', 'approve', '--request', request, '--signature', signature)
  expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining(`signature: expected of ${owner}`) })
  expect(readFileSync(join(folder.path, 'approval.json'), 'utf8')).toBe(before)
  writeFileSync(signature, `${await wallet.signTypedData(typedData)}\n`)
  const brought = await command('subaccount', 'approve', '--request', request, '--signature', signature)
  expect(brought.code, brought.err).toBe(0)
  const waiting = await command('subaccount', 'status')
  expect(waiting).toMatchObject({
    code: 0,
    out: expect.stringContaining('waits for the next order: 60 actions'),
  })

  const first = perpd(['run', ...flags])
  await until('the order is executed', () => first.said().includes('"state_to":"executed"') || undefined, {
    seen: first.said,
  })
  first.child.kill('SIGTERM')
  expect(await first.ended, first.said()).toBe(0)
  expect(first.said()).toContain(`the key ${created.out} is a delegated one; it trades for ${owner}`)
  expect(await ask(`/positions?address=${owner}`)).toHaveLength(1)
  expect(await ask(`/positions?address=${created.out}`)).toHaveLength(0)
  const [order] = await ordersOf(folder.path)
  const table = readFileSync(join(folder.path, 'journal.sqlite.signed'), 'utf8')
  expect(table).toContain(order?.intentId)
  expect(table).toContain(order?.digest?.toLowerCase())
  const used = await command('subaccount', 'status')
  expect(used).toMatchObject({ code: 0, out: expect.stringMatching(/actions left +59 of 60/) })
  expect(used.out).toContain('used: the chain knows it')

  // Ended for good while the daemon runs again: it sees its key gone, holds, and leaves what is open to the owner.
  const daemon = perpd(['run', ...flags])
  await until('the daemon is ready', () => daemon.said().includes('daemon.ready') || undefined, {
    seen: daemon.said,
  })
  const revoked = await command('subaccount', 'revoke')
  expect(revoked, revoked.err).toMatchObject({ code: 0, err: expect.stringContaining('The key is revoked') })
  expect(existsSync(join(folder.path, 'approval.json'))).toBe(false)
  expect(revoked.out.match(/not approved/g)).toHaveLength(paper.hosts.api.length)
  const held = 'account is reducing: subaccount, by perpd: the delegated key is not approved'
  for (const line of ['is not approved on the chain, and no approval waits', held]) {
    await until(`the daemon says: ${line}`, () => daemon.said().includes(line) || undefined, {
      timeoutMs: 30_000,
      seen: daemon.said,
    })
  }
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
  const gone = await command('subaccount', 'status')
  expect(gone).toMatchObject({
    code: 1,
    out: expect.stringMatching(/may trade +no: perpd subaccount approve/),
  })
  expect(await ask(`/positions?address=${owner}`)).toHaveLength(1)
}, 120_000)
