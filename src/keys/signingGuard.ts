/**
 * The guard against two signatures for one intent: an append-only table beside the journal of what was ever given to the
 * key, `intentId -> (attempt, digest, deadline)` (docs/security.md). It is asked by the signer itself, so that
 * whoever asks, a daemon with a fault in its machine included, gets no second live digest for one intent, none that lives
 * longer than any order may, and no more exposure in a time than a cap that nothing changes while perpd runs.
 */
import { defined } from '../base/defined.ts'
import { type BaseError, reasonOf } from '../base/errors.ts'
import { COMPACT_AFTER, GuardError, type GuardTable, type SignEntry } from '../domain/guardTable.ts'
import type { SignClaim, Signer, SignRequest } from '../domain/signer.ts'
import type { Hex } from '../protocol/address.ts'
import { formatUsd, type Usd } from '../protocol/units.ts'
import { createExposureWindow } from './exposureWindow.ts'

/** Options of the guard. */
export interface GuardOptions {
  /** The opened table, which the guard owns from then on; absent: it is kept in memory and ends with the process. */
  readonly table?: GuardTable
  /** Gives the fault by which this process lost the right to its journal; undefined while it has it. Absent: it has. */
  readonly leaseLost?: () => BaseError | undefined
  /** Furthest deadline from now, seconds. */
  readonly horizonSeconds: number
  /** Time after its deadline for which a digest still counts as live, for clocks that differ, seconds. */
  readonly marginSeconds: number
  /** Most exposure that is signed in any such time, USD; reductions add none. Absent: no cap. */
  readonly exposure?: { readonly capUsd: Usd; readonly windowSeconds: number }
  /** Unix ms. */
  readonly now: () => number
  /**
   * Gives how far the venue's hosts are ahead of `now`, ms: where our clock was set back, what adds no exposure is held against their time, or no
   * position could be left. Absent: they are not.
   */
  readonly hostsAheadMs?: () => number | undefined
  /**
   * Tells whether a line of an earlier run belongs to a signature that never left the process. A signature that the journal does not hold as armed
   * was never sent, and died with the process that made it.
   */
  readonly neverLeft?: (entry: SignEntry) => boolean
  /** Lines above which those that count for nothing any more are dropped. Default 4096. */
  readonly compactAfter?: number
}

/** The table. */
export interface SigningGuard {
  /**
   * Writes down that a digest is about to be signed; what it gives resolves when that is durable, and rejects with GuardError
   * GUARD_NOT_WRITTEN: no signature of it may leave the process then. The same digest of the same intent again is no second
   * one, and adds nothing.
   *
   * @throws GuardError SIGN_NO_LEASE, SIGN_SECOND_DIGEST, SIGN_DEADLINE_TOO_FAR or SIGN_EXPOSURE_CAP, at once; nothing may be signed then.
   */
  claim(claim: SignClaim, digest: Hex): Promise<void>
  close(): void
}

/** A line stays this long after it last counted: a clock that went ahead and is set back must not revive what was dropped, s. */
const KEEP_SECONDS = 86_400

