/** A YAML file as a plain value, with the place of every field in it. */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml'
import { reasonOf } from '../../base/errors.ts'
import { type Place, StrategyFileError } from './problem.ts'

/** Path into a YAML value: keys and indexes. */
export type FieldPath = readonly (string | number)[]

/** A parsed file. */
export interface YamlFile {
  readonly file: string
  readonly value: unknown
  /** Place of the field's value, else of the nearest parent that exists. */
  placeOf(path: FieldPath): Place
  /** Place of a key itself, for keys that should not be there. */
  placeOfKey(parent: FieldPath, key: string): Place
  /** The raw value at a path, undefined when there is none. */
  valueAt(path: FieldPath): unknown
}

/** Longest file, characters, and most maps and lists inside each other. */
const MAX_FILE_LENGTH = 262_144
const MAX_DEPTH = 32

/** More digits than a YAML number can carry exactly. */
const MAX_NUMBER_DIGITS = 15

/** Parses a file's text; gives the file or every problem with its YAML. */
export function parseYaml(file: string, written: string): YamlFile | readonly StrategyFileError[] {
  // A carriage return alone ends a line too, and the parser does not know it.
  const text = written.replaceAll(/\r(?!\n)/g, '\n')
  const lines = new LineCounter()
  const document = documentOf(text, lines)
  if (typeof document === 'string') {
    return [
      new StrategyFileError({
        file,
        place: { line: 1, column: 1 },
        what: `cannot be read as YAML: ${document}`,
        fix: 'compare with strategies/eth-trend.yaml',
      }),
    ]
  }
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  if (document.errors.length > 0) {
    // One mistake often makes several errors at one place; the first of them says it best.
    const seen = new Set<number>()
    const first = document.errors.filter(({ pos }) => !seen.has(pos[0]) && seen.add(pos[0]))
    return first.map((error) => {
      const opening = openedBefore(document, text, error)
      const opens = opening === undefined ? undefined : at(opening.from)
      const own = ownWords(document, error, at)
      return new StrategyFileError({
        file,
        place: opening?.isUnclosed === true && opens !== undefined ? opens : at(error.pos[0]),
        what: `cannot be read as YAML: ${opening?.isUnclosed === true ? `the ${opening.mark} that opens here is not closed` : (own?.what ?? firstLine(error.message))}`,
        fix:
          opens === undefined
            ? (own?.fix ?? 'correct the YAML at this place; indentation and quotes are the usual reasons')
            : opening?.isUnclosed === true
              ? `close it, on the same line where it is a quote, or leave the ${opening.mark} out`
              : `correct the YAML at this place; the quoted text that ends here opens at ${opens.line}:${opens.column}`,
        cause: error,
      })
    })
  }
  if (!isMap(document.contents)) {
    return [
      new StrategyFileError({
        file,
        place: { line: 1, column: 1 },
        what: 'does not hold fields',
        expected: 'a YAML map, one "field: value" a line, starting with kind',
        fix: 'copy strategies/eth-trend.yaml and change it',
      }),
    ]
  }
  const problems = [
    ...olderYaml(file, document),
    ...longNumbers(file, document, at),
    ...oddNumbers(file, document, at),
    ...unusableAliases(file, document, at),
  ]
  return problems.length > 0 ? problems : yamlFile(file, document, at)
}

/** Our words for mistakes that the parser names by its insides. */
function ownWords(
  document: Document,
  { code, pos }: YAMLParseError,
  at: (offset: number) => Place,
): { readonly what: string; readonly fix: string } | undefined {
  if (code === 'MULTIPLE_DOCS') {
    const what = 'a second document begins here, but a file is one strategy'
    return { what, fix: 'give each strategy its own file, and remove the line ---' }
  }
  if (code !== 'DUPLICATE_KEY') return undefined
  let found: { readonly key: string; readonly from: number } | undefined
  visit(document, {
    Map(_key, { items }) {
      const again = items.find(({ key }) => isScalar(key) && key.range?.[0] === pos[0])
      if (!isScalar(again?.key)) return
      const name = again.key.value
      const first = items.find(({ key }) => isScalar(key) && key.value === name)
      if (isScalar(first?.key)) found = { key: String(name), from: first.key.range?.[0] ?? 0 }
    },
  })
  if (found === undefined) return undefined
  const first = at(found.from)
  const what = `${found.key} is set twice, at ${first.line}:${first.column} and here`
  return { what, fix: 'keep only one' }
}

/** Place of an opening token that an error concerns. */
interface Opening {
  readonly from: number
  readonly mark: string
  readonly isUnclosed: boolean
}

