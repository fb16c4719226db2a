/** The text of a module as a browser can load it. */
import { vendored } from './vendored.ts'

/** `import … from 'name'`, `export … from 'name'` and `import 'name'` at the start of a statement; minified ones too. */
const statement = /((?:^|[;}\n]|\*\/)\s*(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*)(["'])([\w./@-]+)\2/g

/**
 * A module that names its packages by where they are served. A list of what names mean inside the page would be a script of
 * its own there, which the page's policy forbids. Other names stay as they are.
 */
export function withVendoredImports(text: string): string {
  return text.replace(statement, (whole: string, head: string, quote: string, name: string) =>
    vendored.has(name) ? `${head}${quote}/console/vendor/${name}${quote}` : whole,
  )
}

/** Comments that have their lines to themselves, blanks at both ends of lines, and all but one of several blanks. */
const unread = /^[ \t]*\/\*[\s\S]*?\*\/[ \t]*$|^[ \t]*\/\/.*$|^[ \t]+|[ \t]+$|(?<= ) +/gm

/** A text without what no browser reads: comments, indentation, and blanks at the ends of lines. */
function withoutBlanks(text: string): string {
  return text.replace(unread, '').replace(/^\n+|\n+(?=\n)/g, '')
}

/** Blanks and line ends that only part what is parted anyway: between tags and values of markup, before signs and after them; and the last comma of a list. */
const joints = /(?<=[>}])\n+(?=<)|\n+(?=\$\{)|,?\n+(?=[)\]}])|(?<=[{([,=?:&|])\n+|\n+(?=[?:.&|=])| (?=[,)])/g

/** A value of one word in markup, which needs no quotes; code has no such text in double ones. */
const quotedWord = /(?<=\s[\w-]+=)"([\w-]+)"(?=[\s/>])/g

/**
 * A module without what no browser reads. Markup (`html`) loses its indentation too, the line ends between its tags, and the quotes around single words,
 * which mean nothing there; other texts of several lines, or with several blanks in a row, would be changed by it.
 */
export function shortModule(text: string): string {
  return shortCode(withoutBlanks(text).replaceAll(joints, '').replaceAll(quotedWord, '$1'))
}

/** A text in quotes, and a pattern; both end on their line. */
const quoted = /(["'])(?:\\.|(?!\1).)*\1/y
const pattern = /\/(?:\\.|\[(?:\\.|[^\]])*\]|[^/[\n])+\/[a-z]*/y
/** The end of code after which a slash begins a pattern; elsewhere it divides. */
const beforePattern = /(?:^|[(,=:[!&|?{};+\-*%<>]|\breturn)\s*$/
/** Blanks beside signs that part two words anyway. Not beside plus and minus: two of them in a row are another sign. */
const loose = / ?([=<>!?:&|*/%,;(){}[\]]) ?/g
/** A plus or minus between two values, which are no signs. */
const between = /(?<=[\w)\]]) ([-+]) (?=[\w(])/g

/** Code without the blanks around its signs. Texts, templates and patterns stay as they are. */
function shortCode(text: string): string {
  let [short, code, at] = ['', '', 0]
  /** For each `${` that is open, the braces that are open in it. */
  const braces: number[] = []
  const endCode = (literal: string): void => {
    short += code.replaceAll(between, '$1').replaceAll(loose, '$1') + literal
    code = ''
    at += literal.length
  }
  const templatePart = (): string => {
    let end = at + 1
    while (end < text.length && text[end] !== '`' && !text.startsWith('${', end))
      end += text[end] === '\\' ? 2 : 1
    if (text[end] === '$') braces.push(0)
    return text.slice(at, end + (text[end] === '$' ? 2 : 1))
  }
  const literalAt = (kind: RegExp): string | undefined => {
    kind.lastIndex = at
    return kind.exec(text)?.[0]
  }
  while (at < text.length) {
    const sign = text[at] ?? ''
    const depth = braces.at(-1)
    if (sign === '}' && depth === 0) {
      braces.pop()
      endCode(templatePart())
      continue
    }
    if (depth !== undefined && (sign === '{' || sign === '}'))
      braces[braces.length - 1] = depth + (sign === '{' ? 1 : -1)
    const literal =
      sign === '`'
        ? templatePart()
        : sign === '"' || sign === "'"
          ? literalAt(quoted)
          : sign === '/' && beforePattern.test(code)
            ? literalAt(pattern)
            : undefined
    if (literal !== undefined) endCode(literal)
    else {
      code += sign
      at += 1
    }
  }
  endCode('')
  return short
}

/** A sheet of styles without what no browser reads. It has no text in quotes with a sign of those that part rules. */
export function shortSheet(text: string): string {
  return withoutBlanks(text)
    .replaceAll(/\n*([{};,])\n*/g, '$1')
    .replaceAll(/(?<=[\w-]): | (?=\{)|(?<=,) | (?=>)|(?<=>) /g, (blank) => blank.trim())
    .replaceAll(/(?<![\d.])0(?=\.\d)/g, '')
    .replaceAll(';}', '}')
}
