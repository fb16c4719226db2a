/** The choice of a command among the accounts of a process that has several. */
import { ALL_ACCOUNTS } from '../../config/accountNames.ts'
import type { OwnFlag } from '../../operator/commandLine.ts'

/** The flag that names accounts, of every command that is about one. */
export const accountFlag: OwnFlag = {
  name: 'account',
  value: 'NAMES',
  doc: `one or several of the accounts, as alpha or alpha,beta; or ${ALL_ACCOUNTS}`,
}

/**
 * `each`: without a name it is for all. `named`: a name must be given, since it changes something or is of one thing. `named-to-change`: with an argument as
 * `named`, else as `each`. `any`: the first one is asked where none is named. `named-without-folder`: with an argument as `any`, else as `named`.
 */
export type AccountMode = 'each' | 'named' | 'named-to-change' | 'named-without-folder' | 'any'

/** Commands that show something of an account, and the kill: whoever must stop names nobody. */
const ofEach: readonly string[] = [
  'status',
  'top',
  'positions',
  'balance',
  'strategies',
  'logs',
  'task list',
  'kill',
  'limits',
  'orders',
  'trades',
  'pnl',
  'discrepancies',
  'journal verify',
  'check',
]

/** Commands that are about one thing of one account. */
const ofNamed: readonly string[] = [
  'open',
  'task start',
  'explain',
  'keys address',
  'keys export',
  'subaccount create',
  'subaccount approve',
  'subaccount status',
  'subaccount revoke',
  'journal export',
  'journal compact',
  'journal copy',
  'journal accept-loss',
]

/**
 * Commands about what all accounts have in common, as the log with one level and the venue with one list of markets; and the backtest, which takes the
 * settings of an account.
 */
const ofAny: readonly string[] = ['log level', 'markets', 'backtest']

/** Returns the mode of a command; undefined: it is about the process. `isSent`: it sends an operator's command. */
export function accountModeOf(command: string, isSent: boolean): AccountMode | undefined {
  if (ofAny.includes(command)) return 'any'
  if (ofEach.includes(command)) return 'each'
  if (command === 'trading') return 'named-to-change'
  if (command === 'report') return 'named-without-folder'
  return isSent || ofNamed.includes(command) ? 'named' : undefined
}