/** The quote, bracket or brace that is not closed, or the quoted text right before an error: the parser tells where it noticed. */
function openedBefore(document: Document, text: string, error: YAMLParseError): Opening | undefined {
  const [offset] = error.pos
  const isQuote = error.message.startsWith('Missing closing')
  const [, closing] = /end with a ([\]}])/.exec(error.message) ?? []
  let found: Opening | undefined
  visit(document, {
    Scalar(_key, { type, range }) {
      if (closing !== undefined || range == null || !type?.startsWith('QUOTE')) return
      const [from, to] = range
      if (from > offset || offset > to + 1) return
      found = { from, mark: type === 'QUOTE_DOUBLE' ? '"' : "'", isUnclosed: isQuote }
    },
    Collection(_key, { flow, range }) {
      if (closing === undefined || flow !== true || range == null) return
      const [from, to] = range
      const mark = closing === '}' ? '{' : '['
      if (from > offset || text.charAt(from) !== mark || text.charAt(to - 1) === closing) return
      found = { from, mark, isUnclosed: true }
    },
  })
  return found
}

/** The document; a text says why there is none: the parser goes down by recursion, and so does everything after it. */
function documentOf(text: string, lineCounter: LineCounter): Document.Parsed | string {
  if (text.length > MAX_FILE_LENGTH) return `it has more than ${MAX_FILE_LENGTH} characters`
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false })
    let isDeep = false
    visit(document, {
      Collection(_key, _node, path) {
        isDeep ||= path.length > 2 * MAX_DEPTH
        return isDeep ? visit.BREAK : undefined
      },
    })
    return isDeep ? `it nests deeper than ${MAX_DEPTH} levels` : document
  } catch (error) {
    return error instanceof RangeError ? `it nests deeper than ${MAX_DEPTH} levels` : reasonOf(error)
  }
}

/** Aliases (`*name`) without their anchor, inside their own anchor, or so many that they blow the file up. */
function unusableAliases(
  file: string,
  document: Document,
  at: (offset: number) => Place,
): StrategyFileError[] {
  let reason: string
  try {
    // A circle is no tree, and JSON says so.
    JSON.stringify(document.toJS())
    return []
  } catch (error) {
    reason = error instanceof ReferenceError ? firstLine(error.message) : 'it contains itself'
  }
  let offset: number | undefined
  visit(document, {
    Alias(_key, node) {
      const isLost = node.resolve(document) === undefined
      if (isLost || offset === undefined) offset = node.range?.[0] ?? 0
      return isLost ? visit.BREAK : undefined
    },
  })
  return [
    new StrategyFileError({
      file,
      place: at(offset ?? 0),
      what: `has a YAML alias that cannot be used: ${reason}`,
      fix: 'write the value out instead of the *alias; a text that begins with * needs quotes',
    }),
  ]
}

function yamlFile(file: string, document: Document, at: (offset: number) => Place): YamlFile {
  const start: Place = { line: 1, column: 1 }
  const placeOf = (path: FieldPath): Place => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return at(node.range[0])
    }
    return start
  }
  return {
    file,
    value: document.toJS(),
    placeOf,
    placeOfKey(parent, key) {
      const map = parent.length === 0 ? document.contents : document.getIn(parent, true)
      const pair = isMap(map)
        ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
        : undefined
      return pair && isScalar(pair.key) && pair.key.range ? at(pair.key.range[0]) : placeOf(parent)
    },
    valueAt: (path) => {
      const node = document.getIn(path, true)
      return isNode(node) ? node.toJS(document) : node
    },
  }
}

/** A file that says it is of an older YAML, in which `on` is true and `1:30` is ninety. */
function olderYaml(file: string, { directives }: Document): StrategyFileError[] {
  const { explicit, version } = directives?.yaml ?? {}
  if (explicit !== true || version === '1.2') return []
  return [
    new StrategyFileError({
      file,
      place: { line: 1, column: 1 },
      what: `declares YAML ${version}, which reads some numbers and true/false differently`,
      expected: 'YAML 1.2',
      fix: `remove the line %YAML ${version}`,
    }),
  ]
}

/** Numbers that people read in two ways: `010` is eight to some, and few read `0x10`. */
function oddNumbers(file: string, document: Document, at: (offset: number) => Place): StrategyFileError[] {
  const problems: StrategyFileError[] = []
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number' || !/^[-+]?0[xob\d]/i.test(node.source ?? '')) return
      problems.push(
        new StrategyFileError({
          file,
          place: at(node.range?.[0] ?? 0),
          what: 'has a number in another base or with a leading zero',
          value: node.source,
          expected: 'plain decimal digits',
          fix: 'write it in decimal, for example 16',
        }),
      )
    },
  })
  return problems
}

function longNumbers(file: string, document: Document, at: (offset: number) => Place): StrategyFileError[] {
  const problems: StrategyFileError[] = []
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number') return
      const digits = (node.source ?? '').replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
      if (digits.length <= MAX_NUMBER_DIGITS) return
      problems.push(
        new StrategyFileError({
          file,
          place: at(node.range?.[0] ?? 0),
          what: `has a number of ${digits.length} digits, more than a YAML number can carry exactly`,
          value: node.source,
          expected: `at most ${MAX_NUMBER_DIGITS} digits`,
          fix: `put it in quotes: "${node.source}"`,
        }),
      )
    },
  })
  return problems
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? text).replace(/[.:]$/, '')
}
