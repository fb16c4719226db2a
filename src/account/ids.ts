/** Ids that are pure functions of their subject, so that a repeated tick or a restart makes the same ones. */
import { createHash } from 'node:crypto'

/** The instant a strategy's tick belongs to: the start of its cadence's window, Unix ms. */
export function scheduledTickMs(nowMs: number, cadenceMs: number): number {
  return Math.floor(nowMs / cadenceMs) * cadenceMs
}

/** Key of one decision: instance, scheduled tick, index. */
export function decisionKeyOf(strategy: string, tickMs: number, index: number): string {
  return `${strategy}@${new Date(tickMs).toISOString()}#${index}`
}

/** The intent's id: 24 hex digits of a hash over account, strategy and decision key. */
export function intentIdOf(account: string, strategy: string, decisionKey: string): string {
  return createHash('sha256')
    .update(`${account.toLowerCase()}|${strategy}|${decisionKey}`)
    .digest('hex')
    .slice(0, 24)
}
