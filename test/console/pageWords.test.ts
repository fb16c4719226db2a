/** Every word of the page stands in its one catalogue: no view has one of its own, in its markup or in what is read to people. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'

const page = resolve(import.meta.dirname, '..', '..', 'src', 'control', 'console', 'page')
const drawn = [
  join(page, 'markup.ts'),
  ...readdirSync(join(page, 'views')).map((name) => join(page, 'views', name)),
]

interface Node {
  readonly type: string
  readonly [part: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

function partsOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))
}

/** Attributes that people read or hear. */
const spokenAttribute = /(?:^|\s)(?:title|aria-label|placeholder|alt|label)=(["']?)$/
/** Two letters in a row; units, marks and single keys are no words. */
const words = /\p{L}{2,}/gu
const units = new Set(['ms', 'min', 'bps'])

const isWord = (text: string): boolean => (text.match(words) ?? []).some((each) => !units.has(each))

/** Texts that an expression may be: its own, and those of its branches. What it calls or reads is not its own. */
function ownTexts(node: Node): readonly string[] {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : []
    case 'TemplateLiteral':
      return [...(node.quasis as Node[]).map(cooked), ...(node.expressions as Node[]).flatMap(ownTexts)]
    case 'ConditionalExpression':
      return [node.consequent as Node, node.alternate as Node].flatMap(ownTexts)
    case 'LogicalExpression':
      return [node.left as Node, node.right as Node].flatMap(ownTexts)
    case 'BinaryExpression':
      return node.operator === '+' ? [node.left as Node, node.right as Node].flatMap(ownTexts) : []
    default:
      return []
  }
}

const cooked = (quasi: Node): string => (quasi.value as { readonly cooked: string }).cooked

/** Words of one template: between tags, in attributes that are read, and in what stands there by an expression. */
function wordsOf({
  quasis,
  expressions,
}: {
  readonly quasis: Node[]
  readonly expressions: Node[]
}): string[] {
  const found: string[] = []
  let inTag = ''
  for (const [at, quasi] of quasis.entries()) {
    const text = inTag + cooked(quasi)
    const between = text.replace(/<[^>]*(?:>|$)/g, '\n')
    found.push(...between.split('\n'))
    for (const [, , own = ''] of text.matchAll(/\s(?:title|aria-label|placeholder|alt|label)=(["'])(.*?)\1/g))
      found.push(own)
    const open = text.lastIndexOf('<')
    inTag = open > text.lastIndexOf('>') ? text.slice(open) : ''
    const expression = expressions[at]
    const isRead = inTag === '' || spokenAttribute.test(inTag)
    if (expression !== undefined && isRead) found.push(...ownTexts(expression))
    // What is read of the tag up to here is not read again.
    if (inTag !== '') inTag = '<'
  }
  return found.filter(isWord)
}

/** Words of a view of its own. */
function ownWords(text: string): string[] {
  const found: string[] = []
  const walk = (node: Node): void => {
    if (node.type === 'TaggedTemplateExpression' && (node.tag as Node).name === 'html')
      found.push(...wordsOf(node.quasi as never))
    if (node.type === 'CallExpression' && (node.callee as Node).name === 'announce')
      found.push(...(node.arguments as Node[]).flatMap(ownTexts).filter(isWord))
    for (const part of partsOf(node)) walk(part)
  }
  walk(parseAst(text, { lang: 'ts' }) as unknown as Node)
  return found
}

test('no view has a word of its own', () => {
  const found = drawn.flatMap((file) =>
    ownWords(readFileSync(file, 'utf8')).map((each) => `${file.slice(page.length + 1)}: ${each}`),
  )
  expect(found).toEqual([])
})

/** The text of a view: `#{` begins an expression. */
const viewOf = (text: string): string => text.replaceAll('#{', '${')

test.each([
  ['html`<p class="muted">Nothing here</p>`', 'Nothing here'],
  ['html`<p>#{words.none} left</p>`', ' left'],
  ['html`<button title="Close it" class=#{tone}>#{words.close}</button>`', 'Close it'],
  ['html`<button class=#{a} aria-label=#{isOpen ? "Close it" : words.open} />`', 'Close it'],
  ['html`<p>#{isOld ? "Old" : texts.fresh}</p>`', 'Old'],
  ['html`<p>#{`#{count} rows`}</p>`', ' rows'],
  ['html`<ul>#{rows.map((row) => html`<li key=#{row.id}>Row #{row.id}</li>`)}</ul>`', 'Row '],
  ['announce(answer.ok ? "Done" : texts.refused)', 'Done'],
])('a word in %s is found', (text, found) => {
  expect(ownWords(viewOf(text))).toEqual([found])
})

test('marks, units, names of classes and what comes from elsewhere are no words of a view', () => {
  const text =
    'html`<p class=#{isOld ? "mark down" : ""} role="alert"><span aria-hidden="true">▲</span> #{size} ms / +#{name}</p>`'
  expect(ownWords(viewOf(text))).toEqual([])
})
