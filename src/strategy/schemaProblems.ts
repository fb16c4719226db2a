/** A schema's complaints as problems of a file: with place, value, what is expected, and a hint for mistyped fields. */
import { z } from 'zod'
import { didYouMean } from './didYouMean.ts'
import { StrategyFileError } from './problem.ts'
import type { FieldPath, YamlFile } from './yamlFile.ts'

/** Every complaint of `error` about the part of the file under `base`, in the order of the file. */
export function schemaProblems(
  yaml: YamlFile,
  base: FieldPath,
  schema: z.ZodType,
  error: z.ZodError,
): readonly StrategyFileError[] {
  const problems = error.issues.flatMap((issue) => {
    const inner = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
    const path = [...base, ...inner]
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownField(yaml, path, key, fieldsAt(schema, inner)))
    }
    const value = yaml.valueAt(path)
    const expected = expectedOf(issue)
    return new StrategyFileError({
      file: yaml.file,
      place: yaml.placeOf(path),
      field: path.join('.'),
      what: value === undefined ? 'is missing' : 'is not valid',
      value,
      expected,
      fix:
        value === undefined ? `add ${path.at(-1)}: ${expected}` : 'change the value, then start perpd again',
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

function expectedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected === 'record' ? 'fields' : `a ${issue.expected}`
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
