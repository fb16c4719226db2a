/**
 * The real daemon with one of two chain endpoints behind or ahead, or with one that knows no final blocks: it trades, reduces and closes,
 * and blames nobody.
 */

import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { killLeftOver, perpd, type Running, scratch, startPaper } from './processes.ts'

const places: { readonly remove: () => void }[] = []
const movers: Mover[] = []
afterAll(async () => {
  for (const mover of movers) await mover.close()
  await killLeftOver()
  for (const { remove } of places) remove()
})

/** Gives a daemon of its own: most of each test is waiting, so they run beside each other. */
async function operated(): Promise<Operated> {
  const folder = scratch()
  places.push(folder)
  writeFileSync(
    join(folder.path, 'once.yaml'),
    JSON.stringify({
      kind: join(import.meta.dirname, 'strategies', 'shrink.ts'),
      market: 'ETH/USD [WETH-USDC]',
      cadenceSeconds: 1,
      size: { usd: 500, leverage: 2, collateral: 'short' },
    }),
  )
  return await operatedIn(folder.path)
}

/** A chain endpoint in front of another one, which moves the times of blocks, and forgets the tag of final ones. */
interface Mover {
  readonly url: string
  seconds: number
  knowsTag: boolean
  close(): Promise<void>
}

interface Call {
  readonly id: number
  readonly params: readonly unknown[]
}

/** An answer to a batch as a node gives it that does not know the tag. */
function withoutTag(batch: string, answers: string): string {
  const calls = [JSON.parse(batch) as Call | readonly Call[]].flat()
  const unknown = new Set(calls.filter(({ params }) => params.includes('safe')).map(({ id }) => id))
  const error = { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' }
  const answered = JSON.parse(answers) as Call | readonly Call[]
  const amended = [answered]
    .flat()
    .map((each) => (unknown.has(each.id) ? { jsonrpc: '2.0', id: each.id, error } : each))
  return JSON.stringify(Array.isArray(answered) ? amended : amended[0])
}

async function startMover(endpoint: string): Promise<Mover> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        const headers = { 'content-type': 'application/json' }
        const asked = Buffer.concat(chunks).toString()
        const answer = await fetch(endpoint, { method: 'POST', headers, body: asked })
        const whole = await answer.text()
        const text = (moved.knowsTag ? whole : withoutTag(asked, whole)).replaceAll(
          /"timestamp":"(0x[0-9a-f]+)"/g,
          (_whole, hex: string) => `"timestamp":"0x${(Number(hex) + moved.seconds).toString(16)}"`,
        )
        response.writeHead(answer.status, headers)
        response.end(text)
      } catch {
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const moved: Mover = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seconds: 0,
    knowsTag: true,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  movers.push(moved)
  return moved
}

const sizesOf = ({ positions }: Status): readonly string[] =>
  positions.map(({ sizeInUsd }) => (BigInt(sizeInUsd) / 10n ** 30n).toString())

const lines = (daemon: Running, text: string): number =>
  daemon
    .stdout()
    .split('\n')
    .filter((line) => line.includes(text)).length

test.concurrent.for([
  ['150 s behind', { rpcLagBlocks: 600 }, 0],
  ['two hours behind', { rpcLagBlocks: 28_800 }, 0],
  ['two hours ahead', {}, 7_200],
] as const)(
  'an endpoint %s: an open, a partial close and a kill that closes go through; it is told of once, and when it is back',
  {
    timeout: 240_000,
  },
  async ([, faults, aheadSeconds], { expect }) => {
    const own = await operated()
    const paper = await startPaper(['--paper.blockTimeMs=250'])
    const { hosts } = paper
    const [first = '', second = ''] = hosts.rpc
    const mover = await startMover(second)
    const ail = async (how: object, seconds: number): Promise<void> => {
      mover.seconds = seconds
      const answer = await fetch(`${paper.control}/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(how),
      })
      expect(answer.ok).toBe(true)
    }
    await ail(faults, aheadSeconds)
    const daemon = perpd(['run', ...own.flags(hosts), `--rpc.http=${first}`, `--rpc.http=${mover.url}`])
    await own.when('a position is open', daemon, (status) => sizesOf(status)[0] === '500')
    const reduced = await own.when('a part is closed', daemon, (status) => sizesOf(status)[0] === '300')
    expect(reduced.halts).toEqual([])

    const kill = perpd(['kill', '--close', '--by', 'ann', ...own.flags(hosts)])
    const closed = await own.when('all is closed', daemon, ({ positions }) => positions.length === 0)
    expect(closed.halts.map(({ cause }) => cause)).toEqual(['kill'])
    // Ends are proven when both endpoints show them.
    await ail({ rpcLagBlocks: 0 }, 0)
    expect(await kill.ended, kill.said()).toBe(0)
    expect(kill.said().trim().split('\n').at(-1)).toBe('done: nothing is left')

    expect(lines(daemon, 'is ignored for the time')).toBe(1)
    expect(lines(daemon, 'gives the right time again')).toBe(0)
    const active = await own.command(hosts, 'trading', 'active', '--by', 'ann')
    expect(active.code, active.said).toBe(0)
    const again = await own.when('a position is open again', daemon, ({ positions }) => positions.length > 0)
    expect(again.halts).toEqual([])
    expect(lines(daemon, 'gives the right time again')).toBe(1)
    expect(daemon.stdout()).not.toMatch(/TYPED_DATA_MISMATCH|CHAIN_CLOCK_SKEW|is in cooldown for /)
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended, daemon.said()).toBe(0)
  },
)

test.concurrent('with an endpoint that knows no final blocks a kill closes what is held and is not done; the doctor fails and names the setting, with which all is proven', {
  timeout: 240_000,
}, async ({ expect }) => {
  const own = await operated()
  const { hosts } = await startPaper(['--paper.blockTimeMs=250'])
  const [first = '', second = ''] = hosts.rpc
  const mover = await startMover(second)
  mover.knowsTag = false
  const flags = [...own.flags(hosts), `--rpc.http=${first}`, `--rpc.http=${mover.url}`]
  const daemon = perpd(['run', ...flags])
  await own.when('a position is open', daemon, (status) => sizesOf(status)[0] === '500')
  const doctor = perpd(['doctor', ...flags])
  expect(await doctor.ended).toBe(1)
  expect(doctor.said()).toMatch(/fail {2}endpoint +\S+ has no safe block/)
  expect(doctor.said()).toContain('rpc.finality')
  const kill = perpd(['kill', '--close', '--by', 'ann', ...flags])
  await own.when('all is closed', daemon, ({ positions }) => positions.length === 0)
  // Nothing of it is proven: neither the orders nor the kill have an end.
  expect(kill.child.exitCode).toBe(null)
  expect(lines(daemon, 'it knows no block as safe')).toBeGreaterThan(0)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)

  const again = perpd(['run', ...flags, '--rpc.finality=8'])
  await own.when('it runs again', again, () => true)
  const proven = perpd(['kill', '--close', '--by', 'ann', ...flags])
  expect(await proven.ended, proven.said() + again.said()).toBe(0)
  expect(proven.said().trim().split('\n').at(-1)).toBe('done: nothing is left')
  expect(again.stdout()).not.toMatch(/is in cooldown for /)
  again.child.kill('SIGTERM')
  expect(await again.ended, again.said()).toBe(0)
})
