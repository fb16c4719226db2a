/** Where a journal is, as `journal.path` says it. Apart from what opens one: every command judges the setting, and few open a journal. */

const schemes: readonly string[] = ['sqlite', 'memory']

/** Tells whether a location names a journal that `openJournal` can open: a plain path or a known scheme. */
export function isJournalLocation(location: string): boolean {
  return schemes.includes(splitLocation(location).scheme)
}

/** The scheme of a location, `sqlite` where it names none, and what stands behind it. */
export function splitLocation(location: string): { readonly scheme: string; readonly rest: string } {
  const found = /^([a-z][a-z0-9+]+):(.*)$/.exec(location)
  return found ? { scheme: found[1] ?? '', rest: found[2] ?? '' } : { scheme: 'sqlite', rest: location }
}
