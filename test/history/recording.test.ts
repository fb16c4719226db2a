/** Recordings: what was read comes back, a crash costs the last minute alone, and no file is written over. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { record } from '../../src/history/recorder.ts'
import { type RecordedStep, readRecording } from '../../src/history/recording.ts'
import { createRecording, recordedFiles } from '../../src/history/recordingFile.ts'
import { openStore } from '../../src/history/store.ts'
import { venueBench } from '../support/venue.ts'

const DAY = Date.UTC(2026, 10, 20)
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-recording-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

const files = () => readdirSync(join(folder, 'recorded')).sort()
const stepsOf = async (name = files()[0] ?? '') =>
  await Array.fromAsync(readRecording(join(folder, 'recorded', name)))
const row = (fields: Readonly<Record<string, unknown>>) => [{ kind: 'ticker', key: '0xA', fields }]
const shown = (step: RecordedStep | undefined) =>
  step !== undefined && 'fields' in step ? Object.fromEntries(step.fields) : undefined

test('a row comes back as it was at each moment: changed, taken away and nested fields, to the last digit', async () => {
  const recording = createRecording(folder)
  recording.rows(
    DAY,
    row({ price: 123_456_789_012_345_678_901_234_567_890n, capacity: { long: 1n, isEnough: true } }),
  )
  recording.rows(DAY + 5_000, row({ price: 5n, capacity: { long: 1n, isEnough: true } }))
  recording.rows(DAY + 10_000, row({ price: 5n, capacity: { long: 1n, isEnough: true } }))
  recording.rows(DAY + 15_000, row({ price: 5n, capacity: { isEnough: false } }))
  recording.event(DAY + 16_000, { type: 'decision.made', sizeDeltaUsd: 7n })
  await recording.close()
  const steps = await stepsOf()
  expect(steps.map(({ atMs }) => atMs - DAY)).toEqual([0, 5_000, 15_000, 16_000])
  expect(shown(steps[0])).toEqual({
    price: '123456789012345678901234567890',
    'capacity.long': '1',
    'capacity.isEnough': true,
  })
  expect(shown(steps[2])).toEqual({ price: '5', 'capacity.isEnough': false })
  expect(steps[3]).toMatchObject({ event: { type: 'decision.made', sizeDeltaUsd: '7' } })
})

test('a recording that a crash cut short is read as far as it was flushed', async () => {
  const recording = createRecording(folder)
  recording.rows(DAY, row({ price: 1n }))
  await recording.flush()
  recording.rows(DAY + 5_000, row({ price: 2n }))
  // The process ends here: nobody closes it.
  expect((await stepsOf()).map(shown)).toEqual([{ price: '1' }])
  const path = join(folder, 'recorded', files()[0] ?? '')
  const bytes = readFileSync(path)
  await recording.close()
  expect(await stepsOf()).toHaveLength(2)
  const cut = join(folder, 'cut.jsonl.zst')
  for (let length = 1; length < bytes.length; length += 7) {
    writeFileSync(cut, bytes.subarray(0, length))
    expect((await Array.fromAsync(readRecording(cut))).length).toBeLessThanOrEqual(1)
  }
})

test('a reader that wants some rows gets those alone, as they were, and no others', async () => {
  const recording = createRecording(folder)
  const other = (price: bigint) => [{ kind: 'ticker', key: '0xB', fields: { price } }]
  recording.rows(DAY, [...row({ price: 1n }), ...other(7n)])
  recording.turn(DAY, 'eth-trend', '{"returned":[]}')
  recording.rows(DAY + 5_000, [...row({ price: 2n }), ...other(8n)])
  recording.event(DAY + 5_000, { type: 'tick.done' })
  await recording.close()
  const path = join(folder, 'recorded', files()[0] ?? '')
  const some = await Array.fromAsync(readRecording(path, (_kind, key) => key === '0xB'))
  expect(some.map(shown)).toEqual([{ price: '7' }, { price: '8' }])
  const turns = await Array.fromAsync(readRecording(path, (kind) => kind === 'turn'))
  expect(turns).toEqual([{ atMs: DAY, strategy: 'eth-trend', turn: '{"returned":[]}' }])
})

test('a span is read from the files whose days it touches, the oldest first', async () => {
  const recording = createRecording(folder)
  for (const day of [0, 1, 2]) recording.rows(DAY + day * 86_400_000 + 3_600_000, row({ price: BigInt(day) }))
  await recording.close()
  const starts = (fromMs: number, toMs: number) =>
    recordedFiles(folder, fromMs, toMs).map(({ startMs }) => (startMs - DAY) / 86_400_000)
  expect(starts(DAY, DAY + 86_400_000)).toEqual([1 / 24])
  expect(starts(DAY + 86_400_000, DAY + 3 * 86_400_000)).toEqual([1 + 1 / 24, 2 + 1 / 24])
  expect(recordedFiles(join(folder, 'none'), 0, DAY)).toEqual([])
})

test('a day is a file, and each begins with whole rows', async () => {
  const recording = createRecording(folder)
  recording.rows(DAY + 86_399_000, row({ price: 1n, other: 2n }))
  recording.rows(DAY + 86_400_000, row({ price: 3n, other: 2n }))
  await recording.close()
  expect(files()).toEqual(['2026-11-20T23-59-59Z.jsonl.zst', '2026-11-21T00-00-00Z.jsonl.zst'])
  expect(shown((await stepsOf(files()[1]))[0])).toEqual({ price: '3', other: '2' })
})

test('what the venue shows is recorded at its times; a route that fails costs itself', async () => {
  const symbols = ['ETH/USD [WETH-USDC]']
  const { api, clock } = venueBench({
    startMs: DAY,
    between: async (url, init, next) =>
      url.includes('/jit/') ? new Response('{}', { status: 500 }) : await next(url, init),
  })
  const recording = createRecording(folder)
  const ending = new AbortController()
  const problems = new Set<string>()
  const parts = { api, clock, store: openStore(folder), recording, symbols, source: 'paper' }
  const over = record({ ...parts, problem: (text) => void problems.add(text) }, ending.signal)
  for (let step = 0; step < 24; step += 1) await clock.advance(5_000)
  ending.abort()
  await clock.advance(20_000)
  await over
  const steps = await stepsOf()
  const kinds = Map.groupBy(steps, (step) => ('kind' in step ? step.kind : 'event'))
  expect([...kinds.keys()].sort()).toEqual(['config', 'ticker', 'values'])
  expect(new Set(steps.map((step) => ('key' in step ? step.key : ''))).size).toBe(1)
  expect(kinds.get('ticker')?.length).toBeGreaterThan(2)
  expect(shown(kinds.get('ticker')?.[0])).toMatchObject({
    symbol: 'ETH/USD [WETH-USDC]',
    minPrice: expect.stringMatching(/^\d{20,}$/),
    'capacityLong.availableLiquidity': expect.stringMatching(/^\d+$/),
  })
  expect([...problems].join()).toContain('/jit/')
})
