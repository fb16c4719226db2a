/** docs/first-hour.md and docs/recipes.md, typed as they stand: each command works in its order, and each block of a file is taken. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, type Running, until, venueOf } from './processes.ts'

const docs = resolve(import.meta.dirname, '..', '..', 'docs')
const folder = folderOfEachTest()

/** Blocks of a page in their order: what is typed, and what is added to a strategy file. */
function blocksOf(page: string): readonly { readonly language: string; readonly text: string }[] {
  const text = readFileSync(join(docs, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}

/** A typed line as its words: quotes hold words together. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** A strategy file with a block at its end, in the place of one of the same name. */
function withBlock(plain: string, block: string): string {
  const [name = ''] = block.split(':')
  return plain.replace(new RegExp(`^${name}:.*\\n(?:[ #].*\\n)*`, 'm'), '') + block
}

async function ran(words: readonly string[]): Promise<string> {
  const command = perpd([...words], { cwd: folder.path, env: venueOf([]) })
  expect([words.join(' '), await command.ended], command.said()).toEqual([words.join(' '), 0])
  return command.stdout()
}

async function started(): Promise<Running> {
  const daemon = perpd(['run', '--log.format=json'], { cwd: folder.path, env: venueOf([]) })
  await until('an order is filled', () => daemon.stdout().includes('"order.filled"') || undefined, {
    seen: daemon.said,
  })
  return daemon
}

test('the first hour: each command of the page does what it says, in its order', {
  timeout: 300_000,
}, async () => {
  writeFileSync(join(folder.path, 'perpd.json'), '{ "control": { "port": 0 } }\n', { mode: 0o600 })
  const said = new Map<string, string>()
  let daemon: Running | undefined
  for (const { language, text } of blocksOf('first-hour.md')) {
    if (language === 'yaml') appendFileSync(join(folder.path, 'strategies', 'eth-trend.yaml'), text)
    for (const [, line = ''] of text.matchAll(/^perpd (.+)$/gm)) {
      if (line === 'run') {
        daemon = await started()
        await until(
          'its stop rests at the venue',
          async () => !(await ran(['positions'])).includes('NO STOP') || undefined,
          { seen: daemon.said },
        )
        continue
      }
      const [{ intentId } = { intentId: '' }] = line.includes('ORDER')
        ? (JSON.parse(await ran(['orders', '--json'])) as { intentId: string }[])
        : []
      said.set(line, await ran(wordsOf(line.replace('ORDER', intentId))))
    }
  }
  expect(said.get('positions')).not.toContain('NO STOP')
  expect(said.get('console')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\//)
  // The running daemon notices the saved file by itself, before the command or after it.
  expect(said.get('strategies reload --dry-run')).toMatch(/eth-trend|match the files/)
  expect(daemon?.stdout()).toMatch(/"event":"strategy.changed".*stopsInWindow/)
  expect(said.get('kill --close')).toMatch(/nothing|closed|done/i)
  // A kill -9 loses nothing: the next start says where it goes on.
  daemon?.child.kill('SIGKILL')
  await daemon?.ended
  const next = perpd(['run', '--log.format=json'], { cwd: folder.path, env: venueOf([]) })
  await until('it is ready', () => next.stdout().includes('"daemon.ready"') || undefined, { seen: next.said })
  next.child.kill('SIGTERM')
  expect(await next.ended, next.said()).toBe(0)
})

test('the recipes: each block of a file is taken by perpd check, and each command works', {
  timeout: 300_000,
}, async () => {
  await ran(['init', '--yes'])
  writeFileSync(join(folder.path, 'perpd.json'), '{ "control": { "port": 0 } }\n', { mode: 0o600 })
  const file = join(folder.path, 'strategies', 'eth-trend.yaml')
  const plain = readFileSync(file, 'utf8')
  const blocks = blocksOf('recipes.md')
  for (const { language, text } of blocks) {
    if (language !== 'yaml') continue
    writeFileSync(file, withBlock(plain, text))
    await ran(['check'])
  }
  writeFileSync(file, plain)
  const daemon = await started()
  for (const { text } of blocks) {
    for (const [, line = ''] of text.matchAll(/^perpd (.+)$/gm)) {
      // A process of its own, tried in test/paper.
      if (line !== 'paper --print-hosts') await ran(wordsOf(line))
    }
  }
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
})
