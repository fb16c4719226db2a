/** The proof that a command and the daemon give each other: what holds, and every way in which it does not. */
import { expect, test } from 'vitest'
import {
  answerCode,
  bodyDigestOf,
  type ChallengedRequest,
  challengePath,
  createProofs,
  newNonce,
  proofOf,
} from '../../src/control/guard/proof.ts'
import { access } from './door.ts'

const { tokens } = access

function daemon() {
  let nowMs = 5_000.5
  const proofs = createProofs(tokens, () => nowMs)
  return {
    proofs,
    wait: (ms: number) => {
      nowMs += ms
    },
  }
}

const kill = (challenge?: string): ChallengedRequest => ({
  role: 'operate',
  method: 'POST',
  path: '/api/kill',
  nonce: newNonce(),
  ...(challenge === undefined ? {} : { challenge }),
  bodyDigest: bodyDigestOf('{"close":true}'),
})

test('a request over a challenge is known once, by its role, and its answer has a code of its own', () => {
  const { proofs } = daemon()
  const asked = kill(proofs.challenge())
  const header = proofOf(tokens.operate, asked)
  expect(header.length).toBeLessThan(512)
  expect(header).not.toContain(tokens.operate.reveal())
  expect(proofs.read(header, asked)).toEqual(asked)
  expect(proofs.read(header, asked)).toBeUndefined()
  const answered = { status: 200, bodyDigest: bodyDigestOf('{}') }
  const code = proofs.answer(asked, answered)
  expect(code).toBe(answerCode(tokens.operate, asked, answered))
  for (const other of [
    answerCode(tokens.read, asked, answered),
    answerCode(tokens.operate, { nonce: newNonce() }, answered),
    answerCode(tokens.operate, asked, { ...answered, status: 201 }),
    answerCode(tokens.operate, asked, { ...answered, bodyDigest: bodyDigestOf('{ }') }),
  ])
    expect(other).not.toBe(code)
})

test('without a challenge nothing is known but the question for one', () => {
  const { proofs } = daemon()
  const asked = kill()
  expect(proofs.read(proofOf(tokens.operate, asked), asked)).toBeUndefined()
  const first = { ...asked, method: 'GET', path: challengePath, bodyDigest: bodyDigestOf('') }
  expect(proofs.read(proofOf(tokens.operate, first), first)).toEqual(first)
  expect(proofs.read(proofOf(tokens.operate, first), { ...first, method: 'POST' })).toBeUndefined()
})

test('a challenge ends after half a minute, and one of another daemon or of one’s own making is none', () => {
  const { proofs, wait } = daemon()
  const late = kill(proofs.challenge())
  wait(30_002)
  expect(proofs.read(proofOf(tokens.operate, late), late)).toBeUndefined()
  const made = proofs.challenge()
  const [endMs = '', salt = '', seal = ''] = made.split('.')
  const others = [
    daemon().proofs.challenge(),
    `${Number(endMs) + 1}.${salt}.${seal}`,
    `${endMs}.${newNonce()}.${seal}`,
    `${endMs}.${salt}.${'0'.repeat(64)}`,
  ]
  for (const challenge of others) {
    const asked = kill(challenge)
    expect(proofs.read(proofOf(tokens.operate, asked), asked)).toBeUndefined()
  }
  const asked = kill(made)
  expect(proofs.read(proofOf(tokens.operate, asked), asked)).toEqual(asked)
})

test('a proof holds for its role, method, path, body and nonce alone, and only as it was written', () => {
  const { proofs } = daemon()
  const asked = kill(proofs.challenge())
  const header = proofOf(tokens.operate, asked)
  const bad: readonly (readonly [string | undefined, { method: string; path: string }])[] = [
    [undefined, asked],
    ['', asked],
    [proofOf(tokens.read, asked), asked],
    [proofOf(tokens.read, { ...asked, role: 'read' }).replace('role=read', 'role=operate'), asked],
    [header.replace('role=operate', 'role=read'), asked],
    [header, { ...asked, path: '/api/limits' }],
    [header, { ...asked, path: '/api/kill?x' }],
    [header, { ...asked, method: 'GET' }],
    [header.replace(/nonce=[0-9a-f]{32}/, `nonce=${newNonce()}`), asked],
    [header.replace(/body=[0-9a-f]{64}/, `body=${bodyDigestOf('{}')}`), asked],
    [`${header} `, asked],
    [header.replace(/mac=.*/, `mac=${'0'.repeat(64)}`), asked],
    [header.replace(/mac=.*/, 'mac='), asked],
  ]
  for (const [at, [text, request]] of bad.entries())
    expect([at, proofs.read(text, request)]).toEqual([at, undefined])
  expect(proofs.read(header, asked)).toEqual(asked)
})
