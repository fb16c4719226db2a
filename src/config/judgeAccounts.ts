/** The rules that hold between the accounts of one process. */
import { deskSetting } from '../domain/limits/deskBudgets.ts'
import { deskLimitRows, limitSetting } from '../domain/limits/limits.ts'
import { mostAccounts } from './accountNames.ts'
import type { Config } from './configTypes.ts'

/** The values of one account, as far as these rules read them. */
export interface JudgedAccount {
  readonly name: string
  readonly config: Config
}

/** Longest name of the rows of accounts in a database, without the account's own: with it the name has at most 64 characters. */
const mostRowsName = 47

/** Settings of which two accounts may not have the same: each names a key, or the account that a key trades for. */
const ofOneAccount = ['keystore', 'keyFile', 'owner', 'address', 'approvalFile'] as const

/** Checks accounts against each other and against the settings that all share. None: there is nothing to check. */
export function judgeAccounts(
  accounts: readonly JudgedAccount[],
  shared: Config,
  origins: Readonly<Record<string, string>>,
): readonly string[] {
  const { name: fleet } = shared.cluster
  if (fleet !== undefined && (accounts.length === 0 || !shared.journal.standby)) {
    const missing = accounts.length === 0 ? 'there are no accounts' : 'journal.standby is false'
    return [
      `${origins['cluster.name']}: cluster.name is ${fleet}, and ${missing}: a fleet shares out accounts with names, which wait for their leases. Set accounts and journal.standby, or remove it.`,
    ]
  }
  if (accounts.length === 0) {
    return deskLimitRows.flatMap(([name]) =>
      shared.desk[name] === undefined
        ? []
        : [
            `${origins[deskSetting(name)]}: ${deskSetting(name)} is set, and there are no accounts: it is a limit of several accounts together. Set risk.${limitSetting(name)}, or remove it.`,
          ],
    )
  }
  const problems: string[] = []
  const names = accounts.map(({ name }) => name)
  if (names.length > mostAccounts) {
    problems.push(
      `accounts has ${names.length} accounts; one process has at most ${mostAccounts}. Run the others in a second process, in another folder.`,
    )
  }
  for (const [key, origin] of Object.entries(origins)) {
    if (origin === 'default' || !key.startsWith('account.')) continue
    problems.push(
      `${origin}: ${key} is set, and accounts are set too (${names.join(', ')}); keep one. Move it to the account that it is of: accounts.${names[0]}.${key}.`,
    )
  }
  if (shared.journal.standby) problems.push(...emptyShares(names, shared, origins))
  const chats = shared.notify.sinks.filter((sink) => sink.type === 'telegram' && 'commandUserIds' in sink)
  const [chat] = chats
  if (shared.journal.standby && chat !== undefined) {
    problems.push(
      `${origins['notify.sinks']}: notify.sinks ${chat.name} has commandUserIds, journal.standby is true, and accounts are set (${names.join(', ')}); several processes would each get some of the chat's commands. Remove commandUserIds.`,
    )
  }
  const rows = shared.journal.account ?? shared.profile
  if (shared.journal.url !== undefined && rows.length > mostRowsName) {
    problems.push(
      `${origins['journal.account']}: journal.account has ${rows.length} characters; with accounts it has at most ${mostRowsName}, because the account's name follows it.`,
    )
  }
  if (shared.history.record) {
    problems.push(
      `${origins['history.record']}: history.record is true, and accounts are set (${names.join(', ')}); a recording is of one account. Remove it; perpd data record records the venue beside perpd.`,
    )
  }
  return [...problems, ...ofOneAccount.flatMap((key) => sharedBySeveral(accounts, key))]
}

/** Problems of limits of the desk whose fixed shares are nothing: a count is not divided below one, and no account could open anything. */
function emptyShares(
  names: readonly string[],
  { desk }: Config,
  origins: Readonly<Record<string, string>>,
): readonly string[] {
  return deskLimitRows.flatMap(([name]) => {
    const limit = desk[name]
    if (limit === undefined || limit >= BigInt(names.length)) return []
    const setting = deskSetting(name)
    return [
      `${origins[setting]}: ${setting} is ${limit}, and with journal.standby each of the ${names.length} accounts (${names.join(', ')}) has a fixed equal share of it, which is less than 1: none could open anything. Set ${names.length} or more, or remove it.`,
    ]
  })
}

/** Problems of accounts with the same value of a setting that only one may have. */
function sharedBySeveral(
  accounts: readonly JudgedAccount[],
  key: (typeof ofOneAccount)[number],
): readonly string[] {
  const byValue = Map.groupBy(accounts, ({ config }) => config.account[key]?.toLowerCase())
  return [...byValue].flatMap(([value, same]) =>
    value === undefined || same.length === 1
      ? []
      : [
          `${same.map(({ name }) => `accounts.${name}.account.${key}`).join(' and ')} are the same (${value}); two accounts with one key would sign against each other. Give each its own.`,
        ],
  )
}
