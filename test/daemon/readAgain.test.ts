/** Strategy files after a wait for the journal: read again where something changed, and kept with their threads where nothing did. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { readAgain, readStrategies } from '../../src/daemon/readStrategies.ts'
import { closeStrategies, type LoadResult } from '../../src/strategy/files/load.ts'
import { until } from '../support/until.ts'

let folder = ''
let opened: LoadResult[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-again-'))
  opened = []
  for (const name of ['strategies', 'common']) mkdirSync(join(folder, name))
  write('strategies/mine.yaml', 'kind: ./mine.ts\nmarket: ETH/USD [WETH-USDC]\n')
  write('common/words.ts', "export const words = 'Does nothing.'\n")
  write(
    'strategies/mine.ts',
    `import { defineStrategy, z } from '#strategy'
     import { words } from '../common/words.ts'
     export default defineStrategy({
       kind: 'mine', description: words, opensPositions: false, params: z.strictObject({}), needs: (_, symbols) => ({ symbols }), decide: () => [],
     })\n`,
  )
})
afterEach(async () => {
  for (const { strategies } of opened) await closeStrategies(strategies)
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const config = () =>
  loadConfig({ argv: ['--strategies.paths', join(folder, 'strategies')], env: {}, cwd: folder }).config

/** Reads the files once they have been still for a while. */
const readStill = (): Promise<LoadResult> =>
  until('the files are still', async () => {
    const found = await readStrategies(config())
    opened.push(found)
    return found.print === undefined ? undefined : found
  })

async function again(before: LoadResult): Promise<{ readonly after: LoadResult; readonly notes: string[] }> {
  const notes: string[] = []
  const after = await readAgain(config(), before, (_name, _level, text) => void notes.push(text))
  opened.push(after)
  return { after, notes }
}

test('without a change the strategies that were read stand, with their threads', async () => {
  const before = await readStill()
  expect((await again(before)).after).toBe(before)
})

test.each([
  ['a file of a strategy', 'strategies/mine.yaml', 'kind: ./mine.ts\nmarket: BTC/USD [WBTC.b-USDC]\n'],
  ['one that came', 'strategies/more.yaml', 'kind: guard\nmarket: ETH/USD [WETH-USDC]\n'],
  ['a module in another folder that a kind imports', 'common/words.ts', "export const words = 'Other.'\n"],
])('a change of %s has them read again', async (_what, name, text) => {
  const before = await readStill()
  write(name, text)
  const { after } = await again(before)
  expect(after).not.toBe(before)
  const told = ({ strategies }: LoadResult) =>
    strategies.map(({ name, symbols, strategy }) => [name, symbols, strategy.description])
  expect(told(after)).not.toEqual(told(before))
})

test('what cannot be known to be unchanged is read again, and what is refused then leaves the earlier ones', async () => {
  const { print: _, ...unknown } = await readStill()
  const { after } = await again(unknown)
  expect(after).not.toBe(unknown)
  write('strategies/mine.yaml', 'kind: nothing\n')
  const refused = await again(after)
  expect(refused.after).toBe(after)
  expect(refused.notes).toHaveLength(1)
})
