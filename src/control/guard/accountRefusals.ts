/** Paths of accounts, and refusals of requests that name none, or one that is not there or does not run. */

/** Codes of the refusals. */
export const accountRefusals = ['ACCOUNT_REQUIRED', 'ACCOUNT_UNKNOWN', 'ACCOUNT_FAILED'] as const

/** The code of the answer to whatever a perpd that waits for its journal does not do. */
export const STANDBY_WAITS = 'JOURNAL_WAITING'

/** Body of a refusal. */
export interface AccountRefusal {
  readonly error: (typeof accountRefusals)[number]
  readonly message: string
}

/** Row of an account, as `GET /api/accounts` lists it. */
export interface AccountRow {
  readonly name: string
  readonly isRunning: boolean
  /** Reason why a fault keeps it from running; absent while none does. */
  readonly fault?: string
  /** Sentence on what it waits for; absent while it runs, and after a fault. */
  readonly waits?: string
  /** The perpd that has the right to its journal, and the epoch of that right; absent where a file keeps the journal, and while not known. */
  readonly holder?: string
  readonly epoch?: number
}

/** Returns the path of an account's routes. */
export function accountPath(name: string): string {
  return `/accounts/${name}`
}

/** Tells whether an answer is such a refusal. */
export function isAccountRefusal(body: unknown): body is AccountRefusal {
  if (typeof body !== 'object' || body === null || !('error' in body) || !('message' in body)) return false
  return accountRefusals.some((code) => code === body.error)
}
