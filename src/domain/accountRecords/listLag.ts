/**
 * Longest time that a list of the venue may lag behind a fill known to the journal, ms (docs/reference/evidence.md, "What counts as held"). A list read later
 * is believed even without the fill.
 */
export const LIST_LAG_MS = 30_000

/** Age up to which readings of the account's worth count for a figure, ms: lists lag behind each other for less than half of it. */
export const EQUITY_WINDOW_MS = 75_000
