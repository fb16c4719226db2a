/** The curve of the equity over restarts: what was kept goes on, what is torn begins anew, and nothing of it stops a run. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EquityPoint } from '../../src/control/console/equitySeries.ts'
import { equityFile } from '../../src/daemon/controlPort/equityFile.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { ask, handClock, openConsole } from '../control/browser.ts'
import { asReader, engine, status } from '../control/door.ts'

const account = '0x00000000000000000000000000000000000000aa'
const points: readonly EquityPoint[] = [
  { atMs: 1_000, equityUsd: usd(100) },
  { atMs: 61_000, equityUsd: -usd(1) },
]

let folder: string
let file: string
let warnings: string[]
const store = (of: string = account) => equityFile(file, of, (text) => warnings.push(text))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-equity-'))
  file = join(folder, 'journal.db.equity')
  warnings = []
})
afterEach(() => rmSync(folder, { recursive: true }))

test('what was kept is read, for its owner alone, and nothing is left beside it', async () => {
  expect(store().read()).toEqual([])
  await store().keep([])
  writeFileSync(`${file}.new`, 'left by a kill')
  await store().keep(points)
  expect(store().read()).toEqual(points)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['journal.db.equity'])
  expect(warnings).toEqual([])
})

test('a file that is torn at any byte, of another form or of another account begins anew with one warning', async () => {
  await store().keep(points)
  const whole = readFileSync(file, 'utf8').trimEnd()
  const broken = [
    ...Array.from({ length: whole.length }, (_, bytes) => whole.slice(0, bytes)),
    '[]',
    whole.replace('"version":1', '"version":2'),
    whole.replace('[1000', '[99000'),
  ]
  for (const text of broken) {
    warnings = []
    writeFileSync(file, text)
    expect(store().read()).toEqual([])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('starts over')
  }
  writeFileSync(file, whole)
  warnings = []
  expect(store('0xbb').read()).toEqual([])
  expect(warnings[0]).toContain('another account')
})

test('a curve that cannot be kept is said once, and stops nothing', async () => {
  mkdirSync(file)
  const one = store()
  await one.keep(points)
  await one.keep(points)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('cannot be saved')
})

test('a run goes on with the curve of the one before, by a stop in order and by what a crash leaves', async () => {
  const clock = handClock()
  const mark = { peakUsd: usd(2), dayStartMs: 0, dayStartUsd: usd(2), isEquitySettling: false }
  let now: EngineStatus = status
  let look = (): Promise<void> => Promise.resolve()
  const begun = () =>
    openConsole(
      {
        clock,
        beat(given) {
          look = given
          return () => undefined
        },
      },
      { engine: { ...engine, status: () => now }, equityStore: store() },
    )
  const worth = async (forMs: number, dollars: number): Promise<void> => {
    clock.pass(forMs)
    now = { ...status, equity: { ...mark, equityUsd: usd(dollars), equityAtMs: clock.now() } }
    await look()
  }
  const told = async (server: Awaited<ReturnType<typeof begun>>): Promise<readonly string[]> => {
    const { text } = await ask(server, 'GET', '/api/equity', asReader)
    return (JSON.parse(text) as { equityUsd: string }[]).map(({ equityUsd }) => equityUsd)
  }
  const first = await begun()
  await worth(10_000, 5)
  await worth(30_000, 7)
  await first.close()
  now = status
  const second = await begun()
  expect(await told(second)).toEqual([usd(5), usd(7)].map(String))
  // The second run is not stopped: a minute's look keeps its figures.
  await worth(61_000, 6)
  await expect.poll(() => store().read().length).toBe(3)
  now = status
  const third = await begun()
  expect(await told(third)).toEqual([usd(5), usd(7), usd(6)].map(String))
  // A clock that was ahead in an earlier run holds off no figure of this one.
  await third.close()
  await second.close()
  clock.pass(-200_000)
  const fourth = await begun()
  await worth(10_000, 9)
  expect(await told(fourth)).toEqual([String(usd(9))])
  await fourth.close()
  expect(warnings).toEqual([])
})
