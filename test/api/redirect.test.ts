import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redirectedBase } from '../../src/api/transport/redirect.ts'

const host = 'https://megaeth.venue.ai/v1'
const url = `${host}/stats/summary?networks=arbitrum`
const known = new Set(['https://arbitrum.other.io/v1'])
const follow = (location: string, status = 308) =>
  redirectedBase({ status, location }, url, host, (base) => known.has(base))

test('a 308 leads to the same path at a host of the family, or at a configured one, and to nothing else', () => {
  expect(follow('https://arbitrum.venue.ai/v1/stats/summary')).toBe('https://arbitrum.venue.ai/v1')
  expect(follow('https://arbitrum.venue.ai/v1/stats/summary?networks=all')).toBe(
    'https://arbitrum.venue.ai/v1',
  )
  expect(follow('//arbitrum.venue.ai/v1/stats/summary')).toBe('https://arbitrum.venue.ai/v1')
  expect(follow('https://arbitrum.other.io/v1/stats/summary')).toBe('https://arbitrum.other.io/v1')
  for (const status of [200, 301, 302, 307, 503]) {
    expect(follow('https://arbitrum.venue.ai/v1/stats/summary', status)).toBeUndefined()
  }
  for (const location of [
    '/v1/stats/summary',
    'https://arbitrum.venue.ai/v2/stats/summary',
    'https://arbitrum.venue.ai.evil.io/v1/stats/summary',
    'https://venue.ai/v1/stats/summary',
    'https://x.arbitrum.venue.ai/v1/stats/summary',
    'http://arbitrum.venue.ai/v1/stats/summary',
    'https://arbitrum.venue.ai:444/v1/stats/summary',
    'javascript:alert(1)',
  ]) {
    expect([location, follow(location)]).toEqual([location, undefined])
  }
})

test('addresses and bare names have no family', () => {
  const from = (base: string, location: string) =>
    redirectedBase({ status: 308, location }, `${base}/stats`, base, () => false)
  expect(from('http://127.0.0.1:9000/v1', 'http://10.0.0.1:9000/v1/stats')).toBeUndefined()
  expect(from('http://localhost/v1', 'http://elsewhere/v1/stats')).toBeUndefined()
  expect(from('http://one.io/v1', 'http://two.io/v1/stats')).toBeUndefined()
})

test('whatever a host answers, it can send a question to its family or to configured hosts only', () => {
  const location = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    fc.string(),
    fc.webUrl().map((text) => new URL('/v1/stats/summary', text).href),
  )
  fc.assert(
    fc.property(location, (text) => {
      const base = follow(text)
      if (base === undefined) return
      expect(known.has(base) || /^https:\/\/[^./]+\.venue\.ai\/v1$/.test(base)).toBe(true)
    }),
    { seed: 20261120, numRuns: 500 },
  )
})
