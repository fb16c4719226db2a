/**
 * How long a list of the venue may lag behind a fill that the journal knows, ms (docs/evidence.md, "What counts as held"). A list that is read later
 * is believed without the fill.
 */
export const LIST_LAG_MS = 30_000
