/** Files of candles that are none: each is refused with what is wrong with it, in our words. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readCandleFile } from '../../src/base/candles/candleFile.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-candle-texts-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function candles(text: string | Uint8Array): Promise<number> {
  const path = join(folder, 'ETH.csv')
  writeFileSync(path, text)
  return [...(await readCandleFile(path)).series.values()].flat().length
}
const row = '{"timestamp":1735689600,"open":1,"high":2,"low":1,"close":1}'
const next = row.replace('9600', '9660')

test.each([
  [`[${row},]`, 'none after the last comma'],
  [`[${row}`, 'it ends'],
  [`${row}\n${next.replace(':1,', ':,')}`, 'row 2: it is not JSON: at line 1'],
  ['timestamp,open,high,low,close,close\n1735689600,1,2,1,1,9', 'the column close twice'],
  ['<!DOCTYPE html><html>', 'no line has columns'],
  ['', 'no line has columns'],
  [Uint8Array.of(0x1f, 0x8b, 8, 0, 0xff), 'it is not text in UTF-8; save it as UTF-8\n'],
])('%j: %s', async (text, said) => {
  await expect(candles(text)).rejects.toThrow(
    expect.objectContaining({ code: 'CANDLES_UNREADABLE', message: expect.stringContaining(said) }),
  )
  await expect(candles(text)).rejects.not.toThrow(/Unexpected token|Expected|encoded data/)
})

test('candles as a list, and one a line, go through', async () => {
  expect([await candles(`[${row},${next}]`), await candles(`${row}\n${next}\n`)]).toEqual([2, 2])
})
