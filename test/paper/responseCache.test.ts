/** The store of kept answers: exact at the window's end, bounded in number and in size. */
import { expect, test } from 'vitest'
import { questionOf } from '../../src/paper/http/cacheWindows.ts'
import {
  createResponseCache,
  MAX_CACHED_BYTES,
  MAX_CACHED_RESPONSES,
} from '../../src/paper/http/responseCache.ts'

test('an answer holds from its moment to the last millisecond of its window, and not before a clock set back', () => {
  const kept = createResponseCache()
  const body = kept.keep('/a', '{"a":1}', 5000, 1000)
  expect(kept.at('/a', 5000)).toBe(body)
  expect(kept.at('/a', 5999)).toBe(body)
  expect(kept.at('/a', 6000)).toBeUndefined()
  expect(kept.at('/a', 4999)).toBeUndefined()
  expect(kept.at('/b', 5000)).toBeUndefined()
})

test('a path leads to the answer of its question while there is one, and to the next answer after it', () => {
  const kept = createResponseCache()
  kept.lead('/api/0/v1/a?x', '/a')
  kept.keep('/a', '1', 0, 1000)
  expect(kept.atPath('/api/0/v1/a?x', 0)).toBeUndefined()
  kept.lead('/api/0/v1/a?x', '/a')
  expect(String(kept.atPath('/api/0/v1/a?x', 999))).toBe('1')
  expect(kept.atPath('/api/0/v1/a?x', 1000)).toBeUndefined()
  kept.keep('/a', '2', 1000, 1000)
  expect(String(kept.atPath('/api/0/v1/a?x', 1000))).toBe('2')
  kept.forget()
  expect(kept.at('/a', 1000)).toBeUndefined()
  expect(kept.atPath('/api/0/v1/a?x', 1000)).toBeUndefined()
})

test('kept answers are bounded in number, and the oldest go first', () => {
  const kept = createResponseCache()
  for (let i = 0; i <= MAX_CACHED_RESPONSES; i += 1) {
    kept.keep(`/${i}`, 'x', 0, 1000)
    kept.lead(`/path/${i}`, `/${i}`)
  }
  expect(kept.at('/0', 0)).toBeUndefined()
  expect(kept.atPath('/path/0', 0)).toBeUndefined()
  expect(kept.at('/1', 0)).toBeDefined()
  expect(kept.at(`/${MAX_CACHED_RESPONSES}`, 0)).toBeDefined()
})

test('kept answers are bounded in size, and an answer too large is never kept', () => {
  const kept = createResponseCache()
  const third = 'x'.repeat(Math.floor(MAX_CACHED_BYTES / 3) + 1)
  for (const name of ['/one', '/two', '/three']) kept.keep(name, third, 0, 1000)
  expect(kept.at('/one', 0)).toBeUndefined()
  expect(kept.at('/two', 0)).toBeDefined()
  expect(kept.at('/three', 0)).toBeDefined()
  expect(kept.keep('/large', 'x'.repeat(MAX_CACHED_BYTES / 2 + 1), 0, 1000).length).toBeGreaterThan(
    MAX_CACHED_BYTES / 2,
  )
  expect(kept.at('/large', 0)).toBeUndefined()
  expect(kept.at('/three', 0)).toBeDefined()
})

test('a question is its path and the parameters that count, addresses in any case, whatever else is asked', () => {
  const ask = (text: string) => questionOf('/rates', new URLSearchParams(text), ['period', 'address'])
  expect(ask('')).toBe('/rates')
  expect(ask('junk=1&other')).toBe('/rates')
  expect(ask('period=7d&junk=2')).toBe(ask('period=7d'))
  expect(ask('address=0xAB&period=7d')).toBe(ask('period=7d&address=0xab'))
  expect(ask('period=7d')).not.toBe(ask('period=7D'))
  expect(ask('period=7d')).not.toBe(ask('period=1d'))
  expect(ask('address=0x1&address=0x2')).not.toBe(ask('address=0x1,0x2'))
  expect(ask('period=')).not.toBe(ask(''))
})
