/** Commands in texts for people, with `--account NAME` where a process has several accounts. Pure. */

/** Commands of an account. `perpd trades` is none: sentences say it too. */
const ofAccounts: readonly string[] = [
  ...['check', 'status', 'top', 'positions', 'balance', 'logs', 'trading', 'kill', 'pnl', 'explain'],
  ...['open', 'close', 'protect', 'move', 'cancel', 'orders', 'orders resolve', 'orders unwind'],
  ...['strategies', 'strategies forget', 'strategies set', 'strategies reload'],
  ...['strategies pause', 'strategies resume', 'task start', 'task list', 'task stop'],
  ...['limits', 'limits apply', 'limits tighten', 'markets trust'],
  ...['discrepancies', 'discrepancies adopt', 'discrepancies ignore', 'keys address', 'keys export'],
  ...['subaccount create', 'subaccount approve', 'subaccount status', 'subaccount revoke'],
  ...['journal verify', 'journal export', 'journal compact', 'journal copy', 'journal accept-loss'],
]

/** Commands of the process whose first word is a command of an account. */
const ofProcess: readonly string[] = ['strategies describe', 'strategies new', 'strategies test']

/** A space, or the break of a line that a text was folded at. */
const gap = '(?: |\\n *)'
const longestFirst = [...ofProcess, ...ofAccounts]
  .toSorted((one, other) => other.length - one.length)
  .map((command) => command.replace(' ', gap))
/** A command, unless its clause names an account already. */
const named = new RegExp(`\\bperpd${gap}(${longestFirst.join('|')})(?![\\w-]|[^.;)]*\\s--account)`, 'g')

/** Returns the text with `--account` behind each command of an account; as it is without a name: the process has one account. */
export function withAccount(text: string, account: string | undefined): string {
  if (account === undefined) return text
  return text.replace(named, (whole, command: string) =>
    ofProcess.includes(command.replace(/\s+/, ' ')) ? whole : `${whole} --account ${account}`,
  )
}
