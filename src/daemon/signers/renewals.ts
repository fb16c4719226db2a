/**
 * Renewals of a delegated key's approval: the unsigned message in a file beside the approval's own, for the owner's wallet. The file is all
 * that is remembered: one that fits the owner's next nonce stays, so a need is told once, over restarts too.
 */
import { existsSync } from 'node:fs'
import type { Clocks } from '../../base/clock.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { CommandError } from '../../config/exit.ts'
import type { Emit } from '../../domain/event.ts'
import type { RenewalDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { ApprovalSources } from './approvalFacts.ts'
import { buildApproval } from './buildApproval.ts'
import { ApprovalFileError, readRequest, requestText, typedDataOf, writeWhole } from './subaccountFile.ts'

/** Parts that prepare renewals. */
export interface RenewalParts {
  readonly sources: ApprovalSources
  readonly owner: Address
  readonly subaccount: Address
  /** Where the message for the owner is kept. */
  readonly file: string
  readonly clock: Clocks
  readonly emit: Emit
}

/** A renewal that was refused is tried again after this long, ms. */
const againMs = 600_000
const DAY_SECONDS = 86_400

/** Where the renewal of an approval is kept: beside it. */
export function renewalFileOf(approvalFile: string): string {
  return `${approvalFile.replace(/\.json$/, '')}-renewal.json`
}

/** Prepares renewals. `nonce`: the owner's next approval nonce, as it was last read. */
export type PrepareRenewal = (wish: RenewalDecision, nonce: bigint) => 'same' | Promise<Denial | undefined>

/** Makes it. Refuses with RENEWAL_FAILED; what is prepared is told by `subaccount.renewal`. */
export function createRenewals(parts: RenewalParts): PrepareRenewal {
  const { sources, owner, subaccount, file, clock, emit } = parts
  let failedMs = Number.NEGATIVE_INFINITY
  let isBusy = false

  /** Tells whether the file holds a message that the owner may still sign. */
  function isThere(nonce: bigint): boolean {
    if (!existsSync(file)) return false
    try {
      const message = readRequest(file)
      return (
        message.nonce === nonce &&
        sameHex(message.subaccount, subaccount) &&
        Number(message.deadline) > clock.now() / 1_000 + DAY_SECONDS / 24
      )
    } catch (error) {
      if (error instanceof ApprovalFileError) return false
      throw error
    }
  }

  async function prepare({ actions, days }: Parameters<PrepareRenewal>[0]): Promise<Denial | undefined> {
    isBusy = true
    try {
      const expiresAtSeconds = Math.floor(clock.now() / 1_000) + days * DAY_SECONDS
      const { message, facts } = await buildApproval(sources, {
        ...{ owner, subaccount, expiresAtSeconds },
        maxAllowedCount: ({ usedActions }) => usedActions + BigInt(actions),
      })
      writeWhole(file, requestText(typedDataOf(sources.chain, message)))
      emit({
        type: 'subaccount.renewal',
        file,
        actions,
        usedActions: Number(facts.usedActions),
        by: facts.by,
        expiresAtSeconds,
      })
      return undefined
    } catch (error) {
      const isKnown = error instanceof BaseError || error instanceof CommandError || isFileFault(error)
      if (!isKnown) throw error
      failedMs = clock.monotonicMs()
      return { code: 'RENEWAL_FAILED', reason: `no renewal is prepared: ${reasonOf(error)}` }
    } finally {
      isBusy = false
    }
  }

  return (wish, nonce) => {
    if (isBusy || clock.monotonicMs() - failedMs < againMs || isThere(nonce)) return 'same'
    return prepare(wish)
  }
}

/** A disk that is full, or a folder that may not be written. */
function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}
