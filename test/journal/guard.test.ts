/** The guard against two live signatures for one intent: whoever asks, over crashes, and durable before the key is used. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '../../src/domain/address.ts'
import type { SignRequest } from '../../src/domain/signer.ts'
import { GuardError, type GuardOptions, guardedSigner, openGuard } from '../../src/journal/guard.ts'

let folder: string
let nowMs = 1_800_000_000_000
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-guard-'))
  nowMs = 1_800_000_000_000
})
afterEach(() => rmSync(folder, { recursive: true }))

const path = () => join(folder, 'journal.db.signed')
const guardAt = (more: Partial<GuardOptions> = {}) =>
  openGuard({ path: path(), horizonSeconds: 3_700, marginSeconds: 600, now: () => nowMs, ...more })
const digest = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`
const claim = (intentId: string, attempt = 1, seconds = 3_600) => ({
  intentId,
  attempt,
  deadlineSeconds: nowMs / 1000 + seconds,
})
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof GuardError) return error.code
    throw error
  }
}

test('one intent has one live digest, whoever asks; the same digest again is no second one', async () => {
  const guard = guardAt()
  await guard.claim(claim('a'), digest(1))
  await guard.claim(claim('a'), digest(1))
  expect(await codeOf(guard.claim(claim('a'), digest(2)))).toBe('SIGN_SECOND_DIGEST')
  expect(await codeOf(guard.claim(claim('a', 2), digest(2)))).toBe('SIGN_SECOND_DIGEST')
  expect(await codeOf(guard.claim(claim('b'), digest(1)))).toBe('SIGN_SECOND_DIGEST')
  await guard.claim(claim('b'), digest(3))
  guard.close()
})

test('two that ask at the same instant do not both pass', async () => {
  const guard = guardAt()
  const codes = await Promise.all([1, 2, 3].map((byte) => codeOf(guard.claim(claim('a'), digest(byte)))))
  expect(codes).toEqual(['done', 'SIGN_SECOND_DIGEST', 'SIGN_SECOND_DIGEST'])
  guard.close()
})

test('after its deadline and the margin a digest is dead, and another may be signed', async () => {
  const guard = guardAt()
  await guard.claim(claim('a', 1, 100), digest(1))
  nowMs += 700_000
  expect(await codeOf(guard.claim(claim('a', 2, 100), digest(2)))).toBe('SIGN_SECOND_DIGEST')
  nowMs += 1_000
  expect(await codeOf(guard.claim(claim('a', 2, 100), digest(2)))).toBe('done')
  guard.close()
})

test('a deadline beyond the horizon, or none at all, is refused', async () => {
  const guard = guardAt()
  expect(await codeOf(guard.claim(claim('a', 1, 3_701), digest(1)))).toBe('SIGN_DEADLINE_TOO_FAR')
  const none = { intentId: 'a', attempt: 1, deadlineSeconds: Number.NaN }
  expect(await codeOf(guard.claim(none, digest(1)))).toBe('SIGN_DEADLINE_TOO_FAR')
  expect(await codeOf(guard.claim(claim('a', 1, 3_700), digest(1)))).toBe('done')
  guard.close()
})

test('what was claimed is there after a restart, private, and a line that a crash cut was never signed', async () => {
  const first = guardAt()
  await first.claim(claim('a'), digest(1))
  await first.claim(claim('b'), digest(2))
  first.close()
  expect(statSync(path()).mode & 0o777).toBe(0o600)
  appendFileSync(path(), '0123456789abcdef ["c",1,"0x03')
  const second = guardAt()
  expect(await codeOf(second.claim(claim('a'), digest(9)))).toBe('SIGN_SECOND_DIGEST')
  expect(await codeOf(second.claim(claim('c'), digest(3)))).toBe('done')
  second.close()
  expect(readFileSync(path(), 'utf8').split('\n')).toHaveLength(4)
  guardAt().close()
})

test('a signature that never left the process that made it is void after a restart', async () => {
  const first = guardAt()
  await first.claim(claim('a'), digest(1))
  await first.claim(claim('b'), digest(2))
  first.close()
  const second = guardAt({ neverLeft: ({ intentId }) => intentId === 'a' })
  expect(await codeOf(second.claim(claim('a'), digest(3)))).toBe('done')
  expect(await codeOf(second.claim(claim('b'), digest(4)))).toBe('SIGN_SECOND_DIGEST')
  // In this run nothing makes it void.
  expect(await codeOf(second.claim(claim('a'), digest(5)))).toBe('SIGN_SECOND_DIGEST')
  second.close()
})

test('a changed line, a folder and a link are refused', async () => {
  const guard = guardAt()
  await guard.claim(claim('a'), digest(1))
  guard.close()
  writeFileSync(path(), readFileSync(path(), 'utf8').replace('"a"', '"b"'))
  expect(() => guardAt()).toThrow(expect.objectContaining({ code: 'GUARD_DAMAGED' }))
  expect(() => guardAt({ path: folder })).toThrow(expect.objectContaining({ code: 'GUARD_NOT_OPENED' }))
})

const request = (claimed?: SignRequest['claim']): SignRequest => ({
  digest: digest(7),
  ...(claimed === undefined ? {} : { claim: claimed }),
  typedData: {
    domain: { name: '', version: '', chainId: 1, verifyingContract: '0x' },
    types: {},
    primaryType: 'Batch',
    message: {},
  },
})

test('a guarded signer has the claim on disk before the key is used, and signs nothing without a name', async () => {
  const guard = guardAt()
  const seen: string[] = []
  const signer = guardedSigner(
    {
      address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
      sign: async () => {
        seen.push(readFileSync(path(), 'utf8'))
        return '0x01'
      },
    },
    guard,
  )
  expect(await codeOf(signer.sign(request()))).toBe('SIGN_UNNAMED')
  expect(await signer.sign(request(claim('a')))).toBe('0x01')
  expect(seen).toHaveLength(1)
  expect(seen[0]).toContain(digest(7))
  guard.close()
})

test('over any claims, restarts and times no intent has two live digests', async () => {
  const step = fc.oneof(
    fc.record({ intent: fc.nat(3), byte: fc.nat(30), seconds: fc.integer({ min: 1, max: 4_000 }) }),
    fc.constant('restart' as const),
    fc.record({ waitSeconds: fc.nat(3_000) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const file = join(folder, `${Math.abs(nowMs)}-${steps.length}.signed`)
      rmSync(file, { force: true })
      let guard = guardAt({ path: file })
      const signed: { intent: number; byte: number; deadline: number }[] = []
      for (const each of steps) {
        if (each === 'restart') {
          guard.close()
          guard = guardAt({ path: file })
        } else if ('waitSeconds' in each) nowMs += each.waitSeconds * 1000
        else {
          const { intent, byte, seconds } = each
          const wanted = claim(String(intent), 1, seconds)
          const code = await codeOf(guard.claim(wanted, digest(byte)))
          if (code === 'done') signed.push({ intent, byte, deadline: wanted.deadlineSeconds })
          const live = signed.filter(({ deadline }) => deadline >= nowMs / 1000)
          for (const of of new Set(live.map((one) => one.intent)))
            expect(new Set(live.filter((one) => one.intent === of).map(({ byte: b }) => b)).size).toBe(1)
          expect(seconds <= 3_700 || code !== 'done').toBe(true)
        }
      }
      guard.close()
    }),
    { numRuns: 60, seed: 5 },
  )
})
