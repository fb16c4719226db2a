/** Records of open notices to people: the end of each is reported even after a restart. Records of the account, like halts. */
import type { Address } from '../../protocol/address.ts'

/** A notice whose end was not reported yet. */
export interface OpenNotice {
  /** One of the notifier's kinds that have an end (`monitor/incidents/openStories.ts`). */
  readonly kind: string
  readonly cause: string
  readonly level: string
  /** At most 300 characters, without secrets. */
  readonly text: string
}

/** The open notices about the approval of a delegated key. */
export interface NoticedApproval {
  readonly subaccount: Address
  /** Actions left and expiry when it was reported as low, and whether it was reported as gone. */
  readonly low?: { readonly left: bigint; readonly expiresAtSeconds: number; readonly isGone: boolean }
  /** Its file could not be read. */
  readonly isUnread: boolean
}

/** The part of an account's record that is not its stamp. Each replaces the one before. */
export type NoticeEntry =
  | { readonly kind: 'notices.open'; readonly open: readonly OpenNotice[] }
  | { readonly kind: 'notices.approval'; readonly approval: NoticedApproval }

/** Kinds of the entries above. */
export const noticeEntryKinds = [
  'notices.open',
  'notices.approval',
] as const satisfies readonly NoticeEntry['kind'][]

/** The fold of a journal's entries. */
export interface NoticeFold {
  readonly open: readonly OpenNotice[]
  readonly approval?: NoticedApproval
}

/** Returns the fold after one more entry. Pure. */
export function applyNoticeEntry(fold: NoticeFold | undefined, entry: NoticeEntry): NoticeFold {
  const before = fold ?? { open: [] }
  return entry.kind === 'notices.open'
    ? { ...before, open: entry.open }
    : { ...before, approval: entry.approval }
}
