/** What a process of perpd loads: with a live profile nothing of the paper venue, which only its own profile embeds, and no room that only its own commands need. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOfEachTest } from './ownFolder.ts'
import { type PaperHosts, perpd, startPaper, until } from './processes.ts'

const source = resolve(import.meta.dirname, '..', '..', 'src')
const program = resolve(import.meta.dirname, '..', 'support', 'listedMain.ts')

const folder = folderOfEachTest()

/** Files of the source that `perpd ARGS` loads until it says something, or ends by itself. */
async function loadedBy(args: readonly string[], saying?: string): Promise<readonly string[]> {
  const list = join(folder.path, 'modules')
  // Of a bundle the modules would not be seen.
  const env = { MODULES_FILE: list, COLUMNS: '80', TEST_PROGRAM: '' }
  const running = perpd(args, { cwd: folder.path, program, env })
  if (saying !== undefined) {
    await until('it is said', () => running.said().includes(saying) || undefined, { seen: running.said })
    running.child.kill('SIGTERM')
  }
  expect(await running.ended, running.said()).toBe(0)
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(source, fileURLToPath(url)))
    .filter((path) => !path.startsWith('..'))
}

/** Rooms that make a test due only if it names them (test/gate/proofKey.ts). */
const ofResearch = (paths: readonly string[]) =>
  paths.filter((path) => /^(backtest|history|report)\//.test(path) && path !== 'backtest/runFiles.ts')

const ofVenue = (paths: readonly string[]) => paths.filter((path) => path.startsWith('paper/'))

function liveFlags({ api, oracle, rpc }: PaperHosts): readonly string[] {
  const key = join(folder.path, 'key')
  writeFileSync(key, `0x${'2b'.repeat(32)}\n`, { mode: 0o600 })
  writeFileSync(join(folder.path, 'perpd.json'), '{ "strategies": { "paths": [] } }')
  return [
    '--profile=arbitrum',
    `--account.keyFile=${key}`,
    '--account.acceptRawKey',
    `--venue.apiHosts=${api}`,
    `--venue.oracleHosts=${oracle}`,
    `--rpc.http=${rpc}`,
    '--rpc.finality=safe',
    '--control.port=0',
  ]
}

test('a live profile that is checked and run loads the whole daemon and nothing of the paper venue, of backtests, reports or history', async () => {
  const live = liveFlags((await startPaper()).hosts)
  const checked = await loadedBy(['check', ...live])
  expect(checked.length).toBeGreaterThan(50)
  expect(ofVenue(checked)).toEqual([])
  const run = await loadedBy(['run', ...live], 'LIVE: orders use real money from now on.')
  expect(run.length).toBeGreaterThan(200)
  expect(ofVenue(run)).toEqual([])
  expect(ofResearch([...checked, ...run])).toEqual([])
})

test('the paper profile loads the venue that it embeds', async () => {
  writeFileSync(join(folder.path, 'perpd.json'), '{ "strategies": { "paths": [] } }')
  const run = await loadedBy(['run', '--control.port=0', '--paper.port=0'], 'ready')
  expect(ofVenue(run).length).toBeGreaterThan(100)
})
