/** Commands as the docs have a reader type them: each is there, and takes the flags that stand beside it. */
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commandTable.ts'
import { docPages, pageText } from '../support/docPages.ts'

const pages = ['README.md', ...docPages()]

const isSetting = (flag: string) => flag.includes('.') || ['profile', 'config', 'help'].includes(flag)

test.each(pages)('%s: its commands are there, with their flags', (page) => {
  const text = pageText(page)
  const wrong: string[] = []
  for (const [, language = '', block = ''] of text.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    if (!['', 'bash', 'sh'].includes(language)) continue
    for (const [, line = ''] of block
      .replaceAll('\\\n', ' ')
      .matchAll(/^(?:npx |npm run -s )?perpd (?:-- )?([a-z].*)$/gm)) {
      const [typed = ''] = line.split(/\s(?:#|&&|\||>)/)
      const words = typed.split(/\s+/)
      const found = commands
        .filter(({ name }) => `${typed} `.startsWith(`${name} `))
        .sort((one, other) => other.name.length - one.name.length)[0]
      const flags = words.flatMap((word) => /^--([a-z][\w.-]*)/.exec(word)?.[1] ?? [])
      const isKnown = (flag: string) => isSetting(flag) || found?.flags.some(({ name }) => name === flag)
      if (found === undefined || !flags.every(isKnown)) wrong.push(typed)
    }
  }
  expect(wrong).toEqual([])
})
