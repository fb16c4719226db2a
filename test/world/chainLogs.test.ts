/** `perpd data get --chain-logs` against a running paper venue's endpoint: killed in the middle, continued, and the same bytes as one that went through. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { logsOf } from '../../src/history/logsFile.ts'
import { readManifest } from '../../src/history/manifest.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { killLeftOver, type PaperHosts, perpd, scratch, startPaper, until } from './processes.ts'

afterEach(async () => {
  delete process.env.TEST_CLOCK_SHIFT_FILE
  await killLeftOver()
})

const symbol = 'ETH/USD [WETH-USDC]'
const market = [...arbitrum.facts.markets.values()].find((each) => each.symbol === symbol)
const named = { chain: 'arbitrum', marketToken: market?.marketToken ?? '' }

/** The second from which on the last whole minute's blocks are final. */
async function headSeconds(url: string): Promise<number> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['safe', false],
  })
  const headers = { 'content-type': 'application/json' }
  const { result } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
    result: { timestamp: string }
  }
  return Number(result.timestamp)
}

test('a download of events that is killed goes on, and ends as one that was not', async () => {
  const clock = scratch()
  const shiftFile = join(clock.path, 'shift')
  writeFileSync(shiftFile, '0')
  process.env.TEST_CLOCK_SHIFT_FILE = shiftFile
  const paper = await startPaper(['--paper.traders=400', '--paper.safeLagBlocks=2'])
  const rpc = paper.hosts.rpc[0] ?? ''
  const began = await headSeconds(rpc)
  // A whole minute in which others traded.
  const toSeconds = Math.ceil(began / 60) * 60 + 60
  // It passes by the clocks of the processes, not by the test's.
  writeFileSync(`${shiftFile}.new`, String((toSeconds - began) * 1_000))
  renameSync(`${shiftFile}.new`, shiftFile)
  await until('the minute is final', async () => ((await headSeconds(rpc)) > toSeconds ? true : undefined))
  const minute = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 16)
  const range = [`--from=${minute(toSeconds - 1_800)}`, `--to=${minute(toSeconds)}`]
  const run = (folder: string, hosts: PaperHosts) =>
    perpd(
      [
        ...['data', 'get', symbol, '--period=1h', '--chain-logs', ...range],
        ...[`--rpc.http=${rpc}`, '--rpc.maxLogBlocks=64', `--history.folder=${folder}`],
        ...[`--venue.apiHosts=${hosts.api.join(',')}`, `--venue.oracleHosts=${hosts.oracle.join(',')}`],
      ],
      { cwd: folder },
    )
  const [whole, killed] = [scratch(), scratch()]
  const first = run(killed.path, paper.hosts)
  await until('a part is saved', () => logsOf(killed.path, named)[0], { seen: first.said })
  first.child.kill('SIGKILL')
  await first.ended
  const [part] = logsOf(killed.path, named)
  const again = run(killed.path, paper.hosts)
  expect(await again.ended, again.said()).toBe(0)
  const through = run(whole.path, paper.hosts)
  expect(await through.ended, through.said()).toBe(0)
  const entries = logsOf(whole.path, named)
  const [entry] = entries
  if (entry === undefined || part === undefined) throw new RangeError('nothing was saved')
  expect(part.toBlock).toBeLessThan(entry.toBlock)
  expect(entries.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThan(0)
  expect(readManifest(killed.path).logs).toEqual(readManifest(whole.path).logs)
  for (const { file } of entries)
    expect(readFileSync(join(killed.path, file))).toEqual(readFileSync(join(whole.path, file)))
  for (const { remove } of [whole, killed, clock]) remove()
}, 400_000)
