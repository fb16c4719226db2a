/**
 * What was told of the approval and has not ended, in a file beside the journal: its end is told to the same people though perpd was down
 * when it came. It decides nothing, so that one that is lost or broken costs that message alone.
 */
import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { warnOnce } from '../../base/warnOnce.ts'
import type { ToldApproval, ToldApprovalStore } from '../../engine/account/subaccountWatch.ts'
import type { Log } from '../../monitor/log/log.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import { writeWhole } from './subaccountFile.ts'

/** Where a run keeps it; undefined where the key is the account's own (no owner), or the journal is kept in memory (no path). */
export function openToldApproval(
  { owner }: { readonly owner?: Address | undefined },
  path: string | undefined,
  subaccount: Address,
  log: Pick<Log, 'note'>,
): ToldApprovalStore | undefined {
  if (owner === undefined || path === undefined) return undefined
  return toldApprovalFile(path, subaccount, (text) => log.note('subaccount.storyLost', 'warn', text))
}

/** Longest file that is believed, characters. */
const MOST_CHARACTERS = 1_000
const kept = z.strictObject({
  version: z.literal(1),
  subaccount: z.string(),
  low: z
    .strictObject({
      left: z
        .string()
        .regex(/^\d{1,78}$/)
        .transform(BigInt),
      expiresAtSeconds: z.int().nonnegative(),
      isGone: z.boolean(),
    })
    .optional(),
  isUnread: z.boolean(),
})

/**
 * The file for one delegated key; what is kept of another is nothing of its.
 *
 * @param warn told once for each way in which it goes wrong
 */
export function toldApprovalFile(
  path: string,
  subaccount: Address,
  warn: (text: string) => void,
): ToldApprovalStore {
  const say = warnOnce(path, warn)
  return {
    read() {
      const none = { isUnread: false }
      try {
        if (!existsSync(path)) return none
        const text = readFileSync(path, 'utf8')
        if (text.length > MOST_CHARACTERS) throw new RangeError('it is longer than perpd writes it')
        const { low, isUnread, subaccount: of } = kept.parse(JSON.parse(text))
        if (!sameHex(of, subaccount)) return none
        return { isUnread, ...(low === undefined ? {} : { low }) }
      } catch (error) {
        say('what was told of the approval before cannot be read', error)
        return none
      }
    },
    keep(told) {
      try {
        writeWhole(path, textOf(told, subaccount))
      } catch (error) {
        say('what was told of the approval is not kept', error)
      }
    },
  }
}

function textOf({ low, isUnread }: ToldApproval, subaccount: Address): string {
  const plain = low === undefined ? {} : { low: { ...low, left: String(low.left) } }
  return `${JSON.stringify({ version: 1, subaccount, ...plain, isUnread })}\n`
}
