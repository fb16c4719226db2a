/** The account that the page shows, of a daemon with several: it is chosen in the head, and the page's address keeps it. */

/** Name of the address's part. */
const parameter = 'account'
/** Routes of the daemon itself, which no account has. */
const ofProcess = /^\/(?:api\/(?:accounts|fleet|runs|console)|console)\b/

/** The account that the address names; undefined: none, as of a daemon with one account. */
export function pageAccount(): string | undefined {
  return new URLSearchParams(location.search).get(parameter) ?? undefined
}

/** The path of a route of the account that is shown. */
export function routeOf(path: string): string {
  const account = pageAccount()
  return account === undefined || ofProcess.test(path)
    ? path
    : `/accounts/${encodeURIComponent(account)}${path}`
}

/** Puts the account into the address where it names none of these, the first one then; out of it where there are none. */
export function settleAccount(names: readonly string[]): void {
  const account = pageAccount()
  const settled = names.find((name) => name === account) ?? names[0]
  if (settled !== account) history.replaceState(null, '', addressOf(settled))
}

/** Shows another account: the page begins anew, so that nothing of the last one stays. */
export function showAccount(name: string): void {
  location.assign(addressOf(name))
}

function addressOf(account: string | undefined): string {
  const query = new URLSearchParams(location.search)
  if (account === undefined) query.delete(parameter)
  else query.set(parameter, account)
  const text = query.toString()
  return `${location.pathname}${text === '' ? '' : `?${text}`}${location.hash}`
}
