/** Events of a delegated key's approval, and of amounts that the owner may claim. */
import { isoTime } from '../../base/clock.ts'
import type { AccountEvent } from '../../domain/accountEvent.ts'
import type { SubaccountReport } from '../../domain/subaccountReport.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { asNumber } from '../seriesNumber.ts'
import { counted, money, plain, span } from '../text.ts'
import type { EventFamily, Field } from './eventRow.ts'

function series({ gauge }: SeriesMaker) {
  const expiry = gauge(
    'perpd_subaccount_expiry_timestamp_seconds',
    'When the approval of the delegated key ends, Unix seconds.',
  )
  // Before the first word on it there is nothing to show.
  expiry.remove()
  return {
    expiry,
    actions: gauge(
      'perpd_subaccount_actions',
      'Actions of the approval of the delegated key: `left`, and `needed` to close what is open.',
      ['which'],
    ),
    claimable: gauge(
      'perpd_claimable_usd',
      'Claimable amounts at the last check of a claimer, US dollars; absent before the first check.',
    ),
  }
}

type OfReport = Field<{ readonly report: SubaccountReport }>
const remaining: OfReport = ['remaining_actions', ({ report }) => report.remainingActions]
const needed: OfReport = ['needed_actions', ({ report }) => report.neededActions]
const expires: OfReport = ['expires_at_s', ({ report }) => report.expiresAtSeconds]

const isGone = ({ isActive, isApprovalWaiting }: SubaccountReport): boolean => !isActive && !isApprovalWaiting

/** Counts the actions that an approval has left, and those that closing everything needs. */
function leftText({ remainingActions, neededActions }: SubaccountReport): string {
  return `${remainingActions} actions left (closing everything needs ${neededActions})`
}

/** Events of approvals and claims. */
export const approvalFamily: EventFamily<
  Extract<AccountEvent, { type: `${'subaccount' | 'claim'}.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'subaccount.read': {
      levels: ['debug'],
      meaning: "Remaining actions of a subaccount's approval.",
      word: 'account',
      text: ({ report }) => `${report.remainingActions} actions of the approval left`,
      fields: [remaining, needed, expires],
      isFromOutside: true,
      moves({ actions, expiry }, { report }) {
        actions.set({ which: 'left' }, report.remainingActions)
        actions.set({ which: 'needed' }, report.neededActions)
        expiry.set(report.expiresAtSeconds)
      },
    },
    'subaccount.unread': {
      levels: ['error'],
      meaning: 'The file of the approval cannot be used.',
      word: 'account',
      text: ({ reason }) => `the approval is ignored: ${plain(reason)}`,
      fields: ['reason'],
      isFromOutside: true,
      notice: () => ({
        kind: 'key-approval',
        cause: 'approval-unread',
        action: 'Correct the file of the approval.',
      }),
    },
    'subaccount.fileRight': {
      levels: ['info'],
      meaning: 'The unusable file of the approval is valid again or gone.',
      word: 'account',
      text: () => 'the file of the approval is valid again or gone',
      fields: [],
      notice: () => ({ kind: 'key-approval', cause: 'approval-unread', isEnd: true }),
    },
    'subaccount.low': {
      levels: ['warn', 'error'],
      level: ({ report }) => (isGone(report) ? 'error' : 'warn'),
      meaning: 'The approval ends soon; at error, it has ended.',
      word: 'account',
      text: ({ report, secondsLeft }) =>
        isGone(report)
          ? `the delegated key ${report.address} is not approved on the chain, and no approval waits: its messages cannot land; resting orders and positions stay. If you did not revoke it, check the owner's account. To approve it: perpd subaccount approve`
          : `the approval of the delegated key ${report.address} ends soon: ${leftText(report)}, and it lasts ${span(Math.max(0, secondsLeft) * 1_000)} more. Renew it: perpd subaccount approve`,
      fields: [remaining, needed, 'seconds_left'],
      notice: () => ({
        kind: 'key-approval',
        cause: 'approval-low',
        action: 'Renew it: perpd subaccount approve',
      }),
    },
    'subaccount.renewed': {
      levels: ['info'],
      meaning: 'An approval that was low was renewed.',
      word: 'account',
      text: ({ report }) =>
        `the approval of the delegated key ${report.address} is renewed: ${leftText(report)}, until ${isoTime(report.expiresAtSeconds * 1_000)}${report.isApprovalWaiting ? '. The next order carries it to the chain' : ''}`,
      fields: [remaining, needed, expires],
      notice: () => ({ kind: 'key-approval', cause: 'approval-low', isEnd: true }),
    },
    'subaccount.renewal': {
      levels: ['warn'],
      meaning: 'The renewal of the approval is in a file, unsigned.',
      word: 'account',
      text: ({ file, actions, usedActions, by, expiresAtSeconds }) =>
        `the renewal of the delegated key's approval is in ${file}, unsigned: ${actions} actions beyond the ${usedActions} used (counted by ${by}), until ${isoTime(expiresAtSeconds * 1_000)}. Sign it with the owner's wallet, and import the signature: perpd subaccount approve --request ${file} --signature FILE`,
      fields: [
        ...(['file', 'actions', 'used_actions'] as const),
        ['expires_at_s', ({ expiresAtSeconds }) => expiresAtSeconds],
      ],
      notice: ({ file }) => ({
        kind: 'key-approval',
        cause: `renewal:${file}`,
        isEnd: true,
        action: `Read it, sign it with the owner's wallet, and import the signature: perpd subaccount approve --request ${file} --signature FILE`,
      }),
    },
    'claim.read': {
      levels: ['debug'],
      meaning: 'The claimable amounts were read.',
      word: 'account',
      text: ({ worthUsd }) => `${money(worthUsd)} can be claimed`,
      fields: ['worth_usd'],
      moves: ({ claimable }, { worthUsd }) => claimable.set({}, asNumber(worthUsd)),
    },
    'claim.prepared': {
      levels: ['warn'],
      meaning: 'A file has the unsigned calls that claim due amounts.',
      word: 'account',
      text: ({ file, worthUsd, calls }) =>
        `${money(worthUsd)} can be claimed; ${counted(calls, 'call')} for the owner's wallet ${calls === 1 ? 'is' : 'are'} in ${file}, unsigned. Check them and send them from the owner's wallet`,
      fields: ['file', 'worth_usd', 'calls', 'pairs'],
      notice: ({ file }) => ({
        kind: 'claim',
        cause: `claim:${file}`,
        action: `Read ${file}, and send its calls from the owner's wallet.`,
      }),
    },
    'claim.over': {
      levels: ['info'],
      meaning: 'The amounts in the file of claims were claimed.',
      word: 'account',
      text: ({ file }) => `the amounts in ${file} were claimed; perpd removed the file`,
      fields: ['file'],
      notice: ({ file }) => ({ kind: 'claim', cause: `claim:${file}`, isEnd: true }),
    },
  },
}
