/** Keeps open notices in the journal, so that what ended while perpd was down is reported as over after the next start. */

import type { ToldApprovalStore } from '../../account/subaccountWatch.ts'
import { systemClock } from '../../base/systemClock.ts'
import {
  ACCOUNT_ID,
  type AccountRecord,
  type AccountState,
} from '../../domain/accountRecords/accountRecord.ts'
import type { NoticeEntry } from '../../domain/accountRecords/noticeEntry.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import { type NoticeLevel, noticeLevels } from '../../monitor/events/notice.ts'
import { type OpenStory, type StoryStore, storyKinds } from '../../monitor/incidents/openStories.ts'
import { type Address, sameHex } from '../../protocol/address.ts'

type OwnJournal = { account(): AccountState; appendAccount(record: AccountRecord): Promise<void> }

/** Returns the store of the notifier's open notices. */
export function noticeStore(journal: OwnJournal): StoryStore {
  return {
    read: () => (journal.account().noticed?.open ?? []).filter((each) => isStory(each)),
    keep: (open) => append(journal, { kind: 'notices.open', open }),
  }
}

/** Returns the store of the open notices about one delegated key; those of another key count for nothing. */
export function approvalStore(journal: OwnJournal, subaccount: Address): ToldApprovalStore {
  return {
    read() {
      const { approval } = journal.account().noticed ?? {}
      if (approval === undefined || !sameHex(approval.subaccount, subaccount)) return { isUnread: false }
      const { low, isUnread } = approval
      return low === undefined ? { isUnread } : { isUnread, low }
    },
    keep: (told) => append(journal, { kind: 'notices.approval', approval: { subaccount, ...told } }),
  }
}

function isStory(each: { readonly kind: string; readonly level: string }): each is OpenStory {
  return storyKinds.some((kind) => kind === each.kind) && noticeLevels.includes(each.level as NoticeLevel)
}

function append(journal: OwnJournal, entry: NoticeEntry): void {
  const stamp = { v: RECORD_VERSION, atMs: systemClock.now(), intentId: ACCOUNT_ID } as const
  // A journal that cannot be written reports that itself and ends the daemon; after its end nothing is kept.
  journal.appendAccount({ ...entry, ...stamp }).catch(() => undefined)
}
