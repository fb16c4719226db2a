/** The owner of a delegated key in a simulated month: approves it for a few days, and signs each renewal that perpd prepared some hours later. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Api } from '../../src/api/client.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { createRenewals } from '../../src/daemon/signers/renewals.ts'
import { readRequest } from '../../src/daemon/signers/subaccountFile.ts'
import type { Owner } from '../../src/daemon/trader.ts'
import type { Emit } from '../../src/domain/event.ts'
import { approvalOf, ownerDigestOf } from '../../src/execution/approval/verifyApproval.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { Chain } from '../../src/protocol/chains/chain.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import type {
  SubaccountApproval,
  SubaccountApprovalMessage,
} from '../../src/protocol/signing/subaccountApproval.ts'

/** The owner's wallet waits this long before it signs, ms. */
const SIGNS_AFTER_MS = 6 * 3_600_000
/** The first approval lasts this long, s. */
const FIRST_SECONDS = 5 * 86_400
/** Actions of the first approval. */
const FIRST_ACTIONS = 500n

/** The key that perpd signs with while an owner stands behind it. */
export const delegate = createLocalSigner(`0x${'33'.repeat(32)}`)

/** An owner, as the trader takes one, and what he does over time. */
export interface MonthOwner {
  readonly owner: Owner
  /** Looks whether a renewal waits, and signs it once it has waited. Throws what an unreadable file throws. */
  step(): void
  /** What is wrong, as sentences: the approval ran out, or no renewal of it was ever prepared. */
  problems(): readonly string[]
}

/** Makes the owner of `delegate`, whose own key is this one. */
export function createMonthOwner(parts: {
  readonly key: `0x${string}`
  readonly folder: string
  readonly chain: Chain
  readonly api: Api
  readonly clock: Clock
  readonly config: Config
  readonly emit: Emit
}): MonthOwner {
  const { key, folder, chain, api, clock, config, emit } = parts
  const account = createLocalSigner(key).address
  const file = join(folder, 'approval-renewal.json')
  const signed = (message: SubaccountApprovalMessage): SubaccountApproval => ({
    ...message,
    signature: signDigest(key, ownerDigestOf(chain, message)),
  })
  const firstUntilSeconds = Math.floor(clock.now() / 1000) + FIRST_SECONDS
  let approval = signed(
    approvalOf(chain, {
      subaccount: delegate.address,
      expiresAtSeconds: firstUntilSeconds,
      maxAllowedCount: FIRST_ACTIONS,
      nonce: 0n,
    }),
  )
  let waitsSinceMs: number | undefined
  let renewed = 0
  return {
    owner: {
      account,
      readApproval: () => approval,
      settings: config.account,
      prepareRenewal: createRenewals({
        sources: { chain, api, urls: [], timeoutMs: config.rpc.timeoutMs, clock },
        ...{ owner: account, subaccount: delegate.address, clock, emit, file },
      }),
    },
    step() {
      if (!existsSync(file)) return
      const message = readRequest(file)
      if (message.nonce <= approval.nonce) return
      waitsSinceMs ??= clock.now()
      if (clock.now() - waitsSinceMs < SIGNS_AFTER_MS) return
      approval = signed(message)
      renewed += 1
      waitsSinceMs = undefined
    },
    problems() {
      const isOver = (untilSeconds: number): boolean => clock.now() > untilSeconds * 1000
      return [
        ...(isOver(Number(approval.expiresAt))
          ? ['the approval ran out, and no renewal was prepared in time']
          : []),
        ...(isOver(firstUntilSeconds) && renewed === 0 ? ['no renewal was prepared'] : []),
      ]
    },
  }
}
