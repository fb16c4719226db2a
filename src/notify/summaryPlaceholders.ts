/** Names that a template of the summary may hold in braces. */
export const summaryPlaceholders = [
  'day',
  'fills',
  'trades',
  'won',
  'pnl',
  'fees',
  'strategies',
  'positions',
  'unrealized',
  'orders',
  'exposure',
  'equity',
  'transfers',
  'trading',
  'unresolved',
] as const

/** One of them. */
export type SummaryPlaceholder = (typeof summaryPlaceholders)[number]
