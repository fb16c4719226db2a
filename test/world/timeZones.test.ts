/**
 * The real program on a machine whose time zone has a day of 25 hours: days, limits of a day, turns and times of the log are UTC's, before,
 * at and after the hour that comes twice.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTables } from '../../src/backtest/runFiles.ts'
import { operatedIn } from './operated.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, until } from './processes.ts'

const folder = folderOfEachTest()
const market = 'ETH/USD [WETH-USDC]'

/** Zones, each with the moment at which its clocks are set back by an hour. */
const zones = [
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
] as const

test.each(zones)(
  'a run over the night in which the clocks of %s are set back is the run of a machine in UTC: a day’s loss stops trading until 00:00 UTC',
  { timeout: 180_000 },
  async (zone, changeAt) => {
    const stepSeconds = 300
    const midnightSeconds = Date.parse(`${changeAt.slice(0, 10)}T00:00:00Z`) / 1_000
    const fromSeconds = midnightSeconds - 7 * stepSeconds
    const toSeconds = Date.parse(changeAt) / 1_000 + 4 * stepSeconds
    const lines = ['timestamp,open,high,low,close']
    for (let at = fromSeconds - 3_600; at < toSeconds + stepSeconds; at += stepSeconds) {
      lines.push([at, 2_000, 2_001, 1_999, 2_000].join(','))
    }
    const data = join(folder.path, 'eth-usd-5m.csv')
    writeFileSync(data, `${lines.join('\n')}\n`)
    const file = join(folder.path, 'churn.yaml')
    writeFileSync(
      file,
      JSON.stringify({
        kind: join(import.meta.dirname, 'strategies', 'churn.ts'),
        market,
        cadenceSeconds: stepSeconds,
        size: { usd: 1_000, leverage: 2, collateral: 'short' },
        limits: { maxDailyLossUsd: 3 },
      }),
    )
    const utc = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 16)
    const span = ['--from', utc(fromSeconds), '--to', utc(toSeconds), '--turn-seconds', String(stepSeconds)]
    const [here, there] = await Promise.all(
      ['UTC', zone].map(async (TZ, at) => {
        const out = join(folder.path, `run-${at}`)
        const run = perpd(['backtest', file, '--data', data, ...span, '--out', out], {
          cwd: folder.path,
          env: { TZ },
        })
        expect(await run.ended, run.said()).toBe(0)
        return ['fills.csv', 'equity.csv', 'result.json'].map((name) => readFileSync(join(out, name), 'utf8'))
      }),
    )
    expect(there).toEqual(here)
    const seconds = runTables.fills.parse(there?.[0] ?? '').map(({ second }) => Number(second))
    const [before, after] = [
      seconds.filter((each) => each < midnightSeconds),
      seconds.filter((each) => each >= midnightSeconds),
    ]
    // Losing round trips, then nothing until the day is over; the next day as many again, and no more after the change.
    expect(before.length).toBeGreaterThan(2)
    expect(after).toHaveLength(before.length)
    expect((after[0] ?? 0) - midnightSeconds).toBeLessThan(60)
    expect(midnightSeconds - (before.at(-1) ?? 0)).toBeGreaterThan(stepSeconds)
  },
)

/** A daemon that runs from shortly before the change to shortly after it, and what it says. */
async function throughChange([zone, changeAt]: (typeof zones)[number]): Promise<void> {
  const changeMs = Date.parse(changeAt)
  const place = join(folder.path, zone.replace('/', '-'))
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const { port } = await operatedIn(place)
  writeFileSync(join(place, 'perpd.json'), JSON.stringify({ control: { port }, strategies: { paths: [] } }), {
    mode: 0o600,
  })
  const steppedBy = join(place, 'steppedBy')
  writeFileSync(steppedBy, String(changeMs - 20_000 - Date.now()))
  const env = {
    TZ: zone,
    STEPPED_BY: steppedBy,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'steppedTime.ts')}`,
  }
  const daemon = perpd(['run', '--log.format=json'], { cwd: place, env })
  await until('it is ready', () => daemon.stdout().includes('"daemon.ready"') || undefined, {
    seen: daemon.said,
  })
  const said = async (...words: readonly string[]): Promise<string> => {
    const command = perpd(words, { cwd: place, env })
    expect([words.join(' '), await command.ended], command.said()).toEqual([words.join(' '), 0])
    return command.stdout()
  }
  await said('open', market, 'long', '--size', '100', '--leverage', '2', '--yes')
  const statusOf = async () => JSON.parse(await said('status', '--json'))
  const isSetBack = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`)
    return Date.parse(answer.headers.get('date') ?? '') > changeMs + 2_000 || undefined
  }
  await until('the clocks are set back', isSetBack, { seen: daemon.said })
  await said('close', market, 'long', '--yes')
  await until(
    'no position is open',
    async () => (JSON.parse(await said('positions', '--json')).length === 0 ? true : undefined),
    { seen: daemon.said },
  )
  const { halts } = await statusOf()
  expect(halts).toEqual([])
  const days = JSON.parse(await said('pnl', '--by', 'day', '--json'))
  expect(JSON.stringify(days)).toContain(changeAt.slice(0, 10))
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
  const times = daemon
    .stdout()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { ts: string }).ts] : []))
  expect(times.every((each) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(each))).toBe(true)
  expect(times.toSorted()).toEqual(times)
  expect(times.some((each) => Date.parse(each) < changeMs)).toBe(true)
  expect(Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '')).toBeLessThan(240_000)
}

test('daemons go through the hour that comes twice: one day, no halt, and times that only grow', {
  timeout: 240_000,
}, async () => {
  await Promise.all(zones.map(throughChange))
})
