/** `perpd data`: files in, a list, a check and files out, as a user types it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { readCandleFile } from '../../src/base/candles/candleFile.ts'
import { writeRates } from '../../src/history/ratesFile.ts'
import { createRecording } from '../../src/history/recordingFile.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-data-'))
  return () => rmSync(cwd, { recursive: true, force: true })
})

const START = 1_735_689_600
const text = (minutes: readonly number[]): string =>
  minutes.map((minute) => `${START + minute * 60},2000.5,2001.25,1999,2000.125`).join('\n')
const run = async (...words: readonly string[]) => await perpd(cwd, ['data', ...words])

test('several files are imported, listed, checked, and come out as they went in', async () => {
  expect((await run('list')).out).toContain('No history')
  writeFileSync(join(cwd, 'ETH-a.csv'), text([0, 1, 2]))
  writeFileSync(join(cwd, 'ETH-b.csv'), text([5, 4]))
  const done = await run('import', 'ETH-a.csv', 'ETH-b.csv', '--source', 'exchange', '--json')
  expect(JSON.parse(done.out)).toMatchObject([
    { file: 'ETH-a.csv', candles: 3 },
    { file: 'ETH-b.csv', candles: 2 },
  ])
  const { series } = JSON.parse((await run('list', '--json')).out)
  expect(series).toMatchObject([{ asset: 'ETH', source: 'exchange', candles: 5, missing: 1 }])
  expect((await run('list')).out).toContain('exchange')
  const checked = await run('check', 'ETH')
  expect(checked.code).toBe(0)
  expect(checked.out).toContain('2025-01-01 00:03 to 2025-01-01 00:04 (1 min)')

  for (const file of ['out.csv', 'out.parquet']) {
    expect((await run('export', 'ETH', '--out', file)).code).toBe(0)
    const { series: back } = await readCandleFile(join(cwd, file))
    const { series: first } = await readCandleFile(join(cwd, 'ETH-a.csv'))
    expect(back.get('')?.slice(0, 3)).toEqual(first.get(''))
    expect(back.get('')).toHaveLength(5)
  }
  expect(readFileSync(join(cwd, 'out.csv'), 'utf8').split('\n')[1]).toBe(
    '2025-01-01T00:00:00Z,2000.5,2001.25,1999,2000.125',
  )
  expect(await run('export', 'ETH', '--out', 'out.csv')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not replaced'),
  })
})

test('rates and recordings are listed beside candles, and without any', async () => {
  const history = join(cwd, 'var', 'history')
  const recording = createRecording(history)
  recording.rows(START * 1_000, [{ kind: 'ticker', key: '0x1', fields: { markPrice: 1n } }])
  await recording.close()
  const alone = await run('list')
  expect(alone.out).toMatch(/^Recordings: 1 file, 0\.0 MB, 2025-01-01 00:00 to /)
  const rates = Object.fromEntries(
    ['netRate', 'fundingRate', 'borrowingRate'].flatMap((name) => [
      [`${name}Long`, 1n],
      [`${name}Short`, 1n],
    ]),
  ) as Omit<Parameters<typeof writeRates>[2][number], 'timestampSeconds'>
  await writeRates(
    history,
    {
      ...{ chain: 'arbitrum', market: 'ETH/USD [WETH-USDC]', marketToken: `0x${'1'.repeat(40)}` },
      ...{ unit: 'unknown', origin: 'indexer' },
    },
    [START, START + 86_400].map((timestampSeconds) => ({ timestampSeconds, ...rates })),
  )
  const said = (await run('list')).out.replace(/\s+/g, ' ')
  expect(said).toContain(
    'Rates of ETH/USD [WETH-USDC] on arbitrum: 2, 2025-01-01 00:00 to 2025-01-02 00:00 UTC.',
  )
  expect(JSON.parse((await run('list', '--json')).out)).toMatchObject({
    series: [],
    rates: [{ chain: 'arbitrum', rates: 2, firstSeconds: START }],
    recordings: { firstSeconds: START, files: [{ file: 'recorded/2025-01-01T00-00-00Z.jsonl.zst' }] },
  })
})

test('a file that was damaged is found by the check, and nothing is read of it', async () => {
  writeFileSync(join(cwd, 'ETH.csv'), text([0, 1]))
  await run('import', 'ETH.csv')
  const [{ file }] = JSON.parse((await run('list', '--json')).out).series[0].files
  writeFileSync(join(cwd, 'var', 'history', file), 'PAR1')
  const { code, out } = await run('check')
  expect([code, out]).toEqual([1, expect.stringContaining('damaged')])
})

test.each([
  [['import', 'ETH.csv', '--map', 'time=Zeit'], '--map has time=Zeit'],
  [['import', 'ETH.csv', '--period', '2m'], '--period is 2m; expected 1m, 5m'],
  [['import', 'ETH.csv', '--source', 'My Exchange'], '--source is My Exchange'],
  [['export', 'ETH', '--from', '2025-02-31'], '--from is 2025-02-31; expected a day'],
  [['export', 'ETH', '--out', 'eth.xlsx'], 'ends in .csv or .parquet'],
])('%j is refused with the form that is wanted', async (words, said) => {
  writeFileSync(join(cwd, 'ETH.csv'), text([0, 1]))
  await run('import', 'ETH.csv')
  const { code, err } = await run(...words)
  expect([code, err]).toEqual([1, expect.stringContaining(said)])
})