/** Makes the guard over its table. */
export function openGuard(options: GuardOptions): SigningGuard {
  const { table, horizonSeconds, marginSeconds, exposure, now, hostsAheadMs, neverLeft } = options
  const compactAfter = options.compactAfter ?? COMPACT_AFTER
  const byIntent = new Map<string, SignEntry>()
  const byDigest = new Map<string, SignEntry>()
  const nowSeconds = (): number => Math.floor(now() / 1000)
  const signed = exposure === undefined ? undefined : createExposureWindow(exposure.windowSeconds)
  const forget = (entry: SignEntry): void => {
    byDigest.delete(entry.digest)
    signed?.remove(entry)
  }
  const keep = (entry: SignEntry): void => {
    const before = byDigest.get(entry.digest)
    if (before !== undefined) forget(before)
    byIntent.set(entry.intentId, entry)
    byDigest.set(entry.digest, entry)
    signed?.add(entry)
  }
  const isLive = ({ deadlineSeconds }: SignEntry): boolean => now() / 1000 <= deadlineSeconds + marginSeconds
  let forgetAbove = compactAfter

  /** Forgets what counted for nothing for a day; gives the rest. */
  function kept(): readonly SignEntry[] {
    const window = exposure?.windowSeconds ?? 0
    for (const entry of byDigest.values()) {
      const until = Math.max(entry.deadlineSeconds + marginSeconds, entry.atSeconds + window) + KEEP_SECONDS
      if (now() / 1000 <= until) continue
      forget(entry)
      if (byIntent.get(entry.intentId) === entry) byIntent.delete(entry.intentId)
    }
    forgetAbove = Math.max(compactAfter, 2 * byDigest.size)
    return [...byDigest.values()]
  }

  /** Lines that are on their way to the disk, by digest. */
  const underWay = new Map<Hex, Promise<void>>()

  for (const entry of table?.entries ?? []) if (neverLeft?.(entry) !== true) keep(entry)

  function refuseAboveCap({ intentId, addsUsd }: SignEntry): void {
    if (exposure === undefined || signed === undefined || addsUsd <= 0n) return
    const signedUsd = signed.sumAt(nowSeconds())
    if (signedUsd + addsUsd <= exposure.capUsd) return
    throw new GuardError('The message would exceed the exposure that the key may sign in this window.', {
      code: 'SIGN_EXPOSURE_CAP',
      facts: {
        intentId,
        adds: formatUsd(addsUsd),
        signed: formatUsd(signedUsd),
        cap: formatUsd(exposure.capUsd),
        windowSeconds: exposure.windowSeconds,
      },
      details:
        'Nothing was signed; reductions still are. The cap is signing.exposureCapUsd per signing.exposureWindowSeconds; changing it needs a restart.',
    })
  }

  return {
    claim({ intentId, attempt, deadlineSeconds, addsUsd }, digest) {
      refuseWithoutLease(options.leaseLost?.(), digest)
      const aheadMs = addsUsd > 0n ? 0 : Math.max(0, hostsAheadMs?.() ?? 0)
      const latest = nowSeconds() + Math.floor(aheadMs / 1000) + horizonSeconds
      if (!(deadlineSeconds <= latest)) {
        throw new GuardError('The deadline is later than perpd may sign.', {
          code: 'SIGN_DEADLINE_TOO_FAR',
          facts: { intentId, deadlineSeconds, latest },
          details: 'Nothing was signed.',
        })
      }
      const entry: SignEntry = {
        intentId,
        attempt,
        digest: digest.toLowerCase() as Hex,
        deadlineSeconds,
        addsUsd,
        atSeconds: nowSeconds(),
      }
      const others = [byIntent.get(intentId), byDigest.get(entry.digest)]
      for (const other of others) {
        if (other === undefined) continue
        if (other.digest === entry.digest && other.intentId === intentId)
          return underWay.get(entry.digest) ?? Promise.resolve()
        if (isLive(other)) throw secondDigest(entry, other)
      }
      refuseAboveCap(entry)
      // Before the wait: two that ask at once must not both pass.
      keep(entry)
      if (table === undefined) {
        if (byDigest.size > forgetAbove) kept()
        return Promise.resolve()
      }
      const line = written(entry, table, kept).then(() => void underWay.delete(entry.digest))
      underWay.set(entry.digest, line)
      return line
    },
    close: () => table?.close(),
  }
}

async function written(entry: SignEntry, table: GuardTable, kept: () => readonly SignEntry[]): Promise<void> {
  try {
    await table.append(entry, kept)
  } catch (cause) {
    throw new GuardError('The record of the signature cannot be written.', {
      code: 'GUARD_NOT_WRITTEN',
      facts: { path: table.path, reason: reasonOf(cause) },
      details: 'Nothing was sent, and perpd signs nothing until a restart. Check the disk.',
      cause,
    })
  }
}

/**
 * A signer that signs nothing that the guard refuses, nothing that does not say for which intent it is, and lets no signature leave
 * before the guard's line is durable: a key elsewhere is asked after that, one in this process beside it.
 */
export function guardedSigner(signer: Signer, guard: SigningGuard): Signer {
  async function signHeld(request: SignRequest) {
    const recorded = guard.claim(claimOf(request), request.digest)
    // Whoever holds the signature waits for it; without a signature nobody does.
    recorded.catch(() => undefined)
    return { signature: await signer.sign(request), recorded }
  }
  return {
    address: signer.address,
    async sign(request) {
      await guard.claim(claimOf(request), request.digest)
      return await signer.sign(request)
    },
    ...defined({ signHeld: signer.isLocal === undefined ? undefined : signHeld }),
  }
}

function refuseWithoutLease(lost: BaseError | undefined, digest: Hex): void {
  if (lost === undefined) return
  throw new GuardError('This perpd has no right to its journal any more, and signs nothing.', {
    code: 'SIGN_NO_LEASE',
    facts: { digest, lost: lost.code },
    details: lost.shortMessage,
    cause: lost,
  })
}

function claimOf({ claim, digest }: SignRequest): SignClaim {
  if (claim !== undefined) return claim
  throw new GuardError('The message to sign does not name its order.', {
    code: 'SIGN_UNNAMED',
    facts: { digest },
    details: 'Nothing was signed.',
  })
}

function secondDigest(entry: SignEntry, other: SignEntry): GuardError {
  return new GuardError('The order has another signature that can still land.', {
    code: 'SIGN_SECOND_DIGEST',
    facts: {
      intentId: entry.intentId,
      attempt: entry.attempt,
      digest: entry.digest,
      firstIntentId: other.intentId,
      firstAttempt: other.attempt,
      firstDigest: other.digest,
      firstDeadlineSeconds: other.deadlineSeconds,
    },
    details:
      'Nothing was signed. The first signature expires at its deadline; after that a new decision can replace it.',
  })
}
