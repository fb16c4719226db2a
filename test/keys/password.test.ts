import { EventEmitter } from 'node:events'
import { chmodSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import {
  PasswordError,
  type PasswordSources,
  passwordSourceText,
  readNewPassword,
  readPassword,
} from '../../src/keys/password.ts'
import { createHiddenPrompt, PromptBroken } from '../../src/keys/prompt.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-password-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const nothing: PasswordSources = { descriptor: undefined, credentialsDirectory: undefined, ask: undefined }

function open(text: string | Buffer): number {
  const path = join(directory, 'text')
  writeFileSync(path, text)
  return openSync(path, 'r')
}

function credential(text: string, mode = 0o400): PasswordSources {
  const path = join(directory, 'perpd-password')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return { ...nothing, credentialsDirectory: directory }
}

/** Answers questions in turn, and keeps them. */
function typist(...answers: string[]) {
  const asked: string[] = []
  const ask = async (question: string) => {
    asked.push(question)
    return new Secret(answers.shift() ?? '')
  }
  return { asked, sources: { ...nothing, ask } }
}

async function faultOf(work: Promise<unknown>): Promise<PasswordError> {
  const error = await work.catch((thrown: unknown) => thrown)
  if (error instanceof PasswordError) return error
  throw new Error(`no PasswordError: ${String(error)}`)
}

test('a descriptor gives its text without the last line break, and is closed', async () => {
  for (const [written, read] of [
    ['pass word\n', 'pass word'],
    ['pass\r\n', 'pass'],
    [' pass\n\n', ' pass\n'],
    ['pässwörd', 'pässwörd'],
  ]) {
    const descriptor = open(written ?? '')
    expect((await readPassword({ ...nothing, descriptor }, '')).reveal()).toBe(read)
    expect((await faultOf(readPassword({ ...nothing, descriptor }, ''))).code).toBe('PASSWORD_UNREADABLE')
  }
})

test('a descriptor that is empty, too long or not open gives a clear refusal', async () => {
  const reasonOf = async (descriptor: number) =>
    (await faultOf(readPassword({ ...nothing, descriptor }, ''))).facts.reason
  expect(await reasonOf(open(''))).toBe('it is empty')
  expect(await reasonOf(open('\n'))).toBe('it is empty')
  expect(await reasonOf(open('x'.repeat(4_097)))).toBe('it is longer than 4096 bytes')
  expect(await reasonOf(1_000)).toMatch(/^it is not open here; npm and npx pass on only standard input/)
})

test('the systemd credential is used before the terminal, and the descriptor before both', async () => {
  const { sources, asked } = typist('typed')
  const all = { ...credential('from systemd\n'), ask: sources.ask, descriptor: open('from descriptor') }
  expect((await readPassword(all, '')).reveal()).toBe('from descriptor')
  const noDescriptor = { ...all, descriptor: undefined }
  expect((await readPassword(noDescriptor, '')).reveal()).toBe('from systemd')
  expect(passwordSourceText(noDescriptor)).toBe('the systemd credential perpd-password')
  expect(asked).toEqual([])
  const elsewhere = { ...noDescriptor, credentialsDirectory: join(directory, 'none') }
  expect((await readPassword(elsewhere, 'Password: ')).reveal()).toBe('typed')
  expect(asked).toEqual(['Password: '])
})

test('a credential that every user may read, or that is a link, is refused', async () => {
  expect((await faultOf(readPassword(credential('x', 0o444), ''))).facts.reason).toBe(
    'every user may read it',
  )
  // systemd shows its access list as a right of the group.
  expect((await readPassword(credential('x', 0o440), '')).reveal()).toBe('x')
  rmSync(join(directory, 'perpd-password'), { force: true })
  writeFileSync(join(directory, 'target'), 'x', { mode: 0o400 })
  symlinkSync(join(directory, 'target'), join(directory, 'perpd-password'))
  const linked = { ...nothing, credentialsDirectory: directory }
  expect((await faultOf(readPassword(linked, ''))).facts.reason).toMatch(/^ELOOP/)
})

test('a new password is typed twice, and two that differ are refused', async () => {
  const good = typist('one', 'one')
  expect((await readNewPassword(good.sources)).reveal()).toBe('one')
  expect(good.asked).toEqual(['New password: ', 'The same again: '])
  expect((await faultOf(readNewPassword(typist('one', 'other').sources))).code).toBe('PASSWORD_DIFFERS')
  expect((await faultOf(readNewPassword(typist('').sources))).code).toBe('PASSWORD_UNREADABLE')
})

test('without any source the refusal names them all', async () => {
  const fault = await faultOf(readPassword(nothing, ''))
  expect([fault.code, fault.details]).toEqual([
    'PASSWORD_MISSING',
    'Nothing was done. Pass it through a file descriptor (account.passwordFd, --password-fd N), the systemd credential perpd-password, or a terminal; never as an argument.',
  ])
  expect(passwordSourceText(nothing)).toBeUndefined()
})

/** A terminal whose keys the test presses; tells whether it echoes. */
class Terminal extends EventEmitter {
  isRaw = false
  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw
    return this
  }
  resume(): this {
    return this
  }
  pause(): this {
    return this
  }
  press(text: string | Buffer): void {
    this.emit('data', Buffer.from(text))
  }
}

function prompt() {
  const terminal = new Terminal()
  const shown: string[] = []
  const ask = createHiddenPrompt(terminal as never, (text) => {
    shown.push(`${terminal.isRaw ? 'quiet' : 'echo'}:${text}`)
  })
  return { terminal, shown, ask }
}

test('what is typed at a question is not echoed, can be edited, and the terminal is as before afterwards', async () => {
  const { terminal, shown, ask } = prompt()
  const answer = ask('Password: ')
  const typed = Buffer.from('äé€')
  // Half a character may come alone.
  terminal.press(typed.subarray(0, 3))
  terminal.press(typed.subarray(3))
  terminal.press('x\u007fy\bz\u001b')
  terminal.press('\r')
  expect((await answer).reveal()).toBe('äé€z')
  expect(shown).toEqual(['quiet:Password: ', 'echo:\n'])
  expect([terminal.isRaw, terminal.listenerCount('data'), terminal.listenerCount('end')]).toEqual([
    false,
    0,
    0,
  ])
})

test('a line that was typed ahead answers the next question', async () => {
  const { terminal, ask } = prompt()
  const first = ask('one')
  terminal.press('wrong\u0015right\nsecond\n')
  expect((await first).reveal()).toBe('right')
  expect((await ask('two')).reveal()).toBe('second')
  expect(terminal.isRaw).toBe(false)
})

test('Ctrl-C and a terminal that goes away break the question off and restore the echo', async () => {
  for (const leave of [
    (terminal: Terminal) => terminal.press('secret\u0003'),
    (terminal: Terminal) => terminal.emit('end'),
  ]) {
    const { terminal, ask } = prompt()
    const answer = ask('Password: ')
    leave(terminal)
    await expect(answer).rejects.toThrow(PromptBroken)
    expect(terminal.isRaw).toBe(false)
  }
})
