/** The guard against two live signatures for one intent: whoever asks, over crashes, and durable before a signature leaves. */
import { hash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defined } from '../../src/base/defined.ts'
import { GuardError } from '../../src/domain/guardTable.ts'
import type { Signer, SignRequest } from '../../src/domain/signer.ts'
import { openGuardFile } from '../../src/journal/guardFile.ts'
import { JournalFaultError } from '../../src/journal/journal.ts'
import {
  type GuardOptions,
  guardedSigner,
  openGuard,
  type SigningGuard,
} from '../../src/keys/signingGuard.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'

let folder: string
let nowMs = 1_800_000_000_000
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-guard-'))
  nowMs = 1_800_000_000_000
})
afterEach(() => rmSync(folder, { recursive: true }))

const path = () => join(folder, 'journal.db.signed')
const guardAt = (more: Partial<GuardOptions> = {}, file = path()): SigningGuard => {
  const guard = openGuard({
    table: openGuardFile({ path: file, ...defined({ compactAfter: more.compactAfter }) }),
    horizonSeconds: 3_700,
    marginSeconds: 600,
    now: () => nowMs,
    ...more,
  })
  return { ...guard, claim: async (claimed, of) => guard.claim(claimed, of) }
}
const digest = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`
const claim = (intentId: string, attempt = 1, seconds = 3_600, addsUsd = 0n) => ({
  intentId,
  attempt,
  deadlineSeconds: nowMs / 1000 + seconds,
  addsUsd,
})
const linesIn = (file = path()) => readFileSync(file, 'utf8').split('\n').length - 1
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

test('who lost the right to the journal signs nothing, and signs again while it is held', async () => {
  const lost = new JournalFaultError('Another perpd has taken over this journal.', { code: 'JOURNAL_FENCED' })
  let held: JournalFaultError | undefined = lost
  const guard = guardAt({ leaseLost: () => held })
  expect(await codeOf(guard.claim(claim('a'), digest(1)))).toBe('SIGN_NO_LEASE')
  expect(linesIn()).toBe(0)
  held = undefined
  expect(await codeOf(guard.claim(claim('a'), digest(1)))).toBe('done')
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
  const none = { intentId: 'a', attempt: 1, deadlineSeconds: Number.NaN, addsUsd: 0n }
  expect(await codeOf(guard.claim(none, digest(1)))).toBe('SIGN_DEADLINE_TOO_FAR')
  expect(await codeOf(guard.claim(claim('a', 1, 3_700), digest(1)))).toBe('done')
  guard.close()
})

test('where our clock is hours behind the hosts, what adds no exposure is held against their time, and what adds against ours', async () => {
  const guard = guardAt({ hostsAheadMs: () => 18_000_000 })
  expect(await codeOf(guard.claim(claim('a', 1, 18_003_701), digest(1)))).toBe('SIGN_DEADLINE_TOO_FAR')
  expect(await codeOf(guard.claim(claim('a', 1, 21_600, usd(1)), digest(1)))).toBe('SIGN_DEADLINE_TOO_FAR')
  expect(await codeOf(guard.claim(claim('a', 1, 21_600), digest(1)))).toBe('done')
  guard.close()
  // Hosts that are behind take nothing off.
  const behind = guardAt({ hostsAheadMs: () => -18_000_000 }, join(folder, 'other'))
  expect(await codeOf(behind.claim(claim('b', 1, 3_700), digest(2)))).toBe('done')
  behind.close()
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

test('a last line that lacks nothing but its end, or whose end was damaged, still counts', async () => {
  for (const end of ['', 'J']) {
    const first = guardAt()
    await first.claim(claim('a'), digest(1))
    await first.claim(claim('b'), digest(2))
    first.close()
    writeFileSync(path(), readFileSync(path(), 'latin1').slice(0, -1) + end, 'latin1')
    const second = guardAt()
    expect(await codeOf(second.claim(claim('b'), digest(9)))).toBe('SIGN_SECOND_DIGEST')
    expect(await codeOf(second.claim(claim('c'), digest(3)))).toBe('done')
    second.close()
    expect(readFileSync(path(), 'latin1').match(/\n/g)).toHaveLength(3)
    guardAt().close()
    rmSync(path())
  }
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
  expect(() => guardAt({}, folder)).toThrow(expect.objectContaining({ code: 'GUARD_NOT_OPENED' }))
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

test('a key in this process signs beside the line, which is durable when the signature may leave; what is refused is not signed', async () => {
  let settle: (error?: Error) => void = () => undefined
  const table = {
    path: path(),
    entries: [],
    append: () =>
      new Promise<void>((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve() : reject(error))
      }),
    close: () => undefined,
  }
  const guard = openGuard({ table, horizonSeconds: 3_700, marginSeconds: 600, now: () => nowMs })
  let signed = 0
  const key: Signer = {
    address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    isLocal: true,
    sign: async () => {
      signed += 1
      return '0x01'
    },
  }
  const signer = guardedSigner(key, guard)
  const { signHeld } = signer
  if (signHeld === undefined) throw new TypeError('a key in this process has no held signatures')
  expect(await codeOf(signHeld(request()))).toBe('SIGN_UNNAMED')
  const { signature, recorded } = await signHeld(request(claim('a')))
  const standing = () =>
    Promise.race([recorded.then(() => 'durable'), new Promise((resolve) => setImmediate(resolve))])
  expect([signature, await standing()]).toEqual(['0x01', undefined])
  // The same digest again waits for the same line.
  const again = await signHeld(request(claim('a')))
  expect(again.recorded).toBe(recorded)
  expect(await codeOf(signHeld(request(claim('b'))))).toBe('SIGN_SECOND_DIGEST')
  expect(signed).toBe(2)
  settle()
  expect(await standing()).toBe('durable')

  const next = { ...request(claim('c')), digest: digest(8) }
  const failing = await signHeld(next)
  settle(new Error('no space is left'))
  expect(await codeOf(failing.recorded)).toBe('GUARD_NOT_WRITTEN')
  const remote: Signer = { address: key.address, sign: key.sign }
  expect(guardedSigner(remote, guard).signHeld).toBeUndefined()
})

const exposure = { capUsd: usd(1_000), windowSeconds: 3_600 }

test('no more exposure is signed in a time than the cap, over restarts; what adds none always is', async () => {
  const first = guardAt({ exposure })
  await first.claim(claim('a', 1, 3_600, usd(600)), digest(1))
  // The same digest again adds nothing.
  await first.claim(claim('a', 1, 3_600, usd(600)), digest(1))
  nowMs += 1_800_000
  await first.claim(claim('b', 1, 3_600, usd(400)), digest(2))
  expect(await codeOf(first.claim(claim('c', 1, 3_600, 1n), digest(3)))).toBe('SIGN_EXPOSURE_CAP')
  expect(await codeOf(first.claim(claim('d'), digest(4)))).toBe('done')
  first.close()
  const second = guardAt({ exposure })
  expect(await codeOf(second.claim(claim('c', 1, 3_600, 1n), digest(3)))).toBe('SIGN_EXPOSURE_CAP')
  nowMs += 1_799_000
  expect(await codeOf(second.claim(claim('c', 1, 3_600, usd(600)), digest(3)))).toBe('SIGN_EXPOSURE_CAP')
  nowMs += 1_000
  expect(await codeOf(second.claim(claim('c', 1, 3_600, usd(600)), digest(3)))).toBe('done')
  expect(await codeOf(second.claim(claim('e', 1, 3_600, 1n), digest(5)))).toBe('SIGN_EXPOSURE_CAP')
  // A clock that is set back makes no room.
  nowMs -= 86_400_000
  expect(await codeOf(second.claim(claim('e', 1, 3_600, 1n), digest(5)))).toBe('SIGN_EXPOSURE_CAP')
  second.close()
})

test('who lost the right to the journal signs nothing, and signs again while it is held', async () => {
  const lost = new JournalFaultError('Another perpd has taken over this journal.', { code: 'JOURNAL_FENCED' })
  let held: JournalFaultError | undefined = lost
  const guard = guardAt({ leaseLost: () => held })
  expect(await codeOf(guard.claim(claim('a'), digest(1)))).toBe('SIGN_NO_LEASE')
  expect(linesIn()).toBe(0)
  held = undefined
  expect(await codeOf(guard.claim(claim('a'), digest(1)))).toBe('done')
  guard.close()
})

test('two that ask at the same instant do not both get what is left of the cap', async () => {
  const guard = guardAt({ exposure })
  const codes = await Promise.all(
    [1, 2, 3].map((byte) => codeOf(guard.claim(claim(`${byte}`, 1, 60, usd(400)), digest(byte)))),
  )
  expect(codes).toEqual(['done', 'done', 'SIGN_EXPOSURE_CAP'])
  guard.close()
})

test('lines of a release that kept no exposure are read, and guard as they did', async () => {
  const text = JSON.stringify(['a', 1, digest(1), nowMs / 1000 + 60])
  writeFileSync(path(), `${hash('sha256', text).slice(0, 16)} ${text}\n`)
  const guard = guardAt({ exposure })
  expect(await codeOf(guard.claim(claim('a', 2), digest(2)))).toBe('SIGN_SECOND_DIGEST')
  expect(await codeOf(guard.claim(claim('b', 1, 60, usd(1_000)), digest(3)))).toBe('done')
  guard.close()
})

test('the table does not grow for ever, and what a crash leaves of a second file changes nothing', async () => {
  const guard = guardAt({ exposure, compactAfter: 10 })
  for (let turn = 0; turn < 200; turn += 1) {
    await guard.claim(claim(`intent ${turn}`, 1, 60, usd(1)), `0x${turn.toString(16).padStart(64, '0')}`)
    nowMs += 10_000_000
  }
  // What is younger than a day and an hour stays; twice as much before the next is dropped.
  expect(linesIn()).toBeLessThanOrEqual(30)
  guard.close()
  writeFileSync(`${path()}.new`, 'half a li')
  const again = guardAt({ exposure })
  expect(existsSync(`${path()}.new`)).toBe(false)
  again.close()
})

test('when the second file cannot be made, the first goes on, and nothing of it is lost', async () => {
  mkdirSync(`${path()}.new`)
  writeFileSync(join(`${path()}.new`, 'in the way'), '')
  expect(() => guardAt()).toThrow(expect.objectContaining({ code: 'GUARD_NOT_OPENED' }))
  rmSync(`${path()}.new`, { recursive: true })
  const guard = guardAt({ compactAfter: 2 })
  mkdirSync(`${path()}.new`)
  writeFileSync(join(`${path()}.new`, 'in the way'), '')
  for (const byte of [1, 2, 3, 4, 5, 6])
    expect(await codeOf(guard.claim(claim(`${byte}`), digest(byte)))).toBe('done')
  expect(linesIn()).toBe(6)
  guard.close()
})

test('over any claims, restarts, crashes, times and compactions no intent has two live digests and no time more than its cap', async () => {
  const step = fc.oneof(
    fc.record({
      intent: fc.nat(3),
      byte: fc.nat(30),
      seconds: fc.integer({ min: 1, max: 4_000 }),
      dollars: fc.nat(500),
    }),
    fc.constant('restart' as const),
    fc.record({ crashAt: fc.nat(200) }),
    fc.record({ waitSeconds: fc.oneof(fc.nat(3_000), fc.nat(200_000)) }),
  )
  let runs = 0
  let isCompacted = false
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      runs += 1
      const file = join(folder, `${runs}.signed`)
      const open = () => guardAt({ exposure, compactAfter: 2 }, file)
      let guard = open()
      const signed: { intent: number; byte: number; deadline: number; at: number; adds: bigint }[] = []
      for (const each of steps) {
        if (each === 'restart') {
          guard.close()
          guard = open()
        } else if ('crashAt' in each) {
          // A crash cuts a second file anywhere, and a line that was not flushed yet.
          guard.close()
          const text = readFileSync(file)
          writeFileSync(`${file}.new`, text.subarray(0, each.crashAt))
          appendFileSync(file, '0123456789abcdef ["x",1,"0x03'.slice(0, each.crashAt % 30))
          guard = open()
        } else if ('waitSeconds' in each) nowMs += each.waitSeconds * 1000
        else {
          const { intent, byte, seconds, dollars } = each
          const wanted = claim(String(intent), 1, seconds, usd(dollars))
          const isKnown = signed.some((one) => one.intent === intent && one.byte === byte)
          const code = await codeOf(guard.claim(wanted, digest(byte)))
          const one = {
            intent,
            byte,
            deadline: wanted.deadlineSeconds,
            at: nowMs / 1000,
            adds: wanted.addsUsd,
          }
          if (code === 'done' && !isKnown) signed.push(one)
          const live = signed.filter(({ deadline }) => deadline >= nowMs / 1000)
          for (const of of new Set(live.map((other) => other.intent)))
            expect(new Set(live.filter((other) => other.intent === of).map(({ byte: b }) => b)).size).toBe(1)
          expect(seconds <= 3_700 || code !== 'done').toBe(true)
          const recent = signed.filter(({ at }) => at > nowMs / 1000 - exposure.windowSeconds)
          expect(recent.reduce((sum, { adds }) => sum + adds, 0n) <= exposure.capUsd).toBe(true)
          if (linesIn(file) < signed.length) isCompacted = true
        }
      }
      guard.close()
    }),
    { numRuns: 150, seed: 5 },
  )
  expect(isCompacted).toBe(true)
})
