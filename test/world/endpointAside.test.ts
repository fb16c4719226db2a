/** The real daemon with one of two chain endpoints behind or ahead: it trades, reduces and closes, and blames nobody. */

import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { killLeftOver, perpd, type Running, scratch, startPaper } from './processes.ts'

let folder: ReturnType<typeof scratch>
let own: Operated
let mover: Mover | undefined
beforeEach(async () => {
  folder = scratch()
  own = await operatedIn(folder.path)
  writeFileSync(
    join(folder.path, 'once.yaml'),
    JSON.stringify({
      kind: join(import.meta.dirname, 'strategies', 'shrink.ts'),
      market: 'ETH/USD [WETH-USDC]',
      cadenceSeconds: 1,
      size: { usd: 500, leverage: 2, collateral: 'short' },
    }),
  )
})
afterEach(async () => {
  await mover?.close()
  mover = undefined
  await killLeftOver()
  folder.remove()
})

/** A chain endpoint in front of another one, which moves the times of blocks. */
interface Mover {
  readonly url: string
  seconds: number
  close(): Promise<void>
}

async function startMover(endpoint: string): Promise<Mover> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(endpoint, { method: 'POST', headers, body: Buffer.concat(chunks) })
        const text = (await answer.text()).replaceAll(
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
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return moved
}

const sizesOf = ({ positions }: Status): readonly string[] =>
  positions.map(({ sizeInUsd }) => (BigInt(sizeInUsd) / 10n ** 30n).toString())

const lines = (daemon: Running, text: string): number =>
  daemon
    .stdout()
    .split('\n')
    .filter((line) => line.includes(text)).length

test.each([
  ['150 s behind', { rpcLagBlocks: 600 }, 0],
  ['two hours behind', { rpcLagBlocks: 28_800 }, 0],
  ['two hours ahead', {}, 7_200],
])(
  'an endpoint %s: an open, a partial close and a kill that closes go through; it is told of once, and when it is back',
  {
    timeout: 240_000,
  },
  async (_name, faults, aheadSeconds) => {
    const paper = await startPaper(['--paper.blockTimeMs=250'])
    const { hosts } = paper
    const [first = '', second = ''] = hosts.rpc
    mover = await startMover(second)
    const ail = async (how: object, seconds: number): Promise<void> => {
      if (mover !== undefined) mover.seconds = seconds
      const answer = await fetch(`${paper.control}/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(how),
      })
      expect(answer.ok).toBe(true)
    }
    await ail(faults, aheadSeconds)
    const daemon = perpd([
      'run',
      ...own.flags(hosts),
      `--rpc.http=${first}`,
      `--rpc.http=${mover.url}`,
      '--risk.reduceAgainAfterMs=2000',
    ])
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

    expect(lines(daemon, 'is set aside for the time')).toBe(1)
    expect(lines(daemon, 'tells the time again')).toBe(0)
    const active = await own.command(hosts, 'trading', 'active', '--by', 'ann')
    expect(active.code, active.said).toBe(0)
    const again = await own.when('a position is open again', daemon, ({ positions }) => positions.length > 0)
    expect(again.halts).toEqual([])
    expect(lines(daemon, 'tells the time again')).toBe(1)
    expect(daemon.stdout()).not.toMatch(/TYPED_DATA_MISMATCH|CHAIN_CLOCK_SKEW|is in cooldown for /)
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended, daemon.said()).toBe(0)
  },
)
