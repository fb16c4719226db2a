/** Budgets: the parts of the desk's limits, which hold for all accounts of a process together, that one account may use. */
import { type DeskLimitName, limitSetting } from './limits.ts'

/** An account's part of one limit of the desk. All figures are in the limit's own unit: USD with 30 decimals, or a count. */
export interface DeskBudget {
  /** The limit of all accounts together. */
  readonly limit: bigint
  /** The most that this account may come to use by an increase. */
  readonly budget: bigint
  /** Its use at the last look at it. */
  readonly used: bigint
  /** Accounts whose use is not known yet, for which the deal waits; empty once it was dealt. */
  readonly waitsFor: readonly string[]
}

/** Budgets of one account, by the limits of the desk that are set. */
export type DeskBudgets = { readonly [K in DeskLimitName]?: DeskBudget }

/** Limits of the desk that are set, in their own units. */
export type DeskLimits = { readonly [K in DeskLimitName]?: bigint }

/** Returns the whole name of the setting of a limit of the desk. */
export function deskSetting(name: DeskLimitName): string {
  return `desk.${limitSetting(name)}`
}

/** Names the accounts that a deal waits for, as a sentence behind a refusal; empty where it waits for none. */
export function notDealtText(waitsFor: readonly string[]): string {
  return waitsFor.length === 0 ? '' : ` It is not dealt yet: ${waitsFor.join(', ')} was not read.`
}
