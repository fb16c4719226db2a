/** A schema's complaints as problems of a file: with place, value, expectation, and a hint for mistyped fields. */
import { z } from 'zod'
import { didYouMean } from '../didYouMean.ts'
import { StrategyFileError } from './problem.ts'
import type { FieldPath, YamlFile } from './yamlFile.ts'

/** One complaint of a schema, as plain values: a schema of the user's own complains in another thread. */
export type SchemaIssue = {
  /** Path inside the value, from its top. */
  readonly path: readonly (string | number)[]
} & (
  | {
      /** A name that the schema does not know. */
      readonly unknown: string
      /** Names that it knows there. */
      readonly known: readonly string[]
    }
  | { readonly unknown?: undefined; readonly expected: string }
)

/** The complaints of an error of the schema. */
export function issuesOf(schema: z.ZodType, error: z.ZodError): readonly SchemaIssue[] {
  return error.issues.flatMap((issue): SchemaIssue[] => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((unknown) => ({ path, unknown, known: fieldsAt(schema, path) }))
    }
    return [{ path, expected: expectedOf(issue) }]
  })
}

/** Every complaint about the part of the file under `base`, in the order of the file. */
export function schemaProblems(
  yaml: YamlFile,
  base: FieldPath,
  issues: readonly SchemaIssue[],
): readonly StrategyFileError[] {
  const problems = issues.map((issue) => {
    const path = [...base, ...issue.path]
    if (issue.unknown !== undefined) return unknownField(yaml, path, issue.unknown, issue.known)
    const { expected } = issue
    const value = yaml.valueAt(path)
    return new StrategyFileError({
      file: yaml.file,
      place: yaml.placeOf(path),
      field: path.join('.'),
      what: value === undefined ? 'is missing' : 'is not valid',
      value,
      expected,
      fix: value === undefined ? `add ${path.at(-1)}: ${expected}` : 'change the value',
    })
  })
  return problems.sort(
    (one, other) =>
      (one.place?.line ?? 0) - (other.place?.line ?? 0) ||
      (one.place?.column ?? 0) - (other.place?.column ?? 0),
  )
}

function unknownField(
  yaml: YamlFile,
  parent: FieldPath,
  key: string,
  known: readonly string[],
): StrategyFileError {
  const near = didYouMean(key, known)
  return new StrategyFileError({
    file: yaml.file,
    place: yaml.placeOfKey(parent, key),
    field: [...parent, key].join('.'),
    what: 'is not a known field',
    value: yaml.valueAt([...parent, key]),
    expected: known.length === 0 ? 'no fields here' : `one of ${known.join(', ')}`,
    fix: near === undefined ? 'remove the line or correct its name' : `did you mean ${JSON.stringify(near)}?`,
  })
}

/** YAML's names for the types of the schemas. */
const typeWords: Readonly<Record<string, string>> = {
  record: 'fields',
  object: 'fields, below it or in { }',
  boolean: 'true or false',
  array: 'a list',
  int: 'a whole number',
}

function expectedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return typeWords[issue.expected] ?? `a ${issue.expected}`
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`
  return issue.message
}

/** Names of the fields of the object schema at a path; empty when it is no object. */
function fieldsAt(schema: z.ZodType, path: FieldPath): readonly string[] {
  let current: unknown = schema
  for (const part of path) {
    current = unwrapped(current)
    current = current instanceof z.ZodObject ? current.shape[String(part)] : undefined
  }
  current = unwrapped(current)
  return current instanceof z.ZodObject ? Object.keys(current.shape) : []
}

function unwrapped(schema: unknown): unknown {
  let current = schema
  while (current instanceof z.ZodOptional || current instanceof z.ZodDefault) current = current.unwrap()
  return current
}
