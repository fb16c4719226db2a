/**
 * Accounts of one process: `accounts: { NAME: { section: { setting: value } } }` in a file, `--accounts.NAME.section.setting` as a flag. An account has
 * every setting of the process, and its own values over them; its own files lie beside each other, named after it.
 */
import { parse } from 'node:path'

/** Sections that an account may set for itself; all others are the process's. */
export const accountSections = ['account', 'strategies', 'risk', 'breakers', 'execution', 'signing'] as const

/** Form of an account's name: it is a label of metrics, a part of addresses and of names of files. */
export const accountNameForm = /^[a-z][a-z0-9-]{0,15}$/

/** The same in words. */
export const accountNameText =
  'a name of at most 16 lower-case letters, digits and hyphens that begins with a letter and is not all'

/** The word that stands for all accounts where one is named. */
export const ALL_ACCOUNTS = 'all'

/** Most accounts of one process: each is a value of the label `account`. */
export const mostAccounts = 128

/** Tells whether a text is the name of an account. */
function isAccountName(text: string): boolean {
  return accountNameForm.test(text) && text !== ALL_ACCOUNTS
}

/** A dotted key below `accounts`, taken apart; undefined for any other key. */
export interface AccountKey {
  readonly account: string
  /** Name of the setting without its account: `risk.maxOrderSizeUsd`; empty for the account itself. */
  readonly key: string
}

/** Takes a key such as `accounts.alpha.risk.maxOrderSizeUsd` apart. */
export function accountKeyOf(dotted: string): AccountKey | undefined {
  const [first, account, ...rest] = dotted.split('.')
  return first !== 'accounts' || account === undefined ? undefined : { account, key: rest.join('.') }
}

/** Says why a key below `accounts` names no account and no section that an account may set; undefined: it does. */
export function accountKeyProblem({ account, key }: AccountKey): string | undefined {
  if (!isAccountName(account)) return `accounts.${account}: expected ${accountNameText}.`
  const [section = ''] = key.split('.')
  if (key === '' || accountSections.some((each) => each === section)) return undefined
  return `accounts.${account}.${section}: not a section of an account; expected ${accountSections.join(', ')}. Set it for the whole process: ${section}.`
}

/** Settings that name files of one account: each account has a separate file. */
const ownFiles = [
  'journal.path',
  'journal.headPath',
  'account.approvalFile',
  'paper.keyFile',
  'paper.ownerKeyFile',
] as const

/** Values of a configuration, section by section. */
type Values = Readonly<Record<string, unknown>>

/**
 * Returns the values of one account, with its own files: `journal.db` of the account alpha is `journal.alpha.db`, and its rows in a database are named
 * after it too. `isOwn` tells whether the account set that key itself, and has it as it is written.
 */
export function withOwnFiles<V extends Values>(
  values: V,
  account: string,
  isOwn: (key: string) => boolean,
): V {
  const own: Record<string, Record<string, unknown>> = {}
  const put = (key: string, change: (value: string) => string): void => {
    const [section = '', field = ''] = key.split('.')
    const inner = own[section] ?? { ...(values[section] as Values) }
    own[section] = { ...inner, [field]: change(String(inner[field])) }
  }
  put('journal.account', (rows) => `${rows === '' ? String(values.profile) : rows}.${account}`)
  for (const key of ownFiles.filter((each) => !isOwn(each))) {
    put(key, (path) => (path === '' || path === 'memory:' ? path : fileOf(path, account)))
  }
  return { ...values, ...own }
}

/** The file of one account beside the one that all would share. */
function fileOf(path: string, account: string): string {
  const { dir, name, ext } = parse(path)
  return `${dir === '' ? '' : `${dir}/`}${name}.${account}${ext}`
}
