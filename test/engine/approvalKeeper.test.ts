/** An approval keeper over the paper venue: it prepares one renewal for a need, over restarts, and the owner's signature ends the need. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { createRenewals } from '../../src/daemon/signers/renewals.ts'
import { readRequest } from '../../src/daemon/signers/subaccountFile.ts'
import type { Event } from '../../src/domain/event.ts'
import { approvalOf, ownerDigestOf } from '../../src/execution/approval/verifyApproval.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import type {
  SubaccountApproval,
  SubaccountApprovalMessage,
} from '../../src/protocol/signing/subaccountApproval.ts'
import { approvalKeeper } from '../../src/strategy/kinds/approvalKeeper.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'
import { delegate, type KindsBench, type KindsOptions, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { testTrader } from '../support/trader.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-renewal-'))
})
afterEach(async () => {
  running?.abort()
  await bench?.close()
  bench = undefined
  rmSync(folder, { recursive: true, force: true })
})

const fileOf = () => join(folder, 'approval-renewal.json')

function signed(message: SubaccountApprovalMessage): SubaccountApproval {
  return { ...message, signature: signDigest(`0x${'11'.repeat(32)}`, ownerDigestOf(arbitrum, message)) }
}

/** A daemon of the delegated key with a keeper; `actions`, what the first approval grants. */
async function world(actions: number, options: KindsOptions = {}, isOwnKey = false) {
  const over = bench ?? (await kindsBench(options))
  bench = over
  const { api, clock, journal } = over
  const nowSeconds = () => Math.floor(clock.now() / 1_000)
  const held = {
    approval: signed(
      approvalOf(arbitrum, {
        subaccount: delegate.address,
        expiresAtSeconds: nowSeconds() + 20 * 86_400,
        maxAllowedCount: BigInt(actions),
        nonce: 0n,
      }),
    ),
  }
  const params = approvalKeeper.params.parse({ actionsBelow: 50, renewActions: 400, renewDays: 30 })
  const keeper = {
    ...loadedOf(approvalKeeper as Strategy, 'keeper', []),
    params,
    needs: approvalKeeper.needs(params, []),
  }
  const own: Event[] = []
  const prepareRenewal = createRenewals({
    sources: { chain: arbitrum, api, urls: [], timeoutMs: 5_000, clock },
    ...{ owner: signer.address, subaccount: delegate.address, file: fileOf(), clock },
    emit: (event) => void own.push(event),
  })
  const { trader, events, codes } = testTrader({
    ...{ api, clock, journal, strategies: [keeper] },
    ...(isOwnKey
      ? { signer }
      : {
          signer: delegate,
          owner: {
            account: signer.address,
            readApproval: () => held.approval,
            settings: { warnActions: 5, warnSeconds: 3_600, reserveActions: 2 },
            prepareRenewal,
          },
        }),
  })
  running = trader
  await trader.start()
  return {
    clock,
    held,
    codes,
    nowSeconds,
    stop: () => trader.abort(),
    prepared: () => own.filter(({ type }) => type === 'subaccount.renewal').length,
    wishes: () => events.filter(({ type }) => type === 'decision.made').length,
  }
}

test('a renewal is prepared once for a need, over a restart too, and no more once the owner signed it', async () => {
  const first = await world(30)
  const beganSeconds = first.nowSeconds()
  await first.clock.advance(300_000)
  expect([first.prepared(), first.wishes(), first.codes()]).toEqual([1, 1, []])
  const message = readRequest(fileOf())
  expect(message).toMatchObject({ subaccount: delegate.address, maxAllowedCount: 400n, nonce: 0n })
  expect(Math.abs(Number(message.expiresAt) - beganSeconds - 30 * 86_400)).toBeLessThan(120)
  expect(statSync(fileOf()).mode & 0o777).toBe(0o600)
  expect(readFileSync(fileOf(), 'utf8')).not.toContain('"signature"')

  first.stop()
  await first.clock.advance(1_000)
  const second = await world(30)
  await second.clock.advance(300_000)
  expect(second.prepared()).toBe(0)
  // Somebody removed it: the need is still there.
  rmSync(fileOf())
  await second.clock.advance(60_000)
  expect(second.prepared()).toBe(1)
  second.held.approval = signed(readRequest(fileOf()))
  await second.clock.advance(30_000)
  rmSync(fileOf())
  await second.clock.advance(300_000)
  expect([second.prepared(), existsSync(fileOf())]).toEqual([1, false])
})

test('where the own key signs, and where much is left, nothing is prepared', async () => {
  const own = await world(30, {}, true)
  await own.clock.advance(120_000)
  expect([own.prepared(), own.wishes()]).toEqual([0, 0])
  own.stop()
  await own.clock.advance(1_000)
  const plenty = await world(500)
  await plenty.clock.advance(120_000)
  expect([plenty.prepared(), plenty.wishes(), existsSync(fileOf())]).toEqual([0, 0, false])
})

test('what a host proposes otherwise is never written, and asked for again after ten minutes alone', async () => {
  const { clock, codes, prepared } = await world(30, {
    lie: (url, text) =>
      url.includes('/subaccounts/approval/prepare')
        ? text.replaceAll('"maxAllowedCount":"400"', '"maxAllowedCount":"400000"')
        : undefined,
  })
  await clock.advance(500_000)
  expect([codes(), prepared(), existsSync(fileOf())]).toEqual([['RENEWAL_FAILED'], 0, false])
  await clock.advance(200_000)
  expect(codes()).toEqual(['RENEWAL_FAILED', 'RENEWAL_FAILED'])
})
