/** No line of the log is longer than its budget, whatever stands in it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Facts } from '../../src/base/errors.ts'
import { Secret } from '../../src/base/secret.ts'
import type { Event } from '../../src/domain/event.ts'
import { MAX_LINE_BYTES } from '../../src/monitor/log/lineBudget.ts'
import { createLog, type LogOptions } from '../../src/monitor/log/log.ts'
import { everyEvent } from './events.ts'

function written(event: Event, options: Partial<LogOptions> = {}): string {
  const texts: string[] = []
  const stream = { write: (text: string) => texts.push(text) }
  const log = createLog({ level: 'debug', format: 'json', now: () => 0, runId: 'r', stream, ...options })
  log.listen(event)
  return texts.filter((text) => !text.endsWith('times are UTC\n')).join('')
}

const failed = (reason: string, facts: unknown): Event => ({
  type: 'tick.failed',
  strategy: 'mine',
  reason,
  failures: 1,
  facts: facts as Facts,
})

/** Texts whose characters take the most bytes when they are shown. */
const wide = fc
  .tuple(
    fc.constantFrom('a', '"', '\\', '\u0000', '\u202e', '\u{e0001}', '\ud800', '€', '\n', '🜂'),
    fc.nat(20_000),
  )
  .map(([character, times]) => character.repeat(times))
const anything = fc.object({
  maxDepth: 8,
  maxKeys: 60,
  key: fc.oneof(fc.string(), wide),
  values: [wide, fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
})

test('a JSON line stays within its budget, is JSON, and keeps its event, whatever the facts of a kind are', () => {
  fc.assert(
    fc.property(anything, wide, (facts, reason) => {
      const text = written(failed(reason, facts))
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_LINE_BYTES)
      expect(text.indexOf('\n')).toBe(text.length - 1)
      expect(JSON.parse(text)).toMatchObject({ level: 'error', run_id: 'r', event: 'tick.failed' })
    }),
    { numRuns: 60, seed: 16 },
  )
})

test('a line on a terminal stays within its budget too, and so does what is kept for perpd logs', () => {
  fc.assert(
    fc.property(wide, (reason) => {
      const kept: string[] = []
      const text = written(failed(reason, {}), {
        format: 'pretty',
        keep: (line) => kept.push(line.text),
      })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_LINE_BYTES)
      expect(Buffer.byteLength(kept.join(''))).toBeLessThanOrEqual(MAX_LINE_BYTES)
    }),
    { numRuns: 60, seed: 16 },
  )
})

test('a line that is cut says how much is missing, and keeps the fields that come first', () => {
  const line = JSON.parse(
    written(
      failed(
        'no luck',
        Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`f${n}`, 'x'.repeat(300)])),
      ),
    ),
  )
  expect(line).toMatchObject({
    strategy: 'mine',
    reason: 'no luck',
    failures: 1,
    facts: { '…': 'and 380 more' },
  })
  expect(line.cut_bytes).toBeGreaterThan(100_000)
  expect(JSON.parse(written(failed('r'.repeat(3_000), {}))).reason).toMatch(/^r{2000}… \(3000 characters\)$/)
})

test('no line of an ordinary event is cut', () => {
  for (const event of everyEvent) {
    const text = written(event)
    expect(text).not.toContain('cut_bytes')
    expect(Buffer.byteLength(text)).toBeLessThan(3_000)
  }
})

test('a secret that lies where a text is cut is hidden whole', () => {
  const secret = 'hunter2-hunter2-hunter2'
  for (let at = 1_950; at < 2_010; at += 7) {
    const text = written(failed(`${'r'.repeat(at)}${secret}${'r'.repeat(3_000)}`, {}), {
      secrets: [new Secret(secret)],
    })
    expect(text).not.toContain('hunter')
  }
})
