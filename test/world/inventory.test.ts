/** A fresh journal on an account that was used before, on real processes: a starting inventory, adopted once, and no drift. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { daemonFlags, perpd, type Running, startPaper, until, writeOnceStrategy } from './processes.ts'

const folder = folderEach(writeOnceStrategy)

interface Row {
  readonly discrepancy: { readonly kind: string; readonly isInitial?: boolean }
  readonly end?: string
  readonly by?: string
}

test('what was there before the start is adopted once by a command or by the setting; what comes after still waits', {
  timeout: 300_000,
}, async () => {
  const paper = await startPaper(['--paper.keeperDelayMs=200', '--paper.keeperJitterMs=0'])
  /** A client of the same account with a journal of its own. */
  const client = (name: string, ...more: string[]): string[] => {
    const own = join(folder.path, name)
    mkdirSync(own)
    return [
      ...daemonFlags(folder.path, paper.hosts).filter(
        (flag) => !/^--(?:journal\.path|control\.tokenFile|strategies\.paths)=/.test(flag),
      ),
      `--journal.path=${join(own, 'journal.sqlite')}`,
      `--control.tokenFile=${join(own, 'control.token')}`,
      `--rpc.http=${paper.hosts.rpc[0]}`,
      ...(more.some((flag) => flag.startsWith('--strategies.paths='))
        ? []
        : [`--strategies.paths=${join(folder.path, 'once.yaml')}`]),
      ...more,
    ]
  }
  const run = async (flags: readonly string[], what: string): Promise<Running> => {
    const daemon = perpd(['run', ...flags])
    await until(what, () => daemon.said().includes(what) || undefined, { seen: daemon.said })
    return daemon
  }
  const stop = async (daemon: Running) => {
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended, daemon.said()).toBe(0)
  }
  const said = async (flags: readonly string[], ...words: string[]) => {
    const asked = perpd([...words, ...flags])
    expect(await asked.ended, asked.said()).toBe(0)
    return asked.stdout()
  }
  const discrepancies = async (flags: readonly string[]) =>
    JSON.parse(await said(flags, 'discrepancies', '--all', '--json')) as readonly Row[]
  const shown = (rows: readonly Row[]) =>
    rows.map(
      ({ discrepancy, end = 'open' }) =>
        `${discrepancy.kind}${discrepancy.isInitial ? ' before' : ''} ${end}`,
    )

  const before = await run(client('before'), '"event":"order.filled"')
  await stop(before)

  const fresh = client('fresh')
  const daemon = await run(fresh, '"event":"account.discrepancy"')
  expect(shown(await discrepancies(fresh))).toEqual(['unexplained-position before open'])
  expect(await said(fresh, 'discrepancies')).toContain("older than perpd's first look")
  expect(JSON.parse(await said(fresh, 'status', '--json'))).toMatchObject({
    tradingState: 'active',
    halts: [],
  })

  // After the start another client of the key opens something else: that is no inventory.
  const yaml = readFileSync(join(folder.path, 'once.yaml'), 'utf8')
  const btc = join(folder.path, 'btc.yaml')
  writeFileSync(btc, yaml.replace('ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]'))
  await stop(await run(client('other', `--strategies.paths=${btc}`), '"event":"order.filled"'))
  await until('it is told', () => daemon.said().includes('increased by hand') || undefined, {
    seen: daemon.said,
  })
  const adopt = ['discrepancies', 'adopt', '--all', '--before', 'START', '--by', 'ann'] as const
  expect(await said(fresh, ...adopt)).toContain('adopted')
  expect(await said(fresh, ...adopt)).toContain('No open discrepancy matches; nothing changed.')
  const settled = await discrepancies(fresh)
  expect(shown(settled)).toEqual(['manual-increase open', 'unexplained-position before adopted'])
  expect(settled[1]?.by).toBe('ann')
  expect(JSON.parse(await said(fresh, 'status', '--json'))).toMatchObject({
    tradingState: 'active',
    halts: [],
  })
  await stop(daemon)

  // By the setting nobody is asked, and nothing blocks increases.
  const byItself = client('by-itself', '--account.adoptInitial')
  const last = await run(byItself, '"event":"account.discrepancySettled"')
  await until('both are adopted', async () => {
    const rows = await discrepancies(byItself)
    return rows.filter(({ end, by }) => end === 'adopted' && by === 'account.adoptInitial').length === 2
      ? true
      : undefined
  })
  expect(last.said()).not.toContain('Increases on this market wait')
  expect(last.said()).not.toContain('"event":"trading.state"')
  await stop(last)
})
