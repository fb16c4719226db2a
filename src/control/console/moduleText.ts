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
export function withoutBlanks(text: string): string {
  return text.replace(unread, '').replace(/^\n+|\n+(?=\n)/g, '')
}

/** Blanks and line ends that only part what is parted anyway: between tags, before signs and after them; and the last comma of a list. */
const joints = /(?<=>)\n+(?=<)|,?\n+(?=[)\]}])|(?<=[{([,])\n+|\n+(?=[?:.])| (?=[,)])/g

/**
 * A module without what no browser reads. Markup (`html`) loses its indentation too, and the line ends between its tags, which mean nothing there; other
 * texts of several lines, or with several blanks in a row, would be changed by it.
 */
export function shortModule(text: string): string {
  return withoutBlanks(text).replaceAll(joints, '')
}
