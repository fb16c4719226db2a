/** Several reports side by side: the configuration in which they differ. Pure. */

/** A name whose values differ, in the order of the reports; undefined where one has no such name. */
export interface Difference {
  readonly name: string
  readonly values: readonly (string | undefined)[]
}

/** The names whose values are not the same in all, in the order of the first report that has them. */
export function differencesOf(
  subjects: readonly { readonly configuration: Readonly<Record<string, string>> }[],
): readonly Difference[] {
  const names = new Set(subjects.flatMap(({ configuration }) => Object.keys(configuration)))
  return [...names]
    .map((name) => ({ name, values: subjects.map(({ configuration }) => configuration[name]) }))
    .filter(({ values }) => new Set(values).size > 1)
}
